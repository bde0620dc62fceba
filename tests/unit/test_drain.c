/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a byte: a kernel made of memory below, a file in memory above, and the drain in
 * between. Every AUX byte must come out once, in order, wherever the rings wrap.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/reader.h"
#include "perfio/attrs.h"
#include "recorder/log.h"
#include "recorder/session.h"
#include "tests/unit/fake_sys.h"

enum { PAGE = 4096, DATA_LEN = PAGE, AUX_LEN = 2 * PAGE, NR_CPUS = 2 };

/* A file in memory that refuses to grow beyond `room`. */
struct memfile {
	uint8_t p[1 << 20];
	size_t len, room;
};

struct fixture {
	struct session s;
	struct memfile file;
	struct pio_event ev[2];
	int cpu[NR_CPUS];
};

static int mem_append(void *ctx, struct iovec *v, int n)
{
	struct memfile *f = ctx;

	for (int i = 0; i < n; i++) {
		size_t k = v[i].iov_len;

		if (k > f->room - f->len)
			k = f->room - f->len; /* as a full disk does: a part is written */
		memcpy(f->p + f->len, v[i].iov_base, k);
		f->len += k;
		if (k < v[i].iov_len)
			return -ENOSPC;
	}
	return 0;
}

static int mem_patch(void *ctx, uint64_t at, const void *p, size_t n)
{
	struct memfile *f = ctx;

	memcpy(f->p + at, p, n);
	return 0;
}

static int mem_cut(void *ctx, uint64_t size)
{
	struct memfile *f = ctx;

	f->len = size;
	return 0;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct pio_attr_common c = { .read_format = PERF_FORMAT_ID, .clockid = -1 };
	struct pio_target t = { .data_len = DATA_LEN, .aux_len = AUX_LEN };
	struct pio_pmu pmu = { .type = 8 };
	struct pio_config conf = { 0 };
	struct pio_fault why;
	struct fmt_sink sink = { mem_append, mem_patch, mem_cut, NULL, &f->file };

	*state = f;
	fake_reset();
	f->file.room = sizeof(f->file.p);
	f->ev[0] = (struct pio_event){ .attr = pio_attr_aux(&c, &pmu, &conf), .name = "pt" };
	f->ev[1] = (struct pio_event){ .attr = pio_attr_switch(&c), .name = "switches" };
	for (int i = 0; i < NR_CPUS; i++)
		f->cpu[i] = i;
	t.cpus = (struct pio_cpus){ f->cpu, NR_CPUS };
	f->s.sys = &fake_sys;
	f->s.plan.source = SOURCE_KERNEL;
	if (pio_evset_open(&f->s.set, &fake_sys, f->ev, 2, &t, &why))
		return -EIO;
	f->s.source.set = &f->s.set;
	f->s.stalled = calloc(NR_CPUS, sizeof(*f->s.stalled));
	fmt_writer_init(&f->s.writer, &sink, false);
	f->s.events = calloc(1, sizeof(*f->s.events));
	f->s.ids = calloc(1, sizeof(*f->s.ids));
	f->s.ids[0] = fake_event(0)->id;
	pio_attr_bytes(&f->ev[0].attr, f->s.events[0].attr);
	f->s.events[0].ids = f->s.ids;
	f->s.events[0].nr_ids = 1;
	f->s.events[0].name = "pt";
	return fmt_writer_begin(&f->s.writer, f->s.events, 1, NULL);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	pio_evset_done(&f->s.set);
	fmt_writer_done(&f->s.writer);
	ledger_done(&f->s.ledger);
	fmt_buf_done(&f->s.buf);
	spans_done(&f->s.spans);
	fileids_free(f->s.fileids);
	dsos_free(f->s.dsos);
	free(f->s.events);
	free(f->s.ids);
	free(f->s.stalled);
	free(f);
	fake_reset();
	return 0;
}

static int ring_fd(const struct fixture *f, size_t place)
{
	return f->s.set.place[place].ring.fd;
}

/* AUX bytes whose values tell their position in the stream. */
static void put_aux(struct fixture *f, size_t place, uint64_t from, size_t n)
{
	uint8_t b[AUX_LEN];

	for (size_t i = 0; i < n; i++)
		b[i] = (uint8_t)((from + i) * 7 + place);
	assert_true(fake_put_aux(ring_fd(f, place), b, n));
}

static size_t record(uint8_t *r, uint32_t type, size_t body)
{
	memset(r, 0, 8 + body);
	le_put(r, type, 4);
	le_put(r + 6, 8 + body, 2);
	return 8 + body;
}

static void put_switch(struct fixture *f, size_t place)
{
	uint8_t r[64];
	size_t n = record(r, FMT_REC_SWITCH_CPU_WIDE, 40);

	assert_true(fake_put(ring_fd(f, place), r, n));
}

static void put_aux_record(struct fixture *f, size_t place, uint64_t flags)
{
	uint8_t r[64];
	size_t n = record(r, FMT_REC_AUX, 24 + 32);

	le_put(r + 24, flags, 8);
	assert_true(fake_put(ring_fd(f, place), r, n));
}

/* Gathers the AUXTRACE payloads of one queue, checking offsets; padding is taken out with
 * the help of the next offset, as a decoder's user would. */
static size_t gather(const struct fixture *f, uint32_t idx, uint8_t *out)
{
	struct fmt_reader r;
	struct fmt_rec rec;
	uint64_t end = 0;
	int err;

	assert_int_equal(fmt_reader_open(&r, f->file.p, f->file.len), 0);
	while ((err = fmt_reader_next(&r, &rec)) > 0) {
		if (rec.type != FMT_REC_AUXTRACE || le_get32(rec.p + 32) != idx)
			continue;
		assert_int_equal(rec.payload_len % 8, 0);
		assert_true(le_get(rec.p + 16, 8) <= end);
		assert_true(end - le_get(rec.p + 16, 8) < 8);
		assert_int_equal(le_get32(rec.p + 40), idx); /* the cpu */
		end = le_get(rec.p + 16, 8);
		memcpy(out + end, rec.payload, rec.payload_len);
		end += rec.payload_len;
	}
	assert_int_equal(err, 0);
	fmt_reader_done(&r);
	return end;
}

static void assert_stream(const uint8_t *p, size_t n, size_t place)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(p[i], (uint8_t)(i * 7 + place));
}

static size_t count(const struct fixture *f, uint32_t type)
{
	struct fmt_reader r;
	struct fmt_rec rec;
	size_t n = 0;

	assert_int_equal(fmt_reader_open(&r, f->file.p, f->file.len), 0);
	while (fmt_reader_next(&r, &rec) > 0)
		n += rec.type == type;
	fmt_reader_done(&r);
	return n;
}

static void every_aux_byte_arrives_once_across_wraps(void **state)
{
	struct fixture *f = *state;
	static uint8_t out[1 << 18];
	static const size_t sizes[] = { 1000, 7, PAGE + 1, 1, 4096, 4095, 24, 3333, 3 };
	uint64_t pos[NR_CPUS] = { 0 };

	for (size_t round = 0; round < 40; round++)
		for (size_t cpu = 0; cpu < NR_CPUS; cpu++) {
			size_t n = sizes[(round + 4 * cpu) % 9];

			put_aux(f, cpu, pos[cpu], n);
			pos[cpu] += n;
			if (cpu)
				assert_int_equal(drain_round(&f->s, true, false), 0);
		}
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		size_t got = gather(f, cpu, out);

		assert_true(got >= pos[cpu] && got - pos[cpu] < 8);
		assert_stream(out, pos[cpu], cpu);
		for (size_t i = pos[cpu]; i < got; i++)
			assert_int_equal(out[i], 0); /* PAD */
		assert_int_equal(f->s.ledger.row[cpu].aux_bytes, pos[cpu]);
		assert_int_equal(fake_aux_tail(ring_fd(f, cpu)), pos[cpu] / PAGE * PAGE);
	}
}

static void a_wrap_makes_one_record_not_two(void **state)
{
	struct fixture *f = *state;

	put_aux(f, 0, 0, AUX_LEN - 512);
	assert_int_equal(drain_round(&f->s, true, false), 0);
	put_aux(f, 0, AUX_LEN - 512, 1024);
	assert_int_equal(drain_round(&f->s, true, false), 0);
	assert_int_equal(count(f, FMT_REC_AUXTRACE), 2);
	assert_int_equal(f->s.writer.nr_index, 2);
}

static void aux_stands_before_the_records_of_its_round(void **state)
{
	struct fixture *f = *state;
	static const uint32_t want[] = { FMT_REC_AUXTRACE, FMT_REC_AUX,
					 FMT_REC_SWITCH_CPU_WIDE, FMT_REC_FINISHED_ROUND };
	struct fmt_reader r;
	struct fmt_rec rec;

	put_aux_record(f, 0, 0);
	put_switch(f, 0);
	put_aux(f, 0, 0, 64);
	assert_int_equal(drain_round(&f->s, true, false), 0);
	assert_int_equal(fmt_reader_open(&r, f->file.p, f->file.len), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(fmt_reader_next(&r, &rec), 1);
		assert_int_equal(rec.type, want[i]);
	}
	assert_int_equal(fmt_reader_next(&r, &rec), 0);
	fmt_reader_done(&r);
}

static void data_records_survive_the_wrap_of_their_ring(void **state)
{
	struct fixture *f = *state;
	size_t n = 0;

	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 37; i++, n++)
			put_switch(f, 0);
		put_aux_record(f, 0, FMT_AUX_TRUNCATED);
		assert_int_equal(drain_round(&f->s, true, false), 0);
	}
	assert_int_equal(count(f, FMT_REC_SWITCH_CPU_WIDE), n);
	assert_int_equal(f->s.ledger.by_type[FMT_REC_SWITCH_CPU_WIDE], n);
	assert_int_equal(f->s.ledger.row[0].truncated, 100);
	assert_int_equal(f->s.ledger.row[1].truncated, 0);
	assert_int_equal(count(f, FMT_REC_FINISHED_ROUND), 100);
}

static void losses_are_counted_where_they_happened(void **state)
{
	struct fixture *f = *state;
	uint8_t r[64];
	size_t n = record(r, FMT_REC_LOST, 16 + 32);

	le_put(r + 16, 5, 8);
	assert_true(fake_put(ring_fd(f, 1), r, n));
	put_aux_record(f, 1, FMT_AUX_PARTIAL | FMT_AUX_COLLISION);
	assert_int_equal(drain_round(&f->s, true, false), 0);
	assert_int_equal(f->s.ledger.row[1].lost, 5);
	assert_int_equal(f->s.ledger.row[1].partial, 1);
	assert_int_equal(f->s.ledger.row[1].collision, 1);
	assert_int_equal(f->s.ledger.row[0].lost, 0);
	assert_true(ledger_lossy(&f->s.ledger));
}

/* DISABLE, then ENABLE: ENABLE alone leaves the event deaf on some kernels. */
static void an_aux_event_that_overflowed_is_restarted(void **state)
{
	struct fixture *f = *state;
	struct fake_event *pt[NR_CPUS] = { fake_event(0), fake_event(1) };

	put_aux(f, 0, 0, 100);
	put_aux_record(f, 0, FMT_AUX_TRUNCATED);
	assert_int_equal(drain_round(&f->s, true, false), 0);
	assert_int_equal(pt[0]->enables, 0); /* not yet enabled by us: nothing to restart */
	f->s.enabled = true;
	put_aux(f, 0, 100, 100);
	put_aux_record(f, 0, FMT_AUX_TRUNCATED);
	put_aux(f, 1, 0, 100);
	put_aux_record(f, 1, 0);
	assert_int_equal(drain_round(&f->s, true, false), 0);
	assert_int_equal(pt[0]->disables, 1);
	assert_int_equal(pt[0]->enables, 1);
	assert_true(pt[0]->enabled);
	assert_int_equal(pt[1]->disables, 0);
	put_aux(f, 1, 100, AUX_LEN - 100); /* full, and no record says so yet */
	assert_int_equal(drain_round(&f->s, true, false), 0);
	assert_int_equal(pt[1]->disables, 1);
	assert_int_equal(pt[1]->enables, 1);
	put_aux_record(f, 0, FMT_AUX_TRUNCATED);
	assert_int_equal(drain_round(&f->s, true, true), 0); /* the last round stays off */
	assert_int_equal(pt[0]->disables, 1);
}

/* What is traced until a file ends is in that file, though the unit had kept it back; the records
 * of who runs go on meanwhile. */
static void the_last_round_of_a_file_has_what_was_kept_back(void **state)
{
	struct fixture *f = *state;
	static uint8_t out[AUX_LEN];

	f->s.enabled = true;
	for (size_t cpu = 0; cpu < NR_CPUS; cpu++) {
		fake_event(cpu)->withholds = fake_event(cpu)->enabled = true;
		put_aux(f, cpu, 0, 1000);
	}
	assert_int_equal(drain_round(&f->s, true, false), 0);
	assert_int_equal(f->s.ledger.row[0].aux_bytes, 0);
	f->s.rotation.dividing = true;
	assert_int_equal(drain_round(&f->s, true, false), 0);
	assert_true(f->s.rotation.pause_ns > 0);
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		assert_int_equal(gather(f, cpu, out), 1000);
		assert_stream(out, 1000, cpu);
		assert_true(fake_event(cpu)->enabled);
		assert_int_equal(fake_event(cpu)->disables, 1);
		assert_int_equal(fake_event_of(f->ev[1].fd[cpu].fd)->disables, 0);
	}
}

static void assert_left_alone(struct fixture *f)
{
	assert_int_equal(drain_round(&f->s, true, false), 0);
	for (size_t cpu = 0; cpu < NR_CPUS; cpu++) {
		assert_false(fake_event(cpu)->enabled);
		assert_int_equal(fake_event(cpu)->disables, 0);
	}
	assert_int_equal(f->s.rotation.pause_ns, 0);
}

static void what_does_not_count_is_not_switched_on_by_a_new_file(void **state)
{
	struct fixture *f = *state;

	f->s.rotation.dividing = true;
	assert_left_alone(f); /* before --delay is over */
	f->s.enabled = f->s.set.held = true;
	assert_left_alone(f); /* paused */
	f->s.set.held = false;
	f->ev[0].off = true;
	assert_left_alone(f); /* disabled by its name */
}

static void a_trace_that_does_not_go_on_in_a_new_file_ends_the_recording(void **state)
{
	struct fixture *f = *state;

	log_level = -1;
	f->s.enabled = f->s.rotation.dividing = true;
	put_aux(f, 0, 0, 100);
	put_aux(f, 1, 0, 100);
	fake_fail(FAKE_IOCTL, 2, EIO); /* the first one halts it */
	assert_int_equal(drain_round(&f->s, true, false), 0);
	assert_int_equal(f->s.run_err, -EIO);
	assert_int_equal(f->s.ledger.row[0].aux_bytes + f->s.ledger.row[1].aux_bytes, 200);
	assert_true(fake_event(1)->enabled);
}

static void a_quiet_round_writes_nothing(void **state)
{
	struct fixture *f = *state;
	size_t before = f->file.len;

	assert_int_equal(drain_round(&f->s, true, false), 0);
	assert_int_equal(f->file.len, before);
}

/* The disk fills at every possible byte of a round: the file keeps the rounds before, the
 * kernel's bytes are not given back, and the ledger says what was taken out. */
static void a_full_disk_takes_back_the_round(void **state)
{
	struct fixture *f = *state;
	size_t base;

	put_aux(f, 0, 0, 800);
	put_switch(f, 0);
	assert_int_equal(drain_round(&f->s, true, false), 0);
	base = f->file.len;
	put_aux(f, 0, 800, 200);
	put_switch(f, 1);
	for (size_t room = base; room < base + 48 + 200 + 48 + 8; room++) {
		f->file.room = room;
		assert_int_equal(drain_round(&f->s, true, false), -ENOSPC);
		assert_int_equal(f->file.len, base);
		assert_int_equal(le_get(f->file.p + FMT_HDR_DATA_SIZE, 8),
				 base - f->s.writer.data_offset);
		assert_int_equal(count(f, FMT_REC_AUXTRACE), 1);
		assert_int_equal(f->s.ledger.records, 1); /* the round before */
		assert_int_equal(f->s.ledger.given_up, 0); /* they are in the ring still */
		if (room < base + 248)
			assert_int_equal(f->s.set.place[0].ring.aux_tail, 800);
		else
			break; /* the AUX part was given back: the round is not repeatable */
		f->s.write_err = 0;
	}
}

/* The ring's pages cannot be written: the record leaves completed, and stays as it was. */
static void mapped_files_leave_with_their_build_id(void **state)
{
	struct fixture *f = *state;
	uint8_t id[20], r[128];
	int size = pio_build_id_vdso(id);
	struct fmt_reader reader;
	struct fmt_rec rec;
	size_t n;

	if (size <= 0)
		skip();
	assert_int_equal(fileids_new(&f->s.fileids), 0);
	assert_int_equal(dsos_new(&f->s.dsos), 0);
	n = record(r, FMT_REC_MMAP2, 72 + 32);
	le_put(r + 4, FMT_MISC_USER, 2);
	le_put(r + 16, 0x7ffd00000000, 8);
	strcpy((char *)r + 72, "[vdso]");
	put_switch(f, 0);
	assert_true(fake_put(ring_fd(f, 0), r, n));
	put_switch(f, 0);
	assert_int_equal(drain_round(&f->s, true, false), 0);
	assert_memory_equal(f->s.set.place[0].ring.data + 48, r, n);
	assert_int_equal(fmt_reader_open(&reader, f->file.p, f->file.len), 0);
	assert_int_equal(fmt_reader_next(&reader, &rec), 1);
	assert_int_equal(rec.type, FMT_REC_SWITCH_CPU_WIDE);
	assert_int_equal(fmt_reader_next(&reader, &rec), 1);
	assert_int_equal(rec.type, FMT_REC_MMAP2);
	assert_int_equal(le_get16(rec.p + 4), FMT_MISC_USER | FMT_MISC_MMAP_BUILD_ID);
	assert_int_equal(rec.p[40], size);
	assert_memory_equal(rec.p + 44, id, (size_t)size);
	assert_memory_equal(rec.p + 64, r + 64, n - 64);
	assert_int_equal(fmt_reader_next(&reader, &rec), 1);
	assert_int_equal(rec.type, FMT_REC_SWITCH_CPU_WIDE);
	fmt_reader_done(&reader);
}

static void compressed_rings_hold_the_same_records(void **state)
{
	struct fixture *f = *state;
	static uint8_t out[1 << 18];
	size_t n = 0;

	assert_int_equal(fmt_writer_zip(&f->s.writer, 1), 0);
	for (unsigned round = 0; round < 100; round++) {
		for (int i = 0; i < 37; i++, n++)
			put_switch(f, round % 2);
		put_aux_record(f, 1, FMT_AUX_TRUNCATED);
		put_aux(f, 0, 100 * round, 100);
		assert_int_equal(drain_round(&f->s, true, false), 0);
	}
	assert_int_equal(count(f, FMT_REC_SWITCH_CPU_WIDE), n);
	assert_int_equal(count(f, FMT_REC_AUX), 100);
	assert_int_equal(count(f, FMT_REC_COMPRESSED), 100);
	assert_int_equal(f->s.ledger.by_type[FMT_REC_SWITCH_CPU_WIDE], n);
	assert_int_equal(f->s.ledger.row[1].truncated, 100);
	assert_true(gather(f, 0, out) >= 10000); /* the trace is not in them */
	assert_stream(out, 10000, 0);
}

/* As above; rings are released only once their records are in the file, so that the round can
 * be repeated, and nothing of the compressor's state shows. */
static void a_full_disk_takes_back_a_compressed_round(void **state)
{
	struct fixture *f = *state;
	size_t base, tries = 0;

	assert_int_equal(fmt_writer_zip(&f->s.writer, 1), 0);
	put_switch(f, 0);
	assert_int_equal(drain_round(&f->s, true, false), 0);
	base = f->file.len;
	for (int i = 0; i < 20; i++)
		put_switch(f, 1);
	for (f->file.room = base; drain_round(&f->s, true, false); f->file.room++, tries++) {
		assert_int_equal(f->s.write_err, -ENOSPC);
		assert_int_equal(f->file.len, base);
		assert_int_equal(count(f, FMT_REC_SWITCH_CPU_WIDE), 1);
		assert_int_equal(f->s.ledger.records, 1);
		f->s.write_err = 0;
	}
	assert_true(tries > 20 && f->file.len == base + tries);
	assert_int_equal(count(f, FMT_REC_SWITCH_CPU_WIDE), 21);
	assert_int_equal(f->s.ledger.records, 21);
}

static void bytes_that_are_no_records_stop_the_drain(void **state)
{
	struct fixture *f = *state;
	uint8_t r[16] = { 0 };

	le_put(r, FMT_REC_COMM, 4); /* size 0 */
	assert_true(fake_put(ring_fd(f, 0), r, 16));
	assert_int_equal(drain_round(&f->s, true, false), -EBADMSG);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_aux_byte_arrives_once_across_wraps),
		T(a_wrap_makes_one_record_not_two),
		T(aux_stands_before_the_records_of_its_round),
		T(data_records_survive_the_wrap_of_their_ring),
		T(losses_are_counted_where_they_happened),
		T(an_aux_event_that_overflowed_is_restarted),
		T(the_last_round_of_a_file_has_what_was_kept_back),
		T(what_does_not_count_is_not_switched_on_by_a_new_file),
		T(a_trace_that_does_not_go_on_in_a_new_file_ends_the_recording),
		T(a_quiet_round_writes_nothing),
		T(a_full_disk_takes_back_the_round),
		T(mapped_files_leave_with_their_build_id),
		T(compressed_rings_hold_the_same_records),
		T(a_full_disk_takes_back_a_compressed_round),
		T(bytes_that_are_no_records_stop_the_drain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
