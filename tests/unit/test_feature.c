/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden bytes of every feature payload that is written. Layouts:
 * tools/perf/Documentation/perf.data-file-format.txt and util/header.c (Linux 6.1).
 */
#include "format/feature.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/abi.h"
#include "tests/unit/hex.h"

static struct fmt_buf b;

static int done(void **state)
{
	(void)state;
	fmt_buf_done(&b);
	return 0;
}

static void is_written(enum fmt_feat feat, const struct fmt_features *f, const char *want)
{
	fmt_buf_reset(&b);
	assert_int_equal(fmt_put_feature(&b, feat, f), 1);
	hex_expect(b.data, b.len, want);
}

#define D10 "1234567890"
#define D60 D10 D10 D10 D10 D10 D10

static void strings_count_their_padding_to_64(void **state)
{
	const struct fmt_features f = {
		.hostname = "box",
		.osrelease = "",
		.version = D60 "123",
		.arch = D60 "1234",
		.cpudesc = "A CPU",
		.cpuid = "GenuineIntel,6,142,10",
	};

	(void)state;
	is_written(FMT_FEAT_HOSTNAME, &f, "40000000 'box' 00[61]");
	is_written(FMT_FEAT_OSRELEASE, &f, "40000000 00[64]");
	is_written(FMT_FEAT_VERSION, &f, /* 63 characters and their NUL */
		   "40000000 '" D60 "123' 00");
	is_written(FMT_FEAT_ARCH, &f, /* 64 characters: the NUL needs 64 bytes more */
		   "80000000 '" D60 "1234' 00[64]");
	is_written(FMT_FEAT_CPUDESC, &f, "40000000 'A CPU' 00[59]");
	is_written(FMT_FEAT_CPUID, &f, "40000000 'GenuineIntel,6,142,10' 00[43]");
}

static void cpus_and_memory_are_plain_numbers(void **state)
{
	const struct fmt_features f = {
		.nr_cpus_avail = 8,
		.nr_cpus_online = 6,
		.total_mem_kb = 0x123456789,
	};

	(void)state;
	is_written(FMT_FEAT_NRCPUS, &f, "08000000 06000000"); /* available, online */
	is_written(FMT_FEAT_TOTAL_MEM, &f, "8967452301000000");
}

static void cmdline_is_a_list_of_strings(void **state)
{
	const char *const argv[] = { "/usr/bin/auxrec", "record" };
	const struct fmt_features f = { .cmdline = argv, .nr_cmdline = 2 };

	(void)state;
	is_written(FMT_FEAT_CMDLINE, &f,
		   "02000000"
		   "40000000 '/usr/bin/auxrec' 00[49]"
		   "40000000 'record' 00[58]");
}

static void event_desc_has_attr_count_name_and_ids(void **state)
{
	const uint64_t ids[] = { 0x11, 0x12 };
	struct fmt_event ev[2] = { { .ids = ids, .nr_ids = 2, .name = "intel_pt//" },
				   { .name = "" } };
	const struct fmt_features f = { .events = ev, .nr_events = 2 };

	(void)state;
	ev[0].attr[0] = 8;
	ev[0].attr[4] = 128;
	ev[1].attr[4] = 128;
	is_written(FMT_FEAT_EVENT_DESC, &f,
		   "02000000 80000000" /* nr, attr size */
		   "08000000 80000000 00[120]"
		   "02000000" /* ids */
		   "40000000 'intel_pt//' 00[54]"
		   "1100000000000000 1200000000000000"
		   "00000000 80000000 00[120]"
		   "00000000"
		   "40000000 00[64]");
	ev[1].name = NULL; /* then nothing is said of any of them */
	fmt_buf_reset(&b);
	assert_int_equal(fmt_put_feature(&b, FMT_FEAT_EVENT_DESC, &f), 0);
	assert_int_equal(b.len, 0);
}

static void event_desc_hides_what_old_readers_refuse(void **state)
{
	struct fmt_event ev = { .name = "x" };
	const struct fmt_features f = { .events = &ev, .nr_events = 1 };

	(void)state;
	memset(ev.attr, 0xff, sizeof(ev.attr));
	is_written(FMT_FEAT_EVENT_DESC, &f,
		   "01000000 80000000"
		   "ff[40]"
		   "ffffffff3f000000" /* flags: bits 38 and up cleared */
		   "ff[62] 0000" /* 110: reserved_2 */
		   "ff[4] 00000000" /* 116: aux_action, once reserved_3 */
		   "ff[8]"
		   "00000000 40000000 'x' 00[63]");
	assert_int_equal(ev.attr[116], 0xff); /* the event itself keeps them */
}

static void cpu_topology_has_lists_then_ids_then_dies(void **state)
{
	const char *const sockets[] = { "0-1" }, *const threads[] = { "0", "1" };
	const struct fmt_cpu_topo topo[] = { { 4, 0, 1 }, { -1, -1, -1 } };
	struct fmt_features f = {
		.nr_cpus_avail = 2,
		.nr_cpus_online = 1,
		.core_siblings = sockets,
		.nr_core_siblings = 1,
		.thread_siblings = threads,
		.nr_thread_siblings = 2,
		.die_siblings = sockets,
		.nr_die_siblings = 1,
		.cpu_topo = topo,
	};

	(void)state;
	is_written(FMT_FEAT_CPU_TOPOLOGY, &f,
		   "01000000 40000000 '0-1' 00[61]"
		   "02000000 40000000 '0' 00[63] 40000000 '1' 00[63]"
		   "04000000 00000000 ffffffff ffffffff" /* core, socket of each cpu */
		   "01000000 40000000 '0-1' 00[61]"
		   "01000000 ffffffff"); /* die of each cpu */
	f.nr_die_siblings = 0;
	is_written(FMT_FEAT_CPU_TOPOLOGY, &f,
		   "01000000 40000000 '0-1' 00[61]"
		   "02000000 40000000 '0' 00[63] 40000000 '1' 00[63]"
		   "04000000 00000000 ffffffff ffffffff"
		   "00000000"
		   "01000000 ffffffff");
}

static void numa_nodes_have_memory_and_cpus(void **state)
{
	const struct fmt_numa_node nodes[] = { { 0, 0x1000, 0x800, "0-3" },
					       { 2, 0x2000, 0x900, "" } };
	const struct fmt_features f = { .numa = nodes, .nr_numa = 2 };

	(void)state;
	is_written(FMT_FEAT_NUMA_TOPOLOGY, &f,
		   "02000000"
		   "00000000 0010000000000000 0008000000000000 40000000 '0-3' 00[61]"
		   "02000000 0020000000000000 0009000000000000 40000000 00[64]");
}

static void pmu_mappings_are_type_and_name(void **state)
{
	const struct fmt_pmu_type pmus[] = { { 8, "intel_pt" }, { 1, "software" } };
	const struct fmt_features f = { .pmus = pmus, .nr_pmus = 2 };

	(void)state;
	is_written(FMT_FEAT_PMU_MAPPINGS, &f,
		   "02000000"
		   "08000000 40000000 'intel_pt' 00[56]"
		   "01000000 40000000 'software' 00[56]");
}

static void a_cache_is_four_numbers_and_three_strings(void **state)
{
	const struct fmt_cache c = { 1, 64, 63, 8, "Data", "32K", "0-1" };
	const struct fmt_features f = { .caches = &c, .nr_caches = 1 };

	(void)state;
	is_written(FMT_FEAT_CACHE, &f,
		   "01000000 01000000" /* version, count */
		   "01000000 40000000 3f000000 08000000" /* level, line, sets, ways */
		   "40000000 'Data' 00[60] 40000000 '32K' 00[61] 40000000 '0-1' 00[61]");
}

static void pmu_caps_name_the_pmu_last(void **state)
{
	const struct fmt_cap caps[] = { { "mtc", "1" }, { "psb_cyc", "0" } };
	const struct fmt_pmu_caps p[] = { { "intel_pt", caps, 2 }, { "x", NULL, 0 } };
	const struct fmt_features f = { .pmu_caps = p, .nr_pmu_caps = 2 };

	(void)state;
	is_written(FMT_FEAT_PMU_CAPS, &f,
		   "02000000"
		   "02000000"
		   "40000000 'mtc' 00[61] 40000000 '1' 00[63]"
		   "40000000 'psb_cyc' 00[57] 40000000 '0' 00[63]"
		   "40000000 'intel_pt' 00[56]"
		   "00000000"
		   "40000000 'x' 00[63]");
}

static void groups_have_name_leader_and_size(void **state)
{
	const struct fmt_group g[] = { { NULL, 0, 2 }, { "mine", 3, 4 } };
	const struct fmt_features f = { .groups = g, .nr_groups = 2 };

	(void)state;
	is_written(FMT_FEAT_GROUP_DESC, &f,
		   "02000000"
		   "40000000 '{anon_group}' 00[52] 00000000 02000000"
		   "40000000 'mine' 00[60] 03000000 04000000");
}

static void the_trace_index_may_be_empty(void **state)
{
	const struct fmt_aux_index aux[] = { { 0x1000, 48 }, { 0x2030, 48 } };
	struct fmt_features f = { .have_aux = true, .aux = aux, .nr_aux = 2 };

	(void)state;
	is_written(FMT_FEAT_AUXTRACE, &f,
		   "0200000000000000"
		   "0010000000000000 3000000000000000"
		   "3020000000000000 3000000000000000");
	f.nr_aux = 0;
	is_written(FMT_FEAT_AUXTRACE, &f, "0000000000000000");
}

static void times_and_clocks_are_nanoseconds(void **state)
{
	const struct fmt_features f = {
		.have_sample_time = true,
		.first_ns = 0x1122334455,
		.last_ns = 0x1122334466,
		.have_clock = true,
		.clockid = 4,
		.clock_res_ns = 1,
		.wall_ns = 0x1718191a1b1c1d1e,
		.clock_ns = 0x0a0b0c0d0e0f,
	};

	(void)state;
	is_written(FMT_FEAT_SAMPLE_TIME, &f, "5544332211000000 6644332211000000");
	is_written(FMT_FEAT_CLOCKID, &f, "0100000000000000");
	is_written(FMT_FEAT_CLOCK_DATA, &f,
		   "01000000 04000000" /* version, CLOCK_MONOTONIC_RAW */
		   "1e1d1c1b1a191817 0f0e0d0c0b0a0000"); /* wall clock, that clock */
}

static void compression_is_five_numbers(void **state)
{
	const struct fmt_features f = { .zip_level = 9, .zip_ratio = 16,
					.zip_inflated_max = 65024 };

	(void)state;
	is_written(FMT_FEAT_COMPRESSED, &f, /* version 0, zstd, level, ratio, mmap_len */
		   "00000000 01000000 09000000 10000000 00fe0000");
}

static void a_feature_becomes_a_record_if_it_fits(void **state)
{
	static char text[70000];
	const struct fmt_features f = { .hostname = text, .zip_level = 1,
					.zip_inflated_max = 256 };

	(void)state;
	assert_int_equal(fmt_put_header_feature(&b, FMT_FEAT_COMPRESSED, &f), 1);
	hex_expect(b.data, b.len, /* HEADER_FEATURE, size 40, 27; padded to 8 */
		   "50000000 0000 2800 1b00000000000000"
		   "00000000 01000000 01000000 00000000 00010000 00[4]");
	fmt_buf_reset(&b);
	assert_int_equal(fmt_put_header_feature(&b, FMT_FEAT_CPUID, &f), 0);
	memset(text, 'x', sizeof(text) - 1);
	assert_int_equal(fmt_put_header_feature(&b, FMT_FEAT_HOSTNAME, &f), 0);
	assert_int_equal(b.len, 0);
	assert_int_equal(fmt_put_header_feature(&b, FMT_FEAT_LAST, &f), 1);
	hex_expect(b.data, b.len, "50000000 0000 1000 2000000000000000");
}

static void build_ids_are_records_of_the_host(void **state)
{
	static char longer[FMT_BUILD_ID_NAME_MAX + 2];
	struct fmt_build_id rows[] = {
		{ .misc = FMT_MISC_KERNEL, .id_size = 20, .name = "[kernel.kallsyms]" },
		{ .misc = FMT_MISC_USER, .id_size = 20, .name = longer },
		{ .misc = FMT_MISC_USER, .id_size = 4, .name = "[vdso]" },
	};
	const struct fmt_features f = { .build_ids = rows, .nr_build_ids = 3 };

	(void)state;
	memset(longer, 'n', sizeof(longer) - 1);
	memset(rows[0].id, 0xb0, 20);
	memset(rows[2].id, 0xb2, 20);
	is_written(FMT_FEAT_BUILD_ID, &f,
		   "43000000 0180 3800 ffffffff b0[20] 14 000000"
		   "'[kernel.kallsyms]' 00[3]"
		   /* the second name is longer than a reader's buffer: left out */
		   "43000000 0280 3000 ffffffff b2[4] 00[16] 04 000000"
		   "'[vdso]' 00[6]");
}

static void tracing_data_passes_through(void **state)
{
	const uint8_t bytes[] = { 23, 8, 68 };
	const struct fmt_features f = { .tracing_data = bytes, .tracing_data_len = 3 };

	(void)state;
	is_written(FMT_FEAT_TRACING_DATA, &f, "170844");
}

static void an_absent_value_is_not_written(void **state)
{
	const struct fmt_features f = { .nr_cpus_online = 2, .cmdline = NULL };

	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		assert_int_equal(fmt_put_feature(&b, (enum fmt_feat)i, &f), 0);
		assert_int_equal(b.len, 0);
	}
}

static void a_topology_without_ids_is_absent(void **state)
{
	const char *const sockets[] = { "0-1" };
	const struct fmt_features f = {
		.nr_cpus_avail = 2,
		.core_siblings = sockets,
		.nr_core_siblings = 1,
	};

	(void)state;
	assert_int_equal(fmt_put_feature(&b, FMT_FEAT_CPU_TOPOLOGY, &f), 0);
	assert_int_equal(b.len, 0);
}

static void an_earlier_error_is_reported(void **state)
{
	const struct fmt_features f = { .hostname = "box" };

	(void)state;
	b.err = -ENOMEM;
	assert_int_equal(fmt_put_feature(&b, FMT_FEAT_HOSTNAME, &f), -ENOMEM);
	assert_int_equal(fmt_put_feature(&b, FMT_FEAT_ARCH, &f), -ENOMEM);
	assert_int_equal(b.len, 0);
}

/* FEAT_OPR against FEAT_OPN rows of util/header.c. */
static void a_pipe_lacks_eight_of_the_features(void **state)
{
	const enum fmt_feat not[] = { FMT_FEAT_TRACING_DATA, FMT_FEAT_BUILD_ID,
				      FMT_FEAT_AUXTRACE,     FMT_FEAT_BRANCH_STACK,
				      FMT_FEAT_STAT,	     FMT_FEAT_CACHE,
				      FMT_FEAT_DIR_FORMAT,   FMT_FEAT_HYBRID_TOPOLOGY };
	unsigned in_pipe = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(not) / sizeof(*not); i++)
		assert_false(fmt_feature_in_pipe(not[i]));
	for (unsigned i = 0; i < 64; i++)
		in_pipe += fmt_feature_in_pipe((enum fmt_feat)i);
	assert_int_equal(in_pipe, 31 - 8);
}

static void every_known_feature_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(fmt_feature_name(FMT_FEAT_HOSTNAME), "hostname");
	assert_string_equal(fmt_feature_name(FMT_FEAT_CPU_TOPOLOGY), "cpu topology");
	for (unsigned i = 1; i < FMT_FEAT_LAST; i++)
		assert_non_null(fmt_feature_name((enum fmt_feat)i));
	assert_null(fmt_feature_name((enum fmt_feat)0));
	assert_null(fmt_feature_name(FMT_FEAT_LAST));
}

#define TEST(f) cmocka_unit_test_teardown(f, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(strings_count_their_padding_to_64),
		TEST(cpus_and_memory_are_plain_numbers),
		TEST(cmdline_is_a_list_of_strings),
		TEST(event_desc_has_attr_count_name_and_ids),
		TEST(event_desc_hides_what_old_readers_refuse),
		TEST(cpu_topology_has_lists_then_ids_then_dies),
		TEST(numa_nodes_have_memory_and_cpus),
		TEST(pmu_mappings_are_type_and_name),
		TEST(a_cache_is_four_numbers_and_three_strings),
		TEST(pmu_caps_name_the_pmu_last),
		TEST(groups_have_name_leader_and_size),
		TEST(the_trace_index_may_be_empty),
		TEST(times_and_clocks_are_nanoseconds),
		TEST(compression_is_five_numbers),
		TEST(a_feature_becomes_a_record_if_it_fits),
		TEST(build_ids_are_records_of_the_host),
		TEST(tracing_data_passes_through),
		TEST(an_absent_value_is_not_written),
		TEST(a_topology_without_ids_is_absent),
		TEST(an_earlier_error_is_reported),
		TEST(a_pipe_lacks_eight_of_the_features),
		TEST(every_known_feature_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
