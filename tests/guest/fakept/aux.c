/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The hardware fills the area up to a STOP mark, at a page's end, and interrupts there or at
 * an earlier INT mark; either way the transaction ends and a new one begins
 * (arch/x86/events/intel/pt.c, pt_buffer_reset_markers() and intel_pt_interrupt(), Linux
 * 6.1). The interrupt comes when the packet that crossed the INT mark is out: a transaction
 * ends within a packet only where the area is full. In an overwritten area the hardware runs in
 * circles and never interrupts.
 */
#include "fakept.h"

static u64 tick_period(void)
{
	return max(tick_ns, 20000UL);	/* so that a slip of the pen does not stop the cpu */
}

/*
 * The last page end before the reader's tail, which head + size + 1 is, one area ahead. Where
 * head and tail both lie within pages, pt.c may stop a page earlier.
 */
static void set_marks(struct fake_cpu *c)
{
	u64 head = c->handle.head;

	c->stop = (head + c->handle.size + 1) & PAGE_MASK;
	c->intr = min_t(u64, c->handle.wakeup & PAGE_MASK, c->stop - PAGE_SIZE);
	if (c->intr <= head)
		c->intr = c->stop;
}

static void set_truncated(struct fake_cpu *c)
{
	perf_aux_output_flag(&c->handle, PERF_AUX_FLAG_TRUNCATED);
	c->stats.trunc++;
}

/* Begin a transaction. false: the event cannot run now. */
static bool begin(struct fake_cpu *c, struct perf_event *event)
{
	struct fake_area *a = perf_aux_output_begin(&c->handle, event);

	if (!a) {
		c->stats.nospace++;
		return false;
	}
	c->head = c->handle.head;
	if (a->overwrite)
		c->head &= a->size - 1;
	c->base = c->head;
	if (a->overwrite)
		return true;
	if (offset_in_page(c->head) + c->handle.size + 1 < PAGE_SIZE) {
		set_truncated(c);
		perf_aux_output_end(&c->handle, 0);
		return false;
	}
	set_marks(c);
	return true;
}

static void end(struct fake_cpu *c, struct fake_area *a)
{
	u64 size = c->head - c->base;

	if (a->overwrite) {
		/* The head is a place in the area, and all of it is valid. */
		size = a->size;
		c->handle.head = c->head & (a->size - 1);
	}
	smp_wmb();	/* trace before aux_head */
	perf_aux_output_end(&c->handle, size);
}

/* `left`: what this turn of the timer still wanted to write. */
static void interrupt(struct fake_cpu *c, struct fake_area *a, u64 left)
{
	bool full = c->head == c->stop;

	c->stats.pmi++;
	if (full)
		set_truncated(c);
	end(c, a);
	if (!begin(c, c->event)) {
		c->event->hw.state = PERF_HES_STOPPED;
		c->running = false;
	}
	if (full || !c->running)
		stream_cut(c, c->running ? 0 : left);
}

/* Bytes to the next interrupt; 0: it is due. */
static u64 to_interrupt(const struct fake_cpu *c)
{
	if (c->head < c->intr)
		return c->intr - c->head;
	return min_t(u64, stream_rest(&c->stream), c->stop - c->head);
}

static void write_turn(struct fake_cpu *c, u64 left)
{
	while (left && c->running) {
		struct fake_area *a = perf_get_aux(&c->handle);
		u64 n = left, sent;

		if (!a)
			return;
		if (!a->overwrite)
			n = min(n, to_interrupt(c));
		sent = stream_emit(c, a, n);
		left -= sent;
		if (!left)
			left = stream_rest(&c->stream);
		if (!a->overwrite && !to_interrupt(c))
			interrupt(c, a, left);
		else if (sent < n)
			return;		/* the feed is dry */
	}
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct fake_cpu *c = container_of(timer, struct fake_cpu, timer);
	u64 turns;

	if (!c->running)
		return HRTIMER_NORESTART;
	c->stats.ticks++;
	if (cheat && c->stats.ticks % cheat == 0)
		c->stream.seq++;
	if (!c->paused)
		write_turn(c, bytes_per_tick);
	if (!c->running)
		return HRTIMER_NORESTART;
	turns = hrtimer_forward_now(timer, ns_to_ktime(tick_period()));
	if (turns > 1)
		c->stats.late += turns - 1;
	return HRTIMER_RESTART;
}

void aux_timer_init(struct fake_cpu *c)
{
	hrtimer_init(&c->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	c->timer.function = tick;
}

bool aux_start(struct fake_cpu *c, struct perf_event *event)
{
	if (!begin(c, event))
		return false;
	c->event = event;
	c->running = true;
	c->stats.starts++;
	stream_start(&c->stream);
	hrtimer_start(&c->timer, ns_to_ktime(tick_period()), HRTIMER_MODE_REL_PINNED_HARD);
	return true;
}

/* Interrupts are off and the timer is this cpu's: it is not half way through a turn. */
void aux_stop(struct fake_cpu *c, bool hand_over)
{
	struct fake_area *a;

	hrtimer_try_to_cancel(&c->timer);
	c->running = false;
	c->stats.stops++;
	if (!hand_over)
		return;
	a = perf_get_aux(&c->handle);
	if (a)
		end(c, a);
}
