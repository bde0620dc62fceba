/* SPDX-License-Identifier: Apache-2.0 */
/* Packets put together by hand; the listings of ptdump are in an end-to-end test. */
#include "recorder/decode/packets.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/hex.h"

#define PSB "0282028202820282 0282028202820282 "

struct list {
	char s[4096];
	size_t n;
};

static void note(void *ctx, const struct packet *p)
{
	struct list *l = ctx;
	int n;

	n = snprintf(l->s + l->n, sizeof(l->s) - l->n, "%" PRIx64 "@%" PRIx64 "+%" PRIu64 " %s%s%s",
		     p->at, p->file_at, p->size, p->name, *p->text ? " " : "", p->text);
	l->n += (size_t)n;
	if (p->has_ip)
		l->n += (size_t)snprintf(l->s + l->n, sizeof(l->s) - l->n, " ip %" PRIx64,
					 p->ip);
	l->n += (size_t)snprintf(l->s + l->n, sizeof(l->s) - l->n, "; ");
	assert_true(l->n < sizeof(l->s));
}

/* n bytes in pieces of `each`, as from a file at 0x1000. */
static void feed(struct packets *k, const uint8_t *p, size_t n, size_t each)
{
	uint8_t *piece;
	size_t now;

	for (size_t at = 0; at < n; at += now) {
		now = n - at < each ? n - at : each;
		piece = malloc(now);
		assert_non_null(piece);
		memcpy(piece, p + at, now);
		assert_int_equal(packets_feed(k, piece, now, 0x1000 + at), 0);
		free(piece);
	}
}

/* The same packets, however the bytes come. */
static void expect(const char *hex, const char *want)
{
	uint8_t bytes[1024];
	size_t n = hex_bytes(bytes, sizeof(bytes), hex);
	struct packets *k;
	struct list l;

	for (size_t each = 1; each <= n; each++) {
		l = (struct list){ 0 };
		assert_int_equal(packets_new(&k, note, &l), 0);
		feed(k, bytes, n, each);
		assert_int_equal(packets_end(k), 0);
		packets_free(k);
		assert_string_equal(l.s, want);
	}
}

static void packets_are_told_with_what_they_say(void **state)
{
	(void)state;
	expect(PSB "19 44332211000000 0203 20 00 7d 006040 000000 0223 4d 05000d07",
	       "0@1000+16 psb; 10@1010+8 tsc 11223344; 18@1018+4 cbr 20; "
	       "1c@101c+7 fup 3: 0000000000406000 ip 406000; 23@1023+2 psbend; "
	       "25@1025+5 tip 2: ????????070d0005 ip 70d0005; ");
}

static void addresses_wait_for_a_whole_one(void **state)
{
	(void)state;
	expect(PSB "3d 3412 71 785634120000 2d 1111 02f3 0000 3d 3412",
	       "0@1000+16 psb; 10@1010+3 fup 1: ????????????1234; "
	       "13@1013+7 tip.pge 3: 0000000012345678 ip 12345678; "
	       "1a@101a+3 tip 1: ????????????1111 ip 12341111; 1d@101d+2 ovf; "
	       "1f@101f+1 pad; 20@1020+1 pad; 21@1021+3 fup 1: ????????????1234; ");
}

/* libipt 2.0 knows none of these. */
static void blocks_of_items_are_understood(void **state)
{
	(void)state;
	expect(PSB "026381 0c 78563412 14 01000000 02b3 0c",
	       "0@1000+16 psb; 10@1010+3 bbp 1, sz: 4; 13@1013+5 bip 1: 12345678; "
	       "18@1018+5 bip 2: 1; 1d@101d+2 bep ip; 1f@101f+1 tnt.8 !.; ");
	expect(PSB "026304 0c 7856341200000000 0233",
	       "0@1000+16 psb; 10@1010+3 bbp 4, sz: 8; 13@1013+9 bip 1: 12345678; "
	       "1c@101c+2 bep; ");
}

static void what_is_no_packet_is_passed_over(void **state)
{
	(void)state;
	expect("aabbcc " PSB "0223 0201 ffff" PSB "0223",
	       "0@1000+3 skipped; 3@1003+16 psb; 13@1013+2 psbend; "
	       "15@1015+4 error unknown opcode; 19@1019+16 psb; 29@1029+2 psbend; ");
	expect("0102030405", "0@1000+5 skipped; ");
	expect("", "");
}

static void the_end_may_cut_a_packet(void **state)
{
	(void)state;
	expect(PSB "19 443322", "0@1000+16 psb; 10@1010+4 error the packet is not whole; ");
	expect(PSB "0253 02", "0@1000+16 psb; 10@1010+3 error the packet is not whole; ");
	expect(PSB "026304 0c 78", "0@1000+16 psb; 10@1010+3 bbp 4, sz: 8; "
				   "13@1013+2 error the packet is not whole; ");
}

static void padding_is_taken_back(void **state)
{
	uint8_t bytes[64];
	size_t n = hex_bytes(bytes, sizeof(bytes), PSB "19 4433 00000000 22 11 000000 00");
	struct packets *k;
	struct list l = { 0 };

	(void)state;
	assert_int_equal(packets_new(&k, note, &l), 0);
	assert_int_equal(packets_feed(k, bytes, 23, 0x1000), 0);
	packets_take_back(k, 4);
	assert_int_equal(packets_feed(k, bytes + 23, n - 23, 0x2000), 0);
	assert_int_equal(packets_end(k), 0);
	packets_free(k);
	assert_string_equal(l.s, "0@1000+16 psb; 10@1010+8 tsc 11223344; "
				 "18@2005+1 pad; ");
}

static void behind_a_gap_a_psb_is_looked_for(void **state)
{
	uint8_t bytes[64];
	size_t n = hex_bytes(bytes, sizeof(bytes), "4433" PSB "0223");
	struct packets *k;
	struct list l = { 0 };

	(void)state;
	assert_int_equal(packets_new(&k, note, &l), 0);
	assert_int_equal(packets_feed(k, bytes + 2, n - 2, 0x1000), 0);
	assert_int_equal(packets_gap(k), 0);
	assert_int_equal(packets_feed(k, bytes, n, 0x2000), 0);
	assert_int_equal(packets_gap(k), 0);
	assert_int_equal(packets_end(k), 0);
	packets_free(k);
	assert_string_equal(l.s, "0@1000+16 psb; 10@1010+2 psbend; 12@2000+2 gap; "
				 "14@2002+16 psb; 24@2012+2 psbend; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_told_with_what_they_say),
		cmocka_unit_test(addresses_wait_for_a_whole_one),
		cmocka_unit_test(blocks_of_items_are_understood),
		cmocka_unit_test(what_is_no_packet_is_passed_over),
		cmocka_unit_test(the_end_may_cut_a_packet),
		cmocka_unit_test(padding_is_taken_back),
		cmocka_unit_test(behind_a_gap_a_psb_is_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
