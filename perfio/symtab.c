/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pio_symtab_add(struct pio_symtab *t, size_t *cap, const struct pio_sym *s)
{
	if (s->name && t->n == *cap) {
		size_t more = *cap * 2 + 256;
		struct pio_sym *sym = reallocarray(t->sym, more, sizeof(*sym));

		if (!sym) {
			free(s->name);
			return -ENOMEM;
		}
		t->sym = sym;
		*cap = more;
	}
	if (!s->name)
		return -ENOMEM;
	t->sym[t->n++] = *s;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct pio_sym *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return strcmp(x->name, y->name);
}

void pio_symtab_sort(struct pio_symtab *t)
{
	size_t n = 0;

	if (t->n)
		qsort(t->sym, t->n, sizeof(*t->sym), by_place);
	for (size_t i = 0; i < t->n; i++) {
		if (n && !by_place(&t->sym[n - 1], &t->sym[i]))
			free(t->sym[i].name);
		else
			t->sym[n++] = t->sym[i];
	}
	t->n = n;
}

void pio_symtab_done(struct pio_symtab *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->sym[i].name);
	free(t->sym);
	*t = (struct pio_symtab){ 0 };
}
