/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/drawn.h"

#include <string.h>

uint64_t drawn_seed = 88172645463325252u;

uint64_t drawn(void)
{
	drawn_seed ^= drawn_seed << 13; /* G. Marsaglia, Xorshift RNGs, J. Stat. Software 8(14) */
	drawn_seed ^= drawn_seed >> 7;
	drawn_seed ^= drawn_seed << 17;
	return drawn_seed;
}

unsigned drawn_below(unsigned n)
{
	return (unsigned)(drawn() >> 16) % n;
}

uint64_t drawn_number(void)
{
	static const uint64_t edge[] = {
		0, 1, 2, 7, 31, 32, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff,
		0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, (uint64_t)INT64_MAX + 1,
		UINT64_MAX, UINT64_MAX - 1,
	};
	unsigned k = drawn_below(40);

	return k < sizeof(edge) / sizeof(edge[0]) ? edge[k] : drawn();
}

void drawn_bytes(void *to, size_t n)
{
	for (size_t k = 0; k < n; k += 8)
		memcpy((uint8_t *)to + k, &(uint64_t){ drawn_number() }, 8);
}
