/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cpus leave and join a recording: a kernel and a sysfs made by the test below, a file in
 * memory above.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/reader.h"
#include "perfio/attrs.h"
#include "recorder/log.h"
#include "recorder/session.h"
#include "tests/unit/fake_sys.h"
#include "tests/unit/fixture.h"
#include "tests/unit/mem_sink.h"

#define ONLINE "sys/devices/system/cpu/online"

enum { PAGE = 4096, AUX_LEN = 2 * PAGE, NR_EV = 3, ROOM = 3 };

static struct fixture *dir;
static struct session s;
static struct rec_config cfg;
static struct mem_sink file;
static struct pio_event ev[NR_EV];
static int cpus[] = { 0, 1 };
static int kernel; /* the end of the uevents that speaks */

static void describe(bool stream)
{
	s.out.stream = stream;
	s.events = calloc(NR_EV, sizeof(*s.events));
	s.ids = calloc(NR_EV * (2 + ROOM), sizeof(*s.ids));
	s.nr_events = NR_EV;
	for (size_t i = 0; i < NR_EV; i++) {
		struct fmt_event *e = &s.events[i];

		pio_attr_bytes(&ev[i].attr, e->attr);
		e->name = ev[i].name;
		e->ids = s.ids + i * (2 + ROOM);
		e->nr_ids = 2;
		e->room = stream ? 0 : ROOM;
		for (size_t k = 0; k < 2; k++)
			s.ids[i * (2 + ROOM) + k] = ev[i].fd[k].id;
	}
}

static int begin(bool stream)
{
	struct fmt_sink sink = mem_sink(&file);

	describe(stream);
	fmt_writer_init(&s.writer, &sink, stream);
	return fmt_writer_begin(&s.writer, s.events, NR_EV, NULL);
}

static int start(bool stream)
{
	const struct pio_attr_common c = { .read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
					   .clockid = -1 };
	const struct pio_pmu pmu = { .type = 8 };
	const struct pio_config conf = { .config = { 1 } };
	const struct pio_target t = { .cpus = { cpus, 2 }, .data_len = PAGE,
				      .aux_len = AUX_LEN };
	struct pio_fault why;

	memset(ev, 0, sizeof(ev));
	ev[0] = (struct pio_event){ .attr = pio_attr_aux(&c, &pmu, &conf), .name = "pt" };
	ev[1] = (struct pio_event){ .attr = pio_attr_switch(&c), .name = "sw", .leader = 1 };
	ev[2] = (struct pio_event){ .attr = pio_attr_tracking(&c), .name = "tracking" };
	ev[2].attr.disabled = 0;
	s = (struct session){ .sys = &fake_sys, .cfg = &cfg, .enabled = true,
			      .plan = { .source = SOURCE_KERNEL, .system_wide = true,
					.cfg = &cfg, .cpus = { cpus, 2 },
					.start_late = { true, true, false } } };
	if (pio_evset_open(&s.set, &fake_sys, ev, NR_EV, &t, &why))
		return -EIO;
	s.source.set = &s.set;
	s.stalled = calloc(2, sizeof(*s.stalled));
	hotplug_open(&s.hotplug, &fake_sys);
	return watch_init(&s.watch) ? -EIO : begin(stream);
}

static void look(const char *online, bool changed)
{
	if (online)
		fixture_file(dir, ONLINE, online);
	assert_int_equal(joining_look(&s), changed);
}

static int setup(void **state)
{
	int fd[2];

	fake_reset();
	log_level = -1;
	cfg = (struct rec_config){ 0 };
	if (fixture_new(state) || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fd))
		return -1;
	dir = *state;
	fake_sys.sysfs = dir->sysfs;
	fixture_file(dir, ONLINE, "0-1\n");
	fixture_file(dir, "sys/devices/system/cpu/possible", "0-7\n");
	if (start(false))
		return -1;
	if (s.hotplug.fd >= 0)
		close(s.hotplug.fd);
	s.hotplug.fd = fd[0];
	kernel = fd[1];
	return pio_evset_enable(&s.set, 0);
}

static void done(void)
{
	watch_done(&s.watch);
	pio_evset_done(&s.set);
	hotplug_done(&s.hotplug);
	fmt_writer_done(&s.writer);
	ledger_done(&s.ledger);
	fmt_buf_done(&s.buf);
	spans_done(&s.spans);
	free(s.events);
	free(s.ids);
	free(s.stalled);
	free(s.flight.place);
	s.events = NULL;
	s.ids = NULL;
	s.stalled = NULL;
	s.flight.place = NULL;
}

static int teardown(void **state)
{
	done();
	close(kernel);
	if (fake_lent_fds() || fake_lent_maps() || fake_slips())
		return -1;
	fake_reset();
	return fixture_done(state);
}

static int fd_of(size_t i, size_t place)
{
	for (size_t k = 0; k < ev[i].nr_fd; k++)
		if (ev[i].fd[k].place == place)
			return ev[i].fd[k].fd;
	return -1;
}

static uint64_t id_of(size_t i, size_t place)
{
	for (size_t k = 0; k < ev[i].nr_fd; k++)
		if (ev[i].fd[k].place == place)
			return ev[i].fd[k].id;
	return 0;
}

/* A switch record as the kernel writes it, with the id of its event. */
static void put_switch(size_t place)
{
	uint8_t r[56] = { 0 };

	le_put(r, FMT_REC_SWITCH_CPU_WIDE, 4);
	le_put(r + 6, sizeof(r), 2);
	le_put(r + 40, (uint64_t)s.set.place[place].cpu, 4);
	le_put(r + 48, id_of(1, place), 8);
	assert_true(fake_put(fd_of(0, place), r, sizeof(r)));
}

static void put_aux(size_t place, size_t n)
{
	uint8_t r[64] = { 0 };
	uint64_t head = s.set.place[place].ring.meta->aux_head;

	assert_true(fake_skip_aux(fd_of(0, place), n));
	le_put(r, FMT_REC_AUX, 4);
	le_put(r + 6, sizeof(r), 2);
	le_put(r + 8, head, 8);
	le_put(r + 16, n, 8);
	le_put(r + 56, id_of(0, place), 8);
	assert_true(fake_put(fd_of(0, place), r, sizeof(r)));
}

/* What a reader finds. */
struct found {
	size_t switches, aux, trace, index, attrs;
	uint64_t aux_end[8], trace_end[8]; /* by queue */
};

/* Every kernel record must be of a known event, every stream without a hole. */
static struct found read_file(void)
{
	struct found f = { 0 };
	struct fmt_reader r;
	struct fmt_rec rec;
	uint64_t at, queue;
	int err;

	if (!s.out.stream)
		mem_check_file(&file);
	assert_int_equal(fmt_reader_open(&r, file.bytes, file.len), 0);
	while ((err = fmt_reader_next(&r, &rec)) > 0) {
		if (rec.type < FMT_REC_USER_START)
			assert_true(fmt_reader_event_of(&r, &rec) >= 0);
		f.switches += rec.type == FMT_REC_SWITCH_CPU_WIDE;
		f.attrs += rec.type == FMT_REC_HEADER_ATTR;
		f.index += rec.type == FMT_REC_ID_INDEX;
		if (rec.type == FMT_REC_AUXTRACE) {
			queue = le_get32(rec.p + 32);
			at = le_get(rec.p + 16, 8);
			assert_int_equal(at, f.trace_end[queue]);
			f.trace_end[queue] = at + rec.payload_len;
			f.trace++;
		}
		if (rec.type == FMT_REC_AUX)
			f.aux++;
	}
	assert_int_equal(err, 0);
	fmt_reader_done(&r);
	return f;
}

static void a_cpu_that_leaves_has_its_last_bytes_written(void **state)
{
	struct found f;

	(void)state;
	look(NULL, false); /* all there */
	put_switch(1);
	put_aux(1, 160);
	put_switch(0);
	look("0\n", true);
	f = read_file();
	assert_int_equal(f.switches, 2);
	assert_int_equal(f.trace_end[1], 160);
	assert_int_equal(fake_lent_fds(), NR_EV);
	assert_int_equal(pio_evset_place_of(&s.set, 1), -ENOENT);
	put_switch(0);
	put_aux(0, 80);
	assert_int_equal(drain_round(&s, true, false), 0);
	f = read_file();
	assert_int_equal(f.switches, 3);
	assert_int_equal(f.trace_end[0], 80);
	look(NULL, false);
	assert_false(ledger_lossy(&s.ledger));
}

static void a_cpu_that_comes_is_opened_described_and_enabled(void **state)
{
	struct found f;

	(void)state;
	look("0-1,5\n", true);
	assert_int_equal(s.set.nr_place, 3);
	assert_int_equal(fake_lent_fds(), 3 * NR_EV);
	assert_true(fake_event_of(fd_of(0, 2))->enabled);
	assert_true(fake_event_of(fd_of(1, 2))->enabled);
	put_switch(2);
	put_switch(0);
	put_aux(2, 240);
	assert_int_equal(drain_round(&s, true, false), 0);
	f = read_file();
	assert_int_equal(f.switches, 2);
	assert_int_equal(f.trace_end[2], 240);
	assert_int_equal(f.index, 1);
	assert_int_equal(s.ledger.row[2].cpu, 5);
	assert_int_equal(s.events[0].nr_ids, 3); /* EVENT_DESC will have it */
	assert_int_equal(s.events[0].ids[2], id_of(0, 2));
}

static void a_cpu_that_returns_goes_on_in_its_queue(void **state)
{
	struct found f;
	uint64_t old = id_of(1, 1);

	(void)state;
	put_aux(1, 160);
	look("0\n", true);
	look("0-1\n", true);
	assert_int_equal(s.set.nr_place, 2);
	assert_true(id_of(1, 1) != old);
	put_switch(1);
	put_aux(1, 80);
	assert_int_equal(drain_round(&s, true, false), 0);
	f = read_file();
	assert_int_equal(f.trace_end[1], 240);
	assert_int_equal(f.switches, 1);
}

/* The offset of its AUX record, too: the record of 80 bytes begins at 160. */
static void aux_records_of_a_cpu_that_returned_agree_with_its_trace(void **state)
{
	struct fmt_reader r;
	struct fmt_rec rec;
	uint64_t last = 0;

	(void)state;
	put_aux(1, 160);
	look("0\n", true);
	look("0-1\n", true);
	put_aux(1, 80);
	assert_int_equal(drain_round(&s, true, false), 0);
	assert_int_equal(fmt_reader_open(&r, file.bytes, file.len), 0);
	while (fmt_reader_next(&r, &rec) > 0)
		if (rec.type == FMT_REC_AUX)
			last = le_get(rec.p + 8, 8);
	assert_int_equal(last, 160);
	fmt_reader_done(&r);
}

static void a_cpu_that_was_away_for_a_moment_is_opened_anew(void **state)
{
	static const char went[] = "offline@/devices/system/cpu/cpu1";
	uint64_t old = id_of(0, 1);

	(void)state;
	look(NULL, false);
	assert_int_equal(write(kernel, went, sizeof(went)), sizeof(went));
	look(NULL, true);
	assert_true(id_of(0, 1) && id_of(0, 1) != old);
	assert_int_equal(id_of(0, 0), 101);
}

static void only_listed_cpus_are_opened(void **state)
{
	int two[] = { 0, 5 };

	(void)state;
	cfg.cpus = (struct pio_cpus){ two, 2 };
	look("0-6\n", true);
	assert_true(pio_evset_place_of(&s.set, 5) >= 0);
	assert_int_equal(pio_evset_place_of(&s.set, 4), -ENOENT);
	assert_int_equal(s.set.nr_place, 3);
}

static void what_a_cpu_lost_without_a_record_is_told_when_it_leaves(void **state)
{
	(void)state;
	fake_event_of(fd_of(1, 1))->lost = 7;
	look("0\n", true);
	assert_int_equal(s.ledger.row[1].lost, 7);
	look("0-1\n", true);
	fake_event_of(fd_of(1, 1))->lost = 2;
	look("0\n", true);
	assert_int_equal(s.ledger.row[1].lost, 9);
	assert_int_equal(drain_round(&s, true, false), 0);
	(void)read_file();
}

static void when_the_places_for_ids_are_used_up_it_is_a_loss(void **state)
{
	(void)state;
	for (int i = 0; i < ROOM; i++) {
		look("0\n", true);
		look("0-1\n", true);
	}
	look("0\n", true);
	assert_false(ledger_lossy(&s.ledger));
	look("0-1\n", false);
	assert_int_equal(s.ledger.unjoined, 1);
	assert_true(ledger_lossy(&s.ledger));
	assert_int_equal(fake_lent_fds(), NR_EV);
	put_switch(0);
	assert_int_equal(drain_round(&s, true, false), 0);
	(void)read_file();
}

static bool ready;

static int not_yet(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	(void)attr, (void)pid;
	return cpu == 5 && !ready ? -ENODEV : 0;
}

static void a_cpu_that_is_not_ready_is_tried_again(void **state)
{
	(void)state;
	fake_refuse = not_yet;
	ready = false;
	look("0-1,5\n", false);
	look(NULL, false);
	ready = true;
	look(NULL, true);
	assert_false(ledger_lossy(&s.ledger));
	look(NULL, false);
}

static void a_cpu_that_never_gets_ready_is_a_loss(void **state)
{
	(void)state;
	fake_refuse = not_yet;
	ready = false;
	look("0-1,5\n", false);
	for (int i = 0; i < 100; i++)
		look(NULL, false);
	assert_int_equal(s.ledger.unjoined, 1);
}

static void a_stream_says_the_attrs_again(void **state)
{
	struct found f;

	(void)state;
	done();
	fixture_file(dir, ONLINE, "0-1\n");
	assert_int_equal(start(true), 0);
	assert_int_equal(joining_room(&s), 0);
	look("0-1,5\n", true);
	put_switch(2);
	put_aux(2, 240);
	assert_int_equal(drain_round(&s, true, false), 0);
	f = read_file();
	assert_int_equal(f.attrs, 2 * NR_EV);
	assert_int_equal(f.index, 1);
	assert_int_equal(f.switches, 1);
	assert_int_equal(f.trace_end[2], 240);
}

static void room_is_left_for_those_to_come_and_for_returns(void **state)
{
	int one[] = { 1 };

	(void)state;
	assert_int_equal(joining_room(&s), 6 + 2 * 8);
	cfg.cpus = (struct pio_cpus){ one, 1 };
	s.plan.cpus.n = 1;
	assert_int_equal(joining_room(&s), 2);
	s.plan.system_wide = false;
	assert_int_equal(joining_room(&s), 0);
}

/* Whatever fails while a cpu joins: nothing leaks, the others are recorded, the file is
 * sound, and the loss is told. */
static void every_failing_call_leaves_the_others_alone(void **state)
{
	struct found f;
	size_t switches = 0;
	bool failed = true;

	(void)state;
	look(NULL, false);
	for (unsigned n = 1; failed; n++) {
		uint64_t before = s.ledger.unjoined;

		fake_fail(FAKE_ANY, n, EIO);
		fixture_file(dir, ONLINE, "0-1,5\n");
		(void)joining_look(&s);
		failed = fake_failed();
		fake_fail(FAKE_ANY, 0, 0);
		assert_int_equal(s.ledger.unjoined - before, failed);
		assert_int_equal(s.write_err, 0);
		for (size_t place = 0; place < 2; place++, switches++)
			put_switch(place);
		assert_int_equal(drain_round(&s, true, false), 0);
		f = read_file();
		assert_int_equal(f.switches, switches);
		if (failed)
			fixture_file(dir, ONLINE, "0-1\n");
		(void)joining_look(&s);
	}
	assert_int_equal(s.set.nr_place, 3);
	assert_int_equal(fake_lent_fds(), 3 * NR_EV);
}

/* The file cannot be written while a cpu leaves or joins: the recording ends with a sound
 * file. */
static void every_failing_write_leaves_a_sound_file(void **state)
{
	for (unsigned n = 1;; n++) {
		fixture_file(dir, ONLINE, "0-1\n");
		done();
		assert_int_equal(start(false), 0);
		assert_int_equal(pio_evset_enable(&s.set, 0), 0);
		look(NULL, false);
		put_switch(1);
		put_aux(1, 80);
		file.fail_at = file.calls + n;
		file.err = -ENOSPC;
		file.fault = MEM_FAULT_TORN;
		fixture_file(dir, ONLINE, "0,5\n");
		(void)joining_look(&s);
		if (file.calls < file.fail_at)
			break;
		(void)read_file();
		assert_int_equal(s.write_err, -ENOSPC);
		done();
		fake_reset();
		fake_sys.sysfs = dir->sysfs;
	}
	assert_int_equal(s.write_err, 0);
	(void)state;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_cpu_that_leaves_has_its_last_bytes_written),
		T(a_cpu_that_comes_is_opened_described_and_enabled),
		T(a_cpu_that_returns_goes_on_in_its_queue),
		T(aux_records_of_a_cpu_that_returned_agree_with_its_trace),
		T(a_cpu_that_was_away_for_a_moment_is_opened_anew),
		T(only_listed_cpus_are_opened),
		T(what_a_cpu_lost_without_a_record_is_told_when_it_leaves),
		T(when_the_places_for_ids_are_used_up_it_is_a_loss),
		T(a_cpu_that_is_not_ready_is_tried_again),
		T(a_cpu_that_never_gets_ready_is_a_loss),
		T(a_stream_says_the_attrs_again),
		T(room_is_left_for_those_to_come_and_for_returns),
		T(every_failing_call_leaves_the_others_alone),
		T(every_failing_write_leaves_a_sound_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
