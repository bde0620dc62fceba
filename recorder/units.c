/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/units.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 16 };

const char *units_bytes(uint64_t bytes, char buf[16])
{
	static const char prefix[] = "KMGTPE";
	double v = (double)bytes;
	int u = -1;

	for (; v >= 1024; v /= 1024)
		u++;
	if (u < 0)
		snprintf(buf, SHOWN, "%.0f B", v);
	else
		snprintf(buf, SHOWN, "%.1f %ciB", v, prefix[u]);
	return buf;
}

/* "12.5": seconds, to nanoseconds. The end of it, or NULL. */
static const char *seconds(const char *s, uint64_t *ret)
{
	uint64_t v = 0, unit = NS_PER_S;
	const char *from = s;

	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return NULL;
	if (s == from || __builtin_mul_overflow(v, NS_PER_S, &v))
		return NULL;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9' && unit > 1; s++) {
			unit /= 10;
			if (__builtin_add_overflow(v, unit * (uint64_t)(*s - '0'), &v))
				return NULL;
		}
	*ret = v;
	return s;
}

const char *units_time(uint64_t ns, char buf[16])
{
	static const struct {
		double ns;
		const char *unit;
		int decimals;
	} step[] = { { 1e9, "s", 2 }, { 1e6, "ms", 1 }, { 1e3, "us", 1 } };

	for (size_t i = 0; i < sizeof(step) / sizeof(*step); i++)
		if ((double)ns >= step[i].ns) {
			snprintf(buf, 16, "%.*f %s", step[i].decimals, (double)ns / step[i].ns,
				 step[i].unit);
			return buf;
		}
	snprintf(buf, 16, "%u ns", (unsigned)ns);
	return buf;
}

const char *units_times(double v, char buf[32])
{
	char digits[24];
	uint64_t whole, unit = 1;
	size_t n, at = 0;

	if (!(v >= 9.95)) {
		snprintf(buf, 32, "%.1f", v > 0 ? v : 0);
		return buf;
	}
	whole = v < 1e18 ? (uint64_t)(v + 0.5) : (uint64_t)1e18;
	while (whole / unit >= 1000)
		unit *= 10;
	n = (size_t)snprintf(digits, sizeof(digits), "%llu",
			     (unsigned long long)((whole + unit / 2) / unit * unit));
	for (size_t i = 0; i <= n; i++) {
		if (i && i < n && !((n - i) % 3))
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	return buf;
}

int units_duration(const char *text, uint64_t *ret)
{
	static const struct {
		const char *name;
		uint64_t times, parts; /* of a second */
	} unit[] = {
		{ "ns", 1, NS_PER_S }, { "us", 1, 1000000 }, { "ms", 1, 1000 }, { "s", 1, 1 },
		{ "m", 60, 1 },	       { "h", 3600, 1 },     { "d", 86400, 1 },
	};
	uint64_t v;
	const char *end = seconds(text, &v);

	for (size_t i = 0; end && i < sizeof(unit) / sizeof(*unit); i++)
		if (!strcmp(end, unit[i].name)) {
			if (__builtin_mul_overflow(v, unit[i].times, &v))
				return -EINVAL;
			*ret = v / unit[i].parts;
			return 0;
		}
	return -EINVAL;
}

int units_span(const char *text, uint64_t *from, uint64_t *to)
{
	uint64_t a = 0, b = UINT64_MAX;
	const char *s = text;
	bool open = *s == ',';

	if (!open)
		s = seconds(s, &a);
	if (!s || *s++ != ',' || (open && !*s))
		return -EINVAL;
	if (*s)
		s = seconds(s, &b);
	if (!s || *s || a > b)
		return -EINVAL;
	*from = a;
	*to = b;
	return 0;
}
