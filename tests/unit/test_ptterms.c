/* SPDX-License-Identifier: Apache-2.0 */
/* What the terms of the event change: golden bytes, Intel SDM vol. 3C, 33.4.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfio/soft/pt.h"

#include <string.h>

#define PSB 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, \
	    0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82
#define MODE_TSX 0x99, 0x20
#define MODE_64 0x99, 0x01
#define CBR 0x02, 0x03, 0x0a, 0x00
#define PSBEND 0x02, 0x23
#define OVF 0x02, 0xf3
#define PGE 0x51, 0x56, 0x34, 0x12, 0x00
#define PGD 0x01
#define TNT_1 0x06
#define BASE 0x123456u
/* 1000 edges of the crystal clock, and 3 ticks; a little-endian number of seven bytes. */
#define TICKS (1000u * SOFT_PT_CTC + 3)
#define TSC(t) 0x19, (t) & 0xff, (t) >> 8 & 0xff, (t) >> 16 & 0xff, 0, 0, 0, 0
#define TMA(ctc, fc) 0x02, 0x73, (ctc) & 0xff, (ctc) >> 8, 0, fc, 0
#define MTC(ctc) 0x59, ctc
/* CYC of less than 32, and of less than 4096 cycles. */
#define CYC(n) (n) << 3 | 3
#define CYC2(n) ((n) & 31) << 3 | 7, (n) >> 5 << 1

struct world {
	struct soft_ptenc enc;
	struct soft_pt pt;
};

static void begin(struct world *w, struct soft_pt_config c)
{
	c.psb_bytes = 4096;
	assert_int_equal(soft_ptenc_init(&w->enc, &c), 0);
	soft_pt_init(&w->pt, &w->enc);
	soft_pt_at(&w->pt, BASE, TICKS, false);
}

static size_t drain(struct world *w, uint8_t *buf, size_t size)
{
	size_t n = soft_bytes_copy(&w->pt.out, w->pt.out.offset, buf, size);
	struct iovec v[2];

	while (soft_bytes_peek(&w->pt.out, v))
		soft_bytes_release(&w->pt.out);
	return n;
}

/* And the end, where `last`. */
static void check(struct world *w, const uint8_t *want, size_t n, bool last)
{
	uint8_t got[4096];

	assert_int_equal(drain(w, got, sizeof(got)), n);
	assert_memory_equal(got, want, n);
	if (!last)
		return;
	soft_pt_done(&w->pt);
	soft_ptenc_done(&w->enc);
}

#define expect(w, ...) check(w, (const uint8_t[]){ __VA_ARGS__ }, \
			     sizeof((const uint8_t[]){ __VA_ARGS__ }), false)
#define expect_last(w, ...) check(w, (const uint8_t[]){ __VA_ARGS__ }, \
				  sizeof((const uint8_t[]){ __VA_ARGS__ }), true)

static void the_crystal_clock_is_told_at_each_edge(void **state)
{
	struct world w;

	(void)state;
	begin(&w, (struct soft_pt_config){ .tsc = true, .branch = true, .mtc = true,
					   .mtc_period = 3 });
	expect(&w, PSB, TSC(TICKS), TMA(1000, 3), MODE_TSX, CBR, PSBEND, MODE_64, PGE);
	soft_pt_cond(&w.pt, true);
	soft_pt_at(&w.pt, BASE, 1007 * SOFT_PT_CTC, false);
	expect(&w);
	soft_pt_at(&w.pt, BASE, 1008 * SOFT_PT_CTC, false); /* the branch was before it */
	expect(&w, TNT_1, MTC(1008 / 8));
	soft_pt_at(&w.pt, BASE, 1039 * SOFT_PT_CTC, false);
	expect(&w, MTC(1016 / 8), MTC(1024 / 8 % 256), MTC(1032 / 8));
	soft_pt_at(&w.pt, BASE, 9000 * SOFT_PT_CTC + 1, false); /* after many, the time itself */
	expect(&w, TSC(9000 * SOFT_PT_CTC + 1), TMA(9000, 1));
	soft_pt_leave(&w.pt);
	soft_pt_at(&w.pt, BASE, 9100 * SOFT_PT_CTC, false);
	expect_last(&w, PGD, TSC(9100 * SOFT_PT_CTC), TMA(9100, 0), MODE_64, 0x31, 0x56, 0x34);
}

static void without_tsc_a_gap_is_one_edge(void **state)
{
	struct world w;

	(void)state;
	begin(&w, (struct soft_pt_config){ .branch = true, .mtc = true });
	soft_pt_at(&w.pt, BASE, 1000 * SOFT_PT_CTC + 5, false);
	expect(&w, PSB, MODE_TSX, CBR, PSBEND, MODE_64, PGE, MTC(1000 % 256));
	soft_pt_at(&w.pt, BASE, 9000 * SOFT_PT_CTC, false);
	expect_last(&w, MTC(9000 % 256));
}

static void cycles_precede_what_happened(void **state)
{
	struct world w;

	(void)state;
	begin(&w, (struct soft_pt_config){ .tsc = true, .branch = true, .cyc = true });
	expect(&w, PSB, TSC(TICKS), MODE_TSX, CBR, PSBEND, MODE_64, PGE);
	soft_pt_at(&w.pt, BASE, TICKS + 20, false);
	soft_pt_cond(&w.pt, true);
	expect(&w);
	soft_pt_at(&w.pt, BASE, TICKS + 30, false); /* tells the moment of the branch */
	expect(&w, CYC(20), TNT_1);
	soft_pt_jump(&w.pt, BASE);
	soft_pt_jump(&w.pt, BASE);
	expect(&w, CYC(10), 0x2d, 0x56, 0x34, 0x2d, 0x56, 0x34);
	soft_pt_at(&w.pt, BASE, TICKS + 1000, true);
	soft_pt_cut(&w.pt, BASE);
	expect_last(&w, CYC2(970), TSC(TICKS + 1000), 0x3d, 0x56, 0x34, PGD);
}

static void few_cycles_wait_for_more(void **state)
{
	struct world w;

	(void)state;
	begin(&w, (struct soft_pt_config){ .branch = true, .cyc = true, .cyc_thresh = 5 });
	expect(&w, PSB, MODE_TSX, CBR, PSBEND, MODE_64, PGE);
	soft_pt_at(&w.pt, BASE, TICKS + 15, false);
	soft_pt_cond(&w.pt, true);
	soft_pt_jump(&w.pt, BASE);
	expect(&w, TNT_1, 0x2d, 0x56, 0x34);
	soft_pt_at(&w.pt, BASE, TICKS + 16, false);
	soft_pt_jump(&w.pt, BASE);
	expect_last(&w, CYC(16), 0x2d, 0x56, 0x34);
}

static void an_edge_has_its_own_cycles(void **state)
{
	struct world w;

	(void)state;
	begin(&w, (struct soft_pt_config){ .branch = true, .cyc = true, .mtc = true,
					   .tsc = true });
	expect(&w, PSB, TSC(TICKS), TMA(1000, 3), MODE_TSX, CBR, PSBEND, MODE_64, PGE);
	soft_pt_at(&w.pt, BASE, 1001 * SOFT_PT_CTC + 4, false);
	soft_pt_jump(&w.pt, BASE);
	expect_last(&w, CYC2(SOFT_PT_CTC - 3), MTC(1001 % 256), CYC(4), 0x2d, 0x56, 0x34);
}

static void values_come_with_and_without_an_address(void **state)
{
	struct world w;

	(void)state;
	begin(&w, (struct soft_pt_config){ .branch = true, .ptw = true });
	expect(&w, PSB, MODE_TSX, CBR, PSBEND, MODE_64, PGE);
	soft_pt_cond(&w.pt, true);
	soft_pt_ptwrite(&w.pt, BASE, 0x11223344, false);
	expect(&w, TNT_1, 0x02, 0x12, 0x44, 0x33, 0x22, 0x11);
	w.enc.cfg.fup_on_ptw = true;
	soft_pt_ptwrite(&w.pt, BASE, 0x1122334455667788, true);
	expect(&w, 0x02, 0xb2, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x3d, 0x56, 0x34);
	w.enc.cfg.ptw = false;
	soft_pt_ptwrite(&w.pt, BASE, 1, true);
	expect_last(&w);
}

static void without_branches_only_values_have_addresses(void **state)
{
	struct world w;

	(void)state;
	begin(&w, (struct soft_pt_config){ .ptw = true, .fup_on_ptw = true });
	soft_pt_cond(&w.pt, true);
	soft_pt_call(&w.pt, BASE);
	soft_pt_return(&w.pt, BASE);
	soft_pt_jump(&w.pt, BASE);
	soft_pt_leave(&w.pt);
	soft_pt_at(&w.pt, BASE, TICKS, true);
	soft_pt_cut(&w.pt, BASE);
	soft_pt_flush(&w.pt);
	soft_pt_at(&w.pt, BASE, TICKS, true);
	expect(&w, PSB, CBR, PSBEND);
	soft_pt_ptwrite(&w.pt, BASE, 1, false);
	expect_last(&w, 0x02, 0x92, 1, 0, 0, 0, 0x7d, 0x56, 0x34, 0x12, 0, 0, 0);
}

/* 64 bytes are written, then at least 16 lost; what comes then says so first. */
static void an_overflow_loses_packets_and_tells(void **state)
{
	struct world w;
	uint8_t buf[256];
	int lost = 0;

	(void)state;
	begin(&w, (struct soft_pt_config){ .tsc = true, .branch = true, .ovf_every = 64 });
	while (w.pt.since_ovf < 64)
		soft_pt_jump(&w.pt, BASE);
	assert_in_range(drain(&w, buf, sizeof(buf)), 64, 64 + 3);
	for (; w.pt.to_lose || !lost; lost++) {
		soft_pt_at(&w.pt, BASE, TICKS, false);
		soft_pt_jump(&w.pt, BASE);
	}
	assert_int_equal(lost, 6); /* packets of three bytes */
	assert_int_equal(w.pt.dropped, 0);
	expect(&w);
	soft_pt_at(&w.pt, BASE, TICKS, false);
	soft_pt_jump(&w.pt, BASE);
	expect_last(&w, OVF, TSC(TICKS), 0x7d, 0x56, 0x34, 0x12, 0x00, 0x00, 0x00,
		    0x2d, 0x56, 0x34);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_crystal_clock_is_told_at_each_edge),
		cmocka_unit_test(without_tsc_a_gap_is_one_edge),
		cmocka_unit_test(cycles_precede_what_happened),
		cmocka_unit_test(few_cycles_wait_for_more),
		cmocka_unit_test(an_edge_has_its_own_cycles),
		cmocka_unit_test(values_come_with_and_without_an_address),
		cmocka_unit_test(without_branches_only_values_have_addresses),
		cmocka_unit_test(an_overflow_loses_packets_and_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
