/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a, 64 bits (draft-eastlake-fnv): short keys, a table that nobody attacks. */
#ifndef RECORDER_HASH_H
#define RECORDER_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_INIT UINT64_C(0xcbf29ce484222325)

/* h: HASH_INIT, or what the bytes before these gave. */
static inline uint64_t hash_bytes(uint64_t h, const void *p, size_t n)
{
	for (const uint8_t *b = p; n; n--)
		h = (h ^ *b++) * UINT64_C(0x100000001b3);
	return h;
}

#endif
