/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table row per feature that is written. The encoders of the machine's shape (cpus,
 * nodes, caches, PMUs) are in feature_topo.c.
 */
#include "format/feature.h"

#include <string.h>

#include "format/abi.h"
#include "format/auxtrace.h"
#include "format/feature_enc.h"
#include "format/le.h"

/* NAME_ALIGN of perf's util/header.c. The length word counts the padding, and readers of
 * CPU_TOPOLOGY derive from it where the section must end. */
#define NAME_ALIGN 64u

int fmt_feat_str(struct fmt_buf *b, const char *s)
{
	if (!s)
		return 0;
	fmt_put_le(b, (strlen(s) + NAME_ALIGN) & ~(size_t)(NAME_ALIGN - 1), 4);
	fmt_put_str(b, s, NAME_ALIGN);
	return 1;
}

void fmt_feat_strs(struct fmt_buf *b, const char *const *s, size_t n)
{
	fmt_put_le(b, n, 4);
	for (size_t i = 0; i < n; i++)
		fmt_feat_str(b, s[i]);
}

static int tracing_data(struct fmt_buf *b, const struct fmt_features *f)
{
	fmt_put(b, f->tracing_data, f->tracing_data ? f->tracing_data_len : 0);
	return f->tracing_data != NULL;
}

static int build_id(struct fmt_buf *b, const struct fmt_features *f)
{
	const int32_t host = -1;

	for (size_t i = 0; i < f->nr_build_ids; i++) {
		const struct fmt_build_id *r = &f->build_ids[i];

		/* One odd name is no reason to lose the other rows. */
		if (strlen(r->name) > FMT_BUILD_ID_NAME_MAX)
			continue;
		if (fmt_put_build_id(b, r->misc, host, r->id, r->id_size, r->name))
			break;
	}
	return f->nr_build_ids != 0;
}

static int hostname(struct fmt_buf *b, const struct fmt_features *f)
{
	return fmt_feat_str(b, f->hostname);
}

static int osrelease(struct fmt_buf *b, const struct fmt_features *f)
{
	return fmt_feat_str(b, f->osrelease);
}

static int version(struct fmt_buf *b, const struct fmt_features *f)
{
	return fmt_feat_str(b, f->version);
}

static int arch(struct fmt_buf *b, const struct fmt_features *f)
{
	return fmt_feat_str(b, f->arch);
}

static int nrcpus(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->nr_cpus_avail)
		return 0;
	fmt_put_le(b, f->nr_cpus_avail, 4);
	fmt_put_le(b, f->nr_cpus_online, 4);
	return 1;
}

static int cpudesc(struct fmt_buf *b, const struct fmt_features *f)
{
	return fmt_feat_str(b, f->cpudesc);
}

static int cpuid(struct fmt_buf *b, const struct fmt_features *f)
{
	return fmt_feat_str(b, f->cpuid);
}

static int total_mem(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->total_mem_kb)
		return 0;
	fmt_put_le(b, f->total_mem_kb, 8);
	return 1;
}

static int cmdline(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->nr_cmdline)
		return 0;
	fmt_feat_strs(b, f->cmdline, f->nr_cmdline);
	return 1;
}

/* A copy without what perf 6.1 has no name for: it refuses the section, and with it every
 * event name, when one of these bits is set. The attrs section keeps them. */
static void put_known_attr(struct fmt_buf *b, const uint8_t *attr)
{
	uint8_t copy[FMT_ATTR_SIZE];
	uint64_t flags = le_get(attr + FMT_ATTR_AT_FLAGS, 8);

	memcpy(copy, attr, sizeof(copy));
	le_put(copy + FMT_ATTR_AT_FLAGS, flags & FMT_ATTR_F_KNOWN, 8);
	le_put(copy + FMT_ATTR_AT_RESERVED_2, 0, 2);
	le_put(copy + FMT_ATTR_AT_AUX_ACTION, 0, 4);
	fmt_put(b, copy, sizeof(copy));
}

static int event_desc(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->nr_events)
		return 0;
	/* Readers have names of their own for what is not named, but not for "". */
	for (size_t i = 0; i < f->nr_events; i++)
		if (!f->events[i].name)
			return 0;
	fmt_put_le(b, f->nr_events, 4);
	fmt_put_le(b, FMT_ATTR_SIZE, 4);
	for (size_t i = 0; i < f->nr_events; i++) {
		const struct fmt_event *e = &f->events[i];

		put_known_attr(b, e->attr);
		fmt_put_le(b, e->nr_ids, 4);
		fmt_feat_str(b, e->name);
		for (size_t j = 0; j < e->nr_ids; j++)
			fmt_put_le(b, e->ids[j], 8);
	}
	return 1;
}

static int auxtrace(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->have_aux)
		return 0;
	fmt_put_le(b, f->nr_aux, 8);
	for (size_t i = 0; i < f->nr_aux; i++) {
		fmt_put_le(b, f->aux[i].file_offset, 8);
		fmt_put_le(b, f->aux[i].size, 8);
	}
	return 1;
}

static int group_desc(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->nr_groups)
		return 0;
	fmt_put_le(b, f->nr_groups, 4);
	for (size_t i = 0; i < f->nr_groups; i++) {
		(void)fmt_feat_str(b, f->groups[i].name ? f->groups[i].name
							: "{anon_group}");
		fmt_put_le(b, f->groups[i].leader, 4);
		fmt_put_le(b, f->groups[i].nr, 4);
	}
	return 1;
}

static int sample_time(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->have_sample_time)
		return 0;
	fmt_put_le(b, f->first_ns, 8);
	fmt_put_le(b, f->last_ns, 8);
	return 1;
}

static int clockid(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->have_clock)
		return 0;
	fmt_put_le(b, f->clock_res_ns, 8);
	return 1;
}

static int clock_data(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->have_clock)
		return 0;
	fmt_put_le(b, 1, 4); /* version */
	fmt_put_le(b, f->clockid, 4);
	fmt_put_le(b, f->wall_ns, 8);
	fmt_put_le(b, f->clock_ns, 8);
	return 1;
}

static int compressed(struct fmt_buf *b, const struct fmt_features *f)
{
	enum { VERSION = 0, ZSTD = 1 }; /* PERF_COMP_ZSTD, util/env.h */

	if (!f->zip_level)
		return 0;
	fmt_put_le(b, VERSION, 4);
	fmt_put_le(b, ZSTD, 4);
	fmt_put_le(b, f->zip_level, 4);
	fmt_put_le(b, f->zip_ratio, 4);
	fmt_put_le(b, f->zip_inflated_max, 4);
	return 1;
}

struct row {
	const char *name;
	/* Appends the payload: 1, or 0 when the value is absent. NULL: never written. */
	int (*encode)(struct fmt_buf *b, const struct fmt_features *f);
	bool in_pipe; /* has FEAT_OPR in perf's util/header.c (Linux 6.1) */
};

/* clang-format off */
static const struct row rows[FMT_FEAT_LAST] = {
	[FMT_FEAT_TRACING_DATA]	   = { "tracing data", tracing_data, false },
	[FMT_FEAT_BUILD_ID]	   = { "build id", build_id, false },
	[FMT_FEAT_HOSTNAME]	   = { "hostname", hostname, true },
	[FMT_FEAT_OSRELEASE]	   = { "osrelease", osrelease, true },
	[FMT_FEAT_VERSION]	   = { "version", version, true },
	[FMT_FEAT_ARCH]		   = { "arch", arch, true },
	[FMT_FEAT_NRCPUS]	   = { "nrcpus", nrcpus, true },
	[FMT_FEAT_CPUDESC]	   = { "cpudesc", cpudesc, true },
	[FMT_FEAT_CPUID]	   = { "cpuid", cpuid, true },
	[FMT_FEAT_TOTAL_MEM]	   = { "total mem", total_mem, true },
	[FMT_FEAT_CMDLINE]	   = { "cmdline", cmdline, true },
	[FMT_FEAT_EVENT_DESC]	   = { "event desc", event_desc, true },
	[FMT_FEAT_CPU_TOPOLOGY]	   = { "cpu topology", fmt_feat_cpu_topology, true },
	[FMT_FEAT_NUMA_TOPOLOGY]   = { "numa topology", fmt_feat_numa_topology, true },
	[FMT_FEAT_BRANCH_STACK]	   = { "branch stack", NULL, false },
	[FMT_FEAT_PMU_MAPPINGS]	   = { "pmu mappings", fmt_feat_pmu_mappings, true },
	[FMT_FEAT_GROUP_DESC]	   = { "group desc", group_desc, true },
	[FMT_FEAT_AUXTRACE]	   = { "auxtrace", auxtrace, false },
	[FMT_FEAT_STAT]		   = { "stat", NULL, false },
	[FMT_FEAT_CACHE]	   = { "cache", fmt_feat_cache, false },
	[FMT_FEAT_SAMPLE_TIME]	   = { "sample time", sample_time, true },
	[FMT_FEAT_MEM_TOPOLOGY]	   = { "mem topology", NULL, true },
	[FMT_FEAT_CLOCKID]	   = { "clockid", clockid, true },
	[FMT_FEAT_DIR_FORMAT]	   = { "dir format", NULL, false },
	[FMT_FEAT_BPF_PROG_INFO]   = { "bpf prog info", NULL, true },
	[FMT_FEAT_BPF_BTF]	   = { "bpf btf", NULL, true },
	[FMT_FEAT_COMPRESSED]	   = { "compressed", compressed, true },
	[FMT_FEAT_CPU_PMU_CAPS]	   = { "cpu pmu caps", NULL, true },
	[FMT_FEAT_CLOCK_DATA]	   = { "clock data", clock_data, true },
	[FMT_FEAT_HYBRID_TOPOLOGY] = { "hybrid topology", NULL, false },
	[FMT_FEAT_PMU_CAPS]	   = { "pmu caps", fmt_feat_pmu_caps, true },
};
/* clang-format on */

static const struct row *row_of(enum fmt_feat feat)
{
	static const struct row none;

	return (unsigned)feat < FMT_FEAT_LAST ? &rows[feat] : &none;
}

int fmt_put_feature(struct fmt_buf *b, enum fmt_feat feat, const struct fmt_features *f)
{
	const struct row *row = row_of(feat);
	int there = row->encode ? row->encode(b, f) : 0;

	return b->err ? b->err : there;
}

int fmt_put_header_feature(struct fmt_buf *b, enum fmt_feat feat,
			   const struct fmt_features *f)
{
	const size_t head = FMT_REC_HEADER_SIZE + 8;
	struct fmt_buf payload = { 0 };
	int there = feat == FMT_FEAT_LAST ? 1 : fmt_put_feature(&payload, feat, f);
	size_t at;

	if (there < 0 && !b->err)
		b->err = there;
	if (there > 0 && payload.len <= FMT_REC_SIZE_MAX - head) {
		at = fmt_record_begin(b, FMT_REC_HEADER_FEATURE, 0);
		fmt_put_le(b, feat, 8);
		fmt_put(b, payload.data, payload.len);
		fmt_put_zero(b, -payload.len & 7);
		(void)fmt_record_end(b, at); /* the error sticks in b */
	} else {
		there = 0;
	}
	fmt_buf_done(&payload);
	return b->err ? b->err : there;
}

bool fmt_feature_in_pipe(enum fmt_feat feat)
{
	return row_of(feat)->in_pipe;
}

const char *fmt_feature_name(enum fmt_feat feat)
{
	return row_of(feat)->name;
}
