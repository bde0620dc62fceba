/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "perfio/attrs.h"
#include "recorder/eventarg.h"

static struct event_arg *list;
static size_t n;
static const char *what, *at;

static int setup(void **state)
{
	(void)state;
	list = NULL;
	n = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	eventarg_free(list, n);
	return 0;
}

static int parse(const char *text)
{
	return eventarg_parse(&list, &n, text, &what, &at);
}

static void assert_event(size_t i, const char *text, const char *head, const char *body,
			 const char *modifiers)
{
	assert_string_equal(list[i].text, text);
	assert_string_equal(list[i].head, head);
	assert_string_equal(list[i].body, body);
	assert_string_equal(list[i].modifiers, modifiers);
}

static void commas_between_slashes_do_not_separate(void **state)
{
	(void)state;
	assert_int_equal(parse("intel_pt/tsc,psb_period=3/u,sched:sched_switch,cycles:u"), 0);
	assert_int_equal(n, 3);
	assert_event(0, "intel_pt/tsc,psb_period=3/u", "intel_pt", "tsc,psb_period=3", "u");
	assert_event(1, "sched:sched_switch", "sched", "sched_switch", "");
	assert_event(2, "cycles:u", "cycles", "", "u");
	assert_true(eventarg_is_aux(&list[0]));
	assert_true(list[1].tracepoint && !eventarg_is_aux(&list[1]));
	assert_string_equal(list[2].counter->name, "cycles");
	assert_false(eventarg_is_aux(&list[2]));
}

static void slashes_may_be_empty_or_left_out(void **state)
{
	(void)state;
	assert_int_equal(parse("intel_pt"), 0);
	assert_int_equal(parse("intel_pt//"), 0);
	assert_int_equal(parse("intel_pt//u"), 0);
	assert_int_equal(n, 3);
	assert_event(0, "intel_pt", "intel_pt", "", "");
	assert_event(1, "intel_pt//", "intel_pt", "", "");
	assert_event(2, "intel_pt//u", "intel_pt", "", "u");
}

static void a_pmu_may_be_called_like_a_generic_event(void **state)
{
	(void)state;
	assert_int_equal(parse("cycles/x=1/"), 0);
	assert_null(list[0].counter);
	assert_true(eventarg_is_aux(&list[0]));
}

static void a_tracepoint_may_pause_the_trace(void **state)
{
	(void)state;
	assert_int_equal(parse("sched:sched_switch/aux-action=pause/"), 0);
	assert_int_equal(list[0].aux_action, PIO_AUX_PAUSE);
	assert_string_equal(list[0].body, "sched_switch");
}

static void bad_lists_say_what_and_where(void **state)
{
	static const struct {
		const char *text, *what, *at;
	} bad[] = {
		{ "", "starts with a name", "" },
		{ ",,", "starts with a name", ",," },
		{ "intel_pt//,", "starts with a name", "" },
		{ "intel_pt/tsc", "closing slash", "intel_pt/tsc" },
		{ "a b", "unexpected character", "a b" },
		{ "sched:", "system:name", "sched:" },
		{ "sched:a!", "system:name", "sched:a!" },
		{ "cycles,/x", "starts with a name", "/x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i].text), -EINVAL);
		assert_non_null(strstr(what, bad[i].what));
		assert_string_equal(at, bad[i].at);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(commas_between_slashes_do_not_separate),
		T(slashes_may_be_empty_or_left_out),
		T(a_pmu_may_be_called_like_a_generic_event),
		T(a_tracepoint_may_pause_the_trace),
		T(bad_lists_say_what_and_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
