/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feature sections: facts about the machine and the recording, kept at the end of a file
 * (or sent as HEADER_FEATURE records through a pipe).
 *
 * struct fmt_features holds plain values; a feature whose value is absent (NULL, 0 entries,
 * or its `have_` flag false) is not written. All pointers are borrowed for the call.
 * Layouts: tools/perf/Documentation/perf.data-file-format.txt and util/header.c (Linux 6.1).
 */
#ifndef FORMAT_FEATURE_H
#define FORMAT_FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/buf.h"
#include "format/event.h"

/* Bits of the header's feature bitmap. */
enum fmt_feat {
	FMT_FEAT_TRACING_DATA = 1,
	FMT_FEAT_BUILD_ID = 2,
	FMT_FEAT_HOSTNAME = 3,
	FMT_FEAT_OSRELEASE = 4,
	FMT_FEAT_VERSION = 5,
	FMT_FEAT_ARCH = 6,
	FMT_FEAT_NRCPUS = 7,
	FMT_FEAT_CPUDESC = 8,
	FMT_FEAT_CPUID = 9,
	FMT_FEAT_TOTAL_MEM = 10,
	FMT_FEAT_CMDLINE = 11,
	FMT_FEAT_EVENT_DESC = 12,
	FMT_FEAT_CPU_TOPOLOGY = 13,
	FMT_FEAT_NUMA_TOPOLOGY = 14,
	FMT_FEAT_BRANCH_STACK = 15,
	FMT_FEAT_PMU_MAPPINGS = 16,
	FMT_FEAT_GROUP_DESC = 17,
	FMT_FEAT_AUXTRACE = 18,
	FMT_FEAT_STAT = 19,
	FMT_FEAT_CACHE = 20,
	FMT_FEAT_SAMPLE_TIME = 21,
	FMT_FEAT_MEM_TOPOLOGY = 22,
	FMT_FEAT_CLOCKID = 23,
	FMT_FEAT_DIR_FORMAT = 24,
	FMT_FEAT_BPF_PROG_INFO = 25,
	FMT_FEAT_BPF_BTF = 26,
	FMT_FEAT_COMPRESSED = 27,
	FMT_FEAT_CPU_PMU_CAPS = 28,
	FMT_FEAT_CLOCK_DATA = 29,
	FMT_FEAT_HYBRID_TOPOLOGY = 30,
	FMT_FEAT_PMU_CAPS = 31,
	FMT_FEAT_LAST = 32, /* the end mark of a pipe, in perf 6.1 to 6.18 */
};

struct fmt_cpu_topo { /* one per available cpu; -1 where offline or unknown */
	int32_t core_id, socket_id, die_id;
};

struct fmt_numa_node {
	uint32_t node;
	uint64_t total_kb, free_kb;
	const char *cpulist;
};

struct fmt_pmu_type {
	uint32_t type;
	const char *name;
};

struct fmt_cache {
	uint32_t level, line, sets, ways;
	const char *type, *size, *cpu_map;
};

struct fmt_cap {
	const char *name, *value;
};

struct fmt_pmu_caps {
	const char *pmu;
	const struct fmt_cap *caps;
	size_t nr_caps;
};

/* One row of the BUILD_ID feature. */
struct fmt_build_id {
	uint16_t misc; /* FMT_MISC_KERNEL (kernel, modules) or FMT_MISC_USER */
	uint8_t id[20];
	uint8_t id_size;
	const char *name; /* [kernel.kallsyms], module path, DSO path, [vdso] */
};

/* A group of events; its members stand behind its leader among the events. */
struct fmt_group {
	const char *name; /* NULL: perf's word for a group without one, {anon_group} */
	uint32_t leader;  /* index of the leader */
	uint32_t nr;	  /* members, the leader included */
};

/* Where an AUXTRACE record header stands in the file. */
struct fmt_aux_index {
	uint64_t file_offset, size;
};

/* A section of another file, to be copied as it is. */
struct fmt_raw_feature {
	unsigned feat; /* any bit of the bitmap: 0 to 255 */
	const uint8_t *p;
	uint64_t len;
};

struct fmt_features {
	const uint8_t *tracing_data; /* made by fmt_put_tracing_data() */
	size_t tracing_data_len;
	const struct fmt_build_id *build_ids;
	size_t nr_build_ids;
	const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid;
	uint32_t nr_cpus_avail, nr_cpus_online; /* avail = highest present cpu + 1; 0 = absent */
	uint64_t total_mem_kb;
	const char *const *cmdline; /* argv; the first is the program's path */
	size_t nr_cmdline;
	const struct fmt_event *events; /* EVENT_DESC; same order as the attrs section */
	size_t nr_events;
	const char *const *core_siblings, *const *thread_siblings, *const *die_siblings;
	size_t nr_core_siblings, nr_thread_siblings, nr_die_siblings;
	const struct fmt_cpu_topo *cpu_topo; /* nr_cpus_avail; NULL: no CPU_TOPOLOGY */
	const struct fmt_numa_node *numa;
	size_t nr_numa;
	const struct fmt_pmu_type *pmus;
	size_t nr_pmus;
	const struct fmt_cache *caches;
	size_t nr_caches;
	const struct fmt_pmu_caps *pmu_caps;
	size_t nr_pmu_caps;
	const struct fmt_group *groups;
	size_t nr_groups;
	bool have_aux; /* write the AUXTRACE index, even an empty one */
	const struct fmt_aux_index *aux;
	size_t nr_aux;
	bool have_sample_time;
	uint64_t first_ns, last_ns;
	bool have_clock; /* events use attr.clockid: CLOCKID and CLOCK_DATA */
	uint32_t clockid;
	uint64_t clock_res_ns, wall_ns, clock_ns;
	/* The records of the kernel are in COMPRESSED records: level (0: they are not), how
	 * many times smaller that made them (0: not known yet), and the most bytes that one
	 * record inflates to, without which perf reads none. */
	uint32_t zip_level, zip_ratio, zip_inflated_max;
	/* In a file these stand in place of a value; by feat, each once. */
	const struct fmt_raw_feature *raw;
	size_t nr_raw;
};

/* Append the payload of one feature. Returns 1 when there is one (even if empty), 0 when
 * the value is absent and nothing was appended, or buf.err. */
int fmt_put_feature(struct fmt_buf *b, enum fmt_feat feat, const struct fmt_features *f);

/* Append the feature as a HEADER_FEATURE record, when it has a value that fits into one;
 * FMT_FEAT_LAST, which has none, always. 1, 0 or buf.err. perf looks at these records in
 * header form, too (perf script, report). */
int fmt_put_header_feature(struct fmt_buf *b, enum fmt_feat feat,
			   const struct fmt_features *f);

/* True for features that go through a pipe as HEADER_FEATURE: not TRACING_DATA, BUILD_ID,
 * AUXTRACE, BRANCH_STACK, STAT, CACHE, DIR_FORMAT, HYBRID_TOPOLOGY. */
bool fmt_feature_in_pipe(enum fmt_feat feat);

/* perf's name of the feature in plain words ("hostname", "cpu topology" ...), or NULL. */
const char *fmt_feature_name(enum fmt_feat feat);

/* One event format file of tracefs: its system, and its bytes. */
struct fmt_trace_format {
	const char *system;
	const char *text;
	size_t len;
};
struct fmt_tracing {
	const char *header_page, *header_event, *printk_formats, *cmdlines;
	size_t header_page_len, header_event_len, printk_len, cmdlines_len;
	const struct fmt_trace_format *formats; /* sorted by system */
	size_t nr_formats;
	uint32_t page_size;
};
/* The TRACING_DATA payload (version 0.6). Returns 0 or buf.err. */
int fmt_put_tracing_data(struct fmt_buf *b, const struct fmt_tracing *t);

#endif
