/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order is perf's (tools/perf/builtin-record.c, record__synthesize, Linux 6.1):
 * kernel, modules, BPF programs, then process after process. Nearly all the time goes
 * into reading /proc; build ids are read once a file, however many processes map it.
 */
#include "recorder/sideband.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/record.h"
#include "perfio/bpfprogs.h"
#include "perfio/buildid.h"
#include "perfio/proc.h"

#define FLUSH_AT (64u * 1024)

_Static_assert(PIO_NR_NS == FMT_NR_NAMESPACES, "one list of namespaces");

struct synth {
	const struct pio_sys *sys;
	const struct sideband_want *want;
	struct sideband_result r;
	struct fmt_buf b;
	int fatal; /* ends the synthesis, in contrast to what /proc may answer */
	pid_t pid; /* whose mappings are read */
};

static const struct fmt_trailer synthesised;

static int flush(struct synth *s, size_t limit)
{
	s->fatal = s->b.err;
	if (!s->fatal && s->b.len > limit) {
		s->fatal = s->want->flush(s->want->ctx, &s->b);
		fmt_buf_reset(&s->b);
	}
	return s->fatal;
}

static int learn(struct synth *s, uint16_t misc, const char *name, const uint8_t *id,
		 size_t size)
{
	if (!s->want->dsos)
		return 0;
	s->fatal = dsos_add(s->want->dsos, misc, name, id, size);
	return s->fatal;
}

static int put_kernel_map(struct synth *s, uint64_t start, uint64_t len, uint64_t ref,
			  const char *name)
{
	fmt_put_mmap(&s->b, FMT_MISC_KERNEL, UINT32_MAX, 0, start, len, ref, name,
		     &synthesised);
	return flush(s, FLUSH_AT);
}

static int put_kernel(struct synth *s)
{
	uint8_t id[PIO_BUILD_ID_MAX];
	struct pio_kernel_map k;
	char name[64];
	int err = pio_proc_kernel(s->sys, &k);

	s->r.kernel_hidden = err == -EACCES;
	if (err)
		return 0;
	stpcpy(stpcpy(name, "[kernel.kallsyms]"), k.ref_name);
	err = pio_build_id_kernel(s->sys, id);
	err = learn(s, FMT_MISC_KERNEL, name, id, err > 0 ? (size_t)err : 0);
	return err ? err : put_kernel_map(s, k.start, k.end - k.start, k.ref, name);
}

static int on_module(void *ctx, const struct pio_module *m)
{
	uint8_t id[PIO_BUILD_ID_MAX];
	struct synth *s = ctx;
	int err = pio_build_id_module(s->sys, m->name, id);

	s->r.modules++;
	err = learn(s, FMT_MISC_KERNEL, m->path, id, err > 0 ? (size_t)err : 0);
	return err ? err : put_kernel_map(s, m->start, m->len, 0, m->path);
}

static int on_bpf(void *ctx, const struct pio_bpf_prog *p)
{
	struct synth *s = ctx;

	for (size_t i = 0; i < p->nr_syms; i++)
		fmt_put_ksymbol(&s->b, p->syms[i].addr, p->syms[i].len,
				FMT_KSYMBOL_TYPE_BPF, 0, p->syms[i].name, &synthesised);
	fmt_put_bpf_event(&s->b, FMT_BPF_EVENT_PROG_LOAD, 0, p->id, p->tag, &synthesised);
	return flush(s, FLUSH_AT);
}

/* Without an id here a file gets none later: its path may be another file in our root. */
static int find_id(struct synth *s, const struct pio_map *m, struct fmt_mmap2 *r)
{
	const struct fileids_key k = {
		.start = m->start,
		.len = m->len,
		.ino = m->ino,
		.maj = m->maj,
		.min = m->min,
		.name = m->name,
	};
	size_t size = fileids_get(s->want->fileids, s->sys, s->pid, &k, r->build_id);

	r->build_id_size = (uint8_t)size;
	return size ? learn(s, FMT_MISC_USER, m->name, r->build_id, size) : 0;
}

static int on_map(void *ctx, const struct pio_map *m)
{
	struct synth *s = ctx;
	struct fmt_mmap2 r = {
		.pid = (uint32_t)s->pid,
		.tid = (uint32_t)s->pid,
		.addr = m->start,
		.len = m->len,
		.pgoff = m->pgoff,
		.maj = m->maj,
		.min = m->min,
		.ino = m->ino,
		.prot = m->prot,
		.flags = m->flags,
		.misc = FMT_MISC_USER,
		.name = m->name,
	};
	int err = find_id(s, m, &r);

	if (err)
		return err;
	s->r.maps++;
	fmt_put_mmap2(&s->b, &r, &synthesised);
	return flush(s, FLUSH_AT);
}

static void note_hidden(struct sideband_result *r, const struct pio_task *t, int err)
{
	struct sideband_hidden *h = &r->hidden[r->unreadable];

	if (r->unreadable++ < SIDEBAND_HIDDEN_MAX) {
		*h = (struct sideband_hidden){ .pid = t->pid, .err = err };
		memcpy(h->comm, t->comm, sizeof(h->comm));
	}
	r->refused += err == -EACCES;
}

static int put_maps(struct synth *s, const struct pio_task *t)
{
	int err;

	s->pid = t->pid;
	err = pio_proc_maps(s->sys, t->pid, false, on_map, s);
	if (s->fatal)
		return s->fatal;
	if (err == -ESRCH)
		s->r.skipped++;
	else if (err)
		note_hidden(&s->r, t, err);
	return 0;
}

static void put_namespaces(struct synth *s, const struct pio_task *t)
{
	struct pio_ns_id id[PIO_NR_NS];
	struct fmt_ns ns[PIO_NR_NS];

	/* Zeros where they may not be read: perf writes the record all the same. */
	(void)pio_proc_namespaces(s->sys, t->tid, id);
	for (int i = 0; i < PIO_NR_NS; i++)
		ns[i] = (struct fmt_ns){ .dev = id[i].dev, .ino = id[i].ino };
	fmt_put_namespaces(&s->b, (uint32_t)t->pid, (uint32_t)t->tid, ns, PIO_NR_NS,
			   &synthesised);
}

static int on_task(void *ctx, const struct pio_task *t)
{
	struct synth *s = ctx;
	bool leader = t->pid == t->tid;
	/* A thread counts as the child of its leader, as perf has it. */
	uint32_t parent = (uint32_t)(leader ? t->ppid : t->pid);
	int err;

	fmt_put_task(&s->b, FMT_REC_FORK, (uint32_t)t->pid, parent, (uint32_t)t->tid,
		     parent, 0, &synthesised);
	put_namespaces(s, t);
	fmt_put_comm(&s->b, false, (uint32_t)t->pid, (uint32_t)t->tid, t->comm,
		     &synthesised);
	s->r.threads++;
	if (leader)
		s->r.processes++;
	err = flush(s, FLUSH_AT);
	if (err || !leader || t->kernel)
		return err;
	return put_maps(s, t);
}

/* Searched from the end: the threads of a process usually stand together. */
static bool has_pid(const pid_t *pids, size_t n, pid_t pid)
{
	while (n)
		if (pids[--n] == pid)
			return true;
	return false;
}

static int put_leader(struct synth *s, pid_t pid)
{
	struct pio_task t;

	if (!pio_proc_task(s->sys, pid, &t))
		return on_task(s, &t);
	s->r.skipped++;
	return 0;
}

static int put_some(struct synth *s)
{
	const struct sideband_want *w = s->want;
	pid_t *done = calloc(w->nr_tids + 1, sizeof(*done));
	size_t nr_done = 0;
	struct pio_task t;
	int err = 0;

	if (!done)
		return -ENOMEM;
	for (size_t i = 0; !err && i < w->nr_tids; i++) {
		if (pio_proc_task(s->sys, w->tids[i], &t)) {
			s->r.skipped++;
			continue;
		}
		if (!has_pid(done, nr_done, t.pid)) {
			done[nr_done++] = t.pid;
			err = put_leader(s, t.pid);
		}
		if (!err && t.tid != t.pid)
			err = on_task(s, &t);
	}
	free(done);
	if (!err && !s->r.threads)
		err = -ESRCH;
	return err;
}

static int put_all(struct synth *s)
{
	size_t skipped = 0;
	int err = pio_proc_tasks(s->sys, -1, on_task, s, &skipped);

	s->r.skipped += skipped;
	return err;
}

static int put_kernel_side(struct synth *s)
{
	int err = put_kernel(s);

	if (!err)
		err = pio_proc_modules(s->sys, on_module, s);
	if (!s->fatal && err != -ENOMEM)
		err = pio_bpf_progs(on_bpf, s);
	return err;
}

int sideband_synth(const struct pio_sys *sys, const struct sideband_want *want,
		   struct sideband_result *ret)
{
	struct synth s = { .sys = sys, .want = want };
	int err = want->kernel ? put_kernel_side(&s) : 0;

	if (!err)
		err = want->all ? put_all(&s) : put_some(&s);
	if (!err)
		err = flush(&s, 0);
	fmt_buf_done(&s.b);
	if (!err)
		*ret = s.r;
	return err;
}
