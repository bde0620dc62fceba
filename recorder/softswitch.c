/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/softswitch.h"

#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/ptcut.h"
#include "format/record.h"
#include "recorder/session.h"

enum { TRAILER_TIME = 24 }; /* from the end: format/record.h */
enum { FIRST_LOOK = 65536 }; /* bytes of a queue, for the first PSB */

/* The id that the kernel would tell switches of the cpu by. */
static uint64_t id_on(const struct session *s, int cpu)
{
	const struct pio_event *e = &s->set.ev[s->plan.switches];

	for (size_t i = 0; i < e->nr_fd; i++)
		if (e->fd[i].cpu == cpu)
			return e->fd[i].id;
	return e->fd[0].id;
}

static int set_up_cpus(struct session *s)
{
	int err = cpuswitch_new(&s->switches.cpus);
	struct soft_queue q;

	for (size_t i = 0; i < soft_nr_queues(s->source.soft) && !err; i++) {
		(void)soft_queue_kept(s->source.soft, i, &q);
		err = cpuswitch_add_cpu(s->switches.cpus, q.cpu, id_on(s, q.cpu));
	}
	return err;
}

int softswitch_setup(struct session *s)
{
	int err;

	if (!s->source.soft || !s->plan.has_switches)
		return 0;
	if (s->cfg->snapshot) /* as much beside the trace as a ring would take */
		s->switches.keep = plan_flight_len(&s->plan) / PLAN_SWITCH_PARTS;
	err = fold_new(&s->switches.fold);
	if (!err && s->cfg->per_cpu)
		err = set_up_cpus(s);
	return err;
}

void softswitch_done(struct session *s)
{
	fold_free(s->switches.fold);
	cpuswitch_free(s->switches.cpus);
	fmt_buf_done(&s->switches.ours);
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

static int take_note(struct session *s, const struct soft_note *n)
{
	uint64_t ns = session_time(s, n->ticks);
	struct cpuswitch_change x = {
		.cpu = n->cpu, .pid = (uint32_t)n->pid, .tid = (uint32_t)n->tid, .out = ns,
		.in = session_time(s, n->ticks + SOFT_CHANGE_TICKS / 2),
	};

	if (n->cpu < 0)
		return fold_stop(s->switches.fold, (uint32_t)n->tid, ns);
	return cpuswitch_change(s->switches.cpus, &x);
}

static int take_notes(struct session *s)
{
	const struct soft_note *v;
	size_t n = soft_notes_peek(s->source.soft, &v);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = take_note(s, &v[i]);
	soft_notes_release(s->source.soft);
	return err;
}

static bool stands(void *ctx, uint32_t tid)
{
	struct session *s = ctx;

	return soft_stands(s->source.soft, (pid_t)tid);
}

/* What is kept or forgotten as one. */
static size_t whole(const struct softswitch *w)
{
	return w->cpus ? CPUSWITCH_PAIR_SIZE : FOLD_REC_SIZE;
}

/* Where the trace that queue i holds can be read from, UINT64_MAX where it cannot; 0: no memory to
 * look for it. */
static uint64_t trace_begins(const struct session *s, size_t i)
{
	uint64_t ticks = soft_ticks(s->source.soft), begin, found = UINT64_MAX;
	struct soft_queue q;
	size_t held = soft_queue_kept(s->source.soft, i, &q);

	for (size_t n = FIRST_LOOK, seen = 0; seen < held && found == UINT64_MAX; n *= 2) {
		struct iovec v = { malloc(n), 0 };

		if (!v.iov_base)
			return 0;
		seen = v.iov_len = soft_queue_copy(s->source.soft, i, q.offset, v.iov_base, n);
		if (fmt_pt_begin(&v, 1, &begin))
			found = session_time(s, ticks - fmt_pt_ago(ticks, begin));
		free(v.iov_base);
	}
	return found;
}

/* The first n bytes, but for those that tell whose the trace is: how many stay. */
static size_t forget_by_cpu(struct session *s, size_t n)
{
	struct softswitch *w = &s->switches;
	size_t nr = cpuswitch_nr_cpus(w->cpus), stay = n;
	uint64_t *from = calloc(nr, sizeof(*from));

	for (size_t i = 0; from && i < nr; i++)
		from[i] = trace_begins(s, i);
	if (from)
		stay = cpuswitch_forget(w->cpus, w->kept.data, n, from, &w->told);
	free(from);
	return stay;
}

/* A flight forgets what is older than its rings would hold. */
static void forget(struct session *s)
{
	struct softswitch *w = &s->switches;
	size_t n = w->kept.len - w->keep;

	if (w->kept.len < w->older + 2 * w->keep)
		return;
	n -= n % whole(w);
	if (w->cpus)
		w->older = forget_by_cpu(s, n);
	else
		w->told -= w->told < n ? w->told : n;
	memmove(w->kept.data + w->older, w->kept.data + n, w->kept.len - n);
	w->kept.len -= n - w->older;
}

static int fold_by_cpu(struct session *s)
{
	struct softswitch *w = &s->switches;
	int err;

	fmt_buf_reset(&w->ours);
	err = fold_turn(w->fold, w->until, stands, s, &w->ours);
	return err ? err : cpuswitch_turn(w->cpus, w->ours.data, w->ours.len, &w->kept);
}

int softswitch_end(struct session *s)
{
	struct softswitch *w = &s->switches;
	int err;

	if (!w->fold)
		return 0;
	if (w->keep)
		forget(s);
	else
		fmt_buf_reset(&w->kept);
	err = take_notes(s);
	if (err)
		return err;
	return w->cpus ? fold_by_cpu(s) : fold_turn(w->fold, w->until, stands, s, &w->kept);
}

static uint64_t time_of(const struct softswitch *w, size_t at)
{
	return le_get(w->kept.data + at + whole(w) - TRAILER_TIME, 8);
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

/* A snapshot's, of which the first n bytes are older than it is to be. Its trace begins with a PSB
 * before that, of the thread that was on then. */
static size_t join_by_cpu(struct session *s, uint8_t *rec, size_t size, size_t n)
{
	struct softswitch *w = &s->switches;
	size_t nr = cpuswitch_nr_cpus(w->cpus), stay = n, none = 0;
	uint64_t *from = n ? calloc(nr, sizeof(*from)) : NULL;

	for (size_t i = 0; from && i < nr; i++)
		from[i] = s->flight.from_ns;
	if (from)
		stay = cpuswitch_forget(w->cpus, rec, n, from, &none);
	free(from);
	memmove(rec + stay, rec + n, size - n);
	return cpuswitch_join(w->cpus, rec, size - n + stay, s->flight.own);
}

int softswitch_put_newest(struct session *s, struct fmt_buf *to)
{
	struct softswitch *w = &s->switches;
	size_t first = s->flight.own ? 0 : w->told, at = first, n = to->len;

	while (at < w->kept.len && time_of(w, at) < s->flight.from_ns)
		at += whole(w);
	if (!w->cpus)
		first = at;
	fmt_put(to, w->kept.data + first, w->kept.len - first);
	if (w->cpus && !to->err)
		to->len = n + join_by_cpu(s, to->data + n, to->len - n, at - first);
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
