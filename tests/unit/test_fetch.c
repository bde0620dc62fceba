/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings of a flight fetched one by one, and the status of a recording, over a kernel made of
 * memory: the oldest byte comes first, only that ring stands still, and it is left as it was.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/fetch.h"
#include "tests/unit/fake_sys.h"
#include "tests/unit/flightfix.h"

enum { PAGE = FLIGHTFIX_PAGE, AUX_LEN = FLIGHTFIX_AUX_LEN, NEWEST_LEN = FLIGHTFIX_NEWEST_LEN,
       REC = 48 };

static struct flightfix fix;
static struct session *const s = &fix.s;
static uint8_t got[1 << 16];

static int setup(void **state)
{
	(void)state;
	return flightfix_begin(&fix);
}

static int teardown(void **state)
{
	(void)state;
	return flightfix_end(&fix);
}

static uint8_t byte_at(uint64_t pos)
{
	return (uint8_t)(1 + pos % 251);
}

static void trace(size_t place, uint64_t from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t b = byte_at(from + i);

		assert_true(fake_put_aux(s->set.place[place].ring.fd, &b, 1));
	}
}

static void put_switches(size_t place, uint64_t from_ns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t r[REC] = { 0 };

		le_put(r, FMT_REC_SWITCH_CPU_WIDE, 4);
		le_put(r + 6, sizeof(r), 2);
		le_put(r + REC - 24, from_ns + i, 8);
		assert_true(fake_put(s->set.place[place].newest.fd, r, sizeof(r)));
	}
}

static size_t fetch(const struct fetch *q, struct fetched *f)
{
	ssize_t n;

	assert_int_equal(fetch_bytes(s, q, f), 0);
	n = read(f->fd, got, sizeof(got));
	close(f->fd);
	assert_int_equal(n, f->size);
	return (size_t)n;
}

static const struct fetch area_of_3 = { .kind = FETCH_TRACE, .cpu = 3, .tid = -1,
					.size = UINT64_MAX };

static void assert_trace(uint64_t from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(got[i], byte_at(from + i));
}

static void an_area_comes_oldest_byte_first(void **state)
{
	struct fetched f;

	(void)state;
	trace(0, 7, 100);
	trace(1, 0, 1000);
	assert_int_equal(fetch(&area_of_3, &f), 1000);
	assert_trace(0, 1000);
	assert_int_equal(f.total, 1000);
	assert_int_equal(f.position, 0);
	trace(1, 1000, 50000);
	assert_int_equal(fetch(&area_of_3, &f), AUX_LEN);
	assert_trace(51000 - AUX_LEN, AUX_LEN);
	trace(1, 51000, 5);
	assert_int_equal(fetch(&area_of_3, &f), AUX_LEN);
	assert_trace(51005 - AUX_LEN, AUX_LEN);
}

static void a_part_is_a_part(void **state)
{
	struct fetch q = area_of_3;
	struct fetched f;

	(void)state;
	trace(1, 0, 40000);
	for (q.offset = 0; q.offset <= AUX_LEN; q.offset += 997)
		for (q.size = 0; q.size < 2 * AUX_LEN; q.size += 1009) {
			uint64_t n = AUX_LEN - q.offset < q.size ? AUX_LEN - q.offset : q.size;

			assert_int_equal(fetch(&q, &f), n);
			assert_trace(40000 - AUX_LEN + q.offset, n);
			assert_int_equal(f.total, AUX_LEN);
		}
	q.offset = AUX_LEN + 1;
	assert_int_equal(fetch_bytes(s, &q, &f), -EINVAL);
	assert_non_null(strstr(s->control.words, "16385"));
}

static void only_that_ring_stands_still_and_goes_on(void **state)
{
	struct fetched f;

	(void)state;
	trace(1, 0, 10);
	(void)fetch(&area_of_3, &f);
	assert_true(f.pause_ns > 0);
	for (size_t i = 0; i < fake_nr_events(); i++)
		assert_true(fake_event(i)->enabled && !fake_event(i)->stuck);
	assert_int_equal(fake_event_of(fix.ev[FLIGHTFIX_PT].fd[1].fd)->disables, 1);
	assert_int_equal(fake_event_of(fix.ev[FLIGHTFIX_PT].fd[0].fd)->disables, 0);
	assert_int_equal(control_pause(s, CONTROL_ASKED), 0);
	(void)fetch(&area_of_3, &f);
	assert_false(fake_event_of(fix.ev[FLIGHTFIX_PT].fd[1].fd)->enabled);
	assert_false(fake_event_of(fix.ev[FLIGHTFIX_SWITCHES].fd[1].fd)->enabled);
}

static void records_come_whole_and_in_order_whoever_had_them(void **state)
{
	const struct fetch q = { .kind = FETCH_SWITCHES, .cpu = 0, .tid = -1, .size = UINT64_MAX };
	struct fetched f;
	size_t n;

	(void)state;
	assert_int_equal(fetch(&q, &f), 0);
	put_switches(0, 100, 5);
	pio_newest_taken(&s->set.place[0].newest); /* by a snapshot */
	put_switches(0, 105, 5);
	assert_int_equal(fetch(&q, &f), 10 * REC);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(le_get(got + i * REC + REC - 24, 8), 100 + i);
	put_switches(0, 110, 1000);
	n = fetch(&q, &f) / REC;
	assert_int_equal(n, NEWEST_LEN / REC);
	assert_int_equal(le_get(got + REC - 24, 8), 1110 - n);
	assert_int_equal(le_get(got + n * REC - 24, 8), 1109);
	assert_int_equal(s->set.place[0].newest.seen, -(uint64_t)5 * REC);
}

static void what_is_not_there_is_refused_with_words(void **state)
{
	struct fetch q = area_of_3;
	struct fetched f = { .fd = -7 };

	(void)state;
	q.cpu = 1;
	assert_int_equal(fetch_bytes(s, &q, &f), -ENOENT);
	assert_non_null(strstr(s->control.words, "cpu 1"));
	q.tid = 5;
	assert_int_equal(fetch_bytes(s, &q, &f), -EINVAL);
	q.cpu = -1;
	assert_int_equal(fetch_bytes(s, &q, &f), -ENOENT);
	assert_non_null(strstr(s->control.words, "thread 5"));
	q.tid = -1;
	assert_int_equal(fetch_bytes(s, &q, &f), -EINVAL);
	tasktable_free(s->flight.table);
	s->flight.table = NULL;
	assert_int_equal(fetch_bytes(s, &area_of_3, &f), -EOPNOTSUPP);
	assert_int_equal(f.fd, -7);
}

static void a_ring_that_cannot_go_on_is_told(void **state)
{
	struct fetched f;

	(void)state;
	fake_fail(FAKE_IOCTL, 2, EIO); /* the first one stops it */
	assert_int_equal(fetch_bytes(s, &area_of_3, &f), -EIO);
	assert_non_null(strstr(s->control.words, "cannot fetch"));
}

/* ---- status ---- */

static json_int_t number(json_t *o, size_t cpu, size_t ring, const char *key)
{
	json_t *c = json_array_get(json_object_get(o, "cpus"), cpu);
	json_t *r = json_array_get(json_object_get(c, "binaryData"), ring);

	return json_integer_value(json_object_get(r, key));
}

static void status_tells_how_full_the_rings_are(void **state)
{
	json_t *o;

	(void)state;
	trace(0, 0, 100);
	trace(1, 0, 2 * AUX_LEN);
	put_switches(0, 1000, 3);
	o = ctlstatus_make(s);
	assert_non_null(o);
	assert_true(json_is_true(json_object_get(o, "ok")));
	assert_int_equal(json_integer_value(json_object_get(o, "version")), CTLSTATUS_VERSION);
	assert_int_equal(number(o, 0, 0, "size"), PAGE); /* known to a page */
	assert_int_equal(number(o, 1, 0, "size"), AUX_LEN);
	assert_int_equal(number(o, 1, 0, "capacity"), AUX_LEN);
	assert_int_equal(number(o, 0, 1, "size"), 3 * REC);
	assert_int_equal(number(o, 0, 1, "records"), 3);
	assert_int_equal(number(o, 0, 1, "spanNs"), 2);
	assert_int_equal(number(o, 1, 1, "records"), 0);
	json_decref(o);
	for (size_t i = 0; i < fake_nr_events(); i++)
		assert_int_equal(fake_event(i)->disables, 0); /* asking stops nothing */
}

static void rates_are_those_since_the_last_status(void **state)
{
	json_t *o, *c, *r;

	(void)state;
	put_switches(1, 0, 100);
	json_decref(ctlstatus_make(s));
	for (size_t i = 0; i < 2; i++) {
		o = ctlstatus_make(s);
		c = json_array_get(json_object_get(o, "cpus"), 1);
		r = json_array_get(json_object_get(c, "binaryData"), 1);
		assert_int_equal(json_real_value(json_object_get(r, "rate")) > 0, i);
		json_decref(o);
		put_switches(1, 100, 1);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_area_comes_oldest_byte_first),
		T(a_part_is_a_part),
		T(only_that_ring_stands_still_and_goes_on),
		T(records_come_whole_and_in_order_whoever_had_them),
		T(what_is_not_there_is_refused_with_words),
		T(a_ring_that_cannot_go_on_is_told),
		T(status_tells_how_full_the_rings_are),
		T(rates_are_those_since_the_last_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
