/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet stream of one thread: told what its instructions did, it writes what an Intel
 * PT unit with BranchEn, user space only, would have written. Nothing here knows how the
 * instructions were observed.
 *
 * Packets and their order: Intel SDM vol. 3C, chapter 33 (33.3 packet generation
 * scenarios, 33.4.2 packet definitions).
 */
#ifndef PERFIO_SOFT_PT_H
#define PERFIO_SOFT_PT_H

#include "perfio/soft/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct pt_encoder;

/* Shared by all streams of one source. */
struct soft_ptenc {
	struct pt_encoder *enc;
	uint8_t buf[32]; /* the longest packet, a PSB, has 16 bytes */
	uint32_t psb_bytes;
	bool tsc, noretcomp;
};

/* Depth of the return stack: SDM 33.4.2.2. */
#define SOFT_PT_RETS 64

struct soft_pt {
	struct soft_ptenc *enc;
	struct soft_bytes out;
	uint64_t last_ip; /* what IP compression compares with */
	uint64_t tnt;	  /* branch bits that wait for a packet, newest lowest */
	unsigned nr_tnt;
	bool on;    /* between TIP.PGE and TIP.PGD */
	bool begun; /* the first PSB has been written */
	bool lost;  /* no memory: packets go nowhere until the next instruction finds some */
	uint64_t since_psb, start_ticks;
	uint64_t bytes, dropped;
	unsigned ret_top, nr_ret; /* ring of return addresses */
	uint64_t ret[SOFT_PT_RETS];
};

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int soft_ptenc_init(struct soft_ptenc *ret, uint32_t psb_bytes, bool tsc, bool noretcomp);
void soft_ptenc_done(struct soft_ptenc *e);

void soft_pt_init(struct soft_pt *ret, struct soft_ptenc *e);
void soft_pt_done(struct soft_pt *p);

/*
 * The instruction at ip has run; must precede whatever it did. Turns packets on when they
 * are off and writes a PSB+ when one is due. `resync`: the meaning of addresses may have
 * changed since the last TSC packet, so write one. `ticks`: a time at which it had not run.
 */
void soft_pt_at(struct soft_pt *p, uint64_t ip, uint64_t ticks, bool resync);
/* What it did, if more than going on to its neighbour or to a fixed target: */
void soft_pt_cond(struct soft_pt *p, bool taken);
void soft_pt_call(struct soft_pt *p, uint64_t ret); /* direct or indirect: where it returns */
void soft_pt_return(struct soft_pt *p, uint64_t to);
/* A far branch. perf pops its return stack at an lret, a CPU need not: no return behind it is
 * compressed. */
void soft_pt_far(struct soft_pt *p, uint64_t to);
void soft_pt_jump(struct soft_pt *p, uint64_t to); /* the indirect part of it */
void soft_pt_leave(struct soft_pt *p);		   /* it entered the kernel by itself */

/* The thread left user space before the instruction at ip could run. */
void soft_pt_cut(struct soft_pt *p, uint64_t ip);
/* What cut would write, into buf, and p is as before: how many bytes; 0 where packets are off, or
 * go nowhere. */
size_t soft_pt_end(const struct soft_pt *p, uint64_t ip, uint8_t *buf, size_t size);
/* The program was replaced. */
void soft_pt_forget(struct soft_pt *p);
/* A PSB+ is due, however long ago the last one was. */
void soft_pt_want_psb(struct soft_pt *p);
/* Write pending branch bits now. */
void soft_pt_flush(struct soft_pt *p);

#endif
