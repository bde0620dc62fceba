/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder/newestring.h"
#include "recorder/session.h"

const char *const fetch_kind_names[FETCH_KINDS] = { "traceBuffer", "perfContextSwitchTrace",
						    "procfsCpuInfo" };

enum { CPUINFO_MAX = 16 << 20 }; /* 1.5 KiB for each of some thousand cpus */

/* ---- into a file in memory ---- */

static int write_all(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

/* The part that was asked for, of what lies in v. */
static int keep(const struct fetch *q, struct fetched *f, const struct iovec *v, int n)
{
	uint64_t skip = q->offset, left = q->size;
	int err = 0;

	f->total = 0;
	for (int i = 0; i < n; i++)
		f->total += v[i].iov_len;
	if (q->offset > f->total)
		return -ERANGE;
	f->size = f->total - q->offset < left ? f->total - q->offset : left;
	left = f->size;
	for (int i = 0; i < n && left && !err; i++) {
		size_t here = v[i].iov_len;

		if (skip >= here) {
			skip -= here;
			continue;
		}
		here -= (size_t)skip;
		if (here > left)
			here = (size_t)left;
		err = write_all(f->fd, (const uint8_t *)v[i].iov_base + skip, here);
		left -= here;
		skip = 0;
	}
	return err;
}

/* ---- the rings ---- */

static int copy_area(struct session *s, size_t place, const struct fetch *q, struct fetched *f)
{
	struct fmt_auxtrace a;
	struct iovec v[2];
	int n, err, thawed;

	flight_freeze(s, place);
	n = snapshot_look(s, place, &a, v);
	err = keep(q, f, v, n);
	thawed = flight_thaw(s, place);
	f->position = a.offset;
	return err ? err : thawed;
}

static int copy_records(struct session *s, size_t place, const struct fetch *q,
			struct fetched *f)
{
	struct pio_newest all = s->set.place[place].newest;
	struct fmt_buf b = { 0 };
	struct newestring n;
	struct iovec v;
	int err, thawed;

	all.seen = 0; /* whether a snapshot had it or not */
	flight_freeze(s, place);
	err = newestring_copy(&all, 0, &b, &n);
	thawed = flight_thaw(s, place);
	v = (struct iovec){ b.data, b.len };
	if (!err)
		err = keep(q, f, &v, b.len != 0);
	fmt_buf_done(&b);
	return err ? err : thawed;
}

static int copy_place(struct session *s, size_t place, const struct fetch *q, struct fetched *f)
{
	const struct pio_place *p = &s->set.place[place];

	if (q->kind == FETCH_TRACE && p->ring.aux)
		return copy_area(s, place, q, f);
	if (q->kind == FETCH_SWITCHES && p->newest.meta)
		return copy_records(s, place, q, f);
	return control_refuse(s, -ENOENT, "there is no %s in this recording",
			      fetch_kind_names[q->kind]);
}

/* It stands still by itself: its program is stepped by us. */
static int copy_soft(struct session *s, size_t queue, const struct fetch *q, struct fetched *f)
{
	struct soft_queue k;
	size_t n = soft_queue_kept(s->source.soft, queue, &k);
	struct iovec v = { malloc(n + 1), n };
	int err = v.iov_base ? 0 : -ENOMEM;

	f->position = k.offset;
	if (!err) {
		v.iov_len = soft_queue_copy(s->source.soft, queue, k.offset, v.iov_base, n);
		err = keep(q, f, &v, 1);
	}
	free(v.iov_base);
	return err;
}

static int find_soft(struct session *s, const struct fetch *q)
{
	struct soft_queue k;

	for (size_t i = soft_nr_queues(s->source.soft); i--;) {
		(void)soft_queue_kept(s->source.soft, i, &k);
		if (k.of_cpu ? k.cpu == q->cpu : k.tid == q->tid)
			return (int)i;
	}
	return -ENOENT;
}

static int find_place(struct session *s, const struct fetch *q)
{
	if (q->cpu >= 0)
		return pio_evset_place_of(&s->set, q->cpu);
	for (size_t i = 0; i < s->set.nr_place; i++)
		if (s->set.place[i].tid == q->tid && s->set.place[i].ring.meta)
			return (int)i;
	return -ENOENT;
}

static int copy_ring(struct session *s, const struct fetch *q, struct fetched *f)
{
	bool soft = s->source.soft && q->kind == FETCH_TRACE;
	int at;

	if (!s->flight.table)
		return control_refuse(s, -EOPNOTSUPP, "no flight recording: its rings are emptied "
						      "into the file");
	if ((q->cpu < 0) == (q->tid < 0))
		return control_refuse(s, -EINVAL, "of one cpu or of one thread");
	at = soft ? find_soft(s, q) : find_place(s, q);
	if (at < 0 && q->cpu >= 0)
		return control_refuse(s, at, "cpu %d has no ring of its own here", q->cpu);
	if (at < 0)
		return control_refuse(s, at, "thread %d has no ring of its own here", (int)q->tid);
	s->flight.pause_ns = 0;
	at = soft ? copy_soft(s, (size_t)at, q, f) : copy_place(s, (size_t)at, q, f);
	f->pause_ns = s->flight.pause_ns;
	return at;
}

static int copy_cpuinfo(struct session *s, const struct fetch *q, struct fetched *f)
{
	char *text;
	size_t n;
	int err = pio_read_file(&text, &n, CPUINFO_MAX, "%s/cpuinfo", s->sys->proc);
	struct iovec v;

	if (err)
		return err;
	v = (struct iovec){ text, n };
	err = keep(q, f, &v, 1);
	free(text);
	return err;
}

static int finish(struct session *s, const struct fetch *q, struct fetched *f, int err)
{
	if (!err && lseek(f->fd, 0, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		return 0;
	(void)close(f->fd);
	f->fd = -1;
	if (err == -ERANGE)
		return control_refuse(s, -EINVAL, "offset %llu is behind the %llu bytes there are",
				      (unsigned long long)q->offset, (unsigned long long)f->total);
	if (!*s->control.words)
		(void)control_refuse(s, err, "cannot fetch it: %s", strerror(-err));
	return err;
}

int fetch_bytes(struct session *s, const struct fetch *q, struct fetched *ret)
{
	struct fetched f = { .fd = memfd_create("auxrec", MFD_CLOEXEC) };
	int err;

	if (f.fd < 0)
		return control_refuse(s, -errno, "cannot make a file in memory: %m");
	s->control.words[0] = '\0';
	err = q->kind == FETCH_CPUINFO ? copy_cpuinfo(s, q, &f) : copy_ring(s, q, &f);
	err = finish(s, q, &f, err);
	if (!err)
		*ret = f;
	return err;
}
