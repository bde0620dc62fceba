/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian loads and stores at any alignment.
 *
 * perf.data is written in the byte order of the recording machine; Intel PT exists on
 * x86 only, so auxrec writes little-endian, whatever it runs on. Nothing in format/
 * touches file bytes except through these functions.
 */
#ifndef FORMAT_LE_H
#define FORMAT_LE_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Store the low n bytes of v at p; n is 1 to 8. */
static inline void le_put(void *p, uint64_t v, unsigned n)
{
	uint8_t *b = p;

	for (; n; n--, v >>= 8)
		*b++ = (uint8_t)v;
}

/* Load n bytes from p; n is 1 to 8. */
static inline uint64_t le_get(const void *p, unsigned n)
{
	const uint8_t *b = p;
	uint64_t v = 0;

	while (n--)
		v = v << 8 | b[n];
	return v;
}

/* The loads of every record, in one instruction each. */
static inline uint64_t le_get64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline uint32_t le_get32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint16_t le_get16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

#endif
