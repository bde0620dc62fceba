/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * fakept: a PMU named "intel_pt" whose AUX bytes come from a timer on each cpu.
 *
 * Towards the perf core it does what arch/x86/events/intel/pt.c does: where it stops, when
 * it hands data over, which flags it sets. Its bytes can be foretold, so that a reader can
 * tell whether one is missing: PSB TSC PSBEND, then PTW packets whose payload is the cpu
 * (upper 8 bits) and a number that runs on (lower 56). A packet that there was no room for
 * uses up its number. With mode=1 the bytes are those written to debugfs, fakept/feedN.
 *
 *   main.c      the PMU: start, stop, filters
 *   aux.c       AUX transactions, interrupts, the timer
 *   stream.c    the bytes
 *   attrs.c     sysfs: format/, caps/
 *   debugfs.c   statistics, feeds
 */
#ifndef FAKEPT_H
#define FAKEPT_H

#include <linux/hrtimer.h>
#include <linux/perf_event.h>

/* Linux 6.13, and Debian's 6.12. */
#ifndef PERF_PMU_CAP_AUX_PAUSE
#define PERF_PMU_CAP_AUX_PAUSE 0
#define PERF_EF_PAUSE 0
#define PERF_EF_RESUME 0
#define fake_starts_paused(event) false
#else
#define fake_starts_paused(event) ((event)->hw.aux_paused)
#endif

/* One AUX area, made by setup_aux(). */
struct fake_area {
	void **page;
	u64 size;
	bool overwrite;
};

struct fake_cpu;

/* What a cpu has to say. At most one packet group is half sent at any time. */
struct fake_stream {
	u64 seq;		/* number of the next PTW packet */
	u8 part[32];		/* packets that did not fit where the page or the turn ended */
	u32 part_len, part_sent;
	u32 since_psb;		/* bytes */
	bool part_is_ptw;
	u8 *feed;
	size_t feed_len, feed_pos;
};

/* For the tests to compare a recording with. Grow only. */
struct fake_stats {
	u64 bytes;		/* put into AUX areas */
	u64 ptw, psb;		/* packets that are there as a whole */
	u64 starts, stops;	/* of the event */
	u64 pmi;		/* interrupts: area full up to the watermark or the end */
	u64 trunc;		/* TRUNCATED flags set */
	u64 nospace;		/* perf_aux_output_begin() had nothing to give */
	u64 dropped;		/* PTW packets that found no room */
	u64 ticks, late;	/* of the timer; missed by it */
};

struct fake_cpu {
	struct perf_output_handle handle;
	struct perf_event *event;
	struct hrtimer timer;
	bool running;
	bool paused;		/* running, but says nothing (aux-action) */
	u64 head, base;		/* positions in the area: next byte, begin of transaction */
	u64 stop, intr;		/* full trace: where to stop, where to interrupt */
	struct fake_stream stream;
	struct fake_stats stats;
};

DECLARE_PER_CPU(struct fake_cpu, fake_cpus);

extern unsigned long tick_ns, bytes_per_tick;
extern unsigned int psb_bytes, mode, cheat;

/* stream.c */
u64 stream_emit(struct fake_cpu *c, struct fake_area *a, u64 n);
u32 stream_rest(const struct fake_stream *s);
void stream_start(struct fake_stream *s);
void stream_cut(struct fake_cpu *c, u64 bytes);

/* aux.c */
void aux_timer_init(struct fake_cpu *c);
bool aux_start(struct fake_cpu *c, struct perf_event *event);
void aux_stop(struct fake_cpu *c, bool hand_over);

/* attrs.c */
extern const struct attribute_group *fake_attr_groups[];

/* debugfs.c */
void fake_debugfs_init(void);
void fake_debugfs_exit(void);

/* sample.c */
void sample_init(void);
long sample_aux(struct perf_event *event, struct perf_output_handle *to, unsigned long size);

#endif
