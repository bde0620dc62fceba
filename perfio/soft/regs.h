/* SPDX-License-Identifier: Apache-2.0 */
/* Registers, flags and memory of a stopped thread, for what is carried out in its place. */
#ifndef PERFIO_SOFT_REGS_H
#define PERFIO_SOFT_REGS_H

#include "perfio/soft/insn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

/* Bits of rflags: SDM vol. 1, 3.4.3. */
enum {
	SOFT_CF = 1,
	SOFT_PF = 1 << 2,
	SOFT_AF = 1 << 4,
	SOFT_ZF = 1 << 6,
	SOFT_SF = 1 << 7,
	SOFT_TF = 1 << 8,
	SOFT_DF = 1 << 10,
	SOFT_OF = 1 << 11,
	SOFT_ARITHMETIC = SOFT_CF | SOFT_PF | SOFT_AF | SOFT_ZF | SOFT_SF | SOFT_OF,
};

struct soft_stubs;

/* The program's memory, with the program's own rights. False: the access would fault, and
 * nothing was written. n: 1, 2, 4 or 8; more only of what is owned. */
struct soft_access {
	bool (*read)(void *arg, uint64_t addr, void *to, size_t n);
	bool (*write)(void *arg, uint64_t addr, const void *from, size_t n);
	/* All n bytes are there to be read (and written), and nobody else sees or changes them
	 * until the caller lets things go on; `locked`: nor does the kernel, for another thread.
	 * All in one page, or it is false. */
	bool (*owned)(void *arg, uint64_t addr, size_t n, bool write, bool locked);
	void *arg;
	struct soft_stubs *stubs; /* opened for the thread; or NULL */
};

/* rax 0 to r15 15 (enum soft_reg). */
unsigned long long *soft_reg(struct user_regs_struct *r, unsigned reg);
/* Value of any enum soft_reg but SOFT_REG_RIP; of SOFT_REG_NONE: 0. */
uint64_t soft_reg_value(const struct user_regs_struct *r, unsigned reg);

/* Where i->from lies, if it is memory. */
uint64_t soft_address(const struct soft_insn *i, const struct user_regs_struct *r);
/* Do the flags fulfil one of the conditions 0 to 15 of enum soft_cond? */
bool soft_cond_holds(uint64_t flags, unsigned cond);

#endif
