/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/attrs.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* As large as files hold it; Linux takes any size, provided that what it does not know is
 * zero. A newer header's struct may be longer. */
#define ATTR_SIZE PERF_ATTR_SIZE_VER7

static struct perf_event_attr common(const struct pio_attr_common *c, uint32_t type,
				     uint64_t config)
{
	struct perf_event_attr a = {
		.type = type,
		.size = ATTR_SIZE,
		.config = config,
		.sample_period = 1,
		.sample_type = PIO_SAMPLE_TYPE,
		.read_format = c->read_format,
		.disabled = 1,
		.inherit = c->inherit,
		.enable_on_exec = c->enable_on_exec,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = c->watermark,
	};

	if (c->clockid >= 0) {
		a.use_clockid = 1;
		a.clockid = c->clockid;
	}
	return a;
}

static struct perf_event_attr dummy(const struct pio_attr_common *c)
{
	struct perf_event_attr a = common(c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	a.exclude_kernel = 1;
	a.exclude_hv = 1;
	a.exclude_guest = 1;
	return a;
}

struct perf_event_attr pio_attr_tracking(const struct pio_attr_common *c)
{
	struct perf_event_attr a = dummy(c);

	a.mmap = 1;
	a.mmap2 = 1;
	a.comm = 1;
	a.comm_exec = 1;
	a.task = 1;
	a.ksymbol = 1;
	a.bpf_event = 1;
	return a;
}

struct perf_event_attr pio_attr_text_poke(const struct pio_attr_common *c)
{
	struct perf_event_attr a = dummy(c);

	a.inherit = 0; /* of all tasks */
	a.text_poke = 1;
	a.ksymbol = 1;
	return a;
}

struct perf_event_attr pio_attr_switch(const struct pio_attr_common *c)
{
	struct perf_event_attr a = dummy(c);

	a.context_switch = 1;
	return a;
}

struct perf_event_attr pio_attr_switch_member(const struct pio_attr_common *c,
					      const struct perf_event_attr *leader)
{
	struct perf_event_attr a = pio_attr_switch(c);

	a.exclude_user = leader->exclude_user;
	a.exclude_kernel = leader->exclude_kernel;
	a.exclude_hv = leader->exclude_hv;
	a.exclude_guest = leader->exclude_guest;
	a.exclude_host = leader->exclude_host;
	return a;
}

struct perf_event_attr pio_attr_aux(const struct pio_attr_common *c,
				    const struct pio_pmu *p,
				    const struct pio_config *conf)
{
	struct perf_event_attr a = common(c, p->type, conf->config[0]);

	a.config1 = conf->config[1];
	a.config2 = conf->config[2];
	a.exclude_user = conf->exclude_user;
	a.exclude_kernel = conf->exclude_kernel;
	a.exclude_hv = conf->exclude_hv;
	a.exclude_guest = conf->exclude_guest;
	a.exclude_host = conf->exclude_host;
	a.aux_watermark = c->aux_watermark;
	pio_attr_set_aux_action(&a, conf->aux_action);
	return a;
}

struct perf_event_attr pio_attr_tracepoint(const struct pio_attr_common *c, uint64_t id)
{
	struct perf_event_attr a = common(c, PERF_TYPE_TRACEPOINT, id);

	a.sample_type |= PERF_SAMPLE_RAW;
	return a;
}

struct perf_event_attr pio_attr_counter(const struct pio_attr_common *c,
					const struct pio_counter *what, uint64_t period,
					uint64_t freq)
{
	struct perf_event_attr a = common(c, what->type, what->config);

	a.sample_type |= PERF_SAMPLE_PERIOD;
	a.freq = !period;
	if (period)
		a.sample_period = period;
	else
		a.sample_freq = freq;
	return a;
}

void pio_attr_set_aux_sample(struct perf_event_attr *a, uint32_t size)
{
	a->sample_type |= PERF_SAMPLE_AUX;
	a->aux_sample_size = size;
}

/* Behind aux_sample_size, under whatever name the installed header has for it. */
#define AUX_ACTION_AT (offsetof(struct perf_event_attr, aux_sample_size) + sizeof(uint32_t))

void pio_attr_set_aux_action(struct perf_event_attr *a, uint32_t action)
{
	memcpy((char *)a + AUX_ACTION_AT, &action, sizeof(action));
}

uint32_t pio_attr_aux_action(const struct perf_event_attr *a)
{
	uint32_t action;

	memcpy(&action, (const char *)a + AUX_ACTION_AT, sizeof(action));
	return action;
}

uint32_t pio_aux_action(const char *word, size_t len)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} actions[] = {
		{ "start-paused", PIO_AUX_START_PAUSED },
		{ "pause", PIO_AUX_PAUSE },
		{ "resume", PIO_AUX_RESUME },
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (strlen(actions[i].name) == len && !strncmp(word, actions[i].name, len))
			return actions[i].bit;
	return 0;
}

/* perf_copy_attr() refuses unknown bits before anything else is looked at (EINVAL); a kernel
 * that knows them finds that a software event cannot start paused (EOPNOTSUPP). Both in
 * kernel/events/core.c; seen on 6.1 and 6.18. */
bool pio_aux_action_known(const struct pio_sys *sys)
{
	const struct pio_attr_common c = { .clockid = -1 };
	struct perf_event_attr a = dummy(&c);
	int fd;

	pio_attr_set_aux_action(&a, PIO_AUX_START_PAUSED);
	fd = sys->open(&a, 0, -1, -1, 0);
	if (fd >= 0)
		(void)sys->close(fd);
	return fd == -EOPNOTSUPP;
}

const char *pio_attr_reduce(struct perf_event_attr *a, int err)
{
	if (err == -EINVAL && a->read_format & PERF_FORMAT_LOST) {
		a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
		return "lost";
	}
	if (a->bpf_event) {
		a->bpf_event = 0;
		return "bpf_event";
	}
	if (a->ksymbol) {
		a->ksymbol = 0;
		return "ksymbol";
	}
	return NULL;
}

/* The struct is the kernel's ABI, and on the one byte order that auxrec writes it is the
 * file's layout as well (tests/unit/test_attrs.c holds every offset against it). */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");
_Static_assert(sizeof(struct perf_event_attr) >= ATTR_SIZE, "linux/perf_event.h of 5.13");

void pio_attr_bytes(const struct perf_event_attr *a, uint8_t ret[128])
{
	const uint32_t size = ATTR_SIZE;

	memcpy(ret, a, ATTR_SIZE);
	memcpy(ret + offsetof(struct perf_event_attr, size), &size, sizeof(size));
}
