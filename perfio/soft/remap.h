/* SPDX-License-Identifier: Apache-2.0 */
/* What a system call that is over may have done to mappings: pure. */
#ifndef PERFIO_SOFT_REMAP_H
#define PERFIO_SOFT_REMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

/* Half of the x86-64 system call numbers: those of the x32 table have this bit. */
enum { SOFT_X32_BIT = 0x40000000 };

struct soft_remap {
	int nr; /* ranges that are not as before; 0: none */
	struct {
		uint64_t begin, end;
		uint64_t by; /* how far away what was there is now */
	} v[2];
	bool code; /* there may be new code in them */
	bool fresh; /* they begin anew: readers hear of it from the kernel, if there is code */
	bool loose; /* the last one is, or may become, other than they hear: written to, or moved */
};

/* `r`: as the call left them. `legacy`: its number is one of i386. */
void soft_remap(struct soft_remap *ret, const struct user_regs_struct *r, bool legacy);

#endif
