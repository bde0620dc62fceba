/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EVENT_DESC and GROUP_DESC against the events: what the first says twice must agree, and
 * the groups of the second must be made of events that are there.
 */
#include <inttypes.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"
#include "recorder/check_priv.h"
#include "recorder/check_section.h"

static uint64_t place(const struct check *c, const struct check_section *s)
{
	return (uint64_t)(s->p - c->in->r.p) + s->at;
}

/* Recorders clear in the copy what old readers would stumble over, so the parts of an
 * attr that say what is counted and how samples look are compared, and not its flags. */
static void same_attr(struct check *c, const struct check_section *s, size_t i,
		      uint64_t size)
{
	const struct fmt_reader_event *e = &c->in->r.events[i];
	const uint8_t *p = s->p + s->at;

	if (size < 64)
		return;
	if (fmt_attr_type(p, 64) != fmt_attr_type(e->attr, e->attr_size) ||
	    fmt_attr_config(p, 64) != fmt_attr_config(e->attr, e->attr_size) ||
	    fmt_attr_sample_type(p, 64) != fmt_attr_sample_type(e->attr, e->attr_size))
		check_find(c, CHECK_EVENT_DESC, place(c, s),
			   "type, config and sample_type as in the attrs section",
			   "event %zu with others", i);
}

static void same_ids(struct check *c, struct check_section *s, size_t i, uint64_t n)
{
	const struct fmt_reader_event *e = &c->in->r.events[i];
	uint64_t at = place(c, s), id;

	if (n != e->nr_ids)
		check_find(c, CHECK_EVENT_DESC, at, "as many ids as in the attrs section",
			   "event %zu with %" PRIu64 " ids, and %zu there", i, n,
			   e->nr_ids);
	for (uint64_t k = 0; k < n && !s->bad; k++) {
		id = check_take(s, 8, "");
		if (k < e->nr_ids && id != le_get64(e->ids + 8 * k))
			check_find(c, CHECK_EVENT_DESC, at + 8 * k,
				   "the ids of the attrs section",
				   "id %" PRIu64 " of event %zu", id, i);
	}
}

static void events(struct check *c)
{
	struct check_section s = { 0 };
	uint64_t n, size, ids;

	if (fmt_reader_feature(c->r, FMT_FEAT_EVENT_DESC, &s.p, &s.len))
		return;
	n = check_take(&s, 4, "");
	size = check_take(&s, 4, "");
	if (!s.bad && n != c->r->nr_events && !c->r->pipe)
		check_find(c, CHECK_EVENT_DESC, place(c, &s) - 8,
			   "as many as there are events",
			   "%" PRIu64 " descriptions, and %zu events", n,
			   c->r->nr_events);
	for (size_t i = 0; i < n && i < c->r->nr_events && !s.bad; i++) {
		if (size <= s.len - s.at)
			same_attr(c, &s, i, size);
		check_skip(&s, size, "");
		ids = check_take(&s, 4, "");
		check_text(&s);
		if (ids <= (s.len - s.at) / 8)
			same_ids(c, &s, i, ids);
	}
}

static void groups(struct check *c)
{
	struct check_section s = { 0 };
	uint64_t n, leader, members, end = 0, at;

	if (fmt_reader_feature(c->r, FMT_FEAT_GROUP_DESC, &s.p, &s.len))
		return;
	n = check_take(&s, 4, "");
	for (; n && !s.bad; n--) {
		check_text(&s);
		at = place(c, &s);
		leader = check_take(&s, 4, "");
		members = check_take(&s, 4, "");
		if (s.bad)
			break;
		if (leader < end || !members || leader >= c->r->nr_events ||
		    members > c->r->nr_events - leader)
			check_find(c, CHECK_GROUP_DESC, at,
				   "a leader and members among the events, behind other "
				   "groups",
				   "a group of %" PRIu64 " from event %" PRIu64
				   " on, of %zu",
				   members, leader, c->r->nr_events);
		end = leader + members;
	}
}

static void sample_times(struct check *c)
{
	const struct check_times *t = &c->times;
	const uint8_t *p;
	uint64_t len, first, last;

	if (fmt_reader_feature(c->r, FMT_FEAT_SAMPLE_TIME, &p, &len) || len < 16)
		return;
	first = le_get64(p);
	last = le_get64(p + 8);
	/* Both 0: a recorder that looked at no sample. */
	if (last && t->first_sample && (t->first_sample < first || t->last_sample > last))
		check_find(c, CHECK_OUTSIDE_TIME, (uint64_t)(p - c->r->p),
			   "times that cover all samples",
			   "feature 'sample time' from %" PRIu64 " to %" PRIu64
			   ", samples from %" PRIu64 " to %" PRIu64, first, last,
			   t->first_sample, t->last_sample);
}

void check_descriptions(struct check *c)
{
	events(c);
	groups(c);
	sample_times(c);
}
