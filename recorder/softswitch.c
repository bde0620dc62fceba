/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/softswitch.h"

#include <string.h>

#include "format/abi.h"
#include "format/record.h"
#include "recorder/session.h"

int softswitch_setup(struct session *s)
{
	if (!s->source.soft || !s->plan.has_switches)
		return 0;
	if (s->cfg->snapshot) /* as much beside the trace as a ring would take */
		s->switches.keep = plan_flight_len(&s->plan) / PLAN_SWITCH_PARTS;
	return fold_new(&s->switches.fold);
}

void softswitch_done(struct session *s)
{
	fold_free(s->switches.fold);
	fmt_buf_done(&s->switches.kept);
	s->switches = (struct softswitch){ 0 };
}

/* The last round has all there is: nothing is recorded any more. */
void softswitch_begin(struct session *s)
{
	if (s->switches.fold)
		s->switches.until = s->off_ns ? UINT64_MAX
					      : session_time(s, soft_ticks(s->source.soft));
}

static int take_stops(struct session *s)
{
	const struct soft_stop *v;
	size_t n = soft_stops_peek(s->source.soft, &v);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = fold_stop(s->switches.fold, (uint32_t)v[i].tid, session_time(s, v[i].ticks));
	soft_stops_release(s->source.soft);
	return err;
}

static bool stands(void *ctx, uint32_t tid)
{
	struct session *s = ctx;

	return soft_stands(s->source.soft, (pid_t)tid);
}

/* A flight forgets what is older than its rings would hold. */
static void forget(struct softswitch *w)
{
	size_t n = w->kept.len - w->keep;

	if (w->kept.len < 2 * w->keep)
		return;
	n -= n % FOLD_REC_SIZE;
	memmove(w->kept.data, w->kept.data + n, w->kept.len - n);
	w->kept.len -= n;
	w->told -= w->told < n ? w->told : n;
}

int softswitch_end(struct session *s)
{
	struct softswitch *w = &s->switches;
	int err;

	if (!w->fold)
		return 0;
	if (w->keep)
		forget(w);
	else
		fmt_buf_reset(&w->kept);
	err = take_stops(s);
	return err ? err : fold_turn(w->fold, w->until, stands, s, &w->kept);
}

struct counts {
	struct session *s;
	struct fmt_buf *to;
};

static void put_count(void *ctx, const struct fold_count *c)
{
	const struct counts *w = ctx;
	struct session *s = w->s;
	const struct pio_event *e = &s->set.ev[s->plan.switches];
	struct fmt_trailer t = { .pid = c->pid, .tid = c->tid, .time = s->ledger.last_ns,
				 .id = e->fd[0].id };

	fmt_put_read(w->to, c->pid, c->tid, c->pairs, e->attr.read_format, &t);
	ledger_count(&s->ledger, FMT_REC_READ);
	s->switches.pairs += c->pairs;
}

static void put_counts(struct session *s, struct fmt_buf *to)
{
	struct counts w = { s, to };

	fold_counts(s->switches.fold, put_count, &w);
	if (!s->flight.own)
		fold_begin_counts(s->switches.fold);
}

int softswitch_put_newest(struct session *s, struct fmt_buf *to)
{
	struct softswitch *w = &s->switches;
	size_t at = s->flight.own ? 0 : w->told;

	while (at < w->kept.len && fold_time(w->kept.data + at) < s->flight.from_ns)
		at += FOLD_REC_SIZE;
	fmt_put(to, w->kept.data + at, w->kept.len - at);
	if (!s->flight.own)
		w->told = w->kept.len;
	put_counts(s, to);
	return to->err;
}

int softswitch_put_counts(struct session *s)
{
	if (!s->switches.fold)
		return 0;
	put_counts(s, &s->buf);
	return drain_put(s);
}
