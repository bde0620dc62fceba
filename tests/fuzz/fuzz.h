/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets share. Each tests/fuzz/fuzz_NAME.c is one target in libFuzzer's form;
 * it takes any bytes at all and aborts where a property does not hold. The same file is
 * linked with libFuzzer (`make fuzz`) and with replay.c (`make replay`).
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define fuzz_hide(p, n) ASAN_POISON_MEMORY_REGION(p, n) /* reading there is a report */
#define fuzz_show(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define fuzz_hide(p, n) ((void)(p), (void)(n))
#define fuzz_show(p, n) ((void)(p), (void)(n))
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that must hold for every input. */
#define expect(truth)                                                                \
	do {                                                                         \
		if (!(truth)) {                                                      \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,   \
				#truth);                                             \
			abort();                                                     \
		}                                                                    \
	} while (0)

/* A sum over what was seen, to compare two ways of seeing it (FNV-1a). */
static inline uint64_t fuzz_sum(uint64_t sum, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ b[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* A copy of exactly n bytes on the heap, so that reading beyond them is a report. */
static inline uint8_t *fuzz_copy(const uint8_t *p, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	expect(copy);
	if (n)
		memcpy(copy, p, n);
	return copy;
}

#endif
