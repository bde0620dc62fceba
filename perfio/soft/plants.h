/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breakpoints (int3) in the code of one address space, and that code as it is without them.
 * Knows pages of code that cannot change behind our back: whoever changes mappings calls
 * soft_plants_withdraw() for them. Not for memory that the program can write.
 */
#ifndef PERFIO_SOFT_PLANTS_H
#define PERFIO_SOFT_PLANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct soft_page;

/* { .fd = /proc/PID/mem }: nothing planted. The descriptor is the caller's. */
struct soft_plants {
	int fd;
	struct soft_page **page; /* open hash by address */
	size_t nr, cap;		 /* cap: a power of two, or 0 */
	size_t planted;		 /* in all */
	uint32_t withdrawals;	 /* how often something that was planted was taken out */
	size_t armed;		 /* pages with entries that are planted */
};

/* Forgets all; what is planted stays planted. */
void soft_plants_done(struct soft_plants *p);

/* Up to n bytes of code as the program put them there: how many there are. */
size_t soft_plants_code(struct soft_plants *p, uint64_t addr, void *to, size_t n);
/* Put the program's bytes into what was read from addr. */
void soft_plants_overlay(const struct soft_plants *p, uint64_t addr, void *bytes, size_t n);

/* Plant at the first byte of an instruction. True also if it is planted already; false if it
 * cannot be: no memory, no page, or the byte belongs to an instruction that runs through. */
__attribute__((warn_unused_result))
bool soft_plants_put(struct soft_plants *p, uint64_t addr);
bool soft_plants_has(const struct soft_plants *p, uint64_t addr);
/* By soft_plants_put(), not as an entry alone. */
bool soft_plants_stops(const struct soft_plants *p, uint64_t addr);
/* A thread has met an int3 there: was it one of ours, which may have been taken out since? */
bool soft_plants_met(const struct soft_plants *p, uint64_t addr);
/* Take out what is planted there, if anything. */
void soft_plants_take(struct soft_plants *p, uint64_t addr);
/* The instruction there will run as it is: no byte of it but the first will ever be planted.
 * False: one is. */
__attribute__((warn_unused_result))
bool soft_plants_pass(struct soft_plants *p, uint64_t addr, size_t len);

/* How many of these n bytes are planted? Take them out; put them back. */
unsigned soft_plants_among(const struct soft_plants *p, uint64_t addr, size_t n);
void soft_plants_lift(const struct soft_plants *p, uint64_t addr, size_t n);
void soft_plants_lower(const struct soft_plants *p, uint64_t addr, size_t n);

/* Is anything planted in a page of [begin, end)? */
bool soft_plants_within(const struct soft_plants *p, uint64_t begin, uint64_t end);
/* Forget the pages in [begin, end), having put their bytes back where they are as we left
 * them: not where the mapping is another one now. They may have been moved, by `by`. */
void soft_plants_withdraw(struct soft_plants *p, uint64_t begin, uint64_t end, uint64_t by);

/* entries.c: instructions that nobody shall reach unseen. They are planted while they are armed. A
 * thread that runs there opens their pages one by one, which leaves what soft_plants_put() planted;
 * arming takes that out, everywhere. */

/* False: no memory, no page. */
__attribute__((warn_unused_result))
bool soft_plants_entry(struct soft_plants *p, uint64_t addr);
bool soft_plants_is_entry(const struct soft_plants *p, uint64_t addr);
/* False: a page could not be written. */
__attribute__((warn_unused_result))
bool soft_plants_arm(struct soft_plants *p);
void soft_plants_open(struct soft_plants *p, uint64_t addr, size_t n);

/* `to`, which is empty, is of a process just forked from that of `from`, whose other threads
 * may have gone on since (`moved`): take over what is planted there. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int soft_plants_fork(struct soft_plants *to, const struct soft_plants *from, bool moved);

#endif
