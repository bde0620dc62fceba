/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who runs on a cpu, by the switches of its ring so far: what a file that begins in the middle
 * of a recording must tell, since a task that is never switched away never tells it again.
 */
#ifndef RECORDER_ONCPU_H
#define RECORDER_ONCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/abi.h"
#include "format/le.h"

struct oncpu {
	bool known;
	uint32_t pid, tid;
	uint64_t since; /* time of the switch */
};

#define ONCPU_TYPES (UINT64_C(1) << FMT_REC_SWITCH | UINT64_C(1) << FMT_REC_SWITCH_CPU_WIDE)

/* A record of ONCPU_TYPES, whole, with the trailer of format/record.h. A task that leaves a
 * ring of tasks (SWITCH) leaves nobody known behind. */
static inline void oncpu_see(struct oncpu *on, const uint8_t *rec, size_t size)
{
	enum { TRAILER = 32, TIME = 24 }; /* from the end */
	bool out = le_get16(rec + FMT_REC_AT_MISC) & FMT_MISC_SWITCH_OUT;
	bool wide = le_get32(rec) == FMT_REC_SWITCH_CPU_WIDE;
	const uint8_t *who;

	if (size < FMT_REC_HEADER_SIZE + TRAILER + (wide ? 8 : 0))
		return;
	who = wide && out ? rec + FMT_SWITCH_AT_NEXT_PID : rec + size - TRAILER;
	*on = (struct oncpu){ .known = wide || !out, .pid = le_get32(who),
			      .tid = le_get32(who + 4),
			      .since = le_get(rec + size - TIME, 8) };
}

#endif
