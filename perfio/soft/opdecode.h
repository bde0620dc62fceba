/* SPDX-License-Identifier: Apache-2.0 */
/* From Zydis's words to ours: which instructions can be carried out in a thread's place. */
#ifndef PERFIO_SOFT_OPDECODE_H
#define PERFIO_SOFT_OPDECODE_H

#include "perfio/soft/op.h"

#include <Zydis/Zydis.h>

/* `arg`: the operands of z that a programmer sees. SOFT_LEFT for what is none of enum soft_what,
 * or has operands that struct soft_op does not know. Memory is left to the caller. */
void soft_op_decode(struct soft_op *ret, const ZydisDecodedInstruction *z,
		    const ZydisDecodedOperand *arg);

#endif
