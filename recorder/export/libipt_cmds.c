/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BASE.cmds.txt: a shell script of one ptdump and one ptxed line for each queue.
 *
 * Options as libipt 2.0.5 and later spell them. The order of ptxed's options matters: the
 * decoder's before --pt, and of --pevent ones, each --pevent:primary and --pevent:secondary
 * takes what stands before it.
 *
 * Synthesised records have time 0, which libipt turns into a TSC like any other: unless
 * time_zero is 0, too, that is a TSC of the far future, and they would never count. So their
 * file is read with time_zero 0.
 *
 * Records count when an event of the decoder is later. Code that one thread maps and another
 * runs needs --event:tick, which makes an event of each time stamp in the trace.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"
#include "recorder/export/libipt_priv.h"

/* Where user space ends: the upper half of the canonical addresses is the kernel's. What lies
 * below the kernel's text there (entry trampolines, modules) must not pass for user code. */
#define KERNEL_START UINT64_C(0xffff800000000000)

struct script {
	struct libipt *l;
	struct outfile *f;
	int err;
	bool counting; /* maps are counted in nr_maps, not written */
	size_t nr_maps;
};

__attribute__((format(printf, 2, 3)))
static void say(struct script *s, const char *fmt, ...)
{
	va_list ap;
	char *text;

	if (s->err)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	s->err = text ? outfile_write(s->f, text, strlen(text)) : -ENOMEM;
	free(text);
}

/* One word for the shell, all on one line: what follows a line break would not be part of a
 * comment any more. */
static void word(struct script *s, const char *a, const char *b)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./:=,+@%-";
	bool quote = a[strspn(a, plain)] || b[strspn(b, plain)];

	say(s, "%s", quote ? " '" : " ");
	/* A file name must not pass for an option. */
	say(s, "%s", *a == '-' ? "./" : "");
	for (const char *part = a; part; part = part == a ? b : NULL)
		for (const char *p = part; *p; p++)
			if (*p == '\n')
				say(s, "'\"$nl\"'");
			else
				say(s, *p == '\'' ? "'\\''" : "%c", *p);
	say(s, "%s", quote ? "'" : "");
}

/* A file of ours. */
static void file(struct script *s, const char *suffix)
{
	word(s, s->l->name, suffix);
}

static const char *suffix_of(const struct script *s, const struct outfile *f)
{
	return f->name + strlen(s->l->x->o->base);
}

static void decoder(struct script *s)
{
	const struct export *x = s->l->x;
	const char *cpuid = fmt_reader_feature_str(&x->in->r, FMT_FEAT_CPUID);
	unsigned family, model, stepping;
	int mtc = libipt_mtc(s->l);

	/* Errata are of processors, not of software that writes trace. */
	if (cpuid && !s->l->soft &&
	    sscanf(cpuid, "GenuineIntel,%u,%u,%u", &family, &model, &stepping) == 3)
		say(s, " --cpu %u/%u/%u", family, model, stepping);
	if (mtc >= 0)
		say(s, " --mtc-freq %d", mtc);
	if (x->pt.max_nonturbo_ratio && x->pt.max_nonturbo_ratio <= UINT8_MAX)
		say(s, " --nom-freq %u", (unsigned)x->pt.max_nonturbo_ratio);
	if (x->pt.tsc_ctc_d && x->pt.tsc_ctc_n)
		say(s, " --cpuid-0x15.eax %u --cpuid-0x15.ebx %u",
		    (uint32_t)x->pt.tsc_ctc_d, (uint32_t)x->pt.tsc_ctc_n);
}

/* ---- the side band ---- */

/* By the ids in the records, for those that do not all end alike. */
static void sample_configs(struct script *s)
{
	const struct fmt_reader *r = &s->l->x->in->r;

	for (const struct fmt_reader_event *e = r->events; e < r->events + r->nr_events; e++) {
		uint64_t type = fmt_attr_sample_type(e->attr, e->attr_size);

		/* Synthesised records have the id 0 and count as the first event's. */
		if (e == r->events)
			say(s, " --pevent:sample-config 0:0x%" PRIx64, type);
		for (size_t i = 0; i < e->nr_ids; i++)
			say(s, " --pevent:sample-config %" PRIu64 ":0x%" PRIx64,
			    le_get(e->ids + 8 * i, 8), type);
	}
}

/* What is said of a stream holds for the next ones, too, until it is said anew. */
struct said {
	bool any;
	uint64_t sample_type, zero;
};

static void stream(struct script *s, struct said *said, const struct libipt_stream *t,
		   const char *option)
{
	uint64_t zero = t == s->l->head ? 0 : s->l->x->pt.time_zero;

	if (!t->mixed && (!said->any || said->sample_type != t->sample_type))
		say(s, " --pevent:sample-type 0x%" PRIx64, t->sample_type);
	if (!said->any || said->zero != zero)
		say(s, " --pevent:time-zero 0x%" PRIx64, zero);
	*said = (struct said){ true, t->mixed ? said->sample_type : t->sample_type, zero };
	say(s, " %s", option);
	file(s, suffix_of(s, t->f));
}

static bool any_mixed(const struct libipt *l)
{
	for (size_t i = 0; i < l->nr_streams; i++)
		if (l->streams[i].f && l->streams[i].mixed)
			return true;
	return false;
}

static void side_band(struct script *s, const struct libipt_stream *own)
{
	const struct libipt *l = s->l;
	const struct export *x = l->x;
	struct said said = { 0 };

	say(s, " --pevent:kernel-start 0x%" PRIx64, KERNEL_START);
	if (l->kcore) {
		say(s, " --pevent:kcore");
		file(s, LIBIPT_KCORE);
	}
	if (!x->o->no_images) {
		say(s, " --pevent:sysroot");
		file(s, LIBIPT_IMAGES);
	}
	if (l->vdso) {
		say(s, " --pevent:vdso-x64");
		file(s, LIBIPT_VDSO);
	}
	if (any_mixed(l))
		sample_configs(s);
	say(s, " --pevent:time-shift %u --pevent:time-mult %u", (unsigned)x->pt.time_shift,
	    (unsigned)x->pt.time_mult);
	if (l->head->f)
		stream(s, &said, l->head, "--pevent:secondary");
	for (size_t i = 0; i < l->nr_streams; i++)
		if (l->streams[i].f && &l->streams[i] != l->head)
			stream(s, &said, &l->streams[i],
			       &l->streams[i] == own ? "--pevent:primary" :
						       "--pevent:secondary");
}

/* ---- without it: the mappings of one process ---- */

static int raw_map(void *ctx, const struct tasks_event *e)
{
	struct script *s = ctx;
	const struct libipt_image *i = e->image ? libipt_image_of(s->l, e->image) : NULL;
	uint64_t to = e->off + (e->end - e->addr);
	char range[80];

	if (!i || !i->copy || e->off >= i->copy->size)
		return s->err;
	s->nr_maps++;
	if (s->counting)
		return 0;
	if (to < e->off || to > i->copy->size)
		to = i->copy->size;
	snprintf(range, sizeof(range), ":0x%" PRIx64 "-0x%" PRIx64 ":0x%" PRIx64, e->off, to,
		 e->addr);
	say(s, " --raw");
	file(s, suffix_of(s, i->copy));
	say(s, "%s", range);
	return s->err;
}

/* All that the process mapped from `from` to `to`; what came later is laid over the rest. */
static void raw_maps(struct script *s, uint32_t pid, uint64_t from, uint64_t to)
{
	const struct tasks_event *e;
	struct tasks_cursor c;
	uint64_t until;

	if (tasks_begin(s->l->x->tasks, &c, pid, from, raw_map, s))
		return;
	while (!s->err && (e = tasks_next(s->l->x->tasks, &c, to, &until)))
		if (e->kind == TASKS_MAP)
			raw_map(s, e);
}

static void raw_kernel(struct script *s)
{
	const struct image_kcore *seg;
	const char *path;
	size_t n = s->l->kcore ? images_kcore(s->l->x->images, &seg, &path) : 0;

	for (size_t i = 0; i < n; i++) {
		say(s, " --raw");
		file(s, LIBIPT_KCORE);
		say(s, ":0x%" PRIx64 "-0x%" PRIx64 ":0x%" PRIx64, seg[i].offset,
		    seg[i].offset + seg[i].size, seg[i].addr);
	}
}

/* ---- lines ---- */

/* --pt or the last word of ptdump; a piece's range comes from the loop around the line. A name
 * that ends like a range gets one. */
static void trace(struct script *s, const struct libipt_queue *q)
{
	file(s, suffix_of(s, q->bin));
	say(s, "%s", q->pieces ? ":\"$range\"" : strchr(s->l->name, ':') ? ":0" : "");
}

static void begin_line(struct script *s, const struct libipt_queue *q, const char *tool)
{
	say(s, "%s%s", q->pieces ? "while read -r range rest; do " : "", tool);
	decoder(s);
}

static void end_line(struct script *s, const struct libipt_queue *q)
{
	if (q->pieces) {
		say(s, "; done <");
		file(s, suffix_of(s, q->pieces));
	}
	say(s, "\n");
}

enum { STREAMS_MAX = 1024 }; /* in one line, for each queue has one */

static bool has_side_band(const struct script *s, const struct libipt_stream *own)
{
	size_t n = 0;

	if (!export_timed(s->l->x) || !own || !own->f || !s->l->x->in->r.nr_events)
		return false;
	for (size_t i = 0; i < s->l->nr_streams; i++)
		n += !!s->l->streams[i].f;
	return n <= STREAMS_MAX;
}

/* The instructions of one process, from its mappings alone. */
static void raw_line(struct script *s, const struct export_queue *q,
		     const struct libipt_queue *out, uint32_t pid, bool off)
{
	bool timed = export_timed(s->l->x) && q->has_tsc;
	uint64_t from = timed ? export_ns(s->l->x, q->first_tsc) : UINT64_MAX;
	char comm[16];

	s->nr_maps = 0;
	s->counting = true;
	raw_maps(s, pid, from, UINT64_MAX);
	s->counting = false;
	if (!s->nr_maps)
		return;
	tasks_comm(s->l->x->tasks, pid, pid, comm);
	say(s, "# process %u", pid);
	if (*comm) {
		say(s, " (");
		for (const char *p = comm; *p; p++)
			say(s, "%c", *p < ' ' || *p > '~' ? '?' : *p);
		say(s, ")");
	}
	say(s, ", by its mappings alone:\n%s", off ? "#" : "");
	begin_line(s, out, "ptxed");
	say(s, " --pt");
	trace(s, out);
	raw_kernel(s);
	raw_maps(s, pid, from, UINT64_MAX);
	end_line(s, out);
}

enum { PROCESSES_MAX = 16 }; /* of a cpu */

/* Those that ran on a queue's cpu: how many, at most PROCESSES_MAX + 1. */
static size_t processes(const struct script *s, const struct export_queue *q,
			uint32_t ret[PROCESSES_MAX + 1])
{
	const struct tasks *t = s->l->x->tasks;
	uint64_t at = 0, until;
	size_t n = 0, i;

	if (q->cpu == EXPORT_NONE) {
		at = export_timed(s->l->x) && q->has_tsc ?
			     export_ns(s->l->x, q->first_tsc) : UINT64_MAX;
		ret[0] = tasks_pid(t, q->tid, at);
		return 1;
	}
	do {
		struct tasks_who who = tasks_on_cpu(t, q->cpu, at, &until);

		for (i = 0; i < n && ret[i] != who.pid; i++)
			;
		/* 0 is the kernel's own idle task. */
		if (i == n && who.pid && who.pid != TASKS_NONE)
			ret[n++] = who.pid;
		at = until;
	} while (until != UINT64_MAX && n <= PROCESSES_MAX);
	return n;
}

static void raw_lines(struct script *s, const struct export_queue *q,
		      const struct libipt_queue *out, bool off)
{
	uint32_t pid[PROCESSES_MAX + 1];
	size_t n = processes(s, q, pid);

	if (n > PROCESSES_MAX)
		say(s, "# more than %d processes ran here\n", PROCESSES_MAX);
	else if (!n)
		say(s, "# no record tells which process ran here\n");
	for (size_t i = 0; i < n && n <= PROCESSES_MAX; i++)
		raw_line(s, q, out, pid[i], off || n > 1);
}

static void queue_lines(struct script *s, const struct export_queue *q,
			const struct libipt_queue *out)
{
	const struct libipt_stream *own = libipt_own(s->l, q);
	bool follow = has_side_band(s, own);

	say(s, "\n# queue %u", q->idx);
	if (q->cpu != EXPORT_NONE)
		say(s, ", cpu %u", q->cpu);
	if (q->tid != EXPORT_NONE)
		say(s, ", thread %u", q->tid);
	say(s, ": %" PRIu64 " bytes\n", out->bin->size);
	begin_line(s, out, "ptdump");
	trace(s, out);
	end_line(s, out);
	if (follow) {
		begin_line(s, out, "ptxed");
		say(s, " --event:tick --pt");
		trace(s, out);
		side_band(s, own);
		end_line(s, out);
	}
	raw_lines(s, q, out, follow);
}

/* Some name of a file has a line break. */
static bool breaks(const struct libipt *l)
{
	bool ret = strchr(l->name, '\n');

	for (size_t i = 0; !ret && i < l->nr_images; i++)
		ret = strchr(l->images[i].image->name, '\n');
	return ret;
}

static void head(struct script *s)
{
	const struct export *x = s->l->x;

	say(s, "#!/bin/sh\n# Decode a recording with libipt's tools, ptdump and ptxed:\n"
	       "#   sh");
	file(s, LIBIPT_CMDS);
	say(s, "\n# or any of its lines, in the directory of these files.\n");
	if (x->has_pt && !export_timed(x))
		say(s, "# Trace and records have no clock in common: records cannot be "
		       "followed.\n");
	if (x->has_pt && any_mixed(s->l))
		say(s, "# The records of a side band end in different ways: this needs libipt "
		       "2.1 or later.\n");
	if (!libipt_has_trace(s->l))
		say(s, "# There is no trace to decode.\n");
	if (!x->has_pt && x->queues.nr)
		say(s, "# The trace is not Intel PT: these tools do not take it.\n");
	for (size_t i = 0; i < s->l->nr_images; i++) {
		const struct libipt_image *m = &s->l->images[i];

		if (!m->why)
			continue;
		say(s, "# no copy of");
		for (const char *p = m->image->name; *p; p++)
			say(s, "%s%c", p == m->image->name ? " " : "",
			    (uint8_t)*p < ' ' || *p == 127 ? '?' : *p);
		say(s, ": %s\n", m->why);
	}
	say(s, "cd -- \"$(dirname -- \"$0\")\" || exit\n");
	if (breaks(s->l))
		say(s, "nl='\n'\n");
}

int libipt_put_cmds(struct libipt *l)
{
	struct script s = { .l = l };

	s.err = outset_add(&l->x->out, &s.f, LIBIPT_CMDS);
	head(&s);
	for (size_t i = 0; i < l->x->queues.nr && l->x->has_pt; i++)
		if (l->queues[i].bin)
			queue_lines(&s, export_queue_at(l->x, i), &l->queues[i]);
	return s.err;
}
