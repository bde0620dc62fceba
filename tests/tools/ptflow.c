/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptflow [-b] [-o] [-w] FILE IPDIR
 *
 * Decodes every Intel PT queue of a perf.data file with libipt and compares the
 * instructions with lists of executed addresses: IPDIR/PID.TID, u64 little-endian. With
 * -b the block decoder is used, which tells first and last address and the length of each
 * block only. With -o trace may be lost in overflows: what is between two of them must be in
 * the list, all of it, behind what was before. With -w each value of a PTWRITE is told: thread,
 * TSC, address, value.
 *
 * Exit: 0 all the same, 1 a difference or a decode error, 2 usage or nothing was
 * compared.
 */
#include <dirent.h>
#include <intel-pt.h>

#include "tests/tools/image.h"

#define HIDDEN 0 /* an address that the block decoder does not tell */

enum { PAGE = 4096 };

struct flow {
	const struct pd_queue *q;
	struct image *image;
	uint32_t pid;
	/* Decoder's clock, and the mapping that served last at that time, for this page. */
	uint64_t now, base;
	const struct image_event *last;
	uint64_t page;
	uint64_t *ip;
	size_t n;
	/* Pairs of instruction count and trace offset: where is instruction i? */
	struct mark {
		size_t n;
		uint64_t offset;
	} *mark;
	size_t nr_marks;
	size_t *cut; /* numbers of instructions at overflows */
	size_t nr_cuts;
	unsigned int errors[pte_bad_cpu + 1], nr_errors;
	char first_error[200];
};

/* One PID.TID file and the queues of that thread. Usually one queue; a thread that calls
 * exec takes over its leader's number, so then there are two. */
struct list {
	char name[32];
	uint32_t pid, tid;
	uint64_t *ip;
	size_t n, pos;
	bool claimed;
};

static bool block_mode, lossy, tell_writes;

static void note_offset(struct flow *f, uint64_t offset)
{
	if (f->nr_marks && f->mark[f->nr_marks - 1].offset == offset)
		return;
	f->mark = pd_grow(f->mark, f->nr_marks, sizeof(*f->mark));
	f->mark[f->nr_marks++] = (struct mark){ f->n, offset };
}

static void note_ip(struct flow *f, uint64_t ip)
{
	f->ip = pd_grow(f->ip, f->n, sizeof(*f->ip));
	f->ip[f->n++] = ip;
}

static void note_error(struct flow *f, int status, uint64_t offset)
{
	int code = -status;

	if (code < 0 || code > pte_bad_cpu)
		code = pte_internal;
	if (!f->nr_errors)
		snprintf(f->first_error, sizeof(f->first_error),
			 "\"%s\" at trace offset %#llx after %zu instructions",
			 pt_errstr((enum pt_error_code)code),
			 (unsigned long long)offset, f->n);
	f->errors[code]++;
	f->nr_errors++;
}

/* A damaged trace may lead into a loop that never asks for a packet. Far more instructions than
 * any test has between two packets: an error, and the end. */
static int endless(struct flow *f, uint64_t offset)
{
	enum { MOST = 8 << 20 };

	if (f->n - (f->nr_marks ? f->mark[f->nr_marks - 1].n : 0) < MOST)
		return 0;
	note_error(f, -pte_bad_query, offset);
	return -pte_eos;
}

static void note_time(struct flow *f, uint64_t tsc)
{
	/* TSC packets hold 56 bits; the chunk's own reading has the rest. */
	uint64_t now = image_time(f->image, f->base | tsc);

	if (now != f->now)
		f->last = NULL;
	f->now = now;
}

static int read_memory(uint8_t *buffer, size_t size, const struct pt_asid *asid,
		       uint64_t ip, void *context)
{
	struct flow *f = context;
	size_t n = 0;

	(void)asid;
	/* A later mapping may be of any page of it. */
	if (!f->last || ip < f->last->addr || ip >= f->last->end || ip / PAGE != f->page) {
		f->last = image_find(f->image, f->pid, f->now, ip);
		f->page = ip / PAGE;
	}
	if (size > PAGE - ip % PAGE)
		size = PAGE - ip % PAGE;
	if (f->last)
		n = image_read(f->image, f->last, ip, buffer, size);
	return n ? (int)n : -pte_nomap;
}

static void configure(const struct flow *f, struct pt_config *ret)
{
	pt_config_init(ret);
	ret->begin = f->q->v;
	ret->end = f->q->v + f->q->n;
	ret->cpuid_0x15_eax = f->image->ctc_d;
	ret->cpuid_0x15_ebx = f->image->ctc_n;
	ret->mtc_freq = f->image->mtc_freq;
	ret->nom_freq = f->image->ratio;
}

static void note_event(struct flow *f, const struct pt_event *ev)
{
	if (ev->type == ptev_overflow) {
		f->cut = pd_grow(f->cut, f->nr_cuts, sizeof(*f->cut));
		f->cut[f->nr_cuts++] = f->n;
	}
	if (tell_writes && ev->type == ptev_ptwrite)
		printf("ptwrite %u %llu %llx %llx\n", f->q->tid, (unsigned long long)f->now,
		       (unsigned long long)ev->variant.ptwrite.ip,
		       (unsigned long long)ev->variant.ptwrite.payload);
}

/* The two decoders have the same calls under other names; so have these two halves. */

static int insn_events(struct flow *f, struct pt_insn_decoder *d, int status)
{
	struct pt_event ev;
	uint64_t tsc;

	while (status >= 0 && (status & pts_event_pending)) {
		status = pt_insn_event(d, &ev, sizeof(ev));
		if (status >= 0 && pt_insn_time(d, &tsc, NULL, NULL) >= 0)
			note_time(f, tsc);
		if (status >= 0)
			note_event(f, &ev);
	}
	return status;
}

static int insn_stretch(struct flow *f, struct pt_insn_decoder *d, int status)
{
	struct pt_insn insn;
	uint64_t offset = 0;

	for (;;) {
		status = insn_events(f, d, status);
		if (status < 0 || (status & pts_eos))
			return status;
		insn.iclass = ptic_error;
		status = pt_insn_next(d, &insn, sizeof(insn));
		if (pt_insn_get_offset(d, &offset) >= 0)
			note_offset(f, offset);
		if (insn.iclass != ptic_error)
			note_ip(f, insn.ip);
		if (status >= 0)
			status = endless(f, offset) ? -pte_eos : status;
		if (status < 0)
			return status;
	}
}

static void insn_decode(struct flow *f)
{
	struct pt_config c;
	struct pt_insn_decoder *d;
	struct pt_image *image = pt_image_alloc(NULL);
	uint64_t offset = 0;
	int status;

	configure(f, &c);
	c.flags.variant.insn.enable_tick_events = 1; /* a TSC packet on its own counts */
	d = pt_insn_alloc_decoder(&c);
	if (!d || !image || pt_image_set_callback(image, read_memory, f) < 0 ||
	    pt_insn_set_image(d, image) < 0)
		pd_give_up("libipt refused the configuration");
	while ((status = pt_insn_sync_forward(d)) != -pte_eos) {
		if (status >= 0)
			status = insn_stretch(f, d, status);
		if (status >= 0 || status == -pte_eos)
			break;
		pt_insn_get_offset(d, &offset);
		note_error(f, status, offset);
	}
	pt_insn_free_decoder(d);
	pt_image_free(image);
}

static int block_events(struct flow *f, struct pt_block_decoder *d, int status)
{
	struct pt_event ev;
	uint64_t tsc;

	while (status >= 0 && (status & pts_event_pending)) {
		status = pt_blk_event(d, &ev, sizeof(ev));
		if (status >= 0 && pt_blk_time(d, &tsc, NULL, NULL) >= 0)
			note_time(f, tsc);
		if (status >= 0)
			note_event(f, &ev);
	}
	return status;
}

static int block_stretch(struct flow *f, struct pt_block_decoder *d, int status)
{
	uint64_t offset = 0;

	for (;;) {
		struct pt_block b = { .ninsn = 0 };

		status = block_events(f, d, status);
		if (status < 0 || (status & pts_eos))
			return status;
		status = pt_blk_next(d, &b, sizeof(b));
		if (pt_blk_get_offset(d, &offset) >= 0)
			note_offset(f, offset);
		for (unsigned int i = 0; i < b.ninsn; i++)
			note_ip(f, i == 0 ? b.ip : i + 1u == b.ninsn ? b.end_ip : HIDDEN);
		if (status >= 0)
			status = endless(f, offset) ? -pte_eos : status;
		if (status < 0)
			return status;
	}
}

static void block_decode(struct flow *f)
{
	struct pt_config c;
	struct pt_block_decoder *d;
	struct pt_image *image = pt_image_alloc(NULL);
	uint64_t offset = 0;
	int status;

	configure(f, &c);
	c.flags.variant.block.enable_tick_events = 1;
	d = pt_blk_alloc_decoder(&c);
	if (!d || !image || pt_image_set_callback(image, read_memory, f) < 0 ||
	    pt_blk_set_image(d, image) < 0)
		pd_give_up("libipt refused the configuration");
	while ((status = pt_blk_sync_forward(d)) != -pte_eos) {
		if (status >= 0)
			status = block_stretch(f, d, status);
		if (status >= 0 || status == -pte_eos)
			break;
		pt_blk_get_offset(d, &offset);
		note_error(f, status, offset);
	}
	pt_blk_free_decoder(d);
	pt_image_free(image);
}

static void list_read(struct list *l, const char *dir)
{
	char path[4096];
	struct stat st;
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", dir, l->name);
	in = fopen(path, "re");
	if (!in || fstat(fileno(in), &st) || st.st_size % 8)
		pd_give_up("%s: not a list of addresses", path);
	l->n = (size_t)st.st_size / 8;
	l->ip = malloc(l->n * 8 + 1);
	if (!l->ip || fread(l->ip, 8, l->n, in) != l->n)
		pd_give_up("%s: cannot be read", path);
	fclose(in);
}

static size_t lists_read(const char *dir, struct list **ret)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	struct list *v = NULL;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		struct list l = { .n = 0 };
		char check[32];

		if (sscanf(e->d_name, "%u.%u", &l.pid, &l.tid) != 2)
			continue;
		snprintf(check, sizeof(check), "%u.%u", l.pid, l.tid);
		if (strcmp(check, e->d_name))
			continue;
		memcpy(l.name, check, sizeof(l.name));
		list_read(&l, dir);
		v = pd_grow(v, n, sizeof(*v));
		v[n++] = l;
	}
	if (d)
		closedir(d);
	*ret = v;
	return n;
}

static struct list *list_of(struct list *l, size_t n, uint32_t pid, uint32_t tid)
{
	for (size_t i = 0; i < n; i++)
		if (l[i].pid == pid && l[i].tid == tid)
			return &l[i];
	return NULL;
}

static bool same_at(const struct flow *f, const struct list *l, size_t pos, size_t i)
{
	return pos + i < l->n && (f->ip[i] == HIDDEN || f->ip[i] == l->ip[pos + i]);
}

static bool fits(const struct flow *f, const struct list *l, size_t pos)
{
	if (f->n > l->n - pos)
		return false;
	for (size_t i = 0; i < f->n; i++)
		if (!same_at(f, l, pos, i))
			return false;
	return true;
}

/* Several queues, one list: the list is their contents one after the other, in an order
 * that nobody tells. Try the orders; `f` is rearranged into the one that fits. */
static bool arrange(struct flow *f, size_t n, const struct list *l, size_t pos)
{
	if (!n)
		return pos == l->n;
	for (size_t i = 0; i < n; i++) {
		struct flow first = f[i];

		if (!fits(&first, l, pos))
			continue;
		f[i] = f[0];
		f[0] = first;
		if (arrange(f + 1, n - 1, l, pos + first.n))
			return true;
		f[0] = f[i];
		f[i] = first;
	}
	return false;
}

/* Instructions from `from` to `to` are in the list, at *pos or behind it: moved behind them. */
static bool find_part(const struct flow *f, const struct list *l, size_t from, size_t to,
		      size_t *pos)
{
	for (size_t at = *pos; at + (to - from) <= l->n; at++) {
		size_t i = from;

		while (i < to && (f->ip[i] == HIDDEN || f->ip[i] == l->ip[at + i - from]))
			i++;
		if (i < to)
			continue;
		*pos = at + (to - from);
		return true;
	}
	return false;
}

static bool judge_parts(const struct flow *f, const struct list *l)
{
	size_t pos = 0, from = 0, missing = 0;

	for (size_t c = 0; c <= f->nr_cuts; c++) {
		size_t to = c < f->nr_cuts ? f->cut[c] : f->n;

		missing += !find_part(f, l, from, to, &pos);
		from = to;
	}
	printf("queue %u pid %u tid %u: %zu instructions, %zu listed, %zu overflows, %zu parts "
	       "not in the list, %u errors\n", f->q->idx, f->pid, f->q->tid, f->n, l->n,
	       f->nr_cuts, missing, f->nr_errors);
	return !missing && !f->nr_errors && f->nr_cuts && f->n < l->n;
}

static void show_mismatch(const struct flow *f, const struct list *l, size_t pos,
			  size_t i)
{
	size_t m = 0;

	while (m + 1 < f->nr_marks && f->mark[m + 1].n <= i)
		m++;
	printf("  first mismatch: instruction %zu, trace offset near %#llx\n", i,
	       (unsigned long long)(f->nr_marks ? f->mark[m].offset : 0));
	for (size_t k = i > 2 ? i - 2 : 0; k < i + 4; k++) {
		printf("    %c %zu: decoded ", k == i ? '>' : ' ', k);
		if (k < f->n)
			printf("%#llx, list ", (unsigned long long)f->ip[k]);
		else
			printf("nothing, list ");
		if (pos + k < l->n)
			printf("%#llx\n", (unsigned long long)l->ip[pos + k]);
		else
			printf("nothing\n");
	}
}

/* Compares one queue with its part of the list and prints. Is all well? */
static bool judge(const struct flow *f, struct list *l, bool last)
{
	size_t part = l ? l->n - l->pos : 0, len, bad = 0, first = 0;

	if (!last && part > f->n)
		part = f->n;
	len = f->n > part ? f->n : part;
	for (size_t i = 0; i < len; i++) {
		if (l && i < f->n && same_at(f, l, l->pos, i))
			continue;
		if (!bad++)
			first = i;
	}
	printf("queue %u pid %u tid %u: %zu instructions, %zu listed, %zu mismatches, "
	       "%u errors\n", f->q->idx, f->pid, f->q->tid, f->n, part, bad,
	       f->nr_errors);
	if (!l)
		printf("  no list %u.%u\n", f->pid, f->q->tid);
	else if (bad)
		show_mismatch(f, l, l->pos, first);
	for (int code = 0; code <= pte_bad_cpu; code++)
		if (f->errors[code])
			printf("  %u x \"%s\"\n", f->errors[code],
			       pt_errstr((enum pt_error_code)code));
	if (f->nr_errors)
		printf("  first error: %s\n", f->first_error);
	if (f->q->gaps)
		printf("  %u gaps between chunks\n", f->q->gaps);
	if (l)
		l->pos += part;
	return !bad && !f->nr_errors && !f->q->gaps && (l || !f->n);
}

static void decode(struct flow *f)
{
	if (f->q->nr_chunks)
		f->base = f->q->chunk[0].reference & ~(((uint64_t)1 << 56) - 1);
	f->now = f->image->timeless ? UINT64_MAX : 0;
	if (block_mode)
		block_decode(f);
	else
		insn_decode(f);
}

/* The other queues of f[0]'s thread are moved behind it, and all are judged together. */
static bool judge_thread(struct flow *f, size_t n, struct list *lists, size_t nr_lists,
			 size_t *ret_taken)
{
	struct list *l = list_of(lists, nr_lists, f[0].pid, f[0].q->tid);
	size_t k = 1;
	bool good = true;

	for (size_t i = 1; i < n; i++) {
		struct flow x = f[i];

		if (x.q->tid != f[0].q->tid)
			continue;
		f[i] = f[k];
		f[k++] = x;
	}
	if (l)
		l->claimed = true;
	*ret_taken = k;
	if (lossy)
		return l && k == 1 && judge_parts(&f[0], l);
	if (l && k > 1)
		arrange(f, k, l, 0);
	for (size_t i = 0; i < k; i++)
		good &= judge(&f[i], l, i + 1 == k);
	return good;
}

int main(int argc, char **argv)
{
	struct pd_file file;
	struct image image;
	struct pd_queue *q;
	struct list *lists;
	struct flow *f;
	size_t n, nr_lists, taken, compared = 0;
	bool good = true;

	for (int i = 1; i < argc - 2; i++) {
		block_mode |= !strcmp(argv[i], "-b");
		lossy |= !strcmp(argv[i], "-o");
		tell_writes |= !strcmp(argv[i], "-w");
	}
	if (argc != 3 + block_mode + lossy + tell_writes)
		pd_give_up("usage: ptflow [-b] [-o] [-w] FILE IPDIR");
	pd_open(&file, argv[argc - 2]);
	pd_inflate(&file);
	image_load(&image, &file);
	n = pd_queues(&file, &q);
	nr_lists = lists_read(argv[argc - 1], &lists);
	f = calloc(n + 1, sizeof(*f));
	if (!f)
		pd_give_up("out of memory");
	for (size_t i = 0; i < n; i++) {
		f[i].q = &q[i];
		f[i].image = &image;
		f[i].pid = image_pid(&image, q[i].tid);
		decode(&f[i]);
	}
	for (size_t i = 0; i < n; i += taken)
		good &= judge_thread(f + i, n - i, lists, nr_lists, &taken);
	for (size_t i = 0; i < nr_lists; i++) {
		compared += lists[i].claimed ? lists[i].n : 0;
		if (lists[i].claimed || !lists[i].n)
			continue;
		printf("list %s: %zu instructions, and no queue\n", lists[i].name,
		       lists[i].n);
		good = false;
	}
	if (!n || !compared)
		pd_give_up("nothing was compared: %zu queues, %zu lists", n, nr_lists);
	puts(good ? "SAME" : "DIFF");
	return !good;
}
