/* SPDX-License-Identifier: Apache-2.0 */
/* Times and sizes in the one form that the program uses, and in the one it shows. */
#ifndef RECORDER_UNITS_H
#define RECORDER_UNITS_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

static inline uint64_t units_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_nsec;
}

/* "512 B", "1.5 KiB" ... "16.0 EiB" into buf, which is returned. */
const char *units_bytes(uint64_t bytes, char buf[16]);

/* "850 ns", "12.3 us", "4.5 ms", "1.20 s" into buf, which is returned. */
const char *units_time(uint64_t ns, char buf[16]);

/* A ratio of two figures in three digits at most, "1,200", "85", "3.2": into buf, which is
 * returned. */
const char *units_times(double v, char buf[32]);

/* "200ms", "1.5s", "5m" ...: a time with its unit, one of ns, us, ms, s, m, h, d, in ns. 0 or
 * -EINVAL. */
int units_duration(const char *text, uint64_t *ret);

/* A span of time as people write it, "12.5,13.25", "12.5," or ",13.25" (seconds with up to
 * nine decimals): nanoseconds, 0 and UINT64_MAX for an open end. 0 or -EINVAL. */
int units_span(const char *text, uint64_t *from, uint64_t *to);

#endif
