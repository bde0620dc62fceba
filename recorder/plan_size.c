/* SPDX-License-Identifier: Apache-2.0 */
/* How large the rings are. */
#include "recorder/plan.h"

#include "recorder/cmd.h"
#include "recorder/log.h"

enum {
	DATA_LEN_MIN = 16 << 10,
	NEWEST_LEN_MIN = 16 << 10,
	AUX_LEN_MIN = 8 << 10, /* the least perf accepts for full trace */
	FLIGHT_LEN = 4 << 20,  /* of trace, where nobody chose */
	WINDOW_LEN_MAX = 1 << 30,
};

struct plan_sizes plan_sizes(const struct plan *p)
{
	return (struct plan_sizes){ p->data_len, p->newest_len, p->aux_len };
}

size_t plan_rings(const struct plan *p)
{
	if (p->cpus.n)
		return p->cpus.n;
	return p->cfg->nr_tids ? p->cfg->nr_tids : 1;
}

uint64_t plan_bytes(const struct plan *p)
{
	uint64_t newest = p->newest_len ? p->newest_len + p->limits.page : 0;

	return plan_rings(p) * (p->data_len + p->limits.page + p->aux_len + newest);
}

/* Halve what the user did not fix, the AUX area first, down to what still works. */
bool plan_shrink(struct plan *p)
{
	if (!p->cfg->aux_len && p->aux_len > AUX_LEN_MIN && p->aux_len >= p->data_len)
		p->aux_len /= 2;
	else if (p->newest_len > NEWEST_LEN_MIN && p->newest_len >= p->data_len)
		p->newest_len /= 2;
	else if (!p->cfg->data_len && p->data_len > DATA_LEN_MIN)
		p->data_len /= 2;
	else if (!p->cfg->aux_len && p->aux_len > AUX_LEN_MIN)
		p->aux_len /= 2;
	else if (p->newest_len > NEWEST_LEN_MIN)
		p->newest_len /= 2;
	else
		return false;
	p->shrunk = true;
	return true;
}

static size_t round_up(uint64_t n, uint64_t least)
{
	while (least < n)
		least *= 2;
	return (size_t)least;
}

/* A quarter more than that rate fills, between the least and the largest ring. */
static size_t window_len(const struct plan *p, uint64_t rate)
{
	double n = (double)rate * (double)p->cfg->window_ns / 1e9 * 1.25;

	return n > WINDOW_LEN_MAX ? WINDOW_LEN_MAX : round_up((uint64_t)n, NEWEST_LEN_MIN);
}

size_t plan_flight_len(const struct plan *p)
{
	if (p->cfg->window_ns)
		return window_len(p, p->rate_trace);
	return round_up(p->cfg->flight_len ? p->cfg->flight_len : FLIGHT_LEN, NEWEST_LEN_MIN);
}

/* The size of the trace is the one knob; switches get their share, and the ring that only
 * tracks tasks needs little. */
static void choose_flight(struct plan *p)
{
	if (p->source == SOURCE_KERNEL && !p->cfg->aux_len)
		p->aux_len = plan_flight_len(p);
	if (p->cfg->window_ns)
		p->newest_len = window_len(p, p->rate_records);
	else if (p->aux_len)
		p->newest_len = round_up(p->aux_len / PLAN_SWITCH_PARTS, NEWEST_LEN_MIN);
	else
		p->newest_len = plan_flight_len(p);
	if (!p->cfg->data_len)
		p->data_len = PLAN_DATA_LEN_AUX;
	if (p->source == SOURCE_SOFT)
		p->newest_len = 0; /* what stays of the switches is kept by us: softswitch.h */
}

int plan_fit(struct plan *p)
{
	uint64_t budget = pio_limits_mlock_budget(&p->limits);
	uint64_t max = p->cfg->max_total;

	p->data_len = p->source == SOURCE_KERNEL ? PLAN_DATA_LEN_AUX : PLAN_DATA_LEN;
	if (p->cfg->data_len)
		p->data_len = p->cfg->data_len;
	if (p->source == SOURCE_KERNEL)
		p->aux_len = p->cfg->aux_len ? p->cfg->aux_len : PLAN_AUX_LEN;
	if (p->cfg->snapshot)
		choose_flight(p);
	p->wanted = plan_sizes(p);
	while (plan_bytes(p) > budget && plan_shrink(p))
		;
	if (max && plan_bytes(p) > max) {
		log_err(0, "rings would need %zu x (%zu data + %zu newest records + %llu control + "
			   "%zu AUX) = %llu bytes, but --max-total-buffer allows %llu",
			plan_rings(p), p->data_len, p->newest_len,
			(unsigned long long)(p->limits.page * (p->newest_len ? 2 : 1)), p->aux_len,
			(unsigned long long)plan_bytes(p), (unsigned long long)max);
		log_hint("choose smaller rings with %s, fewer cpus with -C, or a larger limit",
			 p->cfg->snapshot ? "--flight=SIZE, --window or -m" : "-m");
		return EXIT_CANNOT;
	}
	return 0;
}

int plan_choose_sizes(struct plan *p)
{
	if (!p->rate_trace && !p->rate_records) {
		p->rate_trace = p->source == SOURCE_SOFT ? PLAN_RATE_SOFT : PLAN_RATE_TRACE;
		p->rate_records = PLAN_RATE_RECORDS;
	}
	return plan_fit(p);
}

void plan_rewater(struct plan *p)
{
	for (size_t i = 0; i < p->nr_ev; i++) {
		p->ev[i].attr.wakeup_watermark = (uint32_t)(p->data_len / PLAN_WATERMARK_PARTS);
		if (p->ev[i].attr.aux_watermark)
			p->ev[i].attr.aux_watermark =
				(uint32_t)(p->aux_len / PLAN_AUX_WATERMARK_PARTS);
	}
}
