/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Called as ptdump or ptxed (by a link of that name): runs a command line that was written for
 * libipt's tool of that name, as far as the options of `auxrec export` go.
 *
 * ptdump FILE: every packet is read; prints how many.
 * ptxed: every instruction is decoded, with the mappings of the side bands or of --raw alone;
 * prints "insn: N." as the tool does with --stat. With PTLINES_IPS=DIR the addresses are
 * appended to DIR/NAME, u64 little-endian, NAME being the last part of the trace's name.
 *
 * What the side bands do is what libipt-sb does (sideband/src/pt_sb_pevent.c, 2.0.5): records
 * count from the first decoder event on that is not earlier; those without a time at once.
 * A switch to another process waits until the trace is in the kernel, or nowhere. libipt
 * itself does the decoding. Nothing of the recording is read: what works here works from the
 * exported files.
 *
 * Exit: 0 done, 1 decode errors, 2 usage.
 */
#include <intel-pt.h>
#include <linux/perf_event.h>

#include "tests/tools/pdata.h"

struct section {
	uint32_t pid;
	uint64_t addr, end, off, serial;
	const struct bytes *file;
};

struct bytes {
	char *name;
	uint8_t *v;
	uint64_t n;
};

/* A process: serial changes when it execs or its number is used again, and its sections are
 * those of that serial. */
struct context {
	uint32_t pid;
	uint64_t serial;
};
#define DEFAULT_SERIAL 0 /* of --raw */

enum place { UNKNOWN, USER, KERNEL, LIKELY_USER, LIKELY_KERNEL };

struct stream {
	struct bytes *b;
	uint64_t at;
	bool primary;
	uint64_t sample_type, shift, mult, zero;
	const char *sysroot, *vdso;
	uint64_t kernel_start;
};

static struct {
	struct pt_config config;
	const char *pt;
	struct stream *streams, now; /* now: what the next one gets */
	size_t nr_streams;
	struct section *sections;
	size_t nr_sections;
	struct context *contexts;
	size_t nr_contexts;
	uint64_t serials;
	/* Of the primary stream. */
	uint64_t current, next;
	bool pending;
	enum place place;
	uint64_t warnings;
} st = { .now = { .mult = 1, .kernel_start = UINT64_MAX } };

static struct bytes *load(const char *name)
{
	static struct bytes *all[4096];
	static size_t n;
	struct bytes *b;
	FILE *in;
	long size;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	in = fopen(name, "re");
	if (!in || n == 4096)
		return NULL;
	b = calloc(1, sizeof(*b));
	fseek(in, 0, SEEK_END);
	size = ftell(in);
	rewind(in);
	if (!b || size < 0 || !(b->v = malloc((size_t)size + 1)))
		pd_give_up("out of memory");
	b->n = fread(b->v, 1, (size_t)size, in);
	b->name = strdup(name);
	fclose(in);
	return all[n++] = b;
}

/* ---- FILE:FROM-TO ---- */

/* Cuts the range off; TO may be left out, and all of it. */
static void take_range(char *arg, uint64_t *from, uint64_t *to)
{
	char *colon = strrchr(arg, ':'), *end;
	uint64_t v;

	*from = 0;
	*to = UINT64_MAX;
	if (!colon)
		return;
	v = strtoull(colon + 1, &end, 0);
	if (end == colon + 1 || (*end && *end != '-'))
		return;
	*from = v;
	if (*end)
		*to = strtoull(end + 1, NULL, 0);
	*colon = '\0';
}

static void take_pt(const char *arg)
{
	char *name = strdup(arg);
	uint64_t from, to;
	struct bytes *b;

	take_range(name, &from, &to);
	b = load(name);
	if (!b || from >= b->n)
		pd_give_up("%s: cannot be read", arg);
	st.pt = b->name;
	st.config.begin = b->v + from;
	st.config.end = b->v + (to < b->n ? to : b->n);
}

static void add_section(struct section s)
{
	st.sections = pd_grow(st.sections, st.nr_sections, sizeof(s));
	st.sections[st.nr_sections++] = s;
}

static void take_raw(const char *arg)
{
	char *name = strdup(arg), *colon = strrchr(name, ':');
	struct section s = { .serial = DEFAULT_SERIAL };
	uint64_t to;

	if (!colon)
		pd_give_up("--raw %s: no address", arg);
	s.addr = strtoull(colon + 1, NULL, 0);
	*colon = '\0';
	take_range(name, &s.off, &to);
	s.file = load(name);
	if (!s.file)
		pd_give_up("%s: cannot be read", name);
	if (to > s.file->n)
		to = s.file->n;
	s.end = s.addr + (to - s.off);
	add_section(s);
}

static void take_stream(const char *name, bool primary)
{
	st.now.b = load(name);
	st.now.primary = primary;
	if (!st.now.b)
		pd_give_up("%s: cannot be read", name);
	st.streams = pd_grow(st.streams, st.nr_streams, sizeof(*st.streams));
	st.streams[st.nr_streams++] = st.now;
}

/* ---- processes ---- */

static struct context *context_of(uint32_t pid)
{
	for (size_t i = 0; i < st.nr_contexts; i++)
		if (st.contexts[i].pid == pid)
			return &st.contexts[i];
	st.contexts = pd_grow(st.contexts, st.nr_contexts, sizeof(*st.contexts));
	st.contexts[st.nr_contexts] = (struct context){ pid, ++st.serials };
	return &st.contexts[st.nr_contexts++];
}

static bool known(uint32_t pid)
{
	for (size_t i = 0; i < st.nr_contexts; i++)
		if (st.contexts[i].pid == pid)
			return true;
	return false;
}

static void renew(uint32_t pid)
{
	context_of(pid)->serial = ++st.serials;
}

static void prepare(uint32_t pid)
{
	uint64_t to = context_of(pid)->serial;

	st.pending = to != st.current;
	st.next = to;
}

static void switch_now(void)
{
	st.current = st.next;
	st.pending = false;
}

static void apply_fork(const uint8_t *p)
{
	uint32_t pid = pd_32(p + 8), ppid = pd_32(p + 12);
	size_t n = st.nr_sections;
	uint64_t from;

	if (pid == ppid)
		return;
	renew(pid);
	if (!known(ppid))
		return;
	from = context_of(ppid)->serial;
	for (size_t i = 0; i < n; i++)
		if (st.sections[i].serial == from) {
			struct section s = st.sections[i];

			s.serial = context_of(pid)->serial;
			add_section(s);
		}
}

static void apply_map(const struct stream *t, const uint8_t *p, size_t name_at)
{
	const char *name = (const char *)p + name_at;
	struct section s = { .addr = pd_64(p + 16), .off = pd_64(p + 32) };
	char path[8192];

	if ((pd_16(p + 4) & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return;
	s.serial = context_of(pd_32(p + 8))->serial;
	s.end = s.addr + pd_64(p + 24);
	snprintf(path, sizeof(path), "%s%s", t->sysroot ? t->sysroot : "", name);
	if (!strcmp(name, "[vdso]") && t->vdso)
		s.file = load(t->vdso);
	else if (*name == '/' && strcmp(name, "//anon"))
		s.file = load(path);
	if (s.file)
		add_section(s);
	else
		st.warnings++;
}

static void apply(const struct stream *t, const uint8_t *p, const uint32_t *pid)
{
	bool out = pd_16(p + 4) & PERF_RECORD_MISC_SWITCH_OUT;

	switch (pd_32(p)) {
	case PERF_RECORD_MMAP:
		return apply_map(t, p, 40);
	case PERF_RECORD_MMAP2:
		return apply_map(t, p, 72);
	case PERF_RECORD_FORK:
		return apply_fork(p);
	case PERF_RECORD_COMM:
		if (!(pd_16(p + 4) & PERF_RECORD_MISC_COMM_EXEC))
			return;
		renew(pd_32(p + 8));
		if (t->primary)
			prepare(pd_32(p + 8));
		return;
	case PERF_RECORD_ITRACE_START:
		if (!t->primary)
			return;
		prepare(pd_32(p + 8));
		switch_now();
		return;
	case PERF_RECORD_SWITCH:
		if (t->primary && !out && pid)
			prepare(*pid);
		return;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (t->primary && out)
			prepare(pd_32(p + 8));
		else if (t->primary && pid)
			prepare(*pid);
		return;
	}
}

/* ---- records ---- */

static uint64_t to_tsc(const struct stream *t, uint64_t time)
{
	uint64_t quot, rem;

	time -= t->zero;
	quot = time / t->mult;
	rem = time % t->mult;
	return (quot << t->shift) + (rem << t->shift) / t->mult;
}

/* The next record of a stream: its TSC; false at the end. */
static bool peek(const struct stream *t, uint64_t *tsc, uint32_t *pid, bool *has_pid)
{
	static const uint64_t bits[] = { PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
					 PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
					 PERF_SAMPLE_IDENTIFIER };
	const uint8_t *p = t->b->v + t->at, *at;
	unsigned size = 0;

	if (t->b->n - t->at < 8)
		return false;
	if (pd_16(p + 6) < 8 || pd_16(p + 6) > t->b->n - t->at)
		pd_give_up("%s: no record at %llu", t->b->name, (unsigned long long)t->at);
	for (size_t i = 0; i < 6; i++)
		size += t->sample_type & bits[i] ? 8 : 0;
	if (size > pd_16(p + 6) - 8u)
		pd_give_up("%s: no trailer at %llu", t->b->name, (unsigned long long)t->at);
	at = p + pd_16(p + 6) - size;
	*has_pid = t->sample_type & PERF_SAMPLE_TID;
	*pid = *has_pid ? pd_32(at) : 0;
	at += *has_pid ? 8 : 0;
	*tsc = t->sample_type & PERF_SAMPLE_TIME ? to_tsc(t, pd_64(at)) : 0;
	return true;
}

/* All records up to a TSC, over all streams in the order of their times. */
static void catch_up(uint64_t tsc)
{
	for (;;) {
		struct stream *first = NULL;
		uint64_t at, first_at = 0;
		uint32_t pid, first_pid = 0;
		bool has, first_has = false;
		const uint8_t *p;

		for (size_t i = 0; i < st.nr_streams; i++) {
			if (!peek(&st.streams[i], &at, &pid, &has) || at > tsc)
				continue;
			if (first && at >= first_at)
				continue;
			first = &st.streams[i];
			first_at = at;
			first_pid = pid;
			first_has = has;
		}
		if (!first)
			return;
		p = first->b->v + first->at;
		first->at += pd_16(p + 6);
		apply(first, p, first_has ? &first_pid : NULL);
	}
}

/* ---- where the trace is ---- */

static enum place place_of(uint64_t ip)
{
	return ip < st.now.kernel_start ? USER : KERNEL;
}

static enum place other_side(enum place from)
{
	if (from == KERNEL || from == LIKELY_KERNEL)
		return LIKELY_USER;
	return from == USER || from == LIKELY_USER ? LIKELY_KERNEL : UNKNOWN;
}

static enum place after(const struct pt_event *e)
{
	switch (e->type) {
	case ptev_enabled:
		return place_of(e->variant.enabled.ip);
	case ptev_disabled:
		return e->ip_suppressed ? other_side(st.place) :
					  place_of(e->variant.disabled.ip);
	case ptev_async_disabled:
		return e->ip_suppressed ? other_side(place_of(e->variant.async_disabled.at)) :
					  place_of(e->variant.async_disabled.ip);
	case ptev_async_branch:
		return place_of(e->variant.async_branch.to);
	case ptev_paging:
	case ptev_async_paging:
		return LIKELY_KERNEL;
	case ptev_overflow:
		return e->ip_suppressed ? UNKNOWN : place_of(e->variant.overflow.ip);
	case ptev_exec_mode:
		return e->ip_suppressed ? UNKNOWN : place_of(e->variant.exec_mode.ip);
	case ptev_tick:
		return e->ip_suppressed ? UNKNOWN : place_of(e->variant.tick.ip);
	default:
		return UNKNOWN;
	}
}

static void on_event(const struct pt_event *e)
{
	enum place before = st.place;

	catch_up(e->tsc);
	st.place = after(e);
	if (st.pending && (before == UNKNOWN || before == KERNEL || before == LIKELY_KERNEL ||
			   st.place == UNKNOWN || st.place == KERNEL ||
			   st.place == LIKELY_KERNEL))
		switch_now();
}

/* ---- decoding ---- */

static int read_memory(uint8_t *buffer, size_t size, const struct pt_asid *asid,
		       uint64_t ip, void *context)
{
	(void)asid;
	(void)context;
	for (size_t i = st.nr_sections; i--;) {
		const struct section *s = &st.sections[i];
		uint64_t off = ip - s->addr + s->off;
		size_t n = size;

		if (s->serial != st.current || ip < s->addr || ip >= s->end ||
		    off >= s->file->n)
			continue;
		if (n > s->end - ip)
			n = s->end - ip;
		if (n > s->file->n - off)
			n = s->file->n - off;
		memcpy(buffer, s->file->v + off, n);
		return (int)n;
	}
	return -pte_nomap;
}

static FILE *list(void)
{
	const char *dir = getenv("PTLINES_IPS"), *slash = strrchr(st.pt, '/');
	char path[8192];
	FILE *f;

	if (!dir)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", dir, slash ? slash + 1 : st.pt);
	f = fopen(path, "ae");
	if (!f)
		pd_give_up("%s: cannot be written", path);
	return f;
}

static uint64_t insns, errors;

static int stretch(struct pt_insn_decoder *d, int status, FILE *ips)
{
	struct pt_insn insn;
	struct pt_event ev;

	for (;;) {
		while (status >= 0 && (status & pts_event_pending)) {
			status = pt_insn_event(d, &ev, sizeof(ev));
			if (status >= 0)
				on_event(&ev);
		}
		if (status < 0 || (status & pts_eos))
			return status;
		insn.iclass = ptic_error;
		status = pt_insn_next(d, &insn, sizeof(insn));
		if (insn.iclass != ptic_error) {
			insns++;
			if (ips)
				fwrite(&insn.ip, 8, 1, ips);
		}
		if (status < 0)
			return status;
	}
}

static void run_ptxed(void)
{
	struct pt_image *image = pt_image_alloc(NULL);
	struct pt_insn_decoder *d = pt_insn_alloc_decoder(&st.config);
	FILE *ips = list();
	uint64_t at = 0, ip = 0;
	int status;

	if (!d || !image || pt_image_set_callback(image, read_memory, NULL) < 0 ||
	    pt_insn_set_image(d, image) < 0)
		pd_give_up("libipt refuses the configuration");
	while ((status = pt_insn_sync_forward(d)) != -pte_eos) {
		if (status >= 0)
			status = stretch(d, status, ips);
		if (status >= 0 || status == -pte_eos)
			break;
		pt_insn_get_offset(d, &at);
		printf("[%llx, %llx: error: %s]\n", (unsigned long long)at,
		       (unsigned long long)ip, pt_errstr(pt_errcode(status)));
		errors++;
	}
	printf("insn: %llu.\n", (unsigned long long)insns);
	if (ips)
		fclose(ips);
}

static void run_ptdump(void)
{
	struct pt_packet_decoder *d = pt_pkt_alloc_decoder(&st.config);
	struct pt_packet packet;
	uint64_t n = 0, at = 0;
	int status;

	if (!d)
		pd_give_up("libipt refuses the configuration");
	for (status = pt_pkt_sync_forward(d); status >= 0;) {
		status = pt_pkt_next(d, &packet, sizeof(packet));
		n += status >= 0;
		if (status >= 0 || status == -pte_eos)
			continue;
		pt_pkt_get_offset(d, &at);
		printf("[%llx: error: %s]\n", (unsigned long long)at,
		       pt_errstr(pt_errcode(status)));
		errors++;
		status = pt_pkt_sync_forward(d);
	}
	printf("packets: %llu.\n", (unsigned long long)n);
}

/* ---- options ---- */

static void take_cpu(const char *arg)
{
	unsigned f, m, s = 0;

	if (sscanf(arg, "%u/%u/%u", &f, &m, &s) < 2)
		pd_give_up("--cpu %s: not f/m/s", arg);
	st.config.cpu = (struct pt_cpu){ pcv_intel, (uint16_t)f, (uint8_t)m, (uint8_t)s };
	pt_cpu_errata(&st.config.errata, &st.config.cpu);
}

static bool take_number(const char *opt, uint64_t v)
{
	if (!strcmp(opt, "--mtc-freq"))
		st.config.mtc_freq = (uint8_t)v;
	else if (!strcmp(opt, "--nom-freq"))
		st.config.nom_freq = (uint8_t)v;
	else if (!strcmp(opt, "--cpuid-0x15.eax"))
		st.config.cpuid_0x15_eax = (uint32_t)v;
	else if (!strcmp(opt, "--cpuid-0x15.ebx"))
		st.config.cpuid_0x15_ebx = (uint32_t)v;
	else if (!strcmp(opt, "--pevent:kernel-start"))
		st.now.kernel_start = v;
	else if (!strcmp(opt, "--pevent:sample-type"))
		st.now.sample_type = v;
	else if (!strcmp(opt, "--pevent:time-shift"))
		st.now.shift = v;
	else if (!strcmp(opt, "--pevent:time-mult"))
		st.now.mult = v;
	else if (!strcmp(opt, "--pevent:time-zero"))
		st.now.zero = v;
	else
		return false;
	return true;
}

static void take(const char *opt, const char *arg)
{
	char *end;
	uint64_t v = strtoull(arg, &end, 0);

	/* The tool takes these before the trace only. */
	if (st.pt && opt[2] != 'p' && opt[2] != 'r')
		pd_give_up("%s behind the trace", opt);
	if (!strcmp(opt, "--cpu"))
		take_cpu(arg);
	else if (!strcmp(opt, "--pt"))
		take_pt(arg);
	else if (!strcmp(opt, "--raw"))
		take_raw(arg);
	else if (!strcmp(opt, "--pevent:sysroot"))
		st.now.sysroot = arg;
	else if (!strcmp(opt, "--pevent:vdso-x64"))
		st.now.vdso = arg;
	else if (!strcmp(opt, "--pevent:kcore")) {
		if (!load(arg)) /* the traces here are of user code */
			pd_give_up("%s: cannot be read", arg);
	} else if (!strcmp(opt, "--pevent:primary"))
		take_stream(arg, true);
	else if (!strcmp(opt, "--pevent:secondary"))
		take_stream(arg, false);
	else if (*end || !take_number(opt, v))
		pd_give_up("%s %s: not understood", opt, arg);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
	bool dump = !strcmp(name, "ptdump");

	pt_config_init(&st.config);
	for (int i = 1; i < argc; i++) {
		if (dump && i + 1 == argc)
			take_pt(argv[i]);
		else if (!strcmp(argv[i], "--event:tick") && !st.pt)
			st.config.flags.variant.insn.enable_tick_events = 1;
		else if (i + 1 == argc || strncmp(argv[i], "--", 2))
			pd_give_up("%s: not understood", argv[i]);
		else
			take(argv[i], argv[i + 1]), i++;
	}
	if (!st.pt)
		pd_give_up("no trace");
	if (dump)
		run_ptdump();
	else
		run_ptxed();
	return !!errors;
}
