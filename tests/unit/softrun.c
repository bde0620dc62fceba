/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/softrun.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <intel-pt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Small programs are over soon: look at their memory after every stop at first. */
enum { FINE_STOPS = 500, COARSE = 200 };

bool softrun_permitted(void)
{
	pid_t pid = fork();
	bool ok;

	if (!pid)
		for (;;)
			pause();
	ok = !ptrace(PTRACE_SEIZE, pid, NULL, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
	return ok;
}

static void *grow(void *p, size_t n, size_t size)
{
	p = realloc(p, (n + 1) * size);
	assert(p);
	return p;
}

static void child(int in, int unused, char *const argv[])
{
	char c;

	close(unused);
	if (read(in, &c, 1) != 1)
		_exit(125);
	close(in);
	execv(argv[0], argv);
	_exit(127);
}

int softrun_begin(struct softrun *r, struct soft_config *c, char *const argv[])
{
	int p[2], err;

	*r = (struct softrun){ .status = -1 };
	strcpy(r->dir, "/tmp/softrun.XXXXXX");
	if (!mkdtemp(r->dir) || pipe2(p, O_CLOEXEC))
		return -errno;
	c->ip_log = r->dir;
	r->child = fork();
	if (!r->child)
		child(p[0], p[1], argv);
	close(p[0]);
	r->go = p[1];
	err = soft_new(&r->soft, c);
	if (!err)
		err = soft_start(r->soft, r->child);
	if (!err && write(r->go, "x", 1) != 1)
		err = -errno;
	if (err)
		kill(r->child, SIGKILL);
	return err;
}

static bool known(const struct softrun *r, pid_t pid, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < r->nr_regions; i++)
		if (r->region[i].pid == pid && r->region[i].begin == begin &&
		    r->region[i].end == end)
			return true;
	return false;
}

static void keep_region(struct softrun *r, pid_t pid, uint64_t begin, uint64_t end)
{
	struct softrun_region k = { .pid = pid, .begin = begin, .end = end };

	if (known(r, pid, begin, end))
		return;
	k.v = malloc(end - begin);
	assert(k.v);
	if (soft_memory(r->soft, pid, begin, k.v, end - begin) != end - begin) {
		free(k.v);
		return;
	}
	r->region = grow(r->region, r->nr_regions, sizeof(k));
	r->region[r->nr_regions++] = k;
}

static void keep_memory(struct softrun *r, pid_t pid)
{
	char path[64], line[512], perm[5];
	unsigned long begin, end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %4s", &begin, &end, perm) == 3 &&
		    perm[2] == 'x' && perm[0] == 'r')
			keep_region(r, pid, begin, end);
	fclose(f);
}

static void take(struct softrun_trace *t, const struct soft_queue *q)
{
	assert(q->offset == t->n);
	if (q->started)
		t->start = q->start_ticks;
	for (int i = 0; i < q->nv; i++) {
		t->v = grow(t->v, t->n + q->v[i].iov_len, 1);
		memcpy(t->v + t->n, q->v[i].iov_base, q->v[i].iov_len);
		t->n += q->v[i].iov_len;
	}
}

void softrun_drain(struct softrun *r, bool flush)
{
	for (size_t i = 0; i < soft_nr_queues(r->soft); i++) {
		struct soft_queue q;

		if (i == r->nr_traces) {
			r->trace = grow(r->trace, i, sizeof(*r->trace));
			r->trace[r->nr_traces++] = (struct softrun_trace){ 0 };
		}
		do {
			soft_queue_peek(r->soft, i, flush, &q);
			r->trace[i].pid = q.pid;
			r->trace[i].tid = q.tid;
			take(&r->trace[i], &q);
			soft_queue_release(r->soft, i);
		} while (q.nv);
	}
}

int softrun_some(struct softrun *r, unsigned stops)
{
	int state = soft_run(r->soft, stops, 100000000);

	soft_stats(r->soft, &r->stats);
	softrun_drain(r, false);
	for (size_t i = 0; i < r->nr_traces; i++)
		keep_memory(r, r->trace[i].pid);
	soft_exit_status(r->soft, &r->status);
	return state;
}

int softrun_all(struct softrun *r)
{
	for (;;) {
		int state = softrun_some(r, r->stats.stops < FINE_STOPS ? 1 : COARSE);

		if (state == SOFT_DONE)
			return 0;
		if (state < 0)
			return state;
		if (state == SOFT_IDLE)
			usleep(1000);
	}
}

static void remove_dir(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

void softrun_end(struct softrun *r)
{
	if (!r->dir[0])
		return;
	soft_free(r->soft);
	if (r->child > 0) {
		kill(r->child, SIGKILL);
		waitpid(r->child, NULL, 0);
		close(r->go);
	}
	for (size_t i = 0; i < r->nr_traces; i++)
		free(r->trace[i].v);
	for (size_t i = 0; i < r->nr_regions; i++)
		free(r->region[i].v);
	free(r->trace);
	free(r->region);
	remove_dir(r->dir);
	*r = (struct softrun){ 0 };
}

struct memory {
	const struct softrun *r;
	pid_t pid;
};

/* A child that executes another program soon may be seen too late; it has its parent's
 * memory until then. */
static const struct softrun_region *find(const struct memory *m, uint64_t ip)
{
	for (int own = 1; own >= 0; own--)
		for (size_t i = m->r->nr_regions; i-- > 0;) {
			const struct softrun_region *k = &m->r->region[i];

			if ((k->pid == m->pid || !own) && ip >= k->begin && ip < k->end)
				return k;
		}
	return NULL;
}

static int read_memory(uint8_t *buf, size_t n, const struct pt_asid *asid, uint64_t ip,
		       void *arg)
{
	const struct softrun_region *k = find(arg, ip);

	(void)asid;
	if (!k)
		return -pte_nomap;
	if (n > k->end - ip)
		n = (size_t)(k->end - ip);
	memcpy(buf, k->v + (ip - k->begin), n);
	return (int)n;
}

struct judge {
	struct softrun_verdict *v;
	const struct softrun_trace *t;
	uint64_t *log;
	size_t nr_log, at;
	FILE *out;
};

static void see(struct judge *j, uint64_t ip)
{
	uint64_t want = j->at < j->nr_log ? j->log[j->at] : 0;

	j->v->decoded++;
	j->at++;
	if (want == ip)
		return;
	if (!j->v->differ++ && j->out)
		fprintf(j->out, "%d.%d: instruction %zu is %llx, not %llx\n", (int)j->t->pid,
			(int)j->t->tid, j->at, (unsigned long long)ip,
			(unsigned long long)want);
}

static int take_events(struct judge *j, struct pt_insn_decoder *d, int status)
{
	while (status >= 0 && status & pts_event_pending) {
		struct pt_event e;

		status = pt_insn_event(d, &e, sizeof(e));
		if (status < 0)
			break;
		j->v->enabled += e.type == ptev_enabled;
		j->v->overflows += e.type == ptev_overflow;
	}
	return status;
}

/* From one point of synchronisation to the end, or to an error. */
static int decode_stretch(struct judge *j, struct pt_insn_decoder *d, int status)
{
	for (;;) {
		struct pt_insn i = { 0 };

		status = take_events(j, d, status);
		if (status < 0 || status & pts_eos)
			return status < 0 ? status : -pte_eos;
		i.iclass = ptic_error;
		status = pt_insn_next(d, &i, sizeof(i));
		if (i.iclass != ptic_error)
			see(j, i.ip);
		if (status < 0)
			return status;
	}
}

static void decode(struct judge *j, struct pt_insn_decoder *d)
{
	int status;

	for (;;) {
		status = pt_insn_sync_forward(d);
		if (status >= 0)
			status = decode_stretch(j, d, status);
		if (status == -pte_eos)
			return;
		j->v->errors++;
		if (j->out)
			fprintf(j->out, "%d.%d: after %zu instructions: %s\n",
				(int)j->t->pid, (int)j->t->tid, j->at,
				pt_errstr(pt_errcode(status)));
		if (j->v->errors > 10)
			return;
	}
}

static void read_log(struct judge *j, const char *dir)
{
	char path[128];
	long size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d.%d", dir, (int)j->t->pid, (int)j->t->tid);
	f = fopen(path, "re");
	if (!f)
		return;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	j->log = size > 0 ? malloc((size_t)size) : NULL;
	if (j->log)
		j->nr_log = fread(j->log, sizeof(*j->log), (size_t)size / sizeof(*j->log), f);
	fclose(f);
}

static void judge_trace(const struct softrun *r, const struct softrun_trace *t,
			struct softrun_verdict *v, FILE *out)
{
	struct judge j = { .v = v, .t = t, .out = out };
	struct memory m = { .r = r, .pid = t->pid };
	struct pt_image *image = pt_image_alloc(NULL);
	struct pt_insn_decoder *d;
	struct pt_config c;

	pt_config_init(&c);
	c.begin = t->v;
	c.end = t->v + t->n;
	d = pt_insn_alloc_decoder(&c);
	assert(d && image);
	pt_image_set_callback(image, read_memory, &m);
	pt_insn_set_image(d, image);
	read_log(&j, r->dir);
	decode(&j, d);
	v->traces++;
	v->logged += j.nr_log;
	if (j.at < j.nr_log) {
		v->differ++;
		if (out)
			fprintf(out, "%d.%d: %zu of %zu instructions decoded\n", (int)t->pid,
				(int)t->tid, j.at, j.nr_log);
	}
	free(j.log);
	pt_insn_free_decoder(d);
	pt_image_free(image);
}

void softrun_judge(const struct softrun *r, struct softrun_verdict *ret, FILE *out)
{
	*ret = (struct softrun_verdict){ 0 };
	for (size_t i = 0; i < r->nr_traces; i++)
		if (r->trace[i].n)
			judge_trace(r, &r->trace[i], ret, out);
}
