/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/recarg.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "format/zip.h"
#include "recorder/config.h"
#include "recorder/ctlsock.h"
#include "recorder/ctlwords.h"
#include "recorder/eventarg.h"
#include "recorder/log.h"
#include "recorder/opts.h"
#include "recorder/plan.h"
#include "recorder/sampling.h"
#include "recorder/units.h"

int recarg_source(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;

	for (int kind = 0; kind < SOURCE_KINDS; kind++)
		if (!strcmp(arg, source_names[kind])) {
			c->source = (enum source_kind)kind;
			return 0;
		}
	log_err(0, "unknown source '%s': auto, kernel, soft or none", arg);
	return -EINVAL;
}

int recarg_events(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	const char *what = "no memory", *at = arg;
	size_t pmus = 0;

	c->filter_trigger = false;
	if (eventarg_parse(&c->events, &c->nr_events, arg, &what, &at)) {
		log_err(0, "bad event list '%s': %s, at '%s'", arg, what, at);
		return -EINVAL;
	}
	for (size_t i = 0; i < c->nr_events; i++)
		pmus += eventarg_is_aux(&c->events[i]);
	if (pmus > 1) {
		log_err(0, "one AUX event at a time: '%s' is one too many", arg);
		return -EINVAL;
	}
	if (c->nr_events > PLAN_MAX_EVENTS - PLAN_OWN_EVENTS) {
		log_err(0, "more than %d events", PLAN_MAX_EVENTS - PLAN_OWN_EVENTS);
		return -EINVAL;
	}
	return 0;
}

/* Of the event before it: addresses for an AUX event, or where there is none yet;
 * expressions for a tracepoint, all of which must hold, as perf has it. */
int recarg_filter(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	struct event_arg *last = c->filter_trigger ? &c->trigger_events[c->nr_trigger_events - 1]
				 : c->nr_events	   ? &c->events[c->nr_events - 1] : NULL;
	bool expression = last && last->tracepoint;
	char **to = expression ? &last->filter : &c->filter, *joined;

	if (asprintf(&joined, !*to ? "%s%s" : expression ? "(%s) && (%s)" : "%s ,%s",
		     *to ? *to : "", arg) < 0)
		return log_err(-ENOMEM, "record");
	free(*to);
	*to = joined;
	return 0;
}

int recarg_cgroups(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	char *joined;

	if (asprintf(&joined, "%s%s%s", c->cgroups ? c->cgroups : "", c->cgroups ? "," : "",
		     arg) < 0)
		return log_err(-ENOMEM, "record");
	free(c->cgroups);
	c->cgroups = joined;
	return 0;
}

int recarg_cpus(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	const char *bad = arg;
	int err;

	pio_cpus_done(&c->cpus);
	err = pio_cpus_parse(&c->cpus, arg, &bad);
	if (!err)
		return 0;
	if (err == -EINVAL)
		log_err(0, "bad cpu list '%s' at '%s': write it as 0-3,8", arg, bad);
	else
		log_err(err, "bad cpu list '%s'", arg);
	return -EINVAL;
}

int recarg_ids(pid_t **list, size_t *n, const char *arg, const char *what)
{
	char *end;

	for (const char *s = arg;; s = end + 1) {
		long v = strtol(s, &end, 10);
		pid_t *grown;

		if (end == s || v <= 0 || v > INT32_MAX || (*end && *end != ',')) {
			log_err(0, "bad %s list '%s' at '%s': write it as 12,34", what, arg, s);
			return -EINVAL;
		}
		grown = realloc(*list, (*n + 1) * sizeof(**list));
		if (!grown)
			return log_err(-ENOMEM, "record");
		*list = grown;
		grown[(*n)++] = (pid_t)v;
		if (!*end)
			return 0;
	}
}

int recarg_pids(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;

	return recarg_ids(&c->pids, &c->nr_pids, arg, "process");
}

int recarg_tids(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;

	return recarg_ids(&c->tids, &c->nr_tids, arg, "thread");
}

/* perf's rule: a plain number is pages, with a unit it is bytes; rounded up to 2^n pages. */
static int ring_size(uint64_t *ret, const char *s)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), v, len = page;
	size_t n = strlen(s);

	if (opts_size(&v, s) || !v)
		return -EINVAL;
	if (isdigit((unsigned char)s[n - 1]) && __builtin_mul_overflow(v, page, &v))
		return -EINVAL;
	while (len < v) {
		if (len > UINT64_C(1) << 40)
			return -EINVAL;
		len *= 2;
	}
	*ret = len;
	return 0;
}

int recarg_mmap(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	char buf[64];
	char *comma;
	int err;

	if (strlen(arg) >= sizeof(buf))
		goto bad;
	strcpy(buf, arg);
	comma = strchr(buf, ',');
	if (comma)
		*comma = '\0';
	err = *buf || !comma ? ring_size(&c->data_len, buf) : 0;
	if (!err && comma)
		err = ring_size(&c->aux_len, comma + 1);
	if (!err)
		return 0;
bad:
	log_err(0, "bad ring size '%s': data[,aux] as pages (64) or bytes (512K,4M)", arg);
	return -EINVAL;
}

int recarg_aux_sample(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	uint64_t size = SAMPLING_AUX_DEFAULT;

	if (arg && (opts_size(&size, arg) || !size || size % 8 || size > SAMPLING_AUX_MAX)) {
		log_err(0, "bad --aux-sample size '%s': a multiple of 8 bytes up to %dK", arg,
			SAMPLING_AUX_MAX >> 10);
		return -EINVAL;
	}
	c->aux_sample = (uint32_t)size;
	return 0;
}

/* perf's form: e takes a snapshot at the end too, and the size of one may follow. */
int recarg_snapshot(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	const char *size = arg;

	c->snapshot = true;
	if (!arg)
		return 0;
	if (*size == 'e') {
		c->snapshot_at_exit = true;
		size += 1 + (size[1] == ',');
	}
	if (!*size || (!opts_size(&c->flight_len, size) && c->flight_len))
		return 0;
	log_err(0, "bad snapshot option '%s': e (one at the end too), a size per cpu as 4M, or "
		   "both as e4M", arg);
	return -EINVAL;
}

/* perf's forms: a signal, a size or a time. A time has a small letter behind it. */
int recarg_switch_output(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;

	c->rotate = true;
	c->rotate_size = c->rotate_ns = 0;
	if (!arg || !strcmp(arg, "signal"))
		return 0;
	if (!units_duration(arg, &c->rotate_ns) && c->rotate_ns)
		return 0;
	if (!opts_size(&c->rotate_size, arg) && c->rotate_size)
		return 0;
	log_err(0, "bad --switch-output '%s': signal, a size as 100M, or a time as 30s", arg);
	return -EINVAL;
}

int recarg_max_time(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;

	if (!units_duration(arg, &c->max_time_ns) && c->max_time_ns)
		return 0;
	log_err(0, "bad --max-time '%s': write it as 30s, 5m or 2h", arg);
	return -EINVAL;
}

/* perf's -z, whose level may be left out. */
int recarg_level(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	int max = fmt_zip_level_max();
	char *end;
	long v;

	c->zip_level = 1;
	if (!arg)
		return 0;
	arg += *arg == '='; /* -z=9 */
	v = strtol(arg, &end, 10);
	if (!isdigit((unsigned char)*arg) || *end || v < 1 || v > max) {
		log_err(0, "bad compression level '%s': 1 (fast) to %d (small)", arg, max);
		return -EINVAL;
	}
	c->zip_level = (int)v;
	return 0;
}

int recarg_control(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;

	c->control = arg;
	if (!ctlwords_check(arg))
		return 0;
	log_err(0, "bad control '%s': fifo:CTL[,ACK] or fd:N[,M]", arg);
	return -EINVAL;
}

int recarg_socket(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;

	c->socket = arg ? arg : ctlsock_default();
	return 0;
}

int recarg_clock(void *ctx, const char *arg)
{
	static const struct {
		const char *name;
		int id;
	} clocks[] = {
		{ "monotonic", CLOCK_MONOTONIC }, { "monotonic_raw", CLOCK_MONOTONIC_RAW },
		{ "realtime", CLOCK_REALTIME },   { "boottime", CLOCK_BOOTTIME },
		{ "tai", CLOCK_TAI },		  { "mono", CLOCK_MONOTONIC },
		{ "raw", CLOCK_MONOTONIC_RAW },   { "real", CLOCK_REALTIME },
		{ "boot", CLOCK_BOOTTIME },
	};
	struct rec_config *c = ctx;

	if (!strncasecmp(arg, "CLOCK_", 6))
		arg += 6;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (!strcasecmp(arg, clocks[i].name)) {
			c->clockid = clocks[i].id;
			return 0;
		}
	log_err(0, "unknown clock '%s': monotonic, monotonic_raw, realtime, boottime or tai", arg);
	return -EINVAL;
}
