/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/softfilter.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static enum soft_filter_kind kind_of(const struct filter_item *i)
{
	switch (i->action) {
	case FILTER_START:
		return SOFT_FILTER_START;
	case FILTER_STOP:
		return i->size ? SOFT_FILTER_TRACESTOP : SOFT_FILTER_STOP;
	default:
		return SOFT_FILTER_RANGE;
	}
}

int softfilter_make(struct soft_filter **ret, const struct filter *f, const char **what)
{
	struct soft_filter *v = calloc(f->n + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++) {
		const struct filter_item *from = &f->item[i];
		struct stat st;

		*what = from->file;
		if (stat(from->file, &st)) {
			free(v);
			return -errno;
		}
		v[i] = (struct soft_filter){ .kind = kind_of(from), .at = from->at,
					     .size = from->size, .dev = st.st_dev,
					     .ino = st.st_ino, .path = from->file };
	}
	*ret = v;
	return 0;
}

const char *softfilter_text(const struct filter *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->item[i].action == FILTER_START || !f->item[i].size)
			return NULL;
	return f->text;
}
