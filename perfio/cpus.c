/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A bit per cpu sorts and removes doubles by itself. */
struct bits {
	unsigned char in[PIO_CPU_MAX / 8];
	size_t n;
};

static void add(struct bits *b, unsigned cpu)
{
	unsigned char bit = (unsigned char)(1u << cpu % 8);

	if (!(b->in[cpu / 8] & bit))
		b->n++;
	b->in[cpu / 8] |= bit;
}

static int number(unsigned *ret, const char **at)
{
	const char *p = *at;
	unsigned v = 0;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		v = 10 * v + (unsigned)(*p - '0');
		if (v >= PIO_CPU_MAX)
			return -ERANGE;
	}
	*at = p;
	*ret = v;
	return 0;
}

static int parse_range(struct bits *b, const char **at)
{
	const char *begin = *at;
	unsigned lo, hi;
	int err = number(&lo, at);

	if (err)
		return err;
	hi = lo;
	if (**at == '-') {
		++*at;
		err = number(&hi, at);
		if (err)
			return err;
	}
	if (hi < lo) {
		*at = begin;
		return -EINVAL;
	}
	for (; lo <= hi; lo++)
		add(b, lo);
	return 0;
}

static int parse_list(struct bits *b, const char **at)
{
	for (;;) {
		int err = parse_range(b, at);

		if (err)
			return err;
		if (!**at)
			return 0;
		if (**at != ',')
			return -EINVAL;
		++*at;
	}
}

static int to_array(struct pio_cpus *ret, const struct bits *b)
{
	struct pio_cpus c = { .cpu = malloc(b->n * sizeof(*c.cpu)) };

	if (!c.cpu)
		return -ENOMEM;
	for (int cpu = 0; cpu < PIO_CPU_MAX; cpu++)
		if (b->in[cpu / 8] & 1u << cpu % 8)
			c.cpu[c.n++] = cpu;
	*ret = c;
	return 0;
}

int pio_cpus_parse(struct pio_cpus *ret, const char *list, const char **ret_bad)
{
	struct bits b = { .n = 0 };
	const char *at = list;
	int err = parse_list(&b, &at);

	if (!err)
		return to_array(ret, &b);
	if (ret_bad)
		*ret_bad = at;
	return err;
}

static int from_sysfs(struct pio_cpus *ret, const struct pio_sys *sys, const char *which)
{
	char *list = NULL;
	size_t len = 0;
	int err = pio_read_file(&list, &len, 1 << 20, "%s/devices/system/cpu/%s",
				sys->sysfs, which);

	if (err)
		return err;
	list[strcspn(list, "\n")] = '\0';
	err = pio_cpus_parse(ret, list, NULL);
	free(list);
	return err;
}

int pio_cpus_online(struct pio_cpus *ret, const struct pio_sys *sys)
{
	return from_sysfs(ret, sys, "online");
}

int pio_cpus_possible(struct pio_cpus *ret, const struct pio_sys *sys)
{
	return from_sysfs(ret, sys, "possible");
}

int pio_cpus_present(struct pio_cpus *ret, const struct pio_sys *sys)
{
	return from_sysfs(ret, sys, "present");
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

bool pio_cpus_has(const struct pio_cpus *c, int cpu)
{
	return c->n && bsearch(&cpu, c->cpu, c->n, sizeof(*c->cpu), compare);
}

int pio_cpus_format(const struct pio_cpus *c, char *buf, size_t size)
{
	size_t len = 0;

	if (!size)
		return -ENOSPC;
	buf[0] = '\0';
	for (size_t i = 0, last; i < c->n; i = last + 1) {
		const char *comma = i ? "," : "";
		int n;

		for (last = i; last + 1 < c->n && c->cpu[last + 1] == c->cpu[last] + 1;)
			last++;
		if (last == i)
			n = snprintf(buf + len, size - len, "%s%d", comma, c->cpu[i]);
		else
			n = snprintf(buf + len, size - len, "%s%d-%d", comma, c->cpu[i],
				     c->cpu[last]);
		if (n < 0 || (size_t)n >= size - len)
			return -ENOSPC;
		len += (size_t)n;
	}
	return (int)len;
}

void pio_cpus_done(struct pio_cpus *c)
{
	free(c->cpu);
	*c = (struct pio_cpus){ 0 };
}
