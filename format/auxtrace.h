/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User records (types 64 and up): what perf-record itself adds around the kernel's records.
 * They carry no trailer and are handled by readers as soon as they are met.
 *
 * Layouts: tools/lib/perf/include/perf/event.h and tools/perf/util/intel-pt.c (Linux 6.1).
 * Every fmt_put_* appends and returns 0, -EMSGSIZE or buf.err.
 */
#ifndef FORMAT_AUXTRACE_H
#define FORMAT_AUXTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/buf.h"
#include "format/event.h"

/* PERF_RECORD_AUXTRACE, 48 bytes; the trace bytes follow it in the file. */
struct fmt_auxtrace {
	uint64_t size;	    /* bytes that follow, padding included; a multiple of 8 */
	uint64_t offset;    /* position of the first byte in the endless AUX stream */
	uint64_t reference; /* TSC at the time of reading, on the clock of the trace; of a snapshot:
			       just before the cpu was frozen for it */
	uint32_t idx;	    /* queue */
	uint32_t tid;	    /* thread of a per-thread queue, else UINT32_MAX */
	uint32_t cpu;	    /* cpu of a per-cpu queue, else UINT32_MAX */
	/* Of a snapshot: ns that the cpu stood still, at most UINT32_MAX; 0: not told. Nobody else
	 * uses these bytes ("reserved", for alignment), nor looks at them. */
	uint32_t pause_ns;
};
int fmt_put_auxtrace(struct fmt_buf *b, const struct fmt_auxtrace *a);

/* PERF_RECORD_AUXTRACE_INFO of Intel PT (type 1), priv words in the order of
 * tools/perf/util/intel-pt.h. */
struct fmt_pt_info {
	uint64_t pmu_type; /* equals attr.type of the PT event */
	uint64_t time_shift, time_mult, time_zero;
	uint64_t cap_user_time_zero; /* 0: no time conversion; then the three above are 0 */
	uint64_t tsc_bit, noretcomp_bit;
	uint64_t have_sched_switch; /* 0 none, 1 tracepoint, 2 SWITCH, 3 SWITCH_CPU_WIDE */
	uint64_t snapshot_mode, per_cpu_mmaps;
	uint64_t mtc_bit, mtc_freq_bits;
	uint64_t tsc_ctc_n, tsc_ctc_d; /* CPUID leaf 0x15 EBX, EAX */
	uint64_t cyc_bit, max_nonturbo_ratio;
	const char *filter;	  /* address filter string, or NULL */
	uint64_t cap_event_trace; /* sysfs caps/event_trace */
};
int fmt_put_pt_info(struct fmt_buf *b, const struct fmt_pt_info *i);
/* From an AUXTRACE_INFO record of `size` bytes, header first. Words that an older recorder
 * did not write are 0; filter points into the record. 0; -ENOENT another kind of trace;
 * -EBADMSG fewer words than the first ten (perf refuses those too). */
int fmt_get_pt_info(struct fmt_pt_info *ret, const uint8_t *rec, size_t size);

struct fmt_time_conv {
	uint64_t shift, mult, zero, cycles, mask;
	bool cap_time_zero, cap_time_short;
};
int fmt_put_time_conv(struct fmt_buf *b, const struct fmt_time_conv *c);

/* One entry of ID_INDEX; cpu or tid -1 where the descriptor has none. */
struct fmt_id {
	uint64_t id, idx;
	int64_t cpu, tid;
};
/* As many records as needed: at most 1364 ids go into one. */
int fmt_put_id_index(struct fmt_buf *b, const struct fmt_id *ids, size_t n);

/* HEADER_ATTR: the event's attr bytes and ids (pipe form). */
int fmt_put_header_attr(struct fmt_buf *b, const struct fmt_event *e);
/* EVENT_UPDATE of kind NAME for the event that owns `id`. */
int fmt_put_event_name(struct fmt_buf *b, uint64_t id, const char *name);

/* THREAD_MAP: the traced threads, at most 2729 (-EMSGSIZE beyond); one entry {-1, ""} for
 * a system-wide recording. */
struct fmt_thread {
	int64_t tid;
	const char *comm;
};
int fmt_put_thread_map(struct fmt_buf *b, const struct fmt_thread *t, size_t n);
/* CPU_MAP in its oldest form (a list of u16), which every reader knows. cpu -1 = any. */
int fmt_put_cpu_map(struct fmt_buf *b, const int *cpus, size_t n);

int fmt_put_build_id(struct fmt_buf *b, uint16_t misc, int32_t pid, const uint8_t *id,
		     size_t id_size, const char *name);

int fmt_put_finished_round(struct fmt_buf *b);
int fmt_put_finished_init(struct fmt_buf *b);

#endif
