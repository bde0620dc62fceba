/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that can change, or that is in no file (a JIT compiler's): its bytes as they were when
 * it ran. Where what a thread is going to run there is not as known, its page is read anew and
 * handed out.
 *
 * A reader has only one time for all that a thread ran between two of its TSC packets. So what
 * is found after a change of mappings counts from that change on, whenever it is found, and what
 * was written where nothing had run yet counts as if it had always been there. Code that was
 * written over after it ran counts from the last moment before it ran anew, and a TSC packet is
 * due, ahead of the packet that leads there. Where none does (straight on, or by a direct branch),
 * the trace is cut there, as by an interrupt.
 *
 * But nothing counts from before the last round but one: readers that follow records as they come
 * have no use for older ones.
 */
#ifndef PERFIO_SOFT_CODE_H
#define PERFIO_SOFT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct soft_insn;
struct soft_pages;
struct soft_thread;

/* An instruction that begins in a page may end behind it. */
enum { SOFT_CODE_PAGE = 4096, SOFT_CODE_TAIL = 16 };

/* Virtual TSC when the last rounds of records ended: soft_round(). */
struct soft_rounds {
	uint64_t last, before;
};

/* A page at addr, which is a multiple of SOFT_CODE_PAGE, and of the next one the first
 * SOFT_CODE_TAIL bytes; what cannot be read is 0. */
struct soft_code {
	pid_t pid, tid;
	uint64_t addr;
	uint64_t ticks; /* virtual TSC: it is like that from then on */
	const uint8_t *bytes; /* NULL: those that it had before, which got ... */
	uint64_t number;      /* ... this number */
};

/* Takes what is handed out, and gives it a number; 0: it was not kept. */
typedef uint64_t soft_code_fn(void *arg, const struct soft_code *c);

/* Of an address space; NULL is fine for both. */
void soft_code_free(struct soft_pages *p);
/* What is mapped in [begin, end) has changed. */
void soft_code_changed(struct soft_pages *p, uint64_t begin, uint64_t end);
/* t is about to run i. */
void soft_code_see(struct soft_thread *t, const struct soft_insn *i);
/* t has run i, of which no packet was written yet, and is at ip. Nothing if i is no branch
 * of which a packet tells. */
void soft_code_ahead(struct soft_thread *t, const struct soft_insn *i, uint64_t ip);

#endif
