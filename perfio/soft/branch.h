/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A near branch carried out from the registers, as the CPU would: SDM vol. 2, Jcc, LOOPcc,
 * JRCXZ, JMP, CALL, RET. Knows nothing of processes.
 */
#ifndef PERFIO_SOFT_BRANCH_H
#define PERFIO_SOFT_BRANCH_H

#include "perfio/soft/insn.h"
#include "perfio/soft/regs.h"

#include <stdbool.h>
#include <sys/user.h>

/* Is i of a kind that soft_branch() knows? */
bool soft_branch_is(const struct soft_insn *i);
/*
 * True: i has run, and r says what it did; r->rip is where it went. False: r is as before,
 * and the CPU has to do it: it would fault, or trap behind i, or i is of another kind.
 * r->rip need not be that of i.
 */
__attribute__((warn_unused_result))
bool soft_branch(const struct soft_insn *i, struct user_regs_struct *r,
		 const struct soft_access *m);

#endif
