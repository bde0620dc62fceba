/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/kallsyms: "ffffffff81000000 T _text", and "\t[module]" behind the names of modules'
 * symbols. All of it is kept until it is in order: what ends a function may be data.
 */
#include "perfio/symtab.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfio/lines.h"

static bool is_function(char kind)
{
	return strchr("TtWw", kind) != NULL; /* nm(1): text, weak */
}

static bool parse(char *line, struct pio_sym *ret)
{
	const char *at = line;
	struct pio_sym s = { .at = pio_scan_hex(&at) };

	if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ' || !at[3])
		return false;
	s.kind = at[1];
	s.global = isupper((unsigned char)s.kind);
	s.name = line + (at + 3 - line);
	s.name[strcspn(s.name, "\t")] = '\0';
	*ret = s;
	return true;
}

static int load(struct pio_symtab *t, struct pio_lines *l)
{
	struct pio_sym s;
	size_t cap = 0, len;
	char *line;
	int err;

	while ((err = pio_lines_next(l, &line, &len)) > 0) {
		/* Absolute symbols are numbers or offsets, not places. */
		if (!parse(line, &s) || toupper((unsigned char)s.kind) == 'A')
			continue;
		if (!s.at)
			return -EACCES;
		s.name = strdup(s.name);
		err = pio_symtab_add(t, &cap, &s);
		if (err)
			return err;
	}
	return err;
}

static void set_sizes(struct pio_symtab *t)
{
	uint64_t next = 0; /* the nearest address above */

	for (size_t i = t->n; i--;) {
		if (i + 1 < t->n && t->sym[i + 1].at > t->sym[i].at)
			next = t->sym[i + 1].at;
		t->sym[i].size = next ? next - t->sym[i].at : 0;
	}
}

static void keep_functions(struct pio_symtab *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (is_function(t->sym[i].kind))
			t->sym[n++] = t->sym[i];
		else
			free(t->sym[i].name);
	}
	t->n = n;
}

/* Where the last function ends is not known: a page is added, as perf does it. */
static void set_range(struct pio_symtab *t)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t last = t->sym[t->n - 1].at;

	t->start = t->sym[0].at;
	t->end = (last + page - 1) / page * page + page;
}

int pio_symtab_kernel(struct pio_symtab *ret, const struct pio_sys *sys)
{
	struct pio_symtab t = { 0 };
	char path[PATH_MAX], buf[32 * 1024];
	struct pio_lines l;
	int fd, err;

	snprintf(path, sizeof(path), "%s/kallsyms", sys->proc);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	l = (struct pio_lines)PIO_LINES(fd, buf);
	err = load(&t, &l);
	close(fd);
	if (err)
		goto out;
	pio_symtab_sort(&t);
	set_sizes(&t);
	keep_functions(&t);
	if (!t.n) {
		err = -ENOENT;
		goto out;
	}
	set_range(&t);
	*ret = t;
	return 0;
out:
	pio_symtab_done(&t);
	return err;
}
