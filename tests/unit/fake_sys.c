/* SPDX-License-Identifier: Apache-2.0 */
/* The rules are those of perf_mmap() and perf_event_set_output() in kernel/events/core.c,
 * Linux 6.1. */
#include "tests/unit/fake_sys.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_EVENTS 1024

static struct fake_event events[MAX_EVENTS];
static size_t nr_events;
static unsigned lent_fds, lent_maps, slips, calls[FAKE_ANY + 1];
static struct {
	enum fake_call kind;
	unsigned left;
	int err;
	bool done;
} plan;

int (*fake_refuse)(const struct perf_event_attr *attr, pid_t pid, int cpu);
uint32_t fake_aux_type = 8;

static int note_call(enum fake_call kind)
{
	bool any = kind != FAKE_MUNMAP && kind != FAKE_CLOSE;

	calls[kind]++;
	calls[FAKE_ANY] += any;
	if (!plan.left || !(plan.kind == kind || (plan.kind == FAKE_ANY && any)))
		return 0;
	if (--plan.left)
		return 0;
	plan.done = true;
	return -plan.err;
}

static int slip(void)
{
	slips++;
	return -EBADF;
}

struct fake_event *fake_event_of(int fd)
{
	for (size_t i = 0; i < nr_events; i++)
		if (events[i].open && events[i].fd == fd)
			return &events[i];
	return NULL;
}

static int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		     unsigned long flags)
{
	int fd, err = note_call(FAKE_OPEN);

	if (!err && fake_refuse)
		err = fake_refuse(attr, pid, cpu);
	if (err)
		return err;
	if (nr_events == MAX_EVENTS)
		return -ENFILE;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	events[nr_events] = (struct fake_event){
		.attr = *attr,
		.pid = pid,
		.cpu = cpu,
		.group_fd = group_fd,
		.fd = fd,
		.flags = flags,
		.id = 101 + nr_events,
		.output = -1,
		.open = true,
		.enabled = !attr->disabled,
	};
	nr_events++;
	lent_fds++;
	return fd;
}

static bool same_clock(const struct fake_event *a, const struct fake_event *b)
{
	return a->attr.use_clockid == b->attr.use_clockid &&
	       (!a->attr.use_clockid || a->attr.clockid == b->attr.clockid);
}

static int set_output(struct fake_event *e, int fd)
{
	struct fake_event *to = fake_event_of(fd);

	if (!to)
		return -EBADF;
	if (to == e || !to->meta || e->meta)
		return -EINVAL;
	if (to->attr.write_backward != e->attr.write_backward)
		return -EINVAL;
	if (to->cpu != e->cpu || (e->cpu < 0 && to->pid != e->pid) || !same_clock(e, to))
		return -EINVAL;
	e->output = fd;
	return 0;
}

/* With PERF_IOC_FLAG_GROUP, the members too. Their leader is on before them then, and what
 * follows it is stuck (ctx_resched(), Linux 6.12). */
static void switch_on(struct fake_event *e, bool on, uintptr_t arg)
{
	e->enabled = on;
	e->stuck = false;
	if (!on && (e->overwrite || e->withholds))
		__atomic_store_n(&e->meta->aux_head,
				 e->overwrite ? e->aux_pos % e->aux_len : e->aux_pos,
				 __ATOMIC_RELEASE);
	for (size_t i = 0; arg == PERF_IOC_FLAG_GROUP && i < fake_nr_events(); i++)
		if (fake_event(i)->open && fake_event(i)->group_fd == e->fd) {
			fake_event(i)->stuck = on && !fake_event(i)->enabled;
			fake_event(i)->enabled = on;
		}
}

static int fake_ioctl(int fd, unsigned long request, uintptr_t arg)
{
	struct fake_event *e = fake_event_of(fd);
	int err = note_call(FAKE_IOCTL);

	if (err)
		return err;
	if (!e)
		return slip();
	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
		e->enables++;
		switch_on(e, true, arg);
		return 0;
	case PERF_EVENT_IOC_DISABLE:
		e->disables++;
		switch_on(e, false, arg);
		return 0;
	case PERF_EVENT_IOC_ID:
		memcpy((void *)arg, &e->id, sizeof(e->id));
		return 0;
	case PERF_EVENT_IOC_SET_OUTPUT:
		return set_output(e, (int)arg);
	case PERF_EVENT_IOC_SET_FILTER:
		strncpy(e->filter, (const char *)arg, sizeof(e->filter) - 1);
		return 0;
	}
	return -ENOTTY;
}

static int lend(void **ret, size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		return -errno;
	lent_maps++;
	*ret = p;
	return 0;
}

static bool power_of_two(size_t n)
{
	return n && !(n & (n - 1));
}

static int map_data(void **ret, struct fake_event *e, size_t len)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = NULL;
	int err;

	if (e->meta || len % page || !power_of_two(len / page - 1))
		return -EINVAL;
	err = lend(&p, len);
	if (err)
		return err;
	e->meta = p;
	e->map_len = len;
	e->meta->data_offset = page;
	e->meta->data_size = len - page;
	*ret = p;
	return 0;
}

static int map_aux(void **ret, struct fake_event *e, size_t len, int prot, off_t off)
{
	void *p = NULL;
	int err;

	if (!e->meta || e->aux || (uint64_t)off < e->map_len)
		return -EINVAL;
	if (e->meta->aux_offset != (uint64_t)off || e->meta->aux_size != len)
		return -EINVAL;
	if (!power_of_two(len / (size_t)sysconf(_SC_PAGESIZE)))
		return -EINVAL;
	if (e->attr.type != fake_aux_type)
		return -EOPNOTSUPP;
	err = lend(&p, len);
	if (err)
		return err;
	e->aux = p;
	e->aux_len = len;
	e->overwrite = !(prot & PROT_WRITE);
	*ret = p;
	return 0;
}

static int fake_mmap(void **ret, size_t len, int prot, int fd, off_t off)
{
	struct fake_event *e = fake_event_of(fd);
	int err = note_call(FAKE_MMAP);

	if (err)
		return err;
	if (!e)
		return slip();
	if (!(prot & PROT_READ) || (e->cpu < 0 && e->attr.inherit))
		return -EINVAL;
	if (!off && !(prot & PROT_WRITE) && !e->attr.write_backward)
		return -EINVAL; /* where its oldest record begins is unknown: nobody wants one */
	return off ? map_aux(ret, e, len, prot, off) : map_data(ret, e, len);
}

static int fake_munmap(void *p, size_t len)
{
	int err = note_call(FAKE_MUNMAP);

	if (err)
		return err;
	for (size_t i = 0; i < nr_events; i++) {
		struct fake_event *e = &events[i];

		if (e->meta == p && e->map_len == len)
			e->meta = NULL;
		else if (e->aux == p && e->aux_len == len)
			e->aux = NULL;
		else
			continue;
		lent_maps--;
		return munmap(p, len);
	}
	return slip();
}

static ssize_t fake_read(int fd, void *buf, size_t len)
{
	const struct fake_event *e = fake_event_of(fd);
	uint64_t v[5] = { 0 };
	size_t n = 1;
	int err = note_call(FAKE_READ);

	if (err)
		return err;
	if (!e)
		return slip();
	n += !!(e->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED);
	n += !!(e->attr.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	if (e->attr.read_format & PERF_FORMAT_ID)
		v[n++] = e->id;
	if (e->attr.read_format & PERF_FORMAT_LOST)
		v[n++] = e->lost;
	if (len < n * sizeof(*v))
		return -ENOSPC;
	memcpy(buf, v, n * sizeof(*v));
	return (ssize_t)(n * sizeof(*v));
}

static int fake_close(int fd)
{
	struct fake_event *e = fake_event_of(fd);
	int err = note_call(FAKE_CLOSE);

	if (err)
		return err;
	if (!e)
		return slip();
	e->open = false;
	lent_fds--;
	return close(fd);
}

#define FAKE_SYS                                                                       \
	{                                                                              \
		.open = fake_open, .ioctl = fake_ioctl, .mmap = fake_mmap,             \
		.munmap = fake_munmap, .read = fake_read, .close = fake_close,         \
		.proc = "/proc", .sysfs = "/sys", .tracefs = "/sys/kernel/tracing",    \
	}

struct pio_sys fake_sys = FAKE_SYS;

void fake_reset(void)
{
	for (size_t i = 0; i < nr_events; i++) {
		if (events[i].aux)
			munmap(events[i].aux, events[i].aux_len);
		if (events[i].meta)
			munmap(events[i].meta, events[i].map_len);
		if (events[i].open)
			close(events[i].fd);
	}
	nr_events = 0;
	lent_fds = lent_maps = slips = 0;
	memset(calls, 0, sizeof(calls));
	fake_fail(FAKE_ANY, 0, 0);
	fake_refuse = NULL;
	fake_aux_type = 8;
	fake_sys = (struct pio_sys)FAKE_SYS;
}

void fake_fail(enum fake_call kind, unsigned n, int err)
{
	plan.kind = kind;
	plan.left = n;
	plan.err = err;
	plan.done = false;
}

bool fake_failed(void)
{
	return plan.done;
}

unsigned fake_calls(enum fake_call kind)
{
	return calls[kind];
}

unsigned fake_lent_fds(void)
{
	return lent_fds;
}

unsigned fake_lent_maps(void)
{
	return lent_maps;
}

unsigned fake_slips(void)
{
	return slips;
}

size_t fake_nr_events(void)
{
	return nr_events;
}

struct fake_event *fake_event(size_t i)
{
	return i < nr_events ? &events[i] : NULL;
}

static struct fake_event *writes_into(int fd)
{
	struct fake_event *e = fake_event_of(fd);

	if (e && e->output >= 0)
		e = fake_event_of(e->output);
	return e && e->meta ? e : NULL;
}

/* bytes NULL: the head moves over what is there */
static bool append(uint8_t *area, size_t size, __u64 *head, const __u64 *tail,
		   const void *bytes, size_t len)
{
	uint64_t at = *head, seen = __atomic_load_n(tail, __ATOMIC_ACQUIRE);
	const uint8_t *from = bytes;

	if (len > size - (size_t)(at - seen))
		return false;
	for (size_t i = 0; from && i < len; i++)
		area[(at + i) % size] = from[i];
	__atomic_store_n(head, at + len, __ATOMIC_RELEASE);
	return true;
}

/* In front of what is there, whatever that overwrites. */
static bool prepend(struct fake_event *e, const uint8_t *record, size_t len)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = e->map_len - page;
	uint64_t at = e->meta->data_head - len;

	for (size_t i = 0; i < len; i++)
		((uint8_t *)e->meta)[page + (at + i) % size] = record[i];
	__atomic_store_n(&e->meta->data_head, at, __ATOMIC_RELEASE);
	return true;
}

bool fake_put(int fd, const void *record, size_t len)
{
	struct fake_event *e = writes_into(fd);
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (e && e->attr.write_backward)
		return prepend(e, record, len);
	return e && append((uint8_t *)e->meta + page, e->map_len - page,
			   &e->meta->data_head, &e->meta->data_tail, record, len);
}

bool fake_put_aux(int fd, const void *bytes, size_t len)
{
	struct fake_event *e = writes_into(fd);

	for (size_t i = 0; e && e->overwrite && i < len; i++)
		e->aux[e->aux_pos++ % e->aux_len] = ((const uint8_t *)bytes)[i];
	if (e && e->overwrite)
		return true;
	if (e && e->withholds)
		return append(e->aux, e->aux_len, (__u64 *)&e->aux_pos, &e->meta->aux_tail, bytes,
			      len);
	return e && e->aux && append(e->aux, e->aux_len, &e->meta->aux_head,
				     &e->meta->aux_tail, bytes, len);
}

bool fake_skip_aux(int fd, size_t len)
{
	return fake_put_aux(fd, NULL, len);
}

uint64_t fake_tail(int fd)
{
	const struct fake_event *e = writes_into(fd);

	return e ? __atomic_load_n(&e->meta->data_tail, __ATOMIC_ACQUIRE) : 0;
}

uint64_t fake_aux_tail(int fd)
{
	const struct fake_event *e = writes_into(fd);

	return e ? __atomic_load_n(&e->meta->aux_tail, __ATOMIC_ACQUIRE) : 0;
}

void fake_wake(int fd, bool readable)
{
	uint64_t v = 1;
	ssize_t n = readable ? write(fd, &v, sizeof(v)) : read(fd, &v, sizeof(v));

	(void)n; /* nothing to take back is fine */
}

void fake_set_time(int fd, uint16_t shift, uint32_t mult, uint64_t zero)
{
	struct fake_event *e = writes_into(fd);

	if (!e)
		return;
	e->meta->lock++;
	e->meta->time_shift = shift;
	e->meta->time_mult = mult;
	e->meta->time_zero = zero;
	e->meta->cap_user_time_zero = 1;
	e->meta->lock++;
}
