/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of tracepoints, by the formats that a recording carries (TRACING_DATA).
 *
 * Formats come from the file and are not trusted: libtraceevent is given their field lists
 * in a plain form (tepclean.h), none longer than 64 KiB, and no more than 16384 of them. A
 * format that is not taken, or whose field names are no names, is as good as missing.
 */
#ifndef RECORDER_TEPFIELDS_H
#define RECORDER_TEPFIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/fields.h"

struct tepfields;

/* data: a TRACING_DATA payload, which may go afterwards. 0, -EBADMSG: not one, or not whole
 * (what was read before that is kept in *ret), -ENOMEM. *ret is NULL or to be freed. */
int tepfields_new(struct tepfields **ret, const uint8_t *data, uint64_t len);
void tepfields_free(struct tepfields *t);

/* Visits the fields of tracepoint `id` in the raw bytes of a sample, as a group named
 * "fields". A field that does not lie within them ends the group with a field "short".
 * False, with nothing visited: there is no format of that id. t may be NULL. */
bool tepfields_visit(const struct tepfields *t, uint64_t id, const uint8_t *raw, size_t len,
		     fmt_field_fn *fn, void *ctx);

#endif
