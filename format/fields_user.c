/* SPDX-License-Identifier: Apache-2.0 */
/* The records of perf itself, types 64 and up, whose layout is no plain row of numbers. */
#include "format/abi.h"
#include "format/fields_priv.h"

enum {
	COMM_LEN = 16,	   /* THREAD_MAP: char comm[16] */
	ERROR_MSG = 64,	   /* AUXTRACE_ERROR: MAX_AUXTRACE_ERROR_MSG */
	BPF_PROG = 512,	   /* BPF_METADATA: KSYM_NAME_LEN, */
	BPF_KEY = 64,	   /* BPF_METADATA_KEY_LEN, */
	BPF_VALUE = 256,   /* BPF_METADATA_VALUE_LEN */
	BUILD_ID_LEN = 20, /* of the array */
	TIME_CONV_OLD = 24 /* before perf 5.9: shift, mult, zero */
};

static void visit_header_attr(struct fmt_visit *v)
{
	size_t size = v->left >= 8 ? le_get32(v->p + FMT_ATTR_AT_SIZE) : 0;

	fmt_visit_attr(v, size ? size : 64); /* 0: recorders before Linux 2.6.32 */
	fmt_visit_nums(v, "ids", FMT_AS_DEC, v->left / 8, 8);
}

/* The data follow the record; simpleperf's are inside. */
static void visit_tracing_data(struct fmt_visit *v)
{
	fmt_visit_num(v, "size", FMT_AS_DEC, 4);
	if (v->left > 4)
		fmt_visit_bytes(v, "data", v->left);
	else
		fmt_visit_padding(v);
}

static void visit_build_id(struct fmt_visit *v)
{
	size_t n = BUILD_ID_LEN;
	const uint8_t *id, *tail;

	fmt_visit_num(v, "pid", FMT_AS_INT, 4);
	id = fmt_take(v, "build_id", BUILD_ID_LEN);
	tail = fmt_take(v, "build_id", 4);
	if (!id || !tail)
		return;
	if ((v->rec->misc & FMT_MISC_BUILD_ID_SIZE) && *tail < n)
		n = *tail;
	fmt_give(v, &(struct fmt_field){ .name = "build_id", .kind = FMT_AS_BYTES,
					 .p = id, .len = n });
	fmt_give_num(v, "build_id_size", FMT_AS_DEC, *tail);
	fmt_visit_text(v, "filename", v->left);
}

static void visit_id_index(struct fmt_visit *v)
{
	uint64_t nr = fmt_visit_num(v, "nr", FMT_AS_DEC, 8);

	if (!fmt_visit_list(v, "entries", nr, 32))
		return;
	for (uint64_t i = 0; i < nr; i++) {
		fmt_visit_open(v, NULL, FMT_AS_GROUP);
		fmt_visit_num(v, "id", FMT_AS_DEC, 8);
		fmt_visit_num(v, "idx", FMT_AS_DEC, 8);
		fmt_visit_num(v, "cpu", FMT_AS_INT, 8);
		fmt_visit_num(v, "tid", FMT_AS_INT, 8);
		fmt_visit_close(v);
	}
	fmt_visit_close(v);
	/* Guests' ids: perf 6.0, when there is room. */
	if (!v->left || !fmt_visit_list(v, "guests", nr, 16))
		return;
	for (uint64_t i = 0; i < nr; i++) {
		fmt_visit_open(v, NULL, FMT_AS_GROUP);
		fmt_visit_num(v, "machine_pid", FMT_AS_INT, 8);
		fmt_visit_num(v, "vcpu", FMT_AS_INT, 8);
		fmt_visit_close(v);
	}
	fmt_visit_close(v);
}

/* msg is cut behind its NUL and padded; machine_pid follows when it is whole. */
static void visit_error(struct fmt_visit *v)
{
	static const char *const types[] = { NULL, "ITRACE" };
	uint64_t form;

	fmt_visit_word(v, "type", types, 2, 4);
	fmt_visit_num(v, "code", FMT_AS_DEC, 4);
	fmt_visit_num(v, "cpu", FMT_AS_INT, 4);
	fmt_visit_num(v, "pid", FMT_AS_INT, 4);
	fmt_visit_num(v, "tid", FMT_AS_INT, 4);
	form = fmt_visit_num(v, "fmt", FMT_AS_DEC, 4);
	fmt_visit_num(v, "ip", FMT_AS_HEX, 8);
	if (form)
		fmt_visit_num(v, "time", FMT_AS_TIME, 8);
	fmt_visit_text(v, "msg", v->left < ERROR_MSG ? v->left : ERROR_MSG);
	if (form < 2 || !v->left)
		return;
	fmt_visit_num(v, "machine_pid", FMT_AS_INT, 4);
	fmt_visit_num(v, "vcpu", FMT_AS_INT, 4);
}

static void visit_thread_map(struct fmt_visit *v)
{
	uint64_t nr = fmt_visit_num(v, "nr", FMT_AS_DEC, 8);

	if (!fmt_visit_list(v, "entries", nr, 8 + COMM_LEN))
		return;
	for (; nr; nr--) {
		fmt_visit_open(v, NULL, FMT_AS_GROUP);
		fmt_visit_num(v, "pid", FMT_AS_INT, 8);
		fmt_visit_chars(v, "comm", COMM_LEN);
		fmt_visit_close(v);
	}
	fmt_visit_close(v);
}

static void visit_mask(struct fmt_visit *v)
{
	uint64_t nr = fmt_visit_num(v, "nr", FMT_AS_DEC, 2);
	uint64_t size = fmt_visit_num(v, "long_size", FMT_AS_DEC, 2);

	if (v->missing || (size != 4 && size != 8))
		return; /* left over */
	if (size == 8)
		fmt_visit_reserved(v, 4);
	fmt_visit_nums(v, "mask", FMT_AS_HEX, nr, (unsigned)size);
}

/* struct perf_record_cpu_map_data, in CPU_MAP and in EVENT_UPDATE. */
static void visit_cpus(struct fmt_visit *v)
{
	static const char *const types[] = { "CPUS", "MASK", "RANGE_CPUS" };
	uint64_t type = fmt_visit_word(v, "type", types, 3, 2), nr;

	switch (type) {
	case FMT_CPU_MAP_CPUS:
		nr = fmt_visit_num(v, "nr", FMT_AS_DEC, 2);
		fmt_visit_nums(v, "cpus", FMT_AS_DEC, nr, 2); /* 65535: any */
		break;
	case FMT_CPU_MAP_MASK:
		visit_mask(v);
		break;
	case FMT_CPU_MAP_RANGE:
		fmt_visit_num(v, "any_cpu", FMT_AS_DEC, 1);
		fmt_visit_reserved(v, 1);
		fmt_visit_num(v, "start_cpu", FMT_AS_DEC, 2);
		fmt_visit_num(v, "end_cpu", FMT_AS_DEC, 2);
		break;
	}
	fmt_visit_padding(v);
}

static void visit_event_update(struct fmt_visit *v)
{
	static const char *const types[] = { "UNIT", "SCALE", "NAME", "CPUS" };
	uint64_t type = fmt_visit_word(v, "type", types, 4, 8);

	fmt_visit_num(v, "id", FMT_AS_DEC, 8);
	if (v->missing)
		return;
	switch (type) {
	case FMT_EVENT_UPDATE_UNIT:
		fmt_visit_text(v, "unit", v->left);
		break;
	case FMT_EVENT_UPDATE_SCALE:
		fmt_visit_num(v, "scale", FMT_AS_REAL, 8);
		break;
	case FMT_EVENT_UPDATE_NAME:
		fmt_visit_text(v, "name", v->left);
		break;
	case FMT_EVENT_UPDATE_CPUS:
		fmt_visit_open(v, "cpu_map", FMT_AS_GROUP);
		visit_cpus(v);
		fmt_visit_close(v);
		break;
	}
}

static void visit_stat_config(struct fmt_visit *v)
{
	static const char *const tags[] = { "AGGR_MODE", "INTERVAL", "SCALE", "AGGR_LEVEL" };
	uint64_t nr = fmt_visit_num(v, "nr", FMT_AS_DEC, 8);

	if (!fmt_visit_list(v, "data", nr, 16))
		return;
	for (; nr; nr--) {
		fmt_visit_open(v, NULL, FMT_AS_GROUP);
		fmt_visit_word(v, "tag", tags, 4, 8);
		fmt_visit_num(v, "val", FMT_AS_DEC, 8);
		fmt_visit_close(v);
	}
	fmt_visit_close(v);
}

static void visit_stat_round(struct fmt_visit *v)
{
	static const char *const types[] = { "INTERVAL", "FINAL" };

	fmt_visit_word(v, "type", types, 2, 8);
	fmt_visit_num(v, "time", FMT_AS_TIME, 8);
}

static void visit_time_conv(struct fmt_visit *v)
{
	bool old = v->left == TIME_CONV_OLD;

	fmt_visit_num(v, "time_shift", FMT_AS_DEC, 8);
	fmt_visit_num(v, "time_mult", FMT_AS_DEC, 8);
	fmt_visit_num(v, "time_zero", FMT_AS_HEX, 8);
	if (old)
		return;
	fmt_visit_num(v, "time_cycles", FMT_AS_HEX, 8);
	fmt_visit_num(v, "time_mask", FMT_AS_HEX, 8);
	fmt_visit_num(v, "cap_user_time_zero", FMT_AS_DEC, 1);
	fmt_visit_num(v, "cap_user_time_short", FMT_AS_DEC, 1);
	fmt_visit_reserved(v, 6);
}

/* u32 length, text, zeros. */
static void visit_string(struct fmt_visit *v, const char *name)
{
	size_t n = (size_t)fmt_take_num(v, name, 4);

	fmt_visit_text(v, name, n);
}

static void visit_cmdline(struct fmt_visit *v)
{
	uint64_t nr = fmt_visit_num(v, "nr", FMT_AS_DEC, 4);
	size_t n;

	if (!fmt_visit_list(v, "args", nr, 4))
		return;
	for (; nr && !v->missing; nr--) {
		n = (size_t)fmt_take_num(v, "args", 4);
		if (n > v->left || !n || !memchr(v->p, 0, n))
			v->missing = "args";
		fmt_visit_text(v, NULL, n);
	}
	fmt_visit_close(v);
}

/* The payload of a HEADER_FEATURE record, where it is simple; else its bytes. */
static void visit_feature(struct fmt_visit *v, uint64_t feat)
{
	switch (feat) {
	case FMT_FEAT_HOSTNAME:
	case FMT_FEAT_OSRELEASE:
	case FMT_FEAT_VERSION:
	case FMT_FEAT_ARCH:
	case FMT_FEAT_CPUDESC:
	case FMT_FEAT_CPUID:
		visit_string(v, "text");
		break;
	case FMT_FEAT_NRCPUS:
		fmt_visit_num(v, "nr_cpus_avail", FMT_AS_DEC, 4);
		fmt_visit_num(v, "nr_cpus_online", FMT_AS_DEC, 4);
		break;
	case FMT_FEAT_TOTAL_MEM:
		fmt_visit_num(v, "total_mem_kb", FMT_AS_DEC, 8);
		break;
	case FMT_FEAT_CMDLINE:
		visit_cmdline(v);
		break;
	case FMT_FEAT_SAMPLE_TIME:
		fmt_visit_num(v, "first", FMT_AS_TIME, 8);
		fmt_visit_num(v, "last", FMT_AS_TIME, 8);
		break;
	case FMT_FEAT_COMPRESSED:
		fmt_visit_num(v, "version", FMT_AS_DEC, 4);
		fmt_visit_num(v, "type", FMT_AS_DEC, 4);
		fmt_visit_num(v, "level", FMT_AS_DEC, 4);
		fmt_visit_num(v, "ratio", FMT_AS_DEC, 4);
		fmt_visit_num(v, "mmap_len", FMT_AS_DEC, 4);
		break;
	default:
		if (v->left)
			fmt_visit_bytes(v, "data", v->left);
	}
	fmt_visit_padding(v);
}

static void visit_header_feature(struct fmt_visit *v)
{
	static const char *const names[] = {
		[FMT_FEAT_TRACING_DATA] = "TRACING_DATA",
		[FMT_FEAT_BUILD_ID] = "BUILD_ID",
		[FMT_FEAT_HOSTNAME] = "HOSTNAME",
		[FMT_FEAT_OSRELEASE] = "OSRELEASE",
		[FMT_FEAT_VERSION] = "VERSION",
		[FMT_FEAT_ARCH] = "ARCH",
		[FMT_FEAT_NRCPUS] = "NRCPUS",
		[FMT_FEAT_CPUDESC] = "CPUDESC",
		[FMT_FEAT_CPUID] = "CPUID",
		[FMT_FEAT_TOTAL_MEM] = "TOTAL_MEM",
		[FMT_FEAT_CMDLINE] = "CMDLINE",
		[FMT_FEAT_EVENT_DESC] = "EVENT_DESC",
		[FMT_FEAT_CPU_TOPOLOGY] = "CPU_TOPOLOGY",
		[FMT_FEAT_NUMA_TOPOLOGY] = "NUMA_TOPOLOGY",
		[FMT_FEAT_BRANCH_STACK] = "BRANCH_STACK",
		[FMT_FEAT_PMU_MAPPINGS] = "PMU_MAPPINGS",
		[FMT_FEAT_GROUP_DESC] = "GROUP_DESC",
		[FMT_FEAT_AUXTRACE] = "AUXTRACE",
		[FMT_FEAT_STAT] = "STAT",
		[FMT_FEAT_CACHE] = "CACHE",
		[FMT_FEAT_SAMPLE_TIME] = "SAMPLE_TIME",
		[FMT_FEAT_MEM_TOPOLOGY] = "MEM_TOPOLOGY",
		[FMT_FEAT_CLOCKID] = "CLOCKID",
		[FMT_FEAT_DIR_FORMAT] = "DIR_FORMAT",
		[FMT_FEAT_BPF_PROG_INFO] = "BPF_PROG_INFO",
		[FMT_FEAT_BPF_BTF] = "BPF_BTF",
		[FMT_FEAT_COMPRESSED] = "COMPRESSED",
		[FMT_FEAT_CPU_PMU_CAPS] = "CPU_PMU_CAPS",
		[FMT_FEAT_CLOCK_DATA] = "CLOCK_DATA",
		[FMT_FEAT_HYBRID_TOPOLOGY] = "HYBRID_TOPOLOGY",
		[FMT_FEAT_PMU_CAPS] = "PMU_CAPS",
	};
	uint64_t feat = fmt_visit_word(v, "feat_id", names, FMT_FEAT_LAST, 8);

	if (!v->missing)
		visit_feature(v, feat);
}

static void visit_compressed(struct fmt_visit *v)
{
	uint64_t n = v->left;

	if (v->rec->type == FMT_REC_COMPRESSED2)
		n = fmt_visit_num(v, "data_size", FMT_AS_DEC, 8);
	if (n > v->left && !v->missing)
		v->missing = "data";
	fmt_visit_bytes(v, "data", (size_t)n);
	if (v->rec->type == FMT_REC_COMPRESSED2)
		fmt_visit_padding(v);
}

static void visit_bpf_metadata(struct fmt_visit *v)
{
	uint64_t nr;

	fmt_visit_chars(v, "prog_name", BPF_PROG);
	nr = fmt_visit_num(v, "nr_entries", FMT_AS_DEC, 8);
	if (!fmt_visit_list(v, "entries", nr, BPF_KEY + BPF_VALUE))
		return;
	for (; nr; nr--) {
		fmt_visit_open(v, NULL, FMT_AS_GROUP);
		fmt_visit_chars(v, "key", BPF_KEY);
		fmt_visit_chars(v, "value", BPF_VALUE);
		fmt_visit_close(v);
	}
	fmt_visit_close(v);
}

/* The counters differ with each version of /proc/schedstat: bytes. */
static void visit_schedstat(struct fmt_visit *v)
{
	fmt_visit_num(v, "timestamp", FMT_AS_DEC, 8);
	fmt_visit_num(v, "cpu", FMT_AS_INT, 4);
	fmt_visit_num(v, "version", FMT_AS_DEC, 2);
	if (v->rec->type == FMT_REC_SCHEDSTAT_DOMAIN)
		fmt_visit_num(v, "domain", FMT_AS_DEC, 2);
	else
		fmt_visit_reserved(v, 2);
	if (v->left)
		fmt_visit_bytes(v, "data", v->left);
}

bool fmt_visit_user(struct fmt_visit *v)
{
	static void (*const visits[])(struct fmt_visit *v) = {
		[FMT_REC_HEADER_ATTR] = visit_header_attr,
		[FMT_REC_HEADER_TRACING_DATA] = visit_tracing_data,
		[FMT_REC_HEADER_BUILD_ID] = visit_build_id,
		[FMT_REC_ID_INDEX] = visit_id_index,
		[FMT_REC_AUXTRACE_INFO] = fmt_visit_auxtrace_info,
		[FMT_REC_AUXTRACE_ERROR] = visit_error,
		[FMT_REC_THREAD_MAP] = visit_thread_map,
		[FMT_REC_CPU_MAP] = visit_cpus,
		[FMT_REC_STAT_CONFIG] = visit_stat_config,
		[FMT_REC_STAT_ROUND] = visit_stat_round,
		[FMT_REC_EVENT_UPDATE] = visit_event_update,
		[FMT_REC_TIME_CONV] = visit_time_conv,
		[FMT_REC_HEADER_FEATURE] = visit_header_feature,
		[FMT_REC_COMPRESSED] = visit_compressed,
		[FMT_REC_COMPRESSED2] = visit_compressed,
		[FMT_REC_BPF_METADATA] = visit_bpf_metadata,
		[FMT_REC_SCHEDSTAT_CPU] = visit_schedstat,
		[FMT_REC_SCHEDSTAT_DOMAIN] = visit_schedstat,
	};
	uint32_t type = v->rec->type;

	if (type >= sizeof(visits) / sizeof(*visits) || !visits[type])
		return false;
	visits[type](v);
	return true;
}
