/* SPDX-License-Identifier: Apache-2.0 */
#include "format/auxtrace.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"

/* With the guest extension (machine_pid and vcpu, perf 6.0) an entry of ID_INDEX takes 48
 * bytes. perf leaves room for it in every record, and so do we. */
#define IDS_PER_RECORD ((UINT16_MAX - 16) / 48)
/* char comm[16] in struct perf_record_thread_map_entry. */
#define THREAD_COMM_LEN 16u

int fmt_put_auxtrace(struct fmt_buf *b, const struct fmt_auxtrace *a)
{
	size_t at = fmt_record_begin(b, FMT_REC_AUXTRACE, 0);

	fmt_put_le(b, a->size, 8);
	fmt_put_le(b, a->offset, 8);
	fmt_put_le(b, a->reference, 8);
	fmt_put_le(b, a->idx, 4);
	fmt_put_le(b, a->tid, 4);
	fmt_put_le(b, a->cpu, 4);
	fmt_put_le(b, a->pause_ns, 4);
	return fmt_record_end(b, at);
}

/* Word 16 is the length without the NUL; the string follows it, if there is one. */
static void put_filter(struct fmt_buf *b, const char *filter)
{
	size_t len = filter ? strlen(filter) : 0;

	fmt_put_le(b, len, 8);
	if (len)
		fmt_put_str(b, filter, 8);
}

int fmt_put_pt_info(struct fmt_buf *b, const struct fmt_pt_info *i)
{
	const uint64_t words[] = {
		i->pmu_type,
		i->time_shift,
		i->time_mult,
		i->time_zero,
		i->cap_user_time_zero,
		i->tsc_bit,
		i->noretcomp_bit,
		i->have_sched_switch,
		i->snapshot_mode,
		i->per_cpu_mmaps,
		i->mtc_bit,
		i->mtc_freq_bits,
		i->tsc_ctc_n,
		i->tsc_ctc_d,
		i->cyc_bit,
		i->max_nonturbo_ratio,
	};
	size_t at = fmt_record_begin(b, FMT_REC_AUXTRACE_INFO, 0);

	fmt_put_le(b, FMT_AUXTRACE_INTEL_PT, 4);
	fmt_put_le(b, 0, 4);
	for (size_t n = 0; n < sizeof(words) / sizeof(*words); n++)
		fmt_put_le(b, words[n], 8);
	put_filter(b, i->filter);
	fmt_put_le(b, i->cap_event_trace, 8);
	return fmt_record_end(b, at);
}

/* The filter takes its length and a NUL, in whole words; behind it stands one word more. */
static void get_filter(struct fmt_pt_info *i, const uint8_t *p, size_t left)
{
	uint64_t len = left >= 8 ? le_get(p, 8) : 0;

	if (left < 8)
		return;
	p += 8;
	left -= 8;
	if (len) {
		if (len >= left || p[len])
			return;
		i->filter = (const char *)p;
		len = (len + 8) & ~UINT64_C(7);
		if (len > left)
			return;
		p += len;
		left -= (size_t)len;
	}
	if (left >= 8)
		i->cap_event_trace = le_get(p, 8);
}

int fmt_get_pt_info(struct fmt_pt_info *ret, const uint8_t *rec, size_t size)
{
	struct fmt_pt_info i = { 0 };
	uint64_t *const words[] = {
		&i.pmu_type,
		&i.time_shift,
		&i.time_mult,
		&i.time_zero,
		&i.cap_user_time_zero,
		&i.tsc_bit,
		&i.noretcomp_bit,
		&i.have_sched_switch,
		&i.snapshot_mode,
		&i.per_cpu_mmaps,
		&i.mtc_bit,
		&i.mtc_freq_bits,
		&i.tsc_ctc_n,
		&i.tsc_ctc_d,
		&i.cyc_bit,
		&i.max_nonturbo_ratio,
	};
	size_t n = sizeof(words) / sizeof(*words), at = FMT_REC_HEADER_SIZE + 8u;

	if (size < at)
		return -EBADMSG;
	if (le_get(rec + FMT_AUXTRACE_INFO_AT_TYPE, 4) != FMT_AUXTRACE_INTEL_PT)
		return -ENOENT;
	if (size < at + 10 * 8)
		return -EBADMSG;
	for (size_t k = 0; k < n && size - at >= 8; k++, at += 8)
		*words[k] = le_get(rec + at, 8);
	get_filter(&i, rec + at, size - at);
	*ret = i;
	return 0;
}

int fmt_put_time_conv(struct fmt_buf *b, const struct fmt_time_conv *c)
{
	size_t at = fmt_record_begin(b, FMT_REC_TIME_CONV, 0);

	fmt_put_le(b, c->shift, 8);
	fmt_put_le(b, c->mult, 8);
	fmt_put_le(b, c->zero, 8);
	fmt_put_le(b, c->cycles, 8);
	fmt_put_le(b, c->mask, 8);
	fmt_put_le(b, c->cap_time_zero, 1);
	fmt_put_le(b, c->cap_time_short, 1);
	fmt_put_zero(b, 6);
	return fmt_record_end(b, at);
}

static void put_ids(struct fmt_buf *b, const struct fmt_id *ids, size_t n)
{
	size_t at = fmt_record_begin(b, FMT_REC_ID_INDEX, 0);

	fmt_put_le(b, n, 8);
	for (size_t i = 0; i < n; i++) {
		fmt_put_le(b, ids[i].id, 8);
		fmt_put_le(b, ids[i].idx, 8);
		fmt_put_le(b, (uint64_t)ids[i].cpu, 8);
		fmt_put_le(b, (uint64_t)ids[i].tid, 8);
	}
	(void)fmt_record_end(b, at); /* the error sticks in b */
}

int fmt_put_id_index(struct fmt_buf *b, const struct fmt_id *ids, size_t n)
{
	for (size_t i = 0; i < n; i += IDS_PER_RECORD)
		put_ids(b, ids + i, n - i < IDS_PER_RECORD ? n - i : IDS_PER_RECORD);
	return b->err;
}

int fmt_put_header_attr(struct fmt_buf *b, const struct fmt_event *e)
{
	size_t at = fmt_record_begin(b, FMT_REC_HEADER_ATTR, 0);

	fmt_put(b, e->attr, fmt_event_attr_size(e));
	for (size_t i = 0; i < e->nr_ids; i++)
		fmt_put_le(b, e->ids[i], 8);
	return fmt_record_end(b, at);
}

int fmt_put_event_name(struct fmt_buf *b, uint64_t id, const char *name)
{
	size_t at = fmt_record_begin(b, FMT_REC_EVENT_UPDATE, 0);

	fmt_put_le(b, FMT_EVENT_UPDATE_NAME, 8);
	fmt_put_le(b, id, 8);
	fmt_put_str(b, name, 8);
	return fmt_record_end(b, at);
}

int fmt_put_thread_map(struct fmt_buf *b, const struct fmt_thread *t, size_t n)
{
	size_t at = fmt_record_begin(b, FMT_REC_THREAD_MAP, 0);

	fmt_put_le(b, n, 8);
	for (size_t i = 0; i < n; i++) {
		char comm[THREAD_COMM_LEN] = "";

		memcpy(comm, t[i].comm, strnlen(t[i].comm, sizeof(comm) - 1));
		fmt_put_le(b, (uint64_t)t[i].tid, 8);
		fmt_put(b, comm, sizeof(comm));
	}
	return fmt_record_end(b, at);
}

int fmt_put_cpu_map(struct fmt_buf *b, const int *cpus, size_t n)
{
	size_t at = fmt_record_begin(b, FMT_REC_CPU_MAP, 0);

	fmt_put_le(b, FMT_CPU_MAP_CPUS, 2);
	fmt_put_le(b, n, 2);
	for (size_t i = 0; i < n; i++)
		fmt_put_le(b, (uint16_t)cpus[i], 2);
	fmt_put_zero(b, -(b->len - at) & 7);
	return fmt_record_end(b, at);
}

int fmt_put_build_id(struct fmt_buf *b, uint16_t misc, int32_t pid, const uint8_t *id,
		     size_t id_size, const char *name)
{
	size_t at;

	assert(id_size <= 20);
	if (!b->err && strlen(name) > FMT_BUILD_ID_NAME_MAX)
		b->err = -EMSGSIZE;
	at = fmt_record_begin(b, FMT_REC_HEADER_BUILD_ID,
			      (uint16_t)(misc | FMT_MISC_BUILD_ID_SIZE));
	fmt_put_le(b, (uint32_t)pid, 4);
	fmt_put(b, id, id_size);
	fmt_put_zero(b, 20 - id_size);
	fmt_put_le(b, id_size, 1);
	fmt_put_zero(b, 3);
	/* The name begins at 36: it is the record that must be a multiple of 8. */
	fmt_put_str(b, name, 1);
	fmt_put_zero(b, -(b->len - at) & 7);
	return fmt_record_end(b, at);
}

static int put_empty(struct fmt_buf *b, uint32_t type)
{
	size_t at = fmt_record_begin(b, type, 0);

	return fmt_record_end(b, at);
}

int fmt_put_finished_round(struct fmt_buf *b)
{
	return put_empty(b, FMT_REC_FINISHED_ROUND);
}

int fmt_put_finished_init(struct fmt_buf *b)
{
	return put_empty(b, FMT_REC_FINISHED_INIT);
}
