/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A near branch carried out from the registers, as the CPU would: SDM vol. 2, Jcc, LOOPcc,
 * JRCXZ, JMP, CALL, RET. Knows nothing of processes.
 */
#ifndef PERFIO_SOFT_BRANCH_H
#define PERFIO_SOFT_BRANCH_H

#include "perfio/soft/insn.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

/* The program's memory, with the program's own rights. False: the access would fault. */
struct soft_branch_mem {
	bool (*read)(void *arg, uint64_t addr, uint64_t *ret);
	bool (*write)(void *arg, uint64_t addr, uint64_t v);
	void *arg;
};

/* Is i of a kind that soft_branch() knows? */
bool soft_branch_is(const struct soft_insn *i);
/*
 * True: i has run, and r says what it did; r->rip is where it went. False: r is as before,
 * and the CPU has to do it: it would fault, or trap behind i, or i is of another kind.
 * r->rip need not be that of i.
 */
__attribute__((warn_unused_result))
bool soft_branch(const struct soft_insn *i, struct user_regs_struct *r,
		 const struct soft_branch_mem *m);

/* What i, which has one, reads its operand from. With an address-size prefix (`sized`) the address
 * is one of 32 bits. */
uint64_t soft_operand_address(const struct soft_insn *i, const struct user_regs_struct *r);
/* The register of that number (enum soft_reg). */
uint64_t soft_register(const struct user_regs_struct *r, unsigned reg);

#endif
