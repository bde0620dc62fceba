/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of findings, and the list of what was found. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "recorder/check_priv.h"

static const struct {
	const char *name;
	enum check_severity severity;
} kinds[CHECK_NR_KINDS] = {
	[CHECK_HEADER] = { "header", CHECK_DAMAGE },
	[CHECK_BROKEN] = { "broken", CHECK_DAMAGE },
	[CHECK_CUT] = { "cut", CHECK_DAMAGE },
	[CHECK_OVERLAP] = { "overlap", CHECK_DAMAGE },
	[CHECK_UNFINISHED] = { "unfinished", CHECK_LOSS },
	[CHECK_TRAILING] = { "trailing", CHECK_REMARK },

	[CHECK_LAYOUT] = { "layout", CHECK_DAMAGE },
	[CHECK_ID_ZERO] = { "id-zero", CHECK_DAMAGE },
	[CHECK_ID_TWICE] = { "id-twice", CHECK_DAMAGE },
	[CHECK_ID_INDEX] = { "id-index", CHECK_DAMAGE },
	[CHECK_NO_IDS] = { "no-ids", CHECK_REMARK },
	[CHECK_NEW_ATTR] = { "new-attr", CHECK_REMARK },

	[CHECK_SHORT] = { "short", CHECK_DAMAGE },
	[CHECK_ODD] = { "odd", CHECK_DAMAGE },
	[CHECK_UNKNOWN_ID] = { "unknown-id", CHECK_DAMAGE },
	[CHECK_NO_EVENT] = { "no-event", CHECK_DAMAGE },
	[CHECK_HIDDEN_TRACE] = { "hidden-trace", CHECK_DAMAGE },
	[CHECK_LEFT_OVER] = { "left-over", CHECK_REMARK },
	[CHECK_MISALIGNED] = { "misaligned", CHECK_REMARK },
	[CHECK_UNKNOWN_TYPE] = { "unknown-type", CHECK_REMARK },
	[CHECK_LOST] = { "lost", CHECK_LOSS },
	[CHECK_LOST_SAMPLES] = { "lost-samples", CHECK_LOSS },

	[CHECK_LATE] = { "late", CHECK_DAMAGE },
	[CHECK_UNSORTED] = { "unsorted", CHECK_REMARK },
	[CHECK_BACKWARDS] = { "backwards", CHECK_REMARK },

	[CHECK_SWITCH_KIND] = { "switch-kind", CHECK_DAMAGE },
	[CHECK_SWITCH_LOST] = { "switch-lost", CHECK_LOSS },
	[CHECK_SWITCH_GAP] = { "switch-gap", CHECK_REMARK },

	[CHECK_AUX_INFO] = { "aux-info", CHECK_DAMAGE },
	[CHECK_NO_AUX_INFO] = { "no-aux-info", CHECK_DAMAGE },
	[CHECK_MIXED_QUEUE] = { "mixed-queue", CHECK_DAMAGE },
	[CHECK_AUX_OVERLAP] = { "aux-overlap", CHECK_DAMAGE },
	[CHECK_AUX_TRUNCATED] = { "aux-truncated", CHECK_LOSS },
	[CHECK_AUX_PARTIAL] = { "aux-partial", CHECK_LOSS },
	[CHECK_AUX_COLLISION] = { "aux-collision", CHECK_LOSS },
	[CHECK_AUX_ERROR] = { "aux-error", CHECK_LOSS },
	[CHECK_AUX_ABSENT] = { "aux-absent", CHECK_LOSS },
	[CHECK_AUX_GAP] = { "aux-gap", CHECK_LOSS },
	[CHECK_AUX_UNANNOUNCED] = { "aux-unannounced", CHECK_REMARK },
	[CHECK_AUX_FLAGS] = { "aux-flags", CHECK_REMARK },
	[CHECK_AUX_AGAIN] = { "aux-again", CHECK_REMARK },
	[CHECK_TIMELESS] = { "timeless", CHECK_REMARK },

	[CHECK_INDEX_FOREIGN] = { "index-foreign", CHECK_DAMAGE },
	[CHECK_INDEX_MISSING] = { "index-missing", CHECK_DAMAGE },
	[CHECK_INDEX_TWICE] = { "index-twice", CHECK_DAMAGE },
	[CHECK_NO_INDEX] = { "no-index", CHECK_REMARK },

	[CHECK_FEATURE] = { "feature", CHECK_DAMAGE },
	[CHECK_EVENT_DESC] = { "event-desc", CHECK_DAMAGE },
	[CHECK_GROUP_DESC] = { "group-desc", CHECK_DAMAGE },
	[CHECK_COMPRESSED] = { "compressed", CHECK_DAMAGE },
	[CHECK_EMPTY_FEATURE] = { "empty-feature", CHECK_REMARK },
	[CHECK_UNKNOWN_FEATURE] = { "unknown-feature", CHECK_REMARK },
	[CHECK_NO_TRACING_DATA] = { "no-tracing-data", CHECK_REMARK },
	[CHECK_OUTSIDE_TIME] = { "outside-time", CHECK_REMARK },
	[CHECK_BUILD_ID] = { "build-id", CHECK_REMARK },

	[CHECK_KCORE] = { "kcore", CHECK_DAMAGE },
	[CHECK_PART_MISSING] = { "part-missing", CHECK_DAMAGE },
	[CHECK_PARTS] = { "parts", CHECK_REMARK },

	[CHECK_LIMIT] = { "limit", CHECK_REMARK },
};

const char *check_kind_name(enum check_kind k)
{
	return kinds[k].name;
}

enum check_severity check_severity_of(enum check_kind k)
{
	return kinds[k].severity;
}

const char *check_severity_name(enum check_severity s)
{
	static const char *const names[] = { "remark", "loss", "damage" };

	return names[s];
}

void check_find(struct check *c, enum check_kind k, uint64_t at, const char *expected,
		const char *found, ...)
{
	struct check_found *f = &c->rep->found[k];
	va_list ap;

	if (f->n++)
		return;
	f->part = c->part;
	f->path = input_path_of(c->in, c->r);
	f->has_at = at != CHECK_NOWHERE;
	f->at = f->has_at ? at : 0;
	snprintf(f->expected, sizeof(f->expected), "%s", expected);
	va_start(ap, found);
	vsnprintf(f->found, sizeof(f->found), found, ap);
	va_end(ap);
}

void check_sum(struct check *c, enum check_kind k, uint64_t n)
{
	c->rep->found[k].sum += n;
}

const char *check_type(uint32_t type, char buf[24])
{
	const char *name = fmt_record_name(type);

	if (name)
		snprintf(buf, 24, "%s", name);
	else
		snprintf(buf, 24, "type %u", type);
	return buf;
}

void *check_new_row(struct check *c, struct check_map *m, uint64_t key)
{
	void *row;
	int got = check_map_row(m, key, CHECK_ROWS_MAX, &row);

	if (got >= 0)
		return row;
	if (got == -ENOMEM)
		c->err = got;
	else
		check_find(c, CHECK_LIMIT, CHECK_NOWHERE, "fewer, or not all is judged",
			   "more than %d cpus, queues, ids or names", CHECK_ROWS_MAX);
	return NULL;
}

enum check_severity check_verdict(const struct check_report *r)
{
	enum check_severity worst = CHECK_REMARK;

	for (enum check_kind k = 0; k < CHECK_NR_KINDS; k++)
		if (r->found[k].n && kinds[k].severity > worst)
			worst = kinds[k].severity;
	return worst;
}

static int by_weight(const void *a, const void *b, void *report)
{
	enum check_kind x = *(const enum check_kind *)a, y = *(const enum check_kind *)b;
	const struct check_found *f = ((const struct check_report *)report)->found + x;
	const struct check_found *g = ((const struct check_report *)report)->found + y;

	if (kinds[x].severity != kinds[y].severity)
		return kinds[x].severity > kinds[y].severity ? -1 : 1;
	if (f->has_at != g->has_at)
		return f->has_at ? -1 : 1;
	if (f->part != g->part)
		return f->part < g->part ? -1 : 1;
	if (f->at != g->at)
		return f->at < g->at ? -1 : 1;
	return x < y ? -1 : x > y;
}

void check_order(const struct check_report *r, enum check_kind order[CHECK_NR_KINDS],
		 size_t *ret_n)
{
	size_t n = 0;

	for (enum check_kind k = 0; k < CHECK_NR_KINDS; k++)
		if (r->found[k].n)
			order[n++] = k;
	qsort_r(order, n, sizeof(*order), by_weight, (void *)(uintptr_t)r);
	*ret_n = n;
}
