/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of this very CPU, which also knows what becomes of flags that the manual
 * leaves undefined.
 */
#ifndef PERFIO_SOFT_ALU_H
#define PERFIO_SOFT_ALU_H

#include "perfio/soft/op.h"

#include <stdbool.h>
#include <stdint.h>

/* The lowest 1, 2, 4 or 8 bytes of v, and the same with their sign in all above. */
static inline uint64_t soft_low(uint64_t v, unsigned size)
{
	return size == 8 ? v : v & (((uint64_t)1 << size * 8) - 1);
}

static inline int64_t soft_widened(uint64_t v, unsigned size)
{
	const unsigned shift = 64 - size * 8;

	return (int64_t)(v << shift) >> shift;
}

/* *a = *a OP b (or OP *a) of 1, 2, 4 or 8 bytes: *a is a whole register, of which shorter
 * operations change what the CPU would. Of *flags, those of arithmetic are taken and set.
 * False: there is no such operation of that size. */
__attribute__((warn_unused_result))
bool soft_alu(enum soft_what op, unsigned size, uint64_t *a, uint64_t b, uint64_t *flags);
/* The same for MUL to IDIV, on whole rax and rdx. False: it would fault, too. */
__attribute__((warn_unused_result))
bool soft_alu_wide(enum soft_what op, unsigned size, uint64_t *rax, uint64_t *rdx, uint64_t b,
		   uint64_t *flags);

#endif
