/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet stream of one thread: told what its instructions did, it writes what an Intel
 * PT unit would have written, of user space only. Nothing here knows how the instructions
 * were observed.
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

/* As the bits of IA32_RTIT_CTL of these names: SDM 33.2.8.2. */
struct soft_pt_config {
	uint32_t psb_bytes; /* a PSB+ after at least so many bytes */
	bool tsc, noretcomp, branch;
	bool ptw, fup_on_ptw;
	bool cyc, mtc;
	uint8_t cyc_thresh; /* n > 0: no CYC before 2^(n-1) cycles have passed; at most 15 */
	uint8_t mtc_period; /* an MTC each 2^n edges of the crystal clock; at most 15 */
	/* For tests: after so many bytes the unit's buffer overflows, and a part of them as
	 * large as a quarter is lost. 0: never. */
	uint64_t ovf_every;
};

/* The virtual CPU has a crystal clock that ticks once per so many ticks of the TSC, and runs at
 * the frequency of the TSC, which is so many times the one of the bus: one cycle is one tick. */
enum { SOFT_PT_CTC = 40, SOFT_PT_RATIO = 10 };

/* Shared by all streams of one source. */
struct soft_ptenc {
	struct pt_encoder *enc;
	uint8_t buf[32]; /* the longest packet, a PSB, has 16 bytes */
	struct soft_pt_config cfg;
};

/* Depth of the return stack: SDM 33.4.2.2. */
#define SOFT_PT_RETS 64

struct soft_pt {
	struct soft_ptenc *enc;
	struct soft_bytes out;
	uint64_t last_ip; /* what IP compression compares with */
	uint64_t tnt;	  /* branch bits that wait for a packet, newest lowest */
	unsigned nr_tnt;
	bool on;    /* in user space: between TIP.PGE and TIP.PGD */
	bool begun; /* the first PSB has been written */
	bool lost;  /* no memory: packets go nowhere until the next instruction finds some */
	uint64_t now;	 /* virtual TSC of what is written */
	uint64_t cyc_at; /* the same, of the last CYC */
	uint64_t mtc;	 /* crystal clock as told, in periods of MTC */
	uint64_t since_psb, start_ticks;
	/* The test switch: an overflow is on; bytes that are yet to be lost, and were written. */
	bool overflow;
	uint64_t to_lose, since_ovf;
	uint64_t bytes, dropped;
	unsigned ret_top, nr_ret; /* ring of return addresses */
	uint64_t ret[SOFT_PT_RETS];
};

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int soft_ptenc_init(struct soft_ptenc *ret, const struct soft_pt_config *cfg);
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
/* The same by a branch, to a place that is filtered out. */
void soft_pt_leave_to(struct soft_pt *p, uint64_t to);
/* It came to where tracing stops for good (SDM 33.4.2.8), at that time. */
void soft_pt_stopped(struct soft_pt *p, uint64_t ticks);
/* ptwrite, at ip, of eight bytes (`wide`) or four. */
void soft_pt_ptwrite(struct soft_pt *p, uint64_t ip, uint64_t value, bool wide);

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
