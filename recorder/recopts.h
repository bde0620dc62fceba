/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `record` as data: what fills a struct rec_config. */
#ifndef RECORDER_RECOPTS_H
#define RECORDER_RECOPTS_H

#include <stddef.h>

#include "recorder/config.h"
#include "recorder/opts.h"

enum { RECOPTS_MAX = 60 };

/* All but -v and -q, with *c as their target; their number. */
size_t recopts_list(struct opt ret[RECOPTS_MAX], struct rec_config *c);

#endif
