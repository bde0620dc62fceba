/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/filter_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTED_MAX 12 /* functions of one name in a message */

/* The kernel splits at blanks and commas, wherever they come from. */
static int real_file(struct names *n, const char *typed, char **ret)
{
	char *path = realpath(typed, NULL);

	if (!path && errno == ENOMEM)
		return -ENOMEM;
	if (!path)
		return filter_wrong(n->why, "cannot find file '%s': %s", typed,
				    strerror(errno));
	if (!path[strcspn(path, " ,\n")]) {
		*ret = path;
		return 0;
	}
	filter_wrong(n->why, "file '%s': the kernel takes no blank and no comma in a "
		     "name", path);
	free(path);
	return -EINVAL;
}

static const char *place(const struct names *n, char *buf, size_t size)
{
	snprintf(buf, size, n->file ? "'%s'" : "the kernel", n->file);
	return buf;
}

static int refuse_table(struct names *n, int err)
{
	if (err == -ENOMEM)
		return err;
	if (!n->file && err == -EACCES) {
		filter_wrong(n->why, "the kernel's addresses are hidden");
		filter_more(n->why, "as root: sysctl kernel.kptr_restrict=0, and "
			    "kernel.perf_event_paranoid=1 or less");
		return -EINVAL;
	}
	if (!n->file)
		return filter_wrong(n->why, "cannot read the kernel's symbols: %s",
				    strerror(-err));
	if (err == -ENOEXEC)
		return filter_wrong(n->why, "file '%s' is not an ELF file: it has no "
				    "functions", n->file);
	return filter_wrong(n->why, "cannot read file '%s': %s", n->file, strerror(-err));
}

/* The functions of `file`, which is taken; those of the last one are kept. */
static int load_table(struct names *n, char *file)
{
	int err;

	if (n->loaded && !strcmp(n->file ? n->file : "", file ? file : "")) {
		free(file);
		return 0;
	}
	pio_symtab_done(&n->tab);
	free(n->file);
	n->file = file;
	n->loaded = false;
	err = file ? pio_symtab_elf(&n->tab, file, NULL)
		   : pio_symtab_kernel(&n->tab, n->sys);
	if (err)
		return refuse_table(n, err);
	n->loaded = true;
	return 0;
}

static int refuse_missing(struct names *n, const struct operand *o, size_t found)
{
	char where[PATH_MAX + 2];

	place(n, where, sizeof(where));
	if (!n->tab.n)
		return filter_wrong(n->why, "no function '%s': %s has no symbols",
				    o->name, where);
	if (o->nth == GLOBAL)
		filter_wrong(n->why, "no global function '%s' in %s", o->name, where);
	else if (o->nth > 0 && found)
		filter_wrong(n->why, "no function '%s #%ld' in %s, which has %zu of that "
			     "name", o->name, o->nth, where, found);
	else
		filter_wrong(n->why, "no function '%s' in %s", o->name, where);
	if (o->name[strcspn(o->name, "/@,#")])
		filter_more(n->why, "a function's name ends with a blank, also before / "
			    "and @ and #");
	return -EINVAL;
}

static int refuse_ambiguous(struct names *n, const struct operand *o, size_t found)
{
	char where[PATH_MAX + 2];
	size_t k = 0;

	filter_wrong(n->why, "%zu functions are named '%s' in %s", found, o->name,
		     place(n, where, sizeof(where)));
	for (size_t i = 0; i < n->tab.n && k < LISTED_MAX; i++) {
		const struct pio_sym *s = &n->tab.sym[i];

		if (strcmp(s->name, o->name))
			continue;
		k++;
		filter_more(n->why, "#%zu 0x%llx %c %s%s%s", k, (unsigned long long)s->at,
			    s->kind, s->name, i + 1 < n->tab.n ? ", before " : "",
			    i + 1 < n->tab.n ? s[1].name : "");
	}
	if (found > k)
		filter_more(n->why, "and %zu more", found - k);
	filter_more(n->why, "choose one with #N behind the name, as in '%s #2', or the "
		    "global one with #g", o->name);
	return -EINVAL;
}

static int find(struct names *n, const struct operand *o, const struct pio_sym **ret)
{
	const struct pio_sym *chosen = NULL;
	size_t found = 0, fit = 0;

	for (size_t i = 0; i < n->tab.n; i++) {
		const struct pio_sym *s = &n->tab.sym[i];

		if (strcmp(s->name, o->name))
			continue;
		found++;
		if (o->nth > 0 ? found == (size_t)o->nth : o->nth == ANY || s->global) {
			fit++;
			chosen = s;
		}
	}
	if (!fit)
		return refuse_missing(n, o, found);
	if (fit > 1)
		return refuse_ambiguous(n, o, found);
	*ret = chosen;
	return 0;
}

static int refuse_sizeless(struct names *n, const char *name)
{
	return filter_wrong(n->why, "the end of function '%s' is not known: give a size",
			    name);
}

static int look_up_end(struct names *n, const struct operand *to, struct filter_item *ret)
{
	const struct pio_sym *s;
	int err = find(n, to, &s);

	if (err)
		return err;
	if (!s->size)
		return refuse_sizeless(n, to->name);
	if (s->at + s->size <= ret->at)
		return filter_wrong(n->why, "function '%s' (0x%llx) ends before the "
				    "start (0x%llx)", to->name, (unsigned long long)s->at,
				    (unsigned long long)ret->at);
	ret->size = s->at + s->size - ret->at;
	return 0;
}

static int look_up(struct names *n, const struct term *t, struct filter_item *ret)
{
	const struct pio_sym *s;
	int err;

	if (t->from.name && !strcmp(t->from.name, "*")) {
		ret->at = n->tab.start;
		ret->size = n->tab.end - n->tab.start;
		return 0;
	}
	if (t->from.name) {
		err = find(n, &t->from, &s);
		if (err)
			return err;
		ret->at = s->at;
		if (t->range && !t->sized)
			ret->size = s->size;
		if (t->range && !t->sized && !s->size)
			return refuse_sizeless(n, t->from.name);
	}
	return t->to.name ? look_up_end(n, &t->to, ret) : 0;
}

int filter_resolve(struct names *n, const struct term *t, struct filter_item *ret)
{
	struct filter_item out = { .action = t->action, .at = t->from.number };
	char *file = NULL;
	int err = 0;

	if (t->sized && !t->to.name)
		out.size = t->to.number;
	if (t->file)
		err = real_file(n, t->file, &out.file);
	if (!err && out.file && !(file = strdup(out.file)))
		err = -ENOMEM;
	if (err)
		goto out;
	if (t->from.name || t->to.name) {
		err = load_table(n, file);
		if (!err)
			err = look_up(n, t, &out);
	} else {
		free(file);
	}
	if (!err && t->range && !out.size)
		err = filter_wrong(n->why, "address 0x%llx needs a size: ADDR/SIZE",
				   (unsigned long long)out.at);
	if (!err && out.at + out.size < out.at)
		err = filter_wrong(n->why, "0x%llx/0x%llx is more than there are "
				   "addresses", (unsigned long long)out.at,
				   (unsigned long long)out.size);
	if (err)
		goto out;
	*ret = out;
	return 0;
out:
	free(out.file);
	return err;
}

void filter_names_done(struct names *n)
{
	pio_symtab_done(&n->tab);
	free(n->file);
	n->file = NULL;
	n->loaded = false;
}
