/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rings lend, as spans for the writer, with pieces of it replaced. Replacing them in
 * the ring itself cannot be: user space may write to its first page only, anywhere else is
 * SIGBUS (perf_mmap_fault(), kernel/events/core.c, Linux 6.1).
 */
#ifndef RECORDER_SPANS_H
#define RECORDER_SPANS_H

#include <stddef.h>
#include <sys/uio.h>

struct spans_block;

struct spans {
	struct iovec *v; /* the list, with room for one more */
	size_t n, cap;
	const struct iovec *ring; /* the one at hand, borrowed until spans_ring_end() */
	int nr_ring;
	size_t pos; /* what of it is in the list */
	struct spans_block *first, *last; /* memory of the replacements */
};
#define SPANS_INIT (struct spans){ 0 }

/* All zeros is empty, too. Done: the memory is given back. Reset: it is used again, and the
 * list is empty. */
void spans_reset(struct spans *s);
void spans_done(struct spans *s);

/* Append a ring's n spans: begin, replace any ranges [pos, pos + len) of their concatenation
 * in ascending order (len up to 4096), end. 0 or -ENOMEM, which spoils the list. */
void spans_ring(struct spans *s, const struct iovec *v, int n);
__attribute__((warn_unused_result))
int spans_replace(struct spans *s, size_t pos, const void *p, size_t len);
/* Leave such a range out. */
__attribute__((warn_unused_result))
int spans_skip(struct spans *s, size_t pos, size_t len);
__attribute__((warn_unused_result))
int spans_ring_end(struct spans *s);
/* Between two rings: bytes that stay where they are until the list is reset. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int spans_add(struct spans *s, void *p, size_t len);

#endif
