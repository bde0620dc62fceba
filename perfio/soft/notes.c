/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/notes.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

void soft_notes_add(struct soft_notes *s, const struct soft_note *n)
{
	size_t cap = s->cap ? 2 * s->cap : FIRST_ROOM;
	struct soft_note *v = s->v;

	if (s->n == s->cap) {
		v = realloc(s->v, cap * sizeof(*v));
		if (!v)
			return;
		s->v = v;
		s->cap = cap;
	}
	v[s->n++] = *n;
}

void soft_notes_done(struct soft_notes *s)
{
	free(s->v);
	*s = (struct soft_notes){ 0 };
}
