/* SPDX-License-Identifier: Apache-2.0 */
#include "format/writer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"
#include "tests/unit/hex.h"
#include "tests/unit/mem_sink.h"

static struct mem_sink file;
static struct fmt_writer w;
static struct fmt_buf rec;

static const uint64_t pt_ids[] = { 0x11, 0x12 }, dummy_ids[] = { 0x21 };
static struct fmt_event events[2] = {
	{ .ids = pt_ids, .nr_ids = 2, .name = "intel_pt//" },
	{ .ids = dummy_ids, .nr_ids = 1, .name = "dummy:u" },
};
static struct fmt_features feat = { .hostname = "box", .have_aux = true };

static void start(bool pipe)
{
	struct fmt_sink s = mem_sink(&file);

	memset(events[0].attr, 0xa0, FMT_ATTR_SIZE);
	memset(events[1].attr, 0xa1, FMT_ATTR_SIZE);
	fmt_writer_init(&w, &s, pipe);
}

static int setup(void **state)
{
	(void)state;
	start(false);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fmt_writer_done(&w);
	fmt_buf_done(&rec);
	return 0;
}

static int begin(void)
{
	return fmt_writer_begin(&w, events, 2, NULL);
}

/* A record of 16 bytes. */
static int put(uint8_t fill)
{
	size_t at;

	fmt_buf_reset(&rec);
	at = fmt_record_begin(&rec, FMT_REC_ITRACE_START, 0);
	for (int i = 0; i < 8; i++)
		fmt_put_le(&rec, fill, 1);
	if (fmt_record_end(&rec, at))
		return rec.err;
	return fmt_writer_put(&w, &rec);
}

/* A trace of len bytes, the last `wrapped` of which lie in a second span. */
static int trace(size_t len, size_t wrapped)
{
	static uint8_t ring[4096];
	const struct fmt_auxtrace a = { .idx = 1, .tid = UINT32_MAX, .cpu = 1 };
	struct iovec v[2] = { { ring + sizeof(ring) - (len - wrapped), len - wrapped },
			      { ring, wrapped } };

	memset(ring, 0xaa, sizeof(ring));
	return fmt_writer_aux(&w, &a, v, wrapped ? 2 : 1);
}

/* Golden bytes of the head: header, ids, attrs. */
#define HEAD(data_size, bits)                                                        \
	"'PERFILE2' 6800000000000000 9000000000000000" /* magic, size, attr_size */  \
	"8000000000000000 2001000000000000" /* attrs at 128, 288 bytes */            \
	"a001000000000000" data_size	    /* data at 416 */                        \
	"00[16]" bits "00[24]"		    /* event types, feature bits */          \
	"1100000000000000 1200000000000000 2100000000000000" /* ids, at 104 */       \
	"a0[128] 6800000000000000 1000000000000000" /* attr, its ids */              \
	"a1[128] 7800000000000000 0800000000000000"

static void a_file_begins_with_header_ids_and_attrs(void **state)
{
	(void)state;
	assert_int_equal(begin(), 0);
	hex_expect(file.bytes, file.len, HEAD("00[8]", "00[8]"));
	assert_int_equal(w.data_offset, 416);
	assert_string_equal(file.log, "a");
}

static void a_finished_file_byte_for_byte(void **state)
{
	(void)state;
	assert_int_equal(begin(), 0);
	assert_int_equal(put(0xcc), 0);
	assert_int_equal(fmt_writer_round(&w, false), 0);
	assert_int_equal(trace(5, 2), 0);
	assert_int_equal(fmt_writer_finish(&w, &feat), 0);
	hex_expect(file.bytes, file.len,
		   HEAD("5000000000000000", "0800040000000000") /* 80; bits 3 and 18 */
		   "0c000000 0000 1000 cc[8]"
		   "47000000 0000 3000 0800000000000000 00[16]" /* AUXTRACE, 8 bytes */
		   "01000000 ffffffff 01000000 00000000"
		   "aa[5] 00[3]"
		   "44000000 0000 0800" /* FINISHED_ROUND */
		   "1002000000000000 4400000000000000" /* 3: at 528, 68 bytes */
		   "5402000000000000 1800000000000000" /* 18: at 596, 24 bytes */
		   "40000000 'box' 00[61]"
		   "0100000000000000 b001000000000000 3000000000000000");
	assert_int_equal(mem_check_file(&file), 3);
}

static void data_size_advances_after_the_bytes_and_their_sync(void **state)
{
	(void)state;
	assert_int_equal(begin(), 0);
	assert_int_equal(put(1), 0);
	assert_int_equal(put(2), 0);
	assert_int_equal(mem_check_file(&file), 0);
	assert_int_equal(fmt_writer_round(&w, true), 0);
	assert_string_equal(file.log, "aaaays"); /* head, two records, marker */
	assert_int_equal(mem_check_file(&file), 3);
}

static void the_bitmap_is_stored_last(void **state)
{
	(void)state;
	assert_int_equal(begin(), 0);
	assert_int_equal(put(1), 0);
	assert_int_equal(fmt_writer_finish(&w, &feat), 0);
	assert_string_equal(file.log, "aaaysayb");
}

static void without_sync_a_round_is_one_patch(void **state)
{
	(void)state;
	w.sink.sync = NULL;
	assert_int_equal(begin(), 0);
	assert_int_equal(put(1), 0);
	assert_int_equal(fmt_writer_round(&w, true), 0);
	assert_string_equal(file.log, "aaas");
}

static void an_empty_round_writes_nothing(void **state)
{
	(void)state;
	assert_int_equal(begin(), 0);
	assert_int_equal(fmt_writer_round(&w, true), 0);
	assert_string_equal(file.log, "a");
	assert_int_equal(put(1), 0);
	assert_int_equal(fmt_writer_round(&w, true), 0);
	assert_int_equal(fmt_writer_round(&w, true), 0);
	assert_string_equal(file.log, "aaays");
	assert_int_equal(mem_check_file(&file), 2);
}

static void a_round_may_go_without_marker(void **state)
{
	(void)state;
	assert_int_equal(begin(), 0);
	assert_int_equal(put(1), 0);
	assert_int_equal(fmt_writer_round(&w, false), 0);
	assert_int_equal(mem_check_file(&file), 1);
	/* and it does not leave a marker to the next one */
	assert_int_equal(fmt_writer_round(&w, true), 0);
	assert_int_equal(mem_check_file(&file), 1);
}

static void empty_input_is_no_call(void **state)
{
	const struct iovec none[2] = { { NULL, 0 }, { NULL, 0 } };

	(void)state;
	assert_int_equal(begin(), 0);
	assert_int_equal(fmt_writer_put(&w, &rec), 0);
	assert_int_equal(fmt_writer_spans(&w, none, 2), 0);
	assert_int_equal(fmt_writer_spans(&w, none, 0), 0);
	assert_int_equal(trace(0, 0), 0);
	assert_int_equal(fmt_writer_round(&w, true), 0);
	assert_string_equal(file.log, "a");
}

static void spans_leave_in_one_call_and_uncopied(void **state)
{
	static const uint8_t ring[64] = { 0x0c, 0, 0, 0, 0, 0, 64 };
	const struct iovec v[2] = { { (void *)(uintptr_t)ring, 40 },
				    { (void *)(uintptr_t)(ring + 40), 24 } };

	(void)state;
	assert_int_equal(begin(), 0);
	assert_int_equal(fmt_writer_spans(&w, v, 2), 0);
	assert_string_equal(file.log, "aa");
	assert_int_equal(file.nr_seen, 2);
	assert_ptr_equal(file.seen[0], ring);
	assert_ptr_equal(file.seen[1], ring + 40);
	assert_int_equal(v[0].iov_len, 40); /* the sink changed a copy */
	assert_memory_equal(file.bytes + 416, ring, 64);
}

static void the_last_spans_of_a_round_leave_with_its_marker_in_one_call(void **state)
{
	static const uint8_t one[16] = { FMT_REC_ITRACE_START, [6] = 16, [8] = 1 };
	static const uint8_t two[16] = { FMT_REC_ITRACE_START, [6] = 16, [8] = 2 };
	struct iovec v[3] = { { (void *)one, 16 }, { (void *)two, 16 } };

	(void)state;
	assert_int_equal(begin(), 0);
	assert_int_equal(fmt_writer_round_spans(&w, v, 2, true), 0);
	assert_string_equal(file.log, "aays");
	assert_ptr_equal(file.seen[0], one);
	assert_ptr_equal(file.seen[1], two);
	hex_expect(file.bytes + 416, file.len - 416,
		   "0c000000 0000 1000 01 00[7] 0c000000 0000 1000 02 00[7]"
		   "44000000 0000 0800");
	assert_int_equal(le_get(file.bytes + FMT_HDR_DATA_SIZE, 8), 40);
}

static void trace_leaves_with_header_and_padding_in_one_call_and_uncopied(void **state)
{
	static const uint8_t part[2][11] = { "firstfirst", "second" };
	const struct iovec v[2] = { { (void *)(uintptr_t)part[0], 10 },
				    { (void *)(uintptr_t)part[1], 6 } };
	const struct fmt_auxtrace a = { .size = 999, .offset = 0x1000 };

	(void)state;
	assert_int_equal(begin(), 0);
	assert_int_equal(fmt_writer_aux(&w, &a, v, 2), 0);
	assert_int_equal(file.nr_seen, 3); /* 16 bytes: nothing to pad */
	assert_ptr_equal(file.seen[1], part[0]);
	assert_ptr_equal(file.seen[2], part[1]);
	assert_int_equal(fmt_writer_aux(&w, &a, v, 1), 0);
	assert_int_equal(file.nr_seen, 3); /* 10 bytes and 6 of padding */
	assert_string_equal(file.log, "aaa");
	hex_expect(file.bytes + 416, file.len - 416,
		   "47000000 0000 3000 1000000000000000 0010000000000000 00[24]"
		   "'firstfirst' 'second'"
		   "47000000 0000 3000 1000000000000000 0010000000000000 00[24]"
		   "'firstfirst' 00[6]");
}

static void every_length_of_trace_is_padded_to_8(void **state)
{
	(void)state;
	assert_int_equal(begin(), 0);
	for (size_t len = 1; len <= 40; len++)
		assert_int_equal(trace(len, len / 3), 0);
	assert_int_equal(fmt_writer_finish(&w, &feat), 0);
	assert_int_equal(mem_check_file(&file), 41);
	assert_int_equal(mem_traces, 40);
}

static void the_index_names_every_trace_however_many(void **state)
{
	(void)state;
	assert_int_equal(begin(), 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(trace(8, 0), 0);
	assert_int_equal(fmt_writer_finish(&w, &feat), 0);
	mem_check_file(&file);
	assert_int_equal(mem_traces, 1000);
}

static void a_bad_buffer_is_not_written(void **state)
{
	(void)state;
	assert_int_equal(begin(), 0);
	rec.err = -EMSGSIZE;
	assert_int_equal(fmt_writer_put(&w, &rec), -EMSGSIZE);
	assert_int_equal(put(1), 0); /* the writer itself is well */
	assert_string_equal(file.log, "aa");
}

static void rollback_gives_up_what_followed_the_last_round(void **state)
{
	uint64_t dropped = 77;
	unsigned calls;

	(void)state;
	assert_int_equal(begin(), 0);
	assert_int_equal(trace(16, 0), 0);
	assert_int_equal(fmt_writer_round(&w, true), 0);
	assert_int_equal(trace(24, 0), 0);
	file.fail_at = file.calls + 1;
	file.err = -ENOSPC;
	file.fault = MEM_FAULT_TORN;
	assert_int_equal(trace(32, 0), -ENOSPC);
	assert_int_equal(fmt_writer_rollback(&w, &dropped), 0);
	assert_int_equal(dropped, 48 + 24);
	assert_int_equal(file.len, w.valid);
	calls = file.calls;
	assert_int_equal(fmt_writer_round(&w, true), 0);
	assert_int_equal(file.calls, calls); /* no marker for what is gone */
	assert_int_equal(trace(8, 0), 0); /* it goes on as if nothing had happened */
	assert_int_equal(fmt_writer_finish(&w, &feat), 0);
	mem_check_file(&file);
	assert_int_equal(mem_traces, 2);
}

static void a_failure_is_repeated_until_it_is_rolled_back(void **state)
{
	uint64_t dropped;
	unsigned calls;

	(void)state;
	assert_int_equal(begin(), 0);
	file.fail_at = file.calls + 1;
	file.err = -EDQUOT;
	assert_int_equal(put(1), -EDQUOT);
	calls = file.calls;
	assert_int_equal(put(1), -EDQUOT);
	assert_int_equal(trace(8, 0), -EDQUOT);
	assert_int_equal(fmt_writer_round(&w, true), -EDQUOT);
	assert_int_equal(file.calls, calls);
	assert_int_equal(fmt_writer_rollback(&w, &dropped), 0);
	assert_int_equal(put(1), 0);
}

static void a_sink_without_cut_cannot_be_rolled_back(void **state)
{
	uint64_t dropped = 77;

	(void)state;
	w.sink.cut = NULL;
	assert_int_equal(begin(), 0);
	file.fail_at = file.calls + 1;
	file.err = -EIO;
	assert_int_equal(put(1), -EIO);
	assert_int_equal(fmt_writer_rollback(&w, &dropped), -ESPIPE);
	assert_int_equal(fmt_writer_finish(&w, &feat), -ESPIPE);
	assert_int_equal(dropped, 77);
	assert_int_equal(mem_check_file(&file), 0);
}

static void nothing_can_be_finished_that_did_not_begin(void **state)
{
	(void)state;
	assert_int_equal(fmt_writer_finish(&w, &feat), -ENODATA);
	file.fail_at = 1;
	file.err = -ENOSPC;
	assert_int_equal(begin(), -ENOSPC);
	assert_int_equal(fmt_writer_finish(&w, &feat), -ENOSPC);
}

static void features_that_fail_are_cut_off_again(void **state)
{
	(void)state;
	assert_int_equal(begin(), 0);
	assert_int_equal(put(1), 0);
	for (unsigned call = 1; call <= 3; call++) { /* append, sync, bitmap */
		assert_int_equal(fmt_writer_round(&w, true), 0);
		file.fail_at = file.calls + call;
		file.err = -ENOSPC;
		file.fault = MEM_FAULT_TORN;
		assert_int_equal(fmt_writer_finish(&w, &feat), -ENOSPC);
		assert_int_equal(file.len, w.valid);
		assert_true(le_get(file.bytes + FMT_HDR_FEATURES, 8) == 0);
		assert_int_equal(mem_check_file(&file), 2);
	}
	assert_int_equal(fmt_writer_finish(&w, &feat), 0);
	assert_int_equal(mem_check_file(&file), 2);
}

/* A whole recording: 3 rounds, 4 traces, features. Calls of the sink: head, 4 + 6 + 5 for
 * the rounds, 3 for the features. */
#define RECORD_CALLS 19u

static int record(void)
{
	int err = begin();

	for (int round = 0; !err && round < 3; round++) {
		err = put((uint8_t)round);
		if (!err)
			err = trace(20, 7);
		if (!err && round == 1)
			err = trace(8, 0);
		if (!err)
			err = fmt_writer_round(&w, round != 0);
	}
	return err ? err : fmt_writer_finish(&w, &feat);
}

/* The sink fails at its n-th call. Returns false when there was no such call. */
static bool one_fault(unsigned n, enum mem_fault fault)
{
	uint64_t dropped;
	unsigned records;
	int err;

	start(false);
	file.fail_at = n;
	file.err = -ENOSPC;
	file.fault = fault;
	file.check_each = true;
	err = record();
	if (file.calls < n) {
		assert_int_equal(err, 0);
		return false;
	}
	assert_int_equal(err, -ENOSPC);
	records = mem_check_file(&file); /* as a kill would leave it now */
	if (w.failed) {
		assert_int_equal(fmt_writer_rollback(&w, &dropped), 0);
		assert_true(file.len == w.valid);
		/* not a round less than a reader could have seen before; a round whose
		 * patch failed in spite of being stored may go */
		assert_true(mem_check_file(&file) == records || fault == MEM_FAULT_TORN);
	}
	if (!w.data_offset)
		assert_int_equal(begin(), 0);
	assert_int_equal(put(9), 0);
	assert_int_equal(fmt_writer_finish(&w, &feat), 0);
	assert_true(mem_check_file(&file) >= 2);
	assert_true(le_get(file.bytes + FMT_HDR_FEATURES, 8) == 0x40008);
	return true;
}

/* Type and size of the attr of event i, as stored. */
static uint64_t stored_type(size_t i)
{
	return le_get(file.bytes + 128 + 144 * i, 8);
}

#define TRACEPOINT (FMT_TYPE_TRACEPOINT | UINT64_C(128) << 32)
#define RAW	   (FMT_TYPE_RAW | UINT64_C(128) << 32)

static void start_with_tracepoint(struct fmt_features *f)
{
	static const uint8_t tracing[] = { 23, 8, 68 };

	start(false);
	le_put(events[1].attr, TRACEPOINT, 8);
	file.check_each = true;
	*f = feat;
	f->events = events;
	f->nr_events = 2;
	f->tracing_data = tracing;
	f->tracing_data_len = sizeof(tracing);
}

static void a_tracepoint_is_called_raw_until_tracing_data_is_there(void **state)
{
	struct fmt_features f;

	(void)state;
	start_with_tracepoint(&f);
	assert_int_equal(begin(), 0);
	assert_true(stored_type(1) == RAW);
	assert_int_equal(put(1), 0);
	assert_int_equal(fmt_writer_finish(&w, &f), 0);
	assert_true(stored_type(1) == TRACEPOINT);
	assert_true(stored_type(0) == 0xa0a0a0a0a0a0a0a0);
	assert_string_equal(file.log, "aaaysaybp"); /* after the bitmap */
}

static void a_tracepoint_without_tracing_data_stays_raw(void **state)
{
	struct fmt_features f;

	(void)state;
	start_with_tracepoint(&f);
	f.tracing_data = NULL;
	assert_int_equal(begin(), 0);
	assert_int_equal(fmt_writer_finish(&w, &f), 0);
	assert_true(stored_type(1) == RAW);
}

static void a_complete_file_is_not_cut_when_the_last_store_fails(void **state)
{
	struct fmt_features f;
	uint64_t dropped;

	(void)state;
	start_with_tracepoint(&f);
	assert_int_equal(begin(), 0);
	assert_int_equal(put(1), 0);
	file.fail_at = 9; /* "aaaysaybp" */
	file.err = -EIO;
	assert_int_equal(fmt_writer_finish(&w, &f), -EIO);
	assert_int_equal(fmt_writer_rollback(&w, &dropped), -ESPIPE);
	assert_true(le_get(file.bytes + FMT_HDR_FEATURES, 8) != 0);
	assert_int_equal(mem_check_file(&file), 2);
	assert_int_equal(fmt_writer_finish(&w, &f), 0);
	assert_true(stored_type(1) == TRACEPOINT);
}

static void whichever_call_fails_the_file_is_sound_and_can_be_finished(void **state)
{
	(void)state;
	for (int fault = MEM_FAULT_CLEAN; fault <= MEM_FAULT_TORN; fault++) {
		unsigned n = 1;

		while (one_fault(n, (enum mem_fault)fault)) {
			fmt_writer_done(&w);
			n++;
		}
		assert_int_equal(n, 1 + RECORD_CALLS);
		fmt_writer_done(&w);
	}
}

/* The same, but the recorder goes straight from the failure to finish. */
static void finish_after_a_failure_keeps_the_last_round(void **state)
{
	(void)state;
	for (unsigned n = 2;; n++) {
		unsigned records;

		start(false);
		file.fail_at = n;
		file.err = -EIO;
		file.fault = MEM_FAULT_TORN;
		file.check_each = true;
		if (record() == 0)
			break;
		records = mem_check_file(&file);
		assert_int_equal(fmt_writer_finish(&w, &feat), 0);
		assert_true(mem_check_file(&file) <= records);
		assert_true(le_get(file.bytes + FMT_HDR_FEATURES, 8) == 0x40008);
		fmt_writer_done(&w);
	}
}

static void a_second_failure_in_rollback_leaves_the_file_sound(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= RECORD_CALLS; n++)
		for (unsigned again = 1; again <= 3; again++) {
			uint64_t dropped;

			start(false);
			file.fail_at = n;
			file.err = -EIO;
			file.fault = MEM_FAULT_TORN;
			file.check_each = true;
			(void)record();
			file.fail_at = file.calls + again;
			if (w.failed && fmt_writer_rollback(&w, &dropped))
				mem_check_file(&file);
			file.fail_at = 0;
			if (w.failed)
				assert_int_equal(fmt_writer_rollback(&w, &dropped), 0);
			mem_check_file(&file);
			assert_int_equal(file.len >= w.valid, 1);
			fmt_writer_done(&w);
		}
}

static void done_twice_is_safe(void **state)
{
	(void)state;
	assert_int_equal(begin(), 0);
	assert_int_equal(trace(8, 0), 0);
	fmt_writer_done(&w);
	fmt_writer_done(&w);
	assert_null(w.index);
}

static void a_stream_byte_for_byte(void **state)
{
	static const uint8_t tracing[] = { 23, 8, 68, 1, 2 };
	const struct fmt_build_id id = { .misc = FMT_MISC_USER, .id_size = 4,
					 .name = "/a" };
	const struct fmt_cache cache = { .type = "", .size = "", .cpu_map = "" };
	const struct fmt_features f = {
		.hostname = "box",
		.tracing_data = tracing,
		.tracing_data_len = sizeof(tracing),
		.caches = &cache, /* not for pipes */
		.nr_caches = 1,
		.build_ids = &id, /* not here, but at the end */
		.nr_build_ids = 1,
		.have_aux = true,
	};

	(void)state;
	start(true);
	assert_int_equal(fmt_writer_begin(&w, events, 2, &f), 0);
	assert_int_equal(put(0xcc), 0);
	assert_int_equal(trace(3, 0), 0);
	assert_int_equal(fmt_writer_round(&w, true), 0);
	assert_int_equal(fmt_writer_finish(&w, &f), 0);
	hex_expect(file.bytes, file.len,
		   "'PERFILE2' 1000000000000000"
		   "40000000 0000 9800 a0[128] 1100000000000000 1200000000000000"
		   "40000000 0000 9000 a1[128] 2100000000000000"
		   "50000000 0000 5800 0300000000000000" /* HEADER_FEATURE, size 88, 3 */
		   "40000000 'box' 00[61] 00[4]" /* 68 bytes, padded to 72 */
		   "50000000 0000 1000 2000000000000000" /* the end mark, 32 */
		   "42000000 0000 1000 08000000 00000000" /* TRACING_DATA of 8 bytes */
		   "1708440102 00[3]"
		   "0c000000 0000 1000 cc[8]"
		   "47000000 0000 3000 0800000000000000 00[16]"
		   "01000000 ffffffff 01000000 00000000 aa[3] 00[5]"
		   "44000000 0000 0800"
		   "43000000 0280 2800 ffffffff 00[20] 04 000000 '/a' 00[2]");
	assert_string_equal(file.log, "aaaaya");
}

static void a_stream_needs_append_only(void **state)
{
	const struct fmt_features none = { 0 };

	(void)state;
	start(true);
	w.sink.patch = NULL;
	w.sink.cut = NULL;
	w.sink.sync = NULL;
	assert_int_equal(fmt_writer_begin(&w, events, 2, NULL), 0);
	assert_int_equal(trace(8, 0), 0);
	assert_int_equal(fmt_writer_round(&w, true), 0);
	assert_int_equal(fmt_writer_finish(&w, &none), 0);
	assert_string_equal(file.log, "aaa");
	assert_null(w.index); /* nobody could use it */
}

static void a_stream_cannot_take_anything_back(void **state)
{
	uint64_t dropped = 77;

	(void)state;
	start(true);
	assert_int_equal(begin(), 0);
	file.fail_at = 2;
	file.err = -EPIPE;
	assert_int_equal(put(1), -EPIPE);
	assert_int_equal(fmt_writer_rollback(&w, &dropped), -ESPIPE);
	assert_int_equal(dropped, 77);
	assert_int_equal(fmt_writer_finish(&w, &feat), -EPIPE);
	assert_string_equal(file.log, "aa");
}

static void a_feature_too_long_for_a_record_stays_out_of_a_stream(void **state)
{
	static const char *argv[1000];
	const struct fmt_features f = { .hostname = "box", .cmdline = argv,
					.nr_cmdline = 1000, .cpuid = "x" };
	const size_t head = 16 + 152 + 144, feature = 16 + 72, mark = 16;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		argv[i] = "y";
	start(true);
	assert_int_equal(fmt_writer_begin(&w, events, 2, &f), 0);
	assert_int_equal(file.len, head + 2 * feature + mark);
}

static void an_event_too_long_for_a_record_is_refused(void **state)
{
	static uint64_t ids[9000];
	const struct fmt_event e = { .ids = ids, .nr_ids = 9000, .name = "x" };

	(void)state;
	start(true);
	assert_int_equal(fmt_writer_begin(&w, &e, 1, NULL), -EMSGSIZE);
	assert_int_equal(file.len, 0);
	fmt_writer_done(&w);
	start(false);
	assert_int_equal(fmt_writer_begin(&w, &e, 1, NULL), 0); /* a file has room */
	assert_int_equal(file.len, 104 + 72000 + 144);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_begins_with_header_ids_and_attrs),
		TEST(a_finished_file_byte_for_byte),
		TEST(data_size_advances_after_the_bytes_and_their_sync),
		TEST(the_bitmap_is_stored_last),
		TEST(without_sync_a_round_is_one_patch),
		TEST(an_empty_round_writes_nothing),
		TEST(a_round_may_go_without_marker),
		TEST(empty_input_is_no_call),
		TEST(spans_leave_in_one_call_and_uncopied),
		TEST(the_last_spans_of_a_round_leave_with_its_marker_in_one_call),
		TEST(trace_leaves_with_header_and_padding_in_one_call_and_uncopied),
		TEST(every_length_of_trace_is_padded_to_8),
		TEST(the_index_names_every_trace_however_many),
		TEST(a_bad_buffer_is_not_written),
		TEST(rollback_gives_up_what_followed_the_last_round),
		TEST(a_failure_is_repeated_until_it_is_rolled_back),
		TEST(a_sink_without_cut_cannot_be_rolled_back),
		TEST(nothing_can_be_finished_that_did_not_begin),
		TEST(features_that_fail_are_cut_off_again),
		TEST(a_tracepoint_is_called_raw_until_tracing_data_is_there),
		TEST(a_tracepoint_without_tracing_data_stays_raw),
		TEST(a_complete_file_is_not_cut_when_the_last_store_fails),
		TEST(whichever_call_fails_the_file_is_sound_and_can_be_finished),
		TEST(finish_after_a_failure_keeps_the_last_round),
		TEST(a_second_failure_in_rollback_leaves_the_file_sound),
		TEST(done_twice_is_safe),
		TEST(a_stream_byte_for_byte),
		TEST(a_stream_needs_append_only),
		TEST(a_stream_cannot_take_anything_back),
		TEST(a_feature_too_long_for_a_record_stays_out_of_a_stream),
		TEST(an_event_too_long_for_a_record_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
