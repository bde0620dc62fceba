/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/session.h"

#include <stdio.h>
#include <string.h>

#include "format/abi.h"
#include "recorder/line.h"
#include "recorder/log.h"
#include "recorder/units.h"

static const char *target(const struct session *s, char *buf, size_t size)
{
	char cpus[128] = "?";

	if (s->plan.system_wide) {
		if (pio_cpus_format(&s->plan.cpus, cpus, sizeof(cpus)) < 0)
			snprintf(cpus, sizeof(cpus), "%zu of them", s->plan.cpus.n);
		snprintf(buf, size, "all tasks on cpus %s", cpus);
	} else if (s->cfg->follow) {
		snprintf(buf, size, "'%s' and its children", s->cfg->command[0]);
	} else if (s->cfg->nr_pids) {
		snprintf(buf, size, "%zu process%s (%zu threads now)", s->cfg->nr_pids,
			 s->cfg->nr_pids == 1 ? "" : "es", s->cfg->nr_tids);
	} else {
		snprintf(buf, size, "%zu thread%s", s->cfg->nr_tids,
			 s->cfg->nr_tids == 1 ? "" : "s");
	}
	return buf;
}

/* "524288 data + 4194304 newest records + 0 AUX" */
static const char *sizes(struct line *l, const struct plan_sizes *z)
{
	line_add(l, "%zu data + ", z->data_len);
	if (z->newest_len)
		line_add(l, "%zu newest records + ", z->newest_len);
	line_add(l, "%zu AUX", z->aux_len);
	return l->s;
}

static void report_rings(const struct session *s)
{
	const struct plan_sizes now = plan_sizes(&s->plan);
	struct line is = { 0 }, was = { 0 };

	sizes(&is, &now);
	if (s->plan.shrunk)
		log_info("rings made smaller to fit the memlock budget of %llu bytes: %zu x (%s), "
			 "not (%s)",
			 (unsigned long long)pio_limits_mlock_budget(&s->plan.limits),
			 s->set.nr_place, is.s, sizes(&was, &s->plan.wanted));
	log_debug("rings: %zu x (%s bytes)", s->set.nr_place, is.s);
}

void report_start(const struct session *s)
{
	static const char *const what[] = {
		[SOURCE_KERNEL] = "AUX trace and context switches",
		[SOURCE_SOFT] = "a software Intel PT trace",
		[SOURCE_NONE] = "context switches",
	};
	char who[256];

	log_info("recording %s of %s (source %s: %s)", what[s->plan.source],
		 target(s, who, sizeof(who)), source_names[s->plan.source], s->plan.why);
	if (s->plan.source == SOURCE_SOFT)
		log_info("the program %s%s: expect it to run %s of times slower%s",
			 s->cfg->soft_step ? "stops at every instruction"
					   : "is led from branch to branch",
			 s->plan.filter.n ? " where the filter lets it be traced" : "",
			 s->cfg->soft_step ? "thousands" : "hundreds",
			 s->plan.filter.n ? " there" : "");
	if (s->plan.nr_tracepoint)
		log_info("with %zu tracepoint%s", s->plan.nr_tracepoint,
			 s->plan.nr_tracepoint == 1 ? "" : "s");
	for (size_t i = 0; i < s->cfg->nr_events; i++)
		if (s->cfg->events[i].counter)
			log_info("with samples of '%s'", s->cfg->events[i].text);
	report_rings(s);
	window_say(s);
	log_debug("already running: %zu processes, %zu threads, %zu maps, %zu modules; %zu "
		  "skipped", s->synth.processes, s->synth.threads, s->synth.maps,
		  s->synth.modules, s->synth.skipped);
	if (s->synth.kernel_hidden)
		log_debug("kernel addresses are hidden (kernel.kptr_restrict): no kernel map");
}

/* Seconds from the moment that events were enabled, if it ever came. */
static double recorded(const struct session *s, uint64_t until_ns)
{
	return s->on_ns ? (double)(until_ns - s->on_ns) / 1e9 : 0;
}

/* ", about 1,200 times slower than one instruction a cycle", or "". */
static const char *slowdown(const struct soft_stats *st, char buf[96])
{
	char times[32];

	*buf = '\0';
	if (st->instructions)
		snprintf(buf, 96, ", about %s times slower than one instruction a cycle",
			 units_times(session_slowdown(st), times));
	return buf;
}

static double per_second(uint64_t n, double seconds)
{
	return seconds > 0 ? (double)n / seconds : 0;
}

void report_status(const struct session *s)
{
	struct ledger_losses l = ledger_sum(&s->ledger);
	double seconds = recorded(s, session_now());
	struct line line = { 0 };
	struct soft_stats st;
	char buf[16], slow[96];

	if (!log_has_status() || s->flight.table)
		return;
	line_add(&line, "%.1f s  %s written  lost: %llu records, %llu AUX cuts", seconds,
		 units_bytes(recfile_bytes(s), buf), (unsigned long long)(l.lost + l.lost_samples),
		 (unsigned long long)(l.truncated + l.partial + l.collision));
	if (s->plan.source != SOURCE_NONE)
		line_add(&line, "  %s AUX", units_bytes(l.aux_bytes, buf));
	if (s->source.soft) {
		soft_stats(s->source.soft, &st);
		line_add(&line, "  %llu instructions (%.0f k/s%s)  %llu threads",
			 (unsigned long long)st.instructions,
			 per_second(st.instructions, seconds) / 1e3, slowdown(&st, slow),
			 (unsigned long long)st.live);
	}
	log_status(line.s);
}

static bool report_row(const struct ledger_row *r)
{
	char bytes[16], who[32];
	struct line line = { 0 };

	if (r->cpu >= 0)
		snprintf(who, sizeof(who), "cpu %d", r->cpu);
	else
		snprintf(who, sizeof(who), "thread %d", r->tid);
	if (r->aux_bytes)
		line_add(&line, " %s AUX in %llu chunks", units_bytes(r->aux_bytes, bytes),
			 (unsigned long long)r->aux_chunks);
	if (r->lost)
		line_add(&line, " %llu records lost (ring full)", (unsigned long long)r->lost);
	if (r->lost_samples)
		line_add(&line, " %llu samples lost", (unsigned long long)r->lost_samples);
	if (r->truncated || r->partial || r->collision)
		line_add(&line, " AUX cut: %llu truncated (buffer full), %llu partial, "
				"%llu collisions", (unsigned long long)r->truncated,
			 (unsigned long long)r->partial, (unsigned long long)r->collision);
	if (line.n)
		log_info("  %s:%s", who, line.s);
	return line.n;
}

/* A row for each cpu or thread; of very many, the first: info shows them all. */
static void report_rows(const struct ledger *l)
{
	enum { MOST = 32 };
	int shown = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (shown == MOST) {
			log_info("  ... and up to %zu more", l->n - i);
			return;
		}
		shown += report_row(&l->row[i]);
	}
}

static void report_zip(const struct fmt_zipped *z)
{
	char in[16], out[16];

	if (z->out)
		log_info("  %s of records compressed to %s (%.1f to 1)", units_bytes(z->in, in),
			 units_bytes(z->out, out), (double)z->in / (double)z->out);
}

static void add_loss(struct line *l, uint64_t n, const char *one, const char *many)
{
	if (n)
		line_add(l, "%s%llu %s", l->n ? ", " : "", (unsigned long long)n,
			 n == 1 ? one : many);
}

/* Processes that ran already and whose mappings are not in the file. */
static void report_hidden(const struct sideband_result *r)
{
	for (size_t i = 0; i < r->unreadable && i < SIDEBAND_HIDDEN_MAX; i++) {
		const struct sideband_hidden *h = &r->hidden[i];
		struct line line = { 0 };

		line_add(&line, "no maps of process %d (%s): %s", (int)h->pid, h->comm,
			 strerror(-h->err));
		line_make_safe(&line);
		log_hint("%s", line.s);
	}
	if (r->unreadable > SIDEBAND_HIDDEN_MAX)
		log_hint("... and of %zu more", r->unreadable - SIDEBAND_HIDDEN_MAX);
}

static void report_losses(const struct session *s, const struct ledger_losses *l)
{
	const struct ledger *g = &s->ledger;
	struct line line = { 0 };

	add_loss(&line, l->lost, "record", "records");
	add_loss(&line, l->lost_samples, "sample", "samples");
	add_loss(&line, l->truncated, "AUX truncation", "AUX truncations");
	add_loss(&line, l->partial, "partial AUX piece", "partial AUX pieces");
	add_loss(&line, l->collision, "AUX collision", "AUX collisions");
	add_loss(&line, g->dropped, "trace byte without memory", "trace bytes without memory");
	add_loss(&line, g->unexplained, "gap at an unexplained step",
		 "gaps at unexplained steps");
	add_loss(&line, g->untold, "protected program, whose mappings were not told",
		 "protected programs, whose mappings were not told");
	add_loss(&line, g->refused, "program not traced (of 32 bits, or not readable)",
		 "programs not traced (of 32 bits, or not readable)");
	add_loss(&line, g->rolled_back, "byte the output refused", "bytes the output refused");
	add_loss(&line, g->given_up, "record with them", "records with them");
	add_loss(&line, g->unjoined, "cpu that came online", "cpus that came online");
	add_loss(&line, g->unreadable, "process without maps", "processes without maps");
	if (line.n)
		log_warn("recorded with losses: %s", line.s);
	if (line.n || log_level >= 0)
		report_hidden(&s->synth);
}

/* What was written: one file, or the set of those that are there. */
static const char *names(const struct session *s, struct line *l)
{
	const struct fileset *f = &s->files;

	if (!f->made)
		line_add(l, "'%s'", s->cfg->output);
	if (!f->made)
		return l->s;
	if (f->made > 1)
		line_add(l, "%llu files, ", (unsigned long long)f->made);
	if (f->removed)
		line_add(l, "%llu of them removed, ", (unsigned long long)f->removed);
	if (strcmp(f->first, f->last))
		line_add(l, "'%s' to ", f->first);
	line_add(l, "'%s'", f->last);
	return l->s;
}

int report_stuck(const struct session *s, size_t place, int err, const char *when)
{
	const struct pio_place *p = &s->set.place[place];

	if (p->cpu < 0)
		return log_err(err, "cannot go on tracing thread %d%s", (int)p->tid, when);
	return log_err(err, "cannot go on tracing on cpu %d%s", p->cpu, when);
}

/* Snapshots in files of their own, which are not in the numbers of the recording's. */
static void report_named(const struct session *s)
{
	const struct written *w = &s->written;
	char bytes[16];

	if (w->named)
		log_info("wrote %llu %s by name: %s", (unsigned long long)w->named,
			 w->named > 1 ? "snapshots" : "snapshot",
			 units_bytes(w->named_bytes, bytes));
}

static void report_files(const struct session *s, double seconds)
{
	struct ledger_losses l = ledger_sum(&s->ledger);
	uint64_t switches = s->ledger.by_type[FMT_REC_SWITCH] +
			    s->ledger.by_type[FMT_REC_SWITCH_CPU_WIDE];
	struct line line = { 0 };
	char bytes[16], aux[16];

	log_info("%s %s: %s in %.2f s, %llu records (%llu switches, %llu samples), %s AUX",
		 s->out.stream ? "sent" : "wrote", names(s, &line),
		 units_bytes(s->written.bytes, bytes),
		 seconds, (unsigned long long)s->ledger.records,
		 (unsigned long long)switches,
		 (unsigned long long)s->ledger.by_type[FMT_REC_SAMPLE],
		 units_bytes(l.aux_bytes, aux));
}

static void report_code(const struct session *s, const struct soft_stats *st)
{
	char bytes[16];

	if (s->code.bytes)
		log_info("  code that is in no file: %s in '%s'",
			 units_bytes(s->code.bytes, bytes), s->code.dir);
	if (st->code_lost)
		log_info("  code that is in no file, and was not kept: met %llu times%s",
			 (unsigned long long)st->code_lost,
			 s->out.stream ? " (a stream has no place for it)" : "");
}

void report_end(const struct session *s)
{
	struct ledger_losses l = ledger_sum(&s->ledger);
	double seconds = recorded(s, s->off_ns);
	struct soft_stats st;
	char bytes[16], slow[96];

	if (s->flight.table && !s->flight.taken) {
		log_info("no snapshot was taken in %.2f s: nothing is written", seconds);
		return;
	}
	report_named(s);
	if (!s->flight.table || s->flight.begun || s->files.made)
		report_files(s, seconds);
	report_zip(&s->written.zipped);
	if (s->rotation.longest_ns)
		log_debug("  a new file was begun in at most %s",
			  units_time(s->rotation.longest_ns, bytes));
	if (s->rotation.pause_ns)
		log_debug("  no trace was halted for that for longer than %s",
			  units_time(s->rotation.pause_ns, bytes));
	if (s->source.soft) {
		soft_stats(s->source.soft, &st);
		log_info("  %llu instructions of %llu threads in %llu processes, %.0f per second%s",
			 (unsigned long long)st.instructions, (unsigned long long)st.threads,
			 (unsigned long long)st.processes,
			 per_second(st.instructions, seconds), slowdown(&st, slow));
		log_debug("  %llu stops: after %llu runs to a branch, %llu single steps",
			  (unsigned long long)st.stops, (unsigned long long)st.runs,
			  (unsigned long long)st.steps);
		if (s->switches.fold)
			log_debug("  %llu pairs of switches that the stops made are left out",
				  (unsigned long long)s->switches.pairs);
		if (st.unexplained)
			log_info("  %llu times a thread was not where its instructions led: the "
				 "trace has gaps there", (unsigned long long)st.unexplained);
		report_code(s, &st);
		if (st.withheld)
			log_info("  %llu time%s a program ran without its set-ID or capability "
				 "rights, because it was traced",
				 (unsigned long long)st.withheld, st.withheld == 1 ? "" : "s");
		if (st.forgotten)
			log_info("  of %llu threads that had ended nothing was left: the newest "
				 "%d windows are kept", (unsigned long long)st.forgotten,
				 SOFT_DEAD_WINDOWS);
	}
	report_rows(&s->ledger);
	report_losses(s, &l);
}
