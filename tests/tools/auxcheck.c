/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auxcheck [-b STATS -a STATS] FILE
 * auxcheck -x DIR FILE
 *
 * Is a recording of the fakept module (tests/guest/fakept) what the module wrote? Walks
 * every byte of every queue. PTW packets are numbered for each cpu; where numbers are
 * missing, an AUX record must say TRUNCATED, or its absence be told by a LOST record. AUX
 * records must cover the bytes of their queue. With the module's statistics from before and
 * after the recording, bytes, packets, truncations and losses must be as many as it counted.
 *
 * -x writes the bytes of each queue to DIR/QUEUE instead: for a feed, which has no numbers.
 *
 * Exit: 0 every byte is accounted for, 1 not so, 2 usage or nothing was checked.
 */
#include <stdarg.h>

#include "tests/tools/pdata.h"

enum {
	REC_LOST = 2,
	REC_AUX = 11,
	ID_INDEX = 69,
	MAX_CPU = 256,	  /* upper byte of a payload */
	MAX_TALK = 20,	  /* complaints that are shown */
	PTW = 10, TSC = 8, PSB = 16, PSBEND = 2,
};

/* A PERF_RECORD_AUX. */
struct aux {
	uint64_t offset, size, flags;
};

/* Numbers without a hole, and whether an AUX record says that bytes were lost behind them. */
struct run {
	uint64_t first, last;
	bool cut;
};

struct cpu {
	struct run *run;
	size_t nr_runs;
	uint64_t ptw, aux_bytes, truncated, lost_records, missing;
	/* The module's counters, after less before; the numbers as they were. */
	bool counted;
	uint64_t bytes, ptw_put, psb_put, trunc, dropped, seq_before, seq_after;
};

struct queue {
	struct pd_queue *q;
	struct aux *aux;
	size_t nr_aux, at_aux; /* the walk has passed so many of them */
	uint64_t cut;	       /* next place where a packet may be cut in two */
	uint64_t base;	       /* stream position of the first byte */
	uint64_t tsc;
	struct run *open;      /* in cpu[].run; NULL: the next packet begins one */
	unsigned int open_cpu;
};

struct id {
	uint64_t id, idx;
};

static struct cpu cpus[MAX_CPU];
static struct id *ids;
static size_t nr_ids;
static uint64_t psbs;
static bool lost_any;
static unsigned int faults;

__attribute__((format(printf, 1, 2)))
static void fault(const char *fmt, ...)
{
	va_list ap;

	if (faults++ >= MAX_TALK)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

#define ULL(v) ((unsigned long long)(v))

/* ---- records ---- */

static void see_ids(const struct pd_record *r)
{
	uint64_t n = pd_64(r->body);

	if (n > (r->size - 16u) / 32)
		pd_give_up("ID_INDEX: %llu entries do not fit", ULL(n));
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *e = r->body + 8 + 32 * i;

		ids = pd_grow(ids, nr_ids, sizeof(*ids));
		ids[nr_ids++] = (struct id){ pd_64(e), pd_64(e + 8) };
	}
}

/* The trailer ends with CPU and IDENTIFIER. */
static struct cpu *cpu_of(const struct pd_record *r)
{
	uint32_t cpu = r->size >= 24 ? pd_32(r->body - 8 + r->size - 16) : MAX_CPU;

	if (cpu >= MAX_CPU)
		pd_give_up("record at %#llx: no cpu", ULL(r->at));
	return &cpus[cpu];
}

static struct queue *queue_of(struct queue *q, size_t n, const struct pd_record *r)
{
	uint64_t id = pd_64(r->body - 8 + r->size - 8);

	for (size_t i = 0; i < nr_ids; i++)
		for (size_t k = 0; ids[i].id == id && k < n; k++)
			if (q[k].q->idx == ids[i].idx)
				return &q[k];
	return NULL;
}

static void see_aux(struct queue *q, size_t n, const struct pd_record *r)
{
	struct aux a = { pd_64(r->body), pd_64(r->body + 8), pd_64(r->body + 16) };
	struct cpu *c = cpu_of(r);

	c->aux_bytes += a.size;
	c->truncated += a.flags & PERF_AUX_FLAG_TRUNCATED;
	q = queue_of(q, n, r);
	if (!q && a.size)
		fault("AUX record at %#llx: %llu bytes in a queue that the file lacks",
		      ULL(r->at), ULL(a.size));
	if (!q)
		return;
	q->aux = pd_grow(q->aux, q->nr_aux, sizeof(*q->aux));
	q->aux[q->nr_aux++] = a;
}

static void see_records(const struct pd_file *f, struct queue *q, size_t n)
{
	struct pd_record r;

	for (uint64_t pos = f->begin; pd_next(f, &pos, &r);) {
		if (r.type == ID_INDEX)
			see_ids(&r);
		if (r.type == REC_AUX && r.size >= 56)
			see_aux(q, n, &r);
		if (r.type == REC_LOST) {
			cpu_of(&r)->lost_records += pd_64(r.body + 8);
			lost_any = true;
		}
	}
}

/* AUX records follow each other without a hole, and cover the queue's bytes. */
static void check_extents(struct queue *q)
{
	uint64_t at = q->base, end = q->base + q->q->n;

	if (q->q->gaps)
		fault("queue %u: %u AUXTRACE records do not follow the one before",
		      q->q->idx, q->q->gaps);
	for (size_t i = 0; i < q->nr_aux; i++) {
		const struct aux *a = &q->aux[i];

		if (a->offset != at && !(lost_any && a->offset > at))
			fault("queue %u: AUX record %zu begins at %llu, not %llu", q->q->idx,
			      i, ULL(a->offset), ULL(at));
		at = a->offset + a->size;
	}
	/* The last chunk may be padded. */
	if (at <= end && end - at < 8)
		q->q->n -= end - at;
	else if (!lost_any || at > end)
		fault("queue %u: AUX records end at %llu, bytes at %llu", q->q->idx, ULL(at),
		      ULL(end));
}

/* ---- packets ---- */

static void end_run(struct queue *q, bool cut)
{
	if (q->open && cut)
		q->open->cut = true;
	q->open = NULL;
}

static void find_cut(struct queue *q)
{
	q->cut = UINT64_MAX;
	for (size_t i = q->at_aux; i < q->nr_aux && q->cut == UINT64_MAX; i++)
		if (q->aux[i].flags & PERF_AUX_FLAG_TRUNCATED)
			q->cut = q->aux[i].offset + q->aux[i].size - q->base;
}

/* Pass the AUX records that end at or before this byte. */
static void pass_aux(struct queue *q, uint64_t pos)
{
	size_t was = q->at_aux;

	while (q->at_aux < q->nr_aux) {
		const struct aux *a = &q->aux[q->at_aux];

		if (a->offset + a->size > q->base + pos)
			break;
		if (a->flags & PERF_AUX_FLAG_TRUNCATED)
			end_run(q, true);
		q->at_aux++;
	}
	if (!pos || q->at_aux != was)
		find_cut(q);
}

static void see_number(struct queue *q, uint64_t payload)
{
	unsigned int cpu = (unsigned int)(payload >> 56);
	uint64_t seq = payload & (UINT64_MAX >> 8);
	struct cpu *c = &cpus[cpu];

	c->ptw++;
	if (q->open && q->open_cpu == cpu && q->open->last + 1 == seq) {
		q->open->last = seq;
		return;
	}
	c->run = pd_grow(c->run, c->nr_runs, sizeof(*c->run));
	q->open = &c->run[c->nr_runs++];
	q->open_cpu = cpu;
	*q->open = (struct run){ .first = seq, .last = seq };
}

static void see_tsc(struct queue *q, uint64_t tsc)
{
	if (tsc < q->tsc)
		fault("queue %u: TSC goes back from %llu to %llu", q->q->idx, ULL(q->tsc),
		      ULL(tsc));
	q->tsc = tsc;
}

/* Length of the packet at p, 0 when the module writes no such packet. Of a packet that is
 * cut, the bytes that are there decide. */
static uint64_t packet_length(const uint8_t *p, uint64_t left)
{
	static const uint8_t psb[PSB] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					  2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };

	if (p[0] == 0x19)
		return TSC;
	if (p[0] != 2)
		return 0;
	if (left < 2 || p[1] == 0x32)
		return PTW;
	if (p[1] == 0x23)
		return PSBEND;
	return memcmp(p, psb, left < PSB ? left : PSB) ? 0 : PSB;
}

static void see_packet(struct queue *q, const uint8_t *p, uint64_t len)
{
	if (len == PTW)
		see_number(q, pd_64(p + 2));
	else if (len == TSC)
		see_tsc(q, pd_64(p) >> 8);
	else if (len == PSB)
		psbs++;
}

static void walk(struct queue *q)
{
	const uint8_t *v = q->q->v;
	uint64_t pos = 0, n = q->q->n;

	while (pos < n) {
		uint64_t left, len;

		pass_aux(q, pos);
		left = (q->cut < n ? q->cut : n) - pos;
		len = packet_length(v + pos, left);
		if (!len) {
			fault("queue %u: no packet at %llu: %02x", q->q->idx, ULL(pos), v[pos]);
			end_run(q, false);
			return;
		}
		if (len <= left)
			see_packet(q, v + pos, len);
		else if (q->cut != pos + left)
			fault("queue %u: ends within a packet", q->q->idx);
		pos += len < left ? len : left;
	}
	pass_aux(q, n);
}

/* ---- numbers ---- */

static int by_first(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* What is missing between the end of a run and the next number. */
static void gap(struct cpu *c, unsigned int nr, uint64_t from, uint64_t to, bool cut)
{
	if (to < from)
		fault("cpu %u: numbers from %llu to %llu are there twice", nr, ULL(to),
		      ULL(from - 1));
	if (to <= from)
		return;
	c->missing += to - from;
	if (!cut && !lost_any)
		fault("cpu %u: unexplained: numbers from %llu to %llu are missing", nr,
		      ULL(from), ULL(to - 1));
}

static void check_numbers(struct cpu *c, unsigned int nr)
{
	uint64_t next = c->counted ? c->seq_before : c->nr_runs ? c->run[0].first : 0;
	bool cut = false;

	if (c->nr_runs)
		qsort(c->run, c->nr_runs, sizeof(*c->run), by_first);
	if (!c->counted && c->nr_runs)
		next = c->run[0].first;
	for (size_t i = 0; i < c->nr_runs; i++) {
		gap(c, nr, next, c->run[i].first, cut);
		next = c->run[i].last + 1;
		cut = c->run[i].cut;
	}
	if (c->counted)
		gap(c, nr, next, c->seq_after, cut);
}

/* ---- the module's statistics ---- */

static uint64_t field(const char *line, const char *name)
{
	char key[32];
	const char *p;

	snprintf(key, sizeof(key), " %s=", name);
	p = strstr(line, key);
	if (!p)
		pd_give_up("statistics without '%s'", name);
	return strtoull(p + strlen(key), NULL, 10);
}

/* sign: +1 for the later file, -1 (as unsigned arithmetic has it) for the earlier one. */
static void read_stats(const char *path, bool after)
{
	uint64_t sign = after ? 1 : UINT64_MAX;
	FILE *f = fopen(path, "r");
	char line[512];

	if (!f)
		pd_give_up("%s: cannot be read", path);
	while (fgets(line, sizeof(line), f)) {
		unsigned long nr = strncmp(line, "cpu=", 4) ? MAX_CPU :
							      strtoul(line + 4, NULL, 10);
		struct cpu *c = &cpus[nr];

		if (nr >= MAX_CPU)
			pd_give_up("%s: no statistics", path);
		c->counted = true;
		c->bytes += sign * field(line, "bytes");
		c->ptw_put += sign * field(line, "ptw");
		c->psb_put += sign * field(line, "psb");
		c->trunc += sign * field(line, "trunc");
		c->dropped += sign * field(line, "dropped");
		*(after ? &c->seq_after : &c->seq_before) = field(line, "seq");
	}
	fclose(f);
}

static void same(unsigned int nr, const char *what, uint64_t file, uint64_t module)
{
	if (file != module)
		fault("cpu %u: %s: %llu in the file, %llu by the module's count", nr, what,
		      ULL(file), ULL(module));
}

static void check_counts(const struct cpu *c, unsigned int nr)
{
	same(nr, "PTW packets", c->ptw, c->ptw_put);
	same(nr, "lost packets", c->missing, c->dropped);
	if (lost_any)
		return; /* AUX records may be among them */
	same(nr, "bytes by AUX records", c->aux_bytes, c->bytes);
	same(nr, "truncations", c->truncated, c->trunc);
}

static void check_cpus(uint64_t stream_bytes)
{
	uint64_t bytes = 0, psb = 0;
	bool counted = false;

	for (unsigned int i = 0; i < MAX_CPU; i++) {
		struct cpu *c = &cpus[i];

		check_numbers(c, i);
		if (c->counted)
			check_counts(c, i);
		counted |= c->counted;
		bytes += c->bytes;
		psb += c->psb_put;
		if (!c->counted && !c->ptw)
			continue;
		printf("cpu %u: %llu packets in %zu runs, %llu missing, %llu truncations, "
		       "%llu records lost\n", i, ULL(c->ptw), c->nr_runs, ULL(c->missing),
		       ULL(c->truncated), ULL(c->lost_records));
	}
	if (counted && bytes != stream_bytes)
		fault("%llu bytes in the file, %llu by the module's count",
		      ULL(stream_bytes), ULL(bytes));
	if (counted && psb != psbs)
		fault("%llu PSBs in the file, %llu by the module's count", ULL(psbs),
		      ULL(psb));
}

/* ---- */

static struct queue *load(const struct pd_file *f, size_t *n)
{
	struct pd_queue *streams;
	struct queue *q;

	*n = pd_queues(f, &streams);
	if (!*n)
		pd_give_up("no trace in this file");
	q = calloc(*n, sizeof(*q));
	if (!q)
		pd_give_up("out of memory");
	for (size_t i = 0; i < *n; i++) {
		q[i].q = &streams[i];
		q[i].base = streams[i].chunk[0].offset;
	}
	see_records(f, q, *n);
	for (size_t i = 0; i < *n; i++)
		check_extents(&q[i]);
	return q;
}

static void extract(const struct queue *q, const char *dir)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%u", dir, q->q->idx);
	f = fopen(path, "w");
	if (!f || fwrite(q->q->v, 1, q->q->n, f) != q->q->n || fclose(f))
		pd_give_up("%s: cannot be written", path);
	printf("queue %u: %zu bytes, %zu AUX records\n", q->q->idx, q->q->n, q->nr_aux);
}

int main(int argc, char **argv)
{
	const char *before = NULL, *after = NULL, *dir = NULL;
	struct pd_file f;
	struct queue *q;
	uint64_t bytes = 0;
	size_t n;
	int opt;

	while ((opt = getopt(argc, argv, "a:b:x:")) != -1) {
		if (opt == '?')
			return 2;
		*(opt == 'a' ? &after : opt == 'b' ? &before : &dir) = optarg;
	}
	if (optind != argc - 1 || !before != !after) {
		fprintf(stderr, "usage: auxcheck [-b STATS -a STATS | -x DIR] FILE\n");
		return 2;
	}
	pd_open(&f, argv[optind]);
	pd_inflate(&f);
	if (!(f.sample_type & PERF_SAMPLE_IDENTIFIER) || !(f.sample_type & PERF_SAMPLE_CPU))
		pd_give_up("records without cpu and identifier");
	if (before) {
		read_stats(before, false);
		read_stats(after, true);
	}
	q = load(&f, &n);
	for (size_t i = 0; i < n; i++) {
		if (dir)
			extract(&q[i], dir);
		else
			walk(&q[i]);
		bytes += q[i].q->n;
	}
	if (!dir)
		check_cpus(bytes);
	if (faults > MAX_TALK)
		printf("and %u more\n", faults - MAX_TALK);
	printf("%s: %zu queues, %llu bytes: %s\n", argv[optind], n, ULL(bytes),
	       faults ? "NOT accounted for" : dir ? "written" : "all accounted for");
	return faults ? 1 : 0;
}
