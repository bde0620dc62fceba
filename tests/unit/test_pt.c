/* SPDX-License-Identifier: Apache-2.0 */
/* Golden bytes: Intel SDM vol. 3C, 33.4.2 (packet definitions). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfio/soft/pt.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

struct world {
	struct soft_ptenc enc;
	struct soft_pt pt;
};

#define PSB 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, \
	    0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82
#define MODE_TSX 0x99, 0x20
#define CBR 0x02, 0x03, 0x0a, 0x00
#define PSBEND 0x02, 0x23
#define MODE_64 0x99, 0x01
#define OVF 0x02, 0xf3
/* The time that begin() gives. */
#define TSC_1 0x19, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22
#define START PSB, TSC_1, MODE_TSX, CBR, PSBEND, MODE_64, \
	      0x51, 0x56, 0x34, 0x12, 0x00
enum { START_LEN = 16 + 8 + 2 + 4 + 2 + 2 + 5 };
#define BASE 0x123456u
#define TICKS 0x1122334455667788u

static void make_as(struct world *w, const struct soft_pt_config *c)
{
	assert_int_equal(soft_ptenc_init(&w->enc, c), 0);
	soft_pt_init(&w->pt, &w->enc);
}

static void make(struct world *w, bool tsc, bool noretcomp)
{
	const struct soft_pt_config c = { .psb_bytes = 1000, .tsc = tsc, .branch = true,
					  .noretcomp = noretcomp };

	make_as(w, &c);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	make(w, true, true);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	soft_pt_done(&w->pt);
	soft_ptenc_done(&w->enc);
	free(w);
	return 0;
}

static void remake(struct world *w, bool tsc, bool noretcomp)
{
	soft_pt_done(&w->pt);
	soft_ptenc_done(&w->enc);
	make(w, tsc, noretcomp);
}

/* All that is queued; the queue is empty then. */
static size_t drain(struct soft_pt *p, uint8_t *buf, size_t size)
{
	struct iovec v[2];
	size_t n = 0;
	int nv;

	while ((nv = soft_bytes_peek(&p->out, v))) {
		for (int i = 0; i < nv; i++) {
			assert_true(n + v[i].iov_len <= size);
			memcpy(buf + n, v[i].iov_base, v[i].iov_len);
			n += v[i].iov_len;
		}
		soft_bytes_release(&p->out);
	}
	return n;
}

static void expect_bytes(struct soft_pt *p, const uint8_t *want, size_t n)
{
	uint8_t got[4096];

	assert_int_equal(drain(p, got, sizeof(got)), n);
	assert_memory_equal(got, want, n);
}

#define expect(p, ...) \
	expect_bytes(p, (const uint8_t[]){ __VA_ARGS__ }, \
		     sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void begin(struct soft_pt *p)
{
	soft_pt_at(p, BASE, TICKS, false);
}

static void begin_quietly(struct soft_pt *p)
{
	uint8_t buf[128];

	begin(p);
	assert_int_equal(drain(p, buf, sizeof(buf)), START_LEN);
}

static void a_stream_starts_with_psb_and_pge(void **state)
{
	struct world *w = *state;

	begin(&w->pt);
	assert_true(w->pt.start_ticks == TICKS);
	expect(&w->pt, START);
}

static void no_time_is_written_without_tsc(void **state)
{
	struct world *w = *state;

	remake(w, false, true);
	begin(&w->pt);
	soft_pt_leave(&w->pt);
	soft_pt_at(&w->pt, BASE, TICKS, true);
	soft_pt_at(&w->pt, BASE, TICKS, true);
	expect(&w->pt, PSB, MODE_TSX, CBR, PSBEND, MODE_64,
	       0x51, 0x56, 0x34, 0x12, 0x00, /* TIP.PGE */
	       0x01,					 /* TIP.PGD */
	       MODE_64, 0x31, 0x56, 0x34);
}

static void branch_bits_are_oldest_first_below_the_stop_bit(void **state)
{
	struct world *w = *state;

	begin_quietly(&w->pt);
	soft_pt_cond(&w->pt, true);
	soft_pt_cond(&w->pt, false);
	soft_pt_cond(&w->pt, false);
	soft_pt_flush(&w->pt);
	expect(&w->pt, 0x18); /* 000 1 100 0: stop bit, taken, not, not, header */
}

static void six_branch_bits_fit_the_short_packet(void **state)
{
	struct world *w = *state;

	begin_quietly(&w->pt);
	for (int i = 0; i < 6; i++)
		soft_pt_cond(&w->pt, i == 5);
	soft_pt_flush(&w->pt);
	expect(&w->pt, 0x82);
	for (int i = 0; i < 7; i++)
		soft_pt_cond(&w->pt, i == 6);
	soft_pt_flush(&w->pt);
	expect(&w->pt, 0x02, 0xa3, 0x81, 0, 0, 0, 0, 0);
}

static void the_47th_branch_bit_completes_a_long_packet(void **state)
{
	struct world *w = *state;
	uint8_t buf[16];

	begin_quietly(&w->pt);
	for (int i = 0; i < 46; i++)
		soft_pt_cond(&w->pt, i == 0);
	assert_int_equal(drain(&w->pt, buf, sizeof(buf)), 0);
	soft_pt_cond(&w->pt, true);
	expect(&w->pt, 0x02, 0xa3, 0x01, 0x00, 0x00, 0x00, 0x00, 0xc0);
}

static void addresses_are_sent_as_far_as_they_differ(void **state)
{
	struct world *w = *state;

	begin_quietly(&w->pt);
	soft_pt_jump(&w->pt, 0x12ffee);
	soft_pt_jump(&w->pt, 0xaabbccdd);
	soft_pt_jump(&w->pt, 0x7fff00000010);
	soft_pt_jump(&w->pt, 0xffffffffff600000);
	soft_pt_jump(&w->pt, 0x00ff000000000000);
	expect(&w->pt,
	       0x2d, 0xee, 0xff,
	       0x4d, 0xdd, 0xcc, 0xbb, 0xaa,
	       0x6d, 0x10, 0x00, 0x00, 0x00, 0xff, 0x7f,
	       0x6d, 0x00, 0x00, 0x60, 0xff, 0xff, 0xff,
	       0xcd, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0x00);
}

static void a_branch_bit_precedes_the_address_that_follows_it(void **state)
{
	struct world *w = *state;

	begin_quietly(&w->pt);
	soft_pt_cond(&w->pt, true);
	soft_pt_jump(&w->pt, 0x120001);
	expect(&w->pt, 0x06, 0x2d, 0x01, 0x00);
}

static void a_system_call_ends_packets_without_an_address(void **state)
{
	struct world *w = *state;

	begin_quietly(&w->pt);
	soft_pt_cond(&w->pt, false);
	soft_pt_leave(&w->pt);
	soft_pt_leave(&w->pt); /* once is enough */
	soft_pt_at(&w->pt, BASE + 2, 3, false);
	expect(&w->pt, 0x04, 0x01,
	       0x19, 3, 0, 0, 0, 0, 0, 0, MODE_64, 0x31, 0x58, 0x34);
}

static void a_signal_ends_packets_at_the_address_not_executed(void **state)
{
	struct world *w = *state;

	begin_quietly(&w->pt);
	soft_pt_cond(&w->pt, false);
	soft_pt_cut(&w->pt, BASE + 4);
	soft_pt_cut(&w->pt, BASE + 4);
	expect(&w->pt, 0x04, 0x3d, 0x5a, 0x34, 0x01);
}

static void a_change_of_mappings_asks_for_a_lone_time(void **state)
{
	struct world *w = *state;

	begin_quietly(&w->pt);
	soft_pt_cond(&w->pt, true);
	soft_pt_at(&w->pt, BASE, 7, true);
	expect(&w->pt, 0x06, 0x19, 7, 0, 0, 0, 0, 0, 0);
}

static void a_due_psb_in_user_code_says_where(void **state)
{
	struct world *w = *state;
	uint8_t buf[4096];

	begin(&w->pt);
	while (w->pt.since_psb < 1000)
		soft_pt_jump(&w->pt, BASE);
	drain(&w->pt, buf, sizeof(buf));
	soft_pt_cond(&w->pt, true);
	soft_pt_at(&w->pt, BASE, TICKS, false);
	soft_pt_jump(&w->pt, BASE);
	expect(&w->pt, 0x06, PSB, TSC_1, MODE_TSX, CBR, MODE_64,
	       0x7d, 0x56, 0x34, 0x12, 0x00, 0x00, 0x00, PSBEND,
	       0x2d, 0x56, 0x34);
}

static void a_due_psb_waits_for_the_return_to_user_space(void **state)
{
	struct world *w = *state;
	uint8_t buf[4096];

	begin(&w->pt);
	while (w->pt.since_psb < 1000)
		soft_pt_jump(&w->pt, BASE);
	soft_pt_leave(&w->pt);
	drain(&w->pt, buf, sizeof(buf));
	begin(&w->pt);
	expect(&w->pt, START);
}

static void a_matching_return_is_a_taken_bit(void **state)
{
	struct world *w = *state;

	remake(w, true, false);
	begin_quietly(&w->pt);
	soft_pt_call(&w->pt, 0x120005);
	soft_pt_call(&w->pt, 0x120009);
	soft_pt_return(&w->pt, 0x120009);
	soft_pt_return(&w->pt, 0x120005);
	soft_pt_return(&w->pt, 0x120005); /* nothing left to match */
	expect(&w->pt, 0x0e, 0x2d, 0x05, 0x00);
}

static void a_far_branch_empties_the_return_stack(void **state)
{
	struct world *w = *state;

	remake(w, true, false);
	begin_quietly(&w->pt);
	soft_pt_call(&w->pt, 0x120005);
	soft_pt_far(&w->pt, 0x120001);
	soft_pt_return(&w->pt, 0x120005);
	expect(&w->pt, 0x2d, 0x01, 0x00, 0x2d, 0x05, 0x00);
}

static void an_odd_return_empties_the_return_stack(void **state)
{
	struct world *w = *state;

	remake(w, true, false);
	begin_quietly(&w->pt);
	soft_pt_call(&w->pt, 0x120005);
	soft_pt_call(&w->pt, 0x120009);
	soft_pt_return(&w->pt, 0x120001);
	soft_pt_return(&w->pt, 0x120005);
	expect(&w->pt, 0x2d, 0x01, 0x00, 0x2d, 0x05, 0x00);
}

static void the_return_stack_keeps_the_newest_64(void **state)
{
	struct world *w = *state;

	remake(w, true, false);
	begin_quietly(&w->pt);
	for (unsigned i = 0; i <= 64; i++)
		soft_pt_call(&w->pt, 0x120000 + i);
	for (unsigned i = 64; i >= 1; i--)
		soft_pt_return(&w->pt, 0x120000 + i);
	assert_int_equal(w->pt.nr_tnt, 64 - 47);
	assert_int_equal(w->pt.nr_ret, 0);
	soft_pt_return(&w->pt, 0x120000);
	assert_int_equal(w->pt.nr_tnt, 0);
}

static void a_psb_empties_the_return_stack(void **state)
{
	struct world *w = *state;

	remake(w, true, false);
	begin(&w->pt);
	soft_pt_call(&w->pt, 0x120005);
	while (w->pt.since_psb < 1000)
		soft_pt_jump(&w->pt, BASE);
	soft_pt_at(&w->pt, BASE, TICKS, false);
	assert_int_equal(w->pt.nr_ret, 0);
}

static void returns_are_never_compressed_when_told_so(void **state)
{
	struct world *w = *state;

	begin_quietly(&w->pt);
	soft_pt_call(&w->pt, 0x120005);
	soft_pt_return(&w->pt, 0x120005);
	expect(&w->pt, 0x2d, 0x05, 0x00);
}

/* The limit stands for malloc() here: both make a reservation fail. */
static void lost_packets_in_user_code_end_with_ovf_and_address(void **state)
{
	struct world *w = *state;

	begin_quietly(&w->pt);
	w->pt.out.limit = 1;
	soft_pt_jump(&w->pt, 0x120001);
	soft_pt_cond(&w->pt, true);
	assert_true(w->pt.lost);
	assert_int_equal(w->pt.dropped, 3);
	w->pt.out.limit = 0;
	soft_pt_at(&w->pt, BASE, TICKS, false);
	soft_pt_jump(&w->pt, BASE);
	expect(&w->pt, OVF, TSC_1, 0x7d, 0x56, 0x34, 0x12, 0x00, 0x00, 0x00,
	       0x2d, 0x56, 0x34);
}

/* Ten thousand jumps, of which the newest some thousand bytes are asked for: they are there,
 * at their place in the stream, and begin with a whole packet. */
static void a_window_keeps_the_newest_whole_packets(void **state)
{
	enum { KEEP = 16384 };
	struct world *w = *state;
	struct pt_packet_decoder *dec;
	struct pt_packet packet;
	struct pt_config conf;
	static uint8_t flat[1 << 20];
	size_t n = 0;
	struct iovec v[2];
	int nv, got;

	begin_quietly(&w->pt);
	w->pt.out.window = KEEP;
	for (unsigned i = 0; i < 100000; i++)
		soft_pt_jump(&w->pt, 0x120001 + 4096 * i);
	assert_in_range(w->pt.out.held, KEEP, KEEP + 2 * 65536);
	assert_int_equal(w->pt.out.offset + w->pt.out.held, w->pt.bytes);
	while ((nv = soft_bytes_peek(&w->pt.out, v))) {
		for (int i = 0; i < nv; i++) {
			memcpy(flat + n, v[i].iov_base, v[i].iov_len);
			n += v[i].iov_len;
		}
		soft_bytes_release(&w->pt.out);
	}
	pt_config_init(&conf);
	conf.begin = flat;
	conf.end = flat + n;
	dec = pt_pkt_alloc_decoder(&conf);
	assert_non_null(dec);
	assert_int_equal(pt_pkt_sync_set(dec, 0), 0);
	while ((got = pt_pkt_next(dec, &packet, sizeof(packet))) > 0)
		;
	assert_int_equal(got, -pte_eos);
	pt_pkt_free_decoder(dec);
}

static void lost_packets_in_the_kernel_end_with_ovf_and_pge(void **state)
{
	struct world *w = *state;

	begin_quietly(&w->pt);
	w->pt.out.limit = 1;
	soft_pt_leave(&w->pt);
	w->pt.out.limit = 0;
	begin(&w->pt);
	expect(&w->pt, OVF, TSC_1, MODE_64, 0x51, 0x56, 0x34, 0x12, 0x00);
}

static void a_stream_that_began_without_memory_starts_late(void **state)
{
	struct world *w = *state;

	w->pt.out.limit = 1;
	begin(&w->pt);
	assert_false(w->pt.begun);
	assert_int_equal(w->pt.bytes, 0);
	w->pt.out.limit = 0;
	begin(&w->pt);
	expect(&w->pt, OVF, TSC_1, 0x7d, 0x56, 0x34, 0x12, 0x00, 0x00, 0x00,
	       PSB, TSC_1, MODE_TSX, CBR, MODE_64,
	       0x7d, 0x56, 0x34, 0x12, 0x00, 0x00, 0x00, PSBEND);
}

/* Some hundred kilobytes of everything, read in pieces; each piece must be whole. */
static void each_piece_handed_out_ends_with_a_packet(void **state)
{
	struct world *w = *state;
	struct pt_config c;
	size_t pieces = 0;

	srand(1);
	for (int i = 0; i < 200000; i++) {
		uint64_t ip = BASE + ((uint64_t)rand() << (rand() % 17));

		soft_pt_at(&w->pt, ip, (unsigned)i, rand() % 16 == 0);
		if (rand() % 2)
			soft_pt_cond(&w->pt, rand() % 2);
		else if (rand() % 8)
			soft_pt_jump(&w->pt, ip);
		else if (rand() % 2)
			soft_pt_cut(&w->pt, ip);
		else
			soft_pt_leave(&w->pt);
	}
	pt_config_init(&c);
	for (;;) {
		struct pt_packet_decoder *d;
		struct pt_packet k;
		struct iovec v[2];
		int nv = soft_bytes_peek(&w->pt.out, v), n = 0;

		for (int i = 0; i < nv; i++) {
			c.begin = v[i].iov_base;
			c.end = c.begin + v[i].iov_len;
			d = pt_pkt_alloc_decoder(&c);
			assert_non_null(d);
			assert_int_equal(pt_pkt_sync_set(d, 0), 0);
			while ((n = pt_pkt_next(d, &k, sizeof(k))) > 0)
				assert_int_not_equal(k.type, ppt_invalid);
			pt_pkt_free_decoder(d);
			assert_int_equal(n, -pte_eos);
			pieces++;
		}
		if (!nv)
			break;
		soft_bytes_release(&w->pt.out);
	}
	assert_true(pieces > 10);
	assert_true(w->pt.out.offset == w->pt.bytes);
}

static void what_was_not_shown_is_not_released(void **state)
{
	struct world *w = *state;
	struct iovec v[2];

	begin(&w->pt);
	assert_int_equal(soft_bytes_peek(&w->pt.out, v), 1);
	soft_pt_jump(&w->pt, 0x120001);
	soft_bytes_release(&w->pt.out);
	assert_int_equal(w->pt.out.offset, START_LEN);
	expect(&w->pt, 0x2d, 0x01, 0x00);
	soft_bytes_release(&w->pt.out);
	assert_int_equal(w->pt.out.offset, START_LEN + 3);
}

/* In user code, after a cut, the new stretch reads like a stream of its own. */
static void a_divided_stream_starts_anew(void **state)
{
	struct world *w = *state;

	begin_quietly(&w->pt);
	soft_pt_cond(&w->pt, true);
	soft_pt_cut(&w->pt, BASE + 2);
	soft_pt_want_psb(&w->pt);
	expect(&w->pt, 0x06, 0x3d, 0x58, 0x34, 0x01); /* TNT, FUP, TIP.PGD */
	soft_pt_at(&w->pt, BASE, TICKS, false);
	expect(&w->pt, START);
	soft_pt_want_psb(&w->pt); /* of a thread that is in the kernel, or not yet anywhere */
	soft_pt_want_psb(&w->pt);
	assert_int_equal(w->pt.start_ticks, TICKS);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_stream_starts_with_psb_and_pge),
		T(no_time_is_written_without_tsc),
		T(branch_bits_are_oldest_first_below_the_stop_bit),
		T(six_branch_bits_fit_the_short_packet),
		T(the_47th_branch_bit_completes_a_long_packet),
		T(addresses_are_sent_as_far_as_they_differ),
		T(a_branch_bit_precedes_the_address_that_follows_it),
		T(a_system_call_ends_packets_without_an_address),
		T(a_signal_ends_packets_at_the_address_not_executed),
		T(a_change_of_mappings_asks_for_a_lone_time),
		T(a_due_psb_in_user_code_says_where),
		T(a_due_psb_waits_for_the_return_to_user_space),
		T(a_matching_return_is_a_taken_bit),
		T(a_far_branch_empties_the_return_stack),
		T(an_odd_return_empties_the_return_stack),
		T(the_return_stack_keeps_the_newest_64),
		T(a_psb_empties_the_return_stack),
		T(returns_are_never_compressed_when_told_so),
		T(lost_packets_in_user_code_end_with_ovf_and_address),
		T(a_window_keeps_the_newest_whole_packets),
		T(lost_packets_in_the_kernel_end_with_ovf_and_pge),
		T(a_stream_that_began_without_memory_starts_late),
		T(each_piece_handed_out_ends_with_a_packet),
		T(what_was_not_shown_is_not_released),
		T(a_divided_stream_starts_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
