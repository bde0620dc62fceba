/* SPDX-License-Identifier: Apache-2.0 */
/* Address filters as the software source takes them. */
#ifndef RECORDER_SOFTFILTER_H
#define RECORDER_SOFTFILTER_H

#include "perfio/soft/soft.h"
#include "recorder/filter.h"

/* As many as f has, which must outlive them; free(3) is the caller's. 0; -ENOMEM; -errno of a file
 * that cannot be found any more, with its name in *what. */
__attribute__((warn_unused_result))
int softfilter_make(struct soft_filter **ret, const struct filter *f, const char **what);

/* The text for a file's Intel PT description, or NULL. Readers take it for ranges; what a start or
 * a stop cuts off tells itself. */
const char *softfilter_text(const struct filter *f);

#endif
