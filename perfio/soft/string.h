/* SPDX-License-Identifier: Apache-2.0 */
/* String instructions, which go from address to address: SDM vol. 2, MOVS, STOS, REP. */
#ifndef PERFIO_SOFT_STRING_H
#define PERFIO_SOFT_STRING_H

#include "perfio/soft/op.h"
#include "perfio/soft/regs.h"

/* As soft_op_run(), of SOFT_MOVS and SOFT_STOS; all rounds, if they are few. */
__attribute__((warn_unused_result))
bool soft_string_run(const struct soft_op *op, struct user_regs_struct *r,
		     const struct soft_access *m);

#endif
