/* SPDX-License-Identifier: Apache-2.0 */
/* What this CPU has beyond the first of its kind. */
#ifndef PERFIO_SOFT_ISA_H
#define PERFIO_SOFT_ISA_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdint.h>

enum soft_isa {
	SOFT_ISA_NONE,	  /* this CPU lacks it, or it is about more than: */
	SOFT_ISA_GENERAL, /* general registers, flags, memory */
	SOFT_ISA_VECTORS, /* those of vectors and masks, and MXCSR, too */
};

enum soft_isa soft_isa_of(ZydisISASet set);

/* State components of XSAVE that hold those of vectors: SDM vol. 1, 13.1. What the kernel has
 * enabled of them; 0: no XSAVE. */
enum {
	SOFT_XSTATE_SSE = 1 << 1,
	SOFT_XSTATE_AVX = 1 << 2,
	SOFT_XSTATE_AVX512 = 7 << 5,
};
uint64_t soft_isa_xstate(void);

#endif
