/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/pace.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

static uint64_t now(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	return 0;
#endif
}

void soft_pace_go(struct soft_pace *p, uint64_t instructions)
{
	if (p->on)
		return;
	p->on = true;
	p->since = now();
	p->instructions = instructions;
}

uint64_t soft_pace_ticks(const struct soft_pace *p, uint64_t instructions)
{
	if (!p->on || p->instructions == instructions)
		return p->ticks;
	return p->ticks + (now() - p->since);
}

void soft_pace_halt(struct soft_pace *p, uint64_t instructions)
{
	p->ticks = soft_pace_ticks(p, instructions);
	p->on = false;
}
