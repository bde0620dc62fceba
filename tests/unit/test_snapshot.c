/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots over a kernel made of memory: every cpu is stopped, written and started again, and
 * the file holds the newest bytes of each, the oldest first.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/reader.h"
#include "perfio/attrs.h"
#include "recorder/log.h"
#include "recorder/session.h"
#include "tests/unit/fake_sys.h"
#include "tests/unit/mem_sink.h"

enum { PAGE = 4096, AUX_LEN = 2 * PAGE, NR_CPUS = 2 };

static struct session s;
static struct mem_sink file;
static struct pio_event ev[2];
static int cpus[NR_CPUS] = { 0, 1 };
static uint64_t id;
static const struct rec_config cfg = { .snapshot = true };
static struct fmt_event described;

static int setup(void **state)
{
	struct pio_attr_common c = { .read_format = PERF_FORMAT_ID, .clockid = -1 };
	struct pio_target t = { .cpus = { cpus, NR_CPUS }, .data_len = PAGE,
				.aux_len = AUX_LEN, .overwrite = true };
	struct pio_pmu pmu = { .type = 8 };
	struct pio_config conf = { 0 };
	struct pio_fault why;
	struct fmt_sink sink;

	(void)state;
	log_level = -1;
	fake_reset();
	sink = mem_sink(&file);
	s = (struct session){ .sys = &fake_sys, .plan.source = SOURCE_KERNEL, .enabled = true };
	ev[0] = (struct pio_event){ .attr = pio_attr_aux(&c, &pmu, &conf), .name = "pt" };
	ev[1] = (struct pio_event){ .attr = pio_attr_switch(&c), .name = "sw", .leader = 1 };
	if (pio_evset_open(&s.set, &fake_sys, ev, 2, &t, &why))
		return -EIO;
	s.source.set = &s.set;
	s.stalled = calloc(NR_CPUS, sizeof(*s.stalled));
	s.flight.place = calloc(NR_CPUS, sizeof(*s.flight.place));
	s.cfg = &cfg;
	s.events = &described;
	s.flight.begun = s.out.published = true; /* the file has its head */
	s.on_ns = 1;
	if (flight_setup(&s))
		return -ENOMEM;
	id = fake_event(0)->id;
	pio_attr_bytes(&ev[0].attr, described.attr);
	described.ids = &id;
	described.nr_ids = 1;
	described.name = "pt";
	fmt_writer_init(&s.writer, &sink, false);
	return pio_evset_enable(&s.set, 0) || fmt_writer_begin(&s.writer, &described, 1, NULL);
}

static int teardown(void **state)
{
	(void)state;
	pio_evset_done(&s.set);
	fmt_writer_done(&s.writer);
	ledger_done(&s.ledger);
	spans_done(&s.spans);
	free(s.stalled);
	flight_done(&s);
	fmt_buf_done(&s.buf);
	fake_reset();
	return 0;
}

static void trace(int cpu, uint64_t from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t b = (uint8_t)(1 + (from + i) % 251);

		assert_true(fake_put_aux(s.set.place[cpu].ring.fd, &b, 1));
	}
}

/* The k-th AUXTRACE record of the file. */
static struct fmt_rec nth(size_t k)
{
	struct fmt_reader r;
	struct fmt_rec rec = { 0 };

	assert_int_equal(fmt_reader_open(&r, file.bytes, file.len), 0);
	for (k++; k;) {
		assert_int_equal(fmt_reader_next(&r, &rec), 1);
		k -= rec.type == FMT_REC_AUXTRACE;
	}
	fmt_reader_done(&r);
	return rec;
}

static void assert_newest(struct fmt_rec rec, int cpu, uint64_t pos, size_t n)
{
	assert_int_equal(le_get32(rec.p + 40), cpu);
	assert_int_equal(rec.payload_len, (n + 7) & ~(size_t)7);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(rec.payload[i], (uint8_t)(1 + (pos - n + i) % 251));
}

static void each_cpu_is_written_and_goes_on(void **state)
{
	(void)state;
	trace(0, 0, 1000);
	trace(1, 0, 20000);
	assert_int_equal(flight_take(&s, true, "test"), 0);
	assert_newest(nth(0), 0, 1000, 1000);
	assert_newest(nth(1), 1, 20000, AUX_LEN);
	for (size_t i = 0; i < fake_nr_events(); i++)
		assert_true(fake_event(i)->enabled);
	assert_int_equal(fake_event(0)->disables, 1);
	trace(0, 1000, 9000);
	assert_int_equal(flight_take(&s, true, "test"), 0);
	assert_newest(nth(2), 0, 10000, AUX_LEN);
	assert_newest(nth(3), 1, 20000, AUX_LEN);
	assert_int_equal(s.flight.taken, 2);
	assert_int_equal(s.ledger.row[0].aux_chunks, 2);
}

static void the_last_snapshot_leaves_the_events_alone(void **state)
{
	(void)state;
	trace(0, 0, 64);
	assert_int_equal(pio_evset_disable(&s.set, 0), 0);
	assert_int_equal(flight_take(&s, false, "test"), 0);
	assert_newest(nth(0), 0, 64, 64);
	assert_false(fake_event(0)->enabled);
	assert_int_equal(fake_event(0)->enables, 1); /* that of setup */
}

static void nothing_is_written_between_snapshots(void **state)
{
	size_t before = file.len;

	(void)state;
	trace(0, 0, 5000);
	assert_int_equal(flight_drain(&s), 0);
	assert_int_equal(file.len, before);
}

static void a_full_disk_takes_the_snapshot_back_and_tracing_goes_on(void **state)
{
	size_t before = file.len;

	(void)state;
	trace(0, 0, 1000);
	trace(1, 0, 1000);
	file.fail_at = file.calls + 2; /* the second area */
	file.err = -ENOSPC;
	assert_int_equal(flight_take(&s, true, "test"), -ENOSPC);
	assert_int_equal(s.write_err, -ENOSPC);
	assert_int_equal(file.len, before);
	for (size_t i = 0; i < fake_nr_events(); i++)
		assert_true(fake_event(i)->enabled);
}

/* Those that are on when the first bytes of the k-th area are written. */
static unsigned running[NR_CPUS + 1], nr_written;

static void see_running(const struct mem_sink *m)
{
	unsigned n = 0;

	(void)m;
	for (size_t i = 0; i < fake_nr_events(); i++)
		n += fake_event(i)->enabled;
	if (nr_written < NR_CPUS)
		running[nr_written++] = n;
}

static void cpus_go_on_before_anything_is_written(void **state)
{
	(void)state;
	trace(0, 0, 1000);
	trace(1, 0, 20000);
	nr_written = 0;
	file.on_append = see_running;
	assert_int_equal(flight_take(&s, true, "test"), 0);
	assert_int_equal(running[0], fake_nr_events());
	assert_int_equal(running[1], fake_nr_events());
	trace(1, 20000, 1); /* what is written is what was there */
	assert_newest(nth(0), 0, 1000, 1000);
	assert_newest(nth(1), 1, 20000, AUX_LEN);
	assert_in_range(le_get32(nth(0).p + FMT_AUXTRACE_AT_PAUSE), 1, UINT32_MAX);
}

static void without_memory_each_goes_on_when_it_is_written(void **state)
{
	(void)state;
	flight_room_close(&s);
	trace(0, 0, 1000);
	trace(1, 0, 20000);
	nr_written = 0;
	file.on_append = see_running;
	assert_int_equal(flight_take(&s, true, "test"), 0);
	assert_int_equal(running[0], 0);
	assert_int_equal(running[1], fake_nr_events() / NR_CPUS);
	for (size_t i = 0; i < fake_nr_events(); i++)
		assert_true(fake_event(i)->enabled);
	assert_newest(nth(0), 0, 1000, 1000);
	assert_newest(nth(1), 1, 20000, AUX_LEN);
	assert_int_equal(le_get32(nth(0).p + FMT_AUXTRACE_AT_PAUSE), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_cpu_is_written_and_goes_on),
		T(the_last_snapshot_leaves_the_events_alone),
		T(nothing_is_written_between_snapshots),
		T(cpus_go_on_before_anything_is_written),
		T(without_memory_each_goes_on_when_it_is_written),
		T(a_full_disk_takes_the_snapshot_back_and_tracing_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
