/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where to enter the Intel PT trace of one queue so that all is there from some moment on: at
 * the last PSB whose TSC is not later; and from when on it can be read at all.
 */
#ifndef FORMAT_PTCUT_H
#define FORMAT_PTCUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * v[0..n), n <= 2: the bytes, the oldest first, whose times do not go backwards. from: a TSC, of
 * which the low 56 bits count, as packets have them; times are less than 2^55 apart.
 * How many bytes to leave out: 0 when the oldest PSB is later already, or no TSC is there. Looks at
 * few places only. A PSB that lies across the two pieces is not found, so that more is kept.
 */
size_t fmt_pt_cut(const struct iovec *v, int n, uint64_t from);
/* The TSC (56 bits) from which on the trace can be read; false: none is there. */
bool fmt_pt_begin(const struct iovec *v, int n, uint64_t *ret);

/* How long before `now`, a whole TSC, that was; 0: not before. */
static inline uint64_t fmt_pt_ago(uint64_t now, uint64_t tsc)
{
	uint64_t ago = (now - tsc) & (UINT64_MAX >> 8);

	return ago >> 55 ? 0 : ago;
}

#endif
