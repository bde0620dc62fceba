/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <time.h>

#include "perfio/attrs.h"
#include "tests/unit/fake_sys.h"

static const struct pio_attr_common common = {
	.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
	.watermark = 131072,
	.aux_watermark = 1 << 20,
	.clockid = -1,
};

/* What every event of a recording must have, whatever it is. */
static void check_common(const struct perf_event_attr *a)
{
	assert_int_equal(a->size, 128);
	assert_int_equal(a->sample_period, 1);
	assert_int_equal(a->sample_type & 0x10087, 0x10087);
	assert_int_equal(a->read_format, 20);
	assert_int_equal(a->wakeup_watermark, 131072);
	assert_true(a->watermark && a->sample_id_all && a->disabled);
	assert_false(a->freq || a->pinned || a->exclusive || a->precise_ip);
	assert_false(a->inherit || a->enable_on_exec || a->use_clockid || a->namespaces);
	assert_false(a->text_poke || a->cgroup || a->write_backward || a->mmap_data);
}

/* flag bits of the word at offset 40 */
static uint64_t flags(const struct perf_event_attr *a)
{
	uint8_t b[128];
	uint64_t w;

	pio_attr_bytes(a, b);
	memcpy(&w, b + 40, 8);
	return w;
}

#define BIT(n) ((uint64_t)1 << (n))
#define COMMON_BITS (BIT(0) | BIT(14) | BIT(18))
#define DUMMY_BITS (COMMON_BITS | BIT(5) | BIT(6) | BIT(20))
#define MMAP_COMM_TASK (BIT(8) | BIT(9) | BIT(13) | BIT(23) | BIT(24))

static void tracking_owns_the_sideband(void **state)
{
	struct perf_event_attr a = pio_attr_tracking(&common);

	(void)state;
	check_common(&a);
	assert_int_equal(a.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(a.config, PERF_COUNT_SW_DUMMY);
	assert_int_equal(a.sample_type, 0x10087);
	assert_true(a.mmap && a.mmap2 && a.comm && a.comm_exec && a.task);
	assert_true(a.ksymbol && a.bpf_event);
	assert_false(a.build_id); /* it would spoil other recorders' files */
	assert_true(a.exclude_kernel && a.exclude_hv && a.exclude_guest);
	assert_false(a.context_switch);
	assert_true(flags(&a) ==
		    (DUMMY_BITS | MMAP_COMM_TASK | BIT(29) | BIT(30)));
}

static void text_poke_is_of_all_tasks(void **state)
{
	struct pio_attr_common c = common;
	struct perf_event_attr a;

	(void)state;
	c.inherit = true;
	a = pio_attr_text_poke(&c);
	assert_false(a.inherit);
	assert_true(flags(&a) == (DUMMY_BITS | BIT(29) | BIT(33)));
}

static void the_switch_event_owns_nothing_else(void **state)
{
	struct perf_event_attr a = pio_attr_switch(&common);

	(void)state;
	check_common(&a);
	assert_int_equal(a.config, PERF_COUNT_SW_DUMMY);
	assert_true(a.context_switch);
	assert_true(flags(&a) == (DUMMY_BITS | BIT(26)));
}

static void the_aux_event_is_what_the_config_says(void **state)
{
	const struct pio_pmu p = { .type = 9 };
	const struct pio_config c = {
		.config = { 0x300e601, 2, 3 },
		.exclude_kernel = true,
		.exclude_hv = true,
	};
	struct perf_event_attr a = pio_attr_aux(&common, &p, &c);

	(void)state;
	check_common(&a);
	assert_int_equal(a.type, 9);
	assert_int_equal(a.config, 0x300e601);
	assert_int_equal(a.config1, 2);
	assert_int_equal(a.config2, 3);
	assert_int_equal(a.aux_watermark, 1 << 20);
	assert_true(flags(&a) == (COMMON_BITS | BIT(5) | BIT(6)));
}

static void every_exclusion_has_its_bit(void **state)
{
	const struct pio_pmu p = { .type = 9 };
	const struct pio_config c[] = {
		{ .exclude_user = true }, { .exclude_kernel = true },
		{ .exclude_hv = true },	  { .exclude_guest = true },
		{ .exclude_host = true },
	};
	const int bit[] = { 4, 5, 6, 20, 19 };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct perf_event_attr a = pio_attr_aux(&common, &p, &c[i]);

		assert_true(flags(&a) == (COMMON_BITS | BIT(bit[i])));
	}
}

static void samples_come_by_period_or_by_frequency(void **state)
{
	const struct pio_counter *clock = pio_counter_find("cpu-clock");
	const struct pio_counter *cycles = pio_counter_find("cycles");
	struct perf_event_attr a = pio_attr_counter(&common, clock, 0, 997);

	(void)state;
	assert_int_equal(a.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(a.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(a.freq, 1);
	assert_int_equal(a.sample_freq, 997);
	assert_int_equal(a.sample_type, PIO_SAMPLE_TYPE | PERF_SAMPLE_PERIOD);
	a = pio_attr_counter(&common, cycles, 100000, 997);
	assert_int_equal(a.type, PERF_TYPE_HARDWARE);
	assert_int_equal(a.freq, 0);
	assert_int_equal(a.sample_period, 100000);
	pio_attr_set_aux_sample(&a, 8192);
	assert_int_equal(a.aux_sample_size, 8192);
	assert_true(a.sample_type & PERF_SAMPLE_AUX);
	assert_null(pio_counter_find("cyclez"));
}

static void tracepoints_carry_their_fields(void **state)
{
	struct perf_event_attr a = pio_attr_tracepoint(&common, 314);

	(void)state;
	check_common(&a);
	assert_int_equal(a.type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(a.config, 314);
	assert_int_equal(a.sample_type, 0x10487);
	assert_true(flags(&a) == COMMON_BITS);
}

static void settings_reach_the_attr(void **state)
{
	const struct pio_attr_common c = {
		.read_format = PERF_FORMAT_ID,
		.inherit = true,
		.enable_on_exec = true,
		.clockid = CLOCK_REALTIME, /* 0 is a clock, not "none" */
	};
	struct perf_event_attr a = pio_attr_switch(&c);

	(void)state;
	assert_true(a.inherit && a.enable_on_exec && a.use_clockid);
	assert_int_equal(a.clockid, 0);
	assert_int_equal(a.read_format, 4);
	assert_true(flags(&a) == (DUMMY_BITS | BIT(26) | BIT(1) | BIT(12) | BIT(25)));
}

/* perf-data-format: every field at its place, nothing between them. */
static void bytes_are_golden(void **state)
{
	static const uint8_t want[128] =
		"\x01\0\0\0" "\x80\0\0\0" "\x11\x12\x13\x14\x15\x16\x17\x18"
		"\x21\0\0\0\0\0\0\0" "\x87\0\x01\0\0\0\0\0" "\x14\0\0\0\0\0\0\0"
		"\x01\0\0\x04\0\0\0\0" "\x31\0\0\0" "\x32\0\0\0" "\x41\0\0\0\0\0\0\0"
		"\x42\0\0\0\0\0\0\0" "\x51\0\0\0\0\0\0\0" "\x52\0\0\0\0\0\0\0"
		"\x53\0\0\0" "\xff\xff\xff\xff" "\x54\0\0\0\0\0\0\0" "\x61\0\0\0"
		"\x62\0" "\0\0" "\x63\0\0\0" "\x07\0\0\0" "\x71\0\0\0\0\0\0";
	struct perf_event_attr a = {
		.type = 1,
		.size = 112, /* whatever it was opened with */
		.config = 0x1817161514131211,
		.sample_period = 0x21,
		.sample_type = PIO_SAMPLE_TYPE,
		.read_format = 20,
		.disabled = 1,
		.context_switch = 1,
		.wakeup_watermark = 0x31,
		.bp_type = 0x32,
		.config1 = 0x41,
		.config2 = 0x42,
		.branch_sample_type = 0x51,
		.sample_regs_user = 0x52,
		.sample_stack_user = 0x53,
		.clockid = -1,
		.sample_regs_intr = 0x54,
		.aux_watermark = 0x61,
		.sample_max_stack = 0x62,
		.aux_sample_size = 0x63,
		.sig_data = 0x71,
	};
	const uint32_t aux_action = 7; /* has a name since Linux 6.13 only */
	uint8_t got[128];

	(void)state;
	memcpy((uint8_t *)&a + 116, &aux_action, 4);
	pio_attr_bytes(&a, got);
	assert_memory_equal(got, want, sizeof(want));
}

static void aux_action_is_the_word_at_116(void **state)
{
	const struct pio_attr_common c = { .clockid = -1 };
	const struct pio_pmu pt = { .type = 8 };
	const struct pio_config conf = { .aux_action = PIO_AUX_START_PAUSED };
	struct perf_event_attr a = pio_attr_aux(&c, &pt, &conf), none = pio_attr_switch(&c);
	uint8_t with[128], without[128];

	(void)state;
	assert_int_equal(pio_attr_aux_action(&a), 1);
	pio_attr_bytes(&a, with);
	assert_int_equal(with[116], 1);
	pio_attr_bytes(&none, without);
	pio_attr_set_aux_action(&none, PIO_AUX_PAUSE | PIO_AUX_RESUME);
	pio_attr_bytes(&none, with);
	assert_int_equal(with[116], 6);
	with[116] = 0;
	assert_memory_equal(with, without, 128);
}

static void aux_actions_have_perfs_names(void **state)
{
	(void)state;
	assert_int_equal(pio_aux_action("start-paused", 12), 1);
	assert_int_equal(pio_aux_action("pause,tsc", 5), 2);
	assert_int_equal(pio_aux_action("resume", 6), 4);
	assert_int_equal(pio_aux_action("resum", 5), 0);
	assert_int_equal(pio_aux_action("", 0), 0);
}

static int answer;
static int asked_for_action(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	assert_int_equal(pio_attr_aux_action(a), PIO_AUX_START_PAUSED);
	assert_int_equal(a->type, PERF_TYPE_SOFTWARE);
	assert_true(pid == 0 && cpu == -1);
	return answer;
}

static void a_kernel_that_knows_aux_action_says_eopnotsupp(void **state)
{
	(void)state;
	fake_reset();
	fake_refuse = asked_for_action;
	answer = -EOPNOTSUPP;
	assert_true(pio_aux_action_known(&fake_sys));
	answer = -EINVAL;
	assert_false(pio_aux_action_known(&fake_sys));
	answer = -EACCES;
	assert_false(pio_aux_action_known(&fake_sys));
	answer = 0;
	assert_false(pio_aux_action_known(&fake_sys));
	assert_int_equal(fake_lent_fds(), 0);
	fake_reset();
}

static void what_is_newest_is_given_up_first(void **state)
{
	struct perf_event_attr a = pio_attr_tracking(&common);

	(void)state;
	assert_string_equal(pio_attr_reduce(&a, -EINVAL), "lost");
	assert_string_equal(pio_attr_reduce(&a, -EINVAL), "bpf_event");
	assert_string_equal(pio_attr_reduce(&a, -EINVAL), "ksymbol");
	assert_null(pio_attr_reduce(&a, -EINVAL));
	assert_true(flags(&a) == (DUMMY_BITS | MMAP_COMM_TASK));
	assert_int_equal(a.read_format, PERF_FORMAT_ID);
}

static void a_refusal_of_rights_takes_what_needs_rights(void **state)
{
	struct perf_event_attr a = pio_attr_tracking(&common);

	(void)state;
	assert_string_equal(pio_attr_reduce(&a, -EACCES), "bpf_event");
	assert_string_equal(pio_attr_reduce(&a, -EPERM), "ksymbol");
	assert_null(pio_attr_reduce(&a, -EACCES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracking_owns_the_sideband),
		cmocka_unit_test(text_poke_is_of_all_tasks),
		cmocka_unit_test(the_switch_event_owns_nothing_else),
		cmocka_unit_test(the_aux_event_is_what_the_config_says),
		cmocka_unit_test(every_exclusion_has_its_bit),
		cmocka_unit_test(samples_come_by_period_or_by_frequency),
		cmocka_unit_test(tracepoints_carry_their_fields),
		cmocka_unit_test(settings_reach_the_attr),
		cmocka_unit_test(bytes_are_golden),
		cmocka_unit_test(aux_action_is_the_word_at_116),
		cmocka_unit_test(aux_actions_have_perfs_names),
		cmocka_unit_test(a_kernel_that_knows_aux_action_says_eopnotsupp),
		cmocka_unit_test(what_is_newest_is_given_up_first),
		cmocka_unit_test(a_refusal_of_rights_takes_what_needs_rights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
