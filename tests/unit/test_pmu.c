/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "perfio/pmu.h"
#include "tests/unit/fixture.h"

static struct pio_pmu pmu;
static struct pio_pmu_list list;

#define DEVICES "sys/bus/event_source/devices/"
#define PT DEVICES "intel_pt/"
#define SPE DEVICES "arm_spe_0/"

/* Format, caps and ratios as a Skylake has them. */
static const char *const pt_files[][2] = {
	{ "type", "8\n" },
	{ "perf_event_mux_interval_ms", "4\n" },
	{ "format/pt", "config:0\n" },
	{ "format/cyc", "config:1\n" },
	{ "format/pwr_evt", "config:4\n" },
	{ "format/fup_on_ptw", "config:5\n" },
	{ "format/mtc", "config:9\n" },
	{ "format/tsc", "config:10\n" },
	{ "format/noretcomp", "config:11\n" },
	{ "format/ptw", "config:12\n" },
	{ "format/branch", "config:13\n" },
	{ "format/mtc_period", "config:14-17\n" },
	{ "format/cyc_thresh", "config:19-22\n" },
	{ "format/psb_period", "config:24-27\n" },
	{ "format/event", "config:31\n" },
	{ "caps/max_subleaf", "1\n" },
	{ "caps/psb_cyc", "1\n" },
	{ "caps/mtc", "1\n" },
	{ "caps/ptwrite", "0\n" },
	{ "caps/power_event_trace", "0\n" },
	{ "caps/event_trace", "0\n" },
	{ "caps/num_address_ranges", "2\n" },
	{ "caps/mtc_periods", "249\n" },
	{ "caps/cycle_thresholds", "3fff\n" },
	{ "caps/psb_periods", "3f\n" },
	{ "max_nonturbo_ratio", "24\n" },
	{ "tsc_art_ratio", "200:2\n" },
};

static void pt_file(struct fixture *f, const char *name, const char *text)
{
	char path[256] = PT;

	strcat(path, name);
	fixture_file(f, path, text);
}

static int setup(void **state)
{
	fixture_new(state);
	for (size_t i = 0; i < sizeof(pt_files) / sizeof(*pt_files); i++)
		pt_file(*state, pt_files[i][0], pt_files[i][1]);
	return 0;
}

static int teardown(void **state)
{
	pio_pmu_done(&pmu);
	pio_pmu_list_done(&list);
	return fixture_done(state);
}

static void load(struct fixture *f)
{
	assert_int_equal(pio_pmu_load(&pmu, &f->sys, "intel_pt"), 0);
}

static void everything_in_sysfs_is_read(void **state)
{
	uint64_t v;

	load(*state);
	assert_string_equal(pmu.name, "intel_pt");
	assert_int_equal(pmu.type, 8);
	assert_true(pmu.has_aux);
	assert_int_equal(pmu.nr_terms, 13);
	assert_string_equal(pmu.terms[0].name, "branch");
	assert_int_equal(pmu.terms[0].mask, 1 << 13);
	assert_string_equal(pmu.terms[12].name, "tsc");
	assert_int_equal(pmu.nr_caps, 10);
	assert_string_equal(pmu.caps[0].name, "cycle_thresholds");
	assert_string_equal(pmu.caps[0].value, "3fff");
	assert_int_equal(pmu.max_nonturbo_ratio, 24);
	assert_int_equal(pmu.tsc_art_n, 200);
	assert_int_equal(pmu.tsc_art_d, 2);
	assert_true(pio_pmu_cap(&pmu, "mtc_periods", &v));
	assert_int_equal(v, 0x249); /* hexadecimal, although it does not say so */
	assert_false(pio_pmu_cap(&pmu, "none", &v));
}

static void masks_are_those_of_the_format_document(void **state)
{
	load(*state);
	assert_int_equal(pio_pmu_mask(&pmu, "tsc"), 0x400);
	assert_int_equal(pio_pmu_mask(&pmu, "noretcomp"), 0x800);
	assert_int_equal(pio_pmu_mask(&pmu, "mtc"), 0x200);
	assert_int_equal(pio_pmu_mask(&pmu, "mtc_period"), 0x3c000);
	assert_int_equal(pio_pmu_mask(&pmu, "cyc"), 0x2);
	assert_int_equal(pio_pmu_mask(&pmu, "psb_period"), 0xf000000);
	assert_int_equal(pio_pmu_mask(&pmu, "none"), 0);
}

static void formats_have_words_and_holes(void **state)
{
	struct pio_config c = { .config = { 0 } };
	struct pio_spec_error why;

	pt_file(*state, "format/odd", "config1:0-3,8,60-63\n");
	pt_file(*state, "format/all", "config2:0-63\n");
	pt_file(*state, "format/far", "config3:0-63\n");
	load(*state);
	assert_int_equal(pmu.nr_terms, 15); /* config3 is beyond what files hold */
	assert_int_equal(pio_pmu_mask(&pmu, "odd"), 0); /* not in config */
	assert_int_equal(pio_pmu_parse(&c, &pmu, "odd=0x1f5,all=0xffffffffffffffff", "",
				       &why), 0);
	assert_int_equal(c.config[0], 0);
	assert_int_equal(c.config[1], 0xf000000000000105);
	assert_true(c.config[2] == UINT64_MAX);
}

static void a_format_that_makes_no_sense_is_einval(void **state)
{
	static const char *const bad[] = {
		"", "\n", "config", "config:", "config:x", "config:64", "config:7-3",
		"config:1-", "config:1,", "config1x:1", "event:0-7", "config:0-3 ",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		pt_file(*state, "format/odd", bad[i]);
		assert_int_equal(pio_pmu_load(&pmu, &((struct fixture *)*state)->sys,
					      "intel_pt"), -EINVAL);
		assert_null(pmu.name);
	}
}

static void names_that_are_not_pmus_are_enoent(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(pio_pmu_load(&pmu, &f->sys, "none"), -ENOENT);
	assert_int_equal(pio_pmu_load(&pmu, &f->sys, ""), -ENOENT);
	assert_int_equal(pio_pmu_load(&pmu, &f->sys, "."), -ENOENT);
	assert_int_equal(pio_pmu_load(&pmu, &f->sys, "../devices/intel_pt"), -ENOENT);
}

static void a_pmu_may_have_nothing_but_a_type(void **state)
{
	struct fixture *f = *state;

	fixture_file(f, DEVICES "software/type", "1\n");
	assert_int_equal(pio_pmu_load(&pmu, &f->sys, "software"), 0);
	assert_false(pmu.has_aux);
	assert_int_equal(pmu.type + pmu.nr_terms + pmu.nr_caps, 1);
}

static void pmus_are_listed_by_type(void **state)
{
	struct fixture *f = *state;

	fixture_file(f, SPE "type", "11\n");
	fixture_file(f, DEVICES "software/type", "1\n");
	fixture_dir(f, DEVICES "leaving");
	assert_int_equal(pio_pmu_list(&list, &f->sys), 0);
	assert_int_equal(list.n, 3);
	assert_string_equal(list.pmu[0].name, "software");
	assert_string_equal(list.pmu[1].name, "intel_pt");
	assert_string_equal(list.pmu[2].name, "arm_spe_0");
	assert_int_equal(list.pmu[2].type, 11);
	assert_int_equal(pio_pmu_load(&pmu, &f->sys, "arm_spe_0"), 0);
	assert_true(pmu.has_aux);
}

static void caps_of_others_are_decimal_or_0x(void **state)
{
	struct fixture *f = *state;
	uint64_t v;

	fixture_file(f, SPE "type", "11\n");
	fixture_file(f, SPE "caps/min_interval", "256\n");
	fixture_file(f, SPE "caps/x", "0x10\n");
	fixture_file(f, SPE "caps/name", "skylake\n");
	assert_int_equal(pio_pmu_load(&pmu, &f->sys, "arm_spe_0"), 0);
	assert_true(pio_pmu_cap(&pmu, "min_interval", &v));
	assert_int_equal(v, 256);
	assert_true(pio_pmu_cap(&pmu, "x", &v));
	assert_int_equal(v, 16);
	assert_false(pio_pmu_cap(&pmu, "name", &v));
}

static uint64_t config(const char *spec)
{
	struct pio_config c = { .config = { 0 } };
	struct pio_spec_error why = { "", "" };
	int err = pio_pmu_parse(&c, &pmu, spec, "", &why);

	if (err)
		print_error("%s: '%s' %s\n", spec, why.word, why.what);
	assert_int_equal(err, 0);
	return c.config[0];
}

static void terms_go_to_their_bits(void **state)
{
	load(*state);
	assert_int_equal(config(""), 0);
	assert_int_equal(config("tsc"), 0x400);
	assert_int_equal(config("tsc=1,noretcomp=0"), 0x400);
	assert_int_equal(config("tsc,tsc=0"), 0);
	assert_int_equal(config("pt,branch,tsc"), 0x2401);
	assert_int_equal(config("mtc,mtc_period=9"), 0x200 | 9 << 14);
	assert_int_equal(config("mtc,mtc_period=0x6"), 0x200 | 6 << 14);
	assert_int_equal(config("psb_period=5"), 5 << 24);
	assert_int_equal(config("psb_period=0"), 0);
	assert_int_equal(config("cyc,cyc_thresh=2"), 0x2 | 2 << 19);
	assert_int_equal(config("config=0x300e601"), 0x300e601);
}

static void aux_action_is_known_without_sysfs(void **state)
{
	struct pio_config c = { .config = { 0 } };
	struct pio_spec_error why;

	load(*state);
	assert_int_equal(pio_pmu_parse(&c, &pmu, "aux-action=start-paused,tsc", "", &why), 0);
	assert_int_equal(c.aux_action, 1);
	assert_int_equal(c.config[0], 0x400);
}

static void what_is_not_named_stays(void **state)
{
	struct pio_config c = { .config = { 0x300e601, 5, 6 }, .exclude_guest = true };
	struct pio_spec_error why;

	load(*state);
	assert_int_equal(pio_pmu_parse(&c, &pmu, "psb_period=0,noretcomp", "u", &why), 0);
	assert_int_equal(c.config[0], 0xee01);
	assert_int_equal(c.config[1], 5);
	assert_int_equal(c.config[2], 6);
	assert_true(c.exclude_guest);
}

static void modifiers_exclude_the_other_levels(void **state)
{
	static const struct {
		const char *m;
		bool user, kernel, hv, guest, host;
	} want[] = {
		{ "", 0, 0, 0, 0, 0 },	 { "u", 0, 1, 1, 0, 0 },  { "k", 1, 0, 1, 0, 0 },
		{ "uk", 0, 0, 1, 0, 0 }, { "ku", 0, 0, 1, 0, 0 }, { "h", 1, 1, 0, 0, 0 },
		{ "G", 0, 0, 0, 0, 1 },	 { "H", 0, 0, 0, 1, 0 },  { "uH", 0, 1, 1, 1, 0 },
		{ "GH", 0, 0, 0, 0, 0 },
	};
	struct pio_spec_error why;

	load(*state);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct pio_config c = { .config = { 0 } };

		assert_int_equal(pio_pmu_parse(&c, &pmu, "", want[i].m, &why), 0);
		assert_int_equal(c.exclude_user, want[i].user);
		assert_int_equal(c.exclude_kernel, want[i].kernel);
		assert_int_equal(c.exclude_hv, want[i].hv);
		assert_int_equal(c.exclude_guest, want[i].guest);
		assert_int_equal(c.exclude_host, want[i].host);
	}
}

static void every_error_names_the_word(void **state)
{
	static const struct {
		const char *spec, *modifiers, *word, *what;
	} bad[] = {
		{ "nonsense", "", "nonsense", "unknown term" },
		{ "tsc,nonsense=3", "", "nonsense", "unknown term" },
		{ "ts", "", "ts", "unknown term" },
		{ "tscx", "", "tscx", "unknown term" },
		{ "tsc=2", "", "tsc=2", "value out of range" },
		{ "mtc_period=16", "", "mtc_period=16", "value out of range" },
		{ "tsc=99999999999999999999", "", "99999999999999999999",
		  "value out of range" },
		{ "tsc=", "", "", "not a number" },
		{ "tsc=x", "", "x", "not a number" },
		{ "tsc=1x", "", "1x", "not a number" },
		{ "tsc=-1", "", "-1", "not a number" },
		{ ",tsc", "", "", "empty term" },
		{ "tsc,", "", "tsc,", "empty term" },
		{ "psb_period=9", "", "psb_period", "value not supported by this PMU" },
		{ "mtc,mtc_period=1", "", "mtc_period",
		  "value not supported by this PMU" },
		{ "cyc_thresh=14", "", "cyc_thresh", "value not supported by this PMU" },
		{ "ptw", "", "ptw", "not supported by this PMU" },
		{ "event", "", "event", "not supported by this PMU" },
		{ "branch", "", "branch", "needs the term pt" },
		{ "aux-action", "", "", "aux-action is none of start-paused, pause, resume" },
		{ "aux-action=x,tsc", "", "x",
		  "aux-action is none of start-paused, pause, resume" },
		{ "tsc,aux-action=pause", "", "pause",
		  "an AUX event cannot pause or resume itself: it takes aux-action=start-paused" },
		{ "", "x", "x", "unknown modifier" },
		{ "", "ux", "x", "unknown modifier" },
	};

	load(*state);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct pio_config c = { .config = { 76 } };
		struct pio_spec_error why = { "-", "-" };

		assert_int_equal(pio_pmu_parse(&c, &pmu, bad[i].spec, bad[i].modifiers,
					       &why), -EINVAL);
		assert_string_equal(why.what, bad[i].what);
		assert_string_equal(why.word, bad[i].word);
		assert_int_equal(c.config[0], 76);
		assert_int_equal(c.aux_action, 0);
	}
}

static void a_long_word_is_cut(void **state)
{
	struct pio_config c = { .config = { 0 } };
	struct pio_spec_error why;
	char spec[200];

	memset(spec, 'x', sizeof(spec));
	spec[199] = '\0';
	load(*state);
	assert_int_equal(pio_pmu_parse(&c, &pmu, spec, "", &why), -EINVAL);
	assert_int_equal(strlen(why.word), 63);
}

static void caps_decide_what_a_term_may_be(void **state)
{
	struct pio_config c = { .config = { 0 } };
	struct pio_spec_error why;

	pt_file(*state, "caps/psb_cyc", "0\n");
	pt_file(*state, "caps/mtc_periods", "248\n");
	pt_file(*state, "caps/ptwrite", "1\n");
	load(*state);
	assert_int_equal(pio_pmu_parse(&c, &pmu, "cyc", "", &why), -EINVAL);
	assert_string_equal(why.word, "cyc");
	assert_int_equal(pio_pmu_parse(&c, &pmu, "psb_period=3", "", &why), -EINVAL);
	/* a period of 0 has a bit of its own */
	assert_int_equal(pio_pmu_parse(&c, &pmu, "mtc", "", &why), -EINVAL);
	assert_string_equal(why.word, "mtc_period");
	assert_int_equal(pio_pmu_parse(&c, &pmu, "fup_on_ptw", "", &why), -EINVAL);
	assert_string_equal(why.what, "needs the term ptw");
	assert_int_equal(pio_pmu_parse(&c, &pmu, "ptw,fup_on_ptw", "", &why), 0);
}

static uint64_t defaults(void)
{
	struct pio_config c = { .config = { 1, 2, 3 }, .exclude_kernel = true };
	struct pio_config d = { .config = { 0 } };
	struct pio_spec_error why;

	pio_pmu_pt_defaults(&c, &pmu);
	assert_int_equal(c.config[1] + c.config[2], 0);
	assert_false(c.exclude_kernel);
	d.config[0] = c.config[0];
	assert_int_equal(pio_pmu_parse(&d, &pmu, "", "", &why), 0);
	return c.config[0];
}

/* 0x300e601 is what perf 6.1 and 6.12 ask for with these caps. */
static void defaults_are_perfs(void **state)
{
	load(*state);
	assert_int_equal(defaults(), 0x300e601);
}

static void defaults_take_the_nearest_period(void **state)
{
	pt_file(*state, "caps/mtc_periods", "41\n"); /* 0 and 6: 0 is below 3 */
	pt_file(*state, "caps/psb_periods", "30\n"); /* 4 and 5: none below */
	load(*state);
	assert_int_equal(defaults(), 0x400 | 0x200 | 4 << 24 | 0x2001);
}

static void defaults_leave_out_what_is_not_there(void **state)
{
	pt_file(*state, "caps/mtc", "0\n");
	load(*state);
	assert_int_equal(defaults(), 0x2401);
	pio_pmu_done(&pmu);
	pt_file(*state, "caps/mtc", "1\n");
	pt_file(*state, "caps/psb_cyc", "0\n");
	load(*state);
	assert_int_equal(defaults(), 0xe601);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(everything_in_sysfs_is_read),
		T(masks_are_those_of_the_format_document),
		T(formats_have_words_and_holes),
		T(a_format_that_makes_no_sense_is_einval),
		T(names_that_are_not_pmus_are_enoent),
		T(a_pmu_may_have_nothing_but_a_type),
		T(pmus_are_listed_by_type),
		T(caps_of_others_are_decimal_or_0x),
		T(terms_go_to_their_bits),
		T(aux_action_is_known_without_sysfs),
		T(what_is_not_named_stays),
		T(modifiers_exclude_the_other_levels),
		T(every_error_names_the_word),
		T(a_long_word_is_cut),
		T(caps_decide_what_a_term_may_be),
		T(defaults_are_perfs),
		T(defaults_take_the_nearest_period),
		T(defaults_leave_out_what_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
