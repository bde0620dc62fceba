/* SPDX-License-Identifier: Apache-2.0 */
#include "format/featcheck.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/abi.h"
#include "format/feature.h"
#include "format/le.h"
#include "tests/unit/hex.h"

static uint64_t at;
static const char *expected;

/* In memory of exactly n bytes, so that a sanitizer sees what is read beyond. */
static int check(unsigned feat, const uint8_t *p, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	int err;

	assert_non_null(copy);
	memcpy(copy, p, n);
	at = UINT64_MAX;
	expected = NULL;
	err = fmt_feature_check(feat, copy, n, &at, &expected);
	free(copy);
	if (err) {
		assert_int_equal(err, -EBADMSG);
		assert_true(at <= n);
		assert_non_null(expected);
	}
	return err;
}

/* All that the writer can say. */
static struct fmt_features everything(void)
{
	static const char *const list[] = { "auxrec", "record" };
	static const struct fmt_cpu_topo topo[2];
	static const struct fmt_numa_node numa = { 0, 1, 2, "0-1" };
	static const struct fmt_pmu_type pmu = { 8, "intel_pt" };
	static const struct fmt_cache cache = { 1, 64, 64, 8, "Data", "32K", "0" };
	static const struct fmt_cap cap = { "a", "b" };
	static const struct fmt_pmu_caps caps = { "cpu", &cap, 1 };
	static const struct fmt_group group = { "g", 0, 2 };
	static const struct fmt_aux_index aux = { 400, 48 };
	static const struct fmt_build_id id = { .misc = 2, .id_size = 20, .name = "/x" };
	static const uint64_t ids[] = { 1, 2 };
	static const struct fmt_event ev = { .ids = ids, .nr_ids = 2, .name = "e" };

	return (struct fmt_features){
		.build_ids = &id, .nr_build_ids = 1, .hostname = "h", .osrelease = "o",
		.version = "v", .arch = "a", .cpudesc = "d", .cpuid = "i",
		.nr_cpus_avail = 2, .nr_cpus_online = 2, .total_mem_kb = 1,
		.cmdline = list, .nr_cmdline = 2, .events = &ev, .nr_events = 1,
		.core_siblings = list, .nr_core_siblings = 2, .thread_siblings = list,
		.nr_thread_siblings = 2, .cpu_topo = topo, .numa = &numa, .nr_numa = 1,
		.pmus = &pmu, .nr_pmus = 1, .caches = &cache, .nr_caches = 1,
		.pmu_caps = &caps, .nr_pmu_caps = 1, .groups = &group, .nr_groups = 1,
		.have_aux = true, .aux = &aux, .nr_aux = 1, .have_sample_time = true,
		.have_clock = true, .zip_level = 1,
	};
}

static void what_the_writer_says_is_sound_and_a_part_of_it_is_not(void **state)
{
	const struct fmt_features f = everything();
	struct fmt_buf b = { 0 };
	unsigned seen = 0;

	(void)state;
	for (unsigned i = 1; i < FMT_FEAT_LAST; i++) {
		fmt_buf_reset(&b);
		if (fmt_put_feature(&b, (enum fmt_feat)i, &f) <= 0)
			continue;
		seen++;
		assert_int_equal(check(i, b.data, b.len), 0);
		assert_int_equal(check(i, b.data, 0), 0);
		/* What follows the lists of CPU_TOPOLOGY is newer than they. */
		for (size_t n = 1; n < b.len && i != FMT_FEAT_CPU_TOPOLOGY; n++)
			if (!check(i, b.data, n))
				fail_msg("%zu of %zu bytes of feature %u", n, b.len, i);
		fmt_put_zero(&b, 8);
		if (i != FMT_FEAT_BUILD_ID)
			assert_int_equal(check(i, b.data, b.len), 0);
	}
	fmt_buf_done(&b);
	assert_int_equal(seen, 22);
}

static void is(unsigned feat, const char *hex, int err)
{
	uint8_t b[256];

	assert_int_equal(check(feat, b, hex_bytes(b, sizeof(b), hex)), err);
}

static void what_the_writer_never_says_is_followed_too(void **state)
{
	(void)state;
	is(FMT_FEAT_MEM_TOPOLOGY, "00[16] 0100000000000000 00[16] 4100000000000000 00[16]", 0);
	is(FMT_FEAT_MEM_TOPOLOGY, "00[16] 0100000000000000 00[16] 4100000000000000 00[8]",
	   -EBADMSG);
	is(FMT_FEAT_MEM_TOPOLOGY, "00[16] 0100000000000000 00[16] ff[8]", -EBADMSG);
	is(FMT_FEAT_BPF_PROG_INFO, "01000000 03000000 02000000 00[8] 'infda'", 0);
	is(FMT_FEAT_BPF_PROG_INFO, "01000000 03000000 03000000 00[8] 'infda'", -EBADMSG);
	is(FMT_FEAT_BPF_PROG_INFO, "01000000 ff[16] 'infda'", -EBADMSG);
	is(FMT_FEAT_BPF_BTF, "01000000 05000000 03000000 'btf'", 0);
	is(FMT_FEAT_BPF_BTF, "01000000 05000000 04000000 'btf'", -EBADMSG);
	is(FMT_FEAT_CPU_PMU_CAPS, "01000000 02000000 'a' 00 02000000 'b' 00", 0);
	is(FMT_FEAT_HYBRID_TOPOLOGY, "01000000 02000000 'a' 00 02000000 'b'", -EBADMSG);
	is(FMT_FEAT_TRACING_DATA, "170844 'tracing' '0.6' 00", 0);
	is(FMT_FEAT_TRACING_DATA, "170845 'tracing' '0.6' 00", -EBADMSG);
	is(FMT_FEAT_BUILD_ID, "00[6] 0800 00[40]", -EBADMSG);
	is(200, "ff", 0);
}

/* As in reports of viewers that asked for 3 GB. */
static void numbers_too_large_are_named_where_they_stand(void **state)
{
	(void)state;
	is(FMT_FEAT_HOSTNAME, "842f97b3 'x' 00[63]", -EBADMSG);
	assert_int_equal(at, 0);
	is(FMT_FEAT_CMDLINE, "ffffffff 02000000 'a' 00", -EBADMSG);
	assert_int_equal(at, 10);
	is(FMT_FEAT_EVENT_DESC, "ffffffff ffffffff 00[64]", -EBADMSG);
	is(FMT_FEAT_EVENT_DESC, "01000000 04000000 00[4] ffffffff 02000000 'e' 00 00[64]",
	   -EBADMSG);
	is(FMT_FEAT_AUXTRACE, "ff[8] 00[32]", -EBADMSG);
	assert_int_equal(at, 40);
	is(FMT_FEAT_HOSTNAME, "02000000 'xy'", -EBADMSG); /* no zero */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_writer_says_is_sound_and_a_part_of_it_is_not),
		cmocka_unit_test(what_the_writer_never_says_is_followed_too),
		cmocka_unit_test(numbers_too_large_are_named_where_they_stand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
