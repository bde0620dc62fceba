/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/hex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEX_MAX 131072

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *p = c ? strchr(digits, c) : NULL;

	if (!p)
		fail_msg("hex text: unexpected '%c'", c);
	return (int)(p - digits);
}

static size_t text_token(uint8_t *ret, const char **p)
{
	const char *from = ++*p, *to = strchr(from, '\'');

	if (!to)
		fail_msg("hex text: no closing quote");
	memcpy(ret, from, (size_t)(to - from));
	*p = to + 1;
	return (size_t)(to - from);
}

static size_t hex_token(uint8_t *ret, const char **p)
{
	int byte = digit((*p)[0]) << 4 | digit((*p)[1]);
	unsigned long n = 1;
	char *end;

	*p += 2;
	if (**p == '[') {
		n = strtoul(*p + 1, &end, 10);
		if (*end != ']')
			fail_msg("hex text: no closing bracket");
		*p = end + 1;
	}
	memset(ret, byte, n);
	return n;
}

size_t hex_bytes(uint8_t *ret, size_t max, const char *text)
{
	size_t n = 0;

	while (*text) {
		if (*text == ' ') {
			text++;
			continue;
		}
		n += *text == '\'' ? text_token(ret + n, &text) :
				     hex_token(ret + n, &text);
		if (n > max)
			fail_msg("hex text: more than %zu bytes", max);
	}
	return n;
}

void hex_expect(const void *got, size_t len, const char *text)
{
	static uint8_t want[HEX_MAX];
	const uint8_t *g = got;
	size_t n = hex_bytes(want, sizeof(want) / 2, text);

	for (size_t i = 0; i < n && i < len; i++)
		if (g[i] != want[i])
			fail_msg("byte %zu: got %02x, want %02x", i, g[i], want[i]);
	if (len != n)
		fail_msg("got %zu bytes, want %zu", len, n);
}
