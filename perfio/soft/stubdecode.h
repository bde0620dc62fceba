/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions run as copies, and what these are. */
#ifndef PERFIO_SOFT_STUBDECODE_H
#define PERFIO_SOFT_STUBDECODE_H

#include "perfio/soft/stub.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdint.h>

/* Of the instruction at p, from what Zydis says of it. False: it cannot be one. */
__attribute__((warn_unused_result))
bool soft_stub_decode(struct soft_stub *ret, const ZydisDecodedInstruction *z,
		      const ZydisDecodedOperand *o, const uint8_t *p);

#endif
