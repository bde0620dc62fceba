/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over Intel PT packets, against libipt's packet decoder and against what
 * tests/corpus/INDEX.tsv says of real traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/ptwalk.h"
#include "perfio/soft/pt.h"

#define PSB 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, \
	    0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82

enum { BIG = 1 << 16, LIST_MAX = BIG };

/* Packets as both sides list them. */
struct list {
	size_t nr;
	struct item {
		uint64_t at;
		uint8_t kind, size;
	} items[LIST_MAX];
};

static struct list ours, theirs;
static uint64_t seed;

static uint32_t random32(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(seed >> 33);
}

static void put(struct list *l, uint8_t kind, uint64_t at, unsigned size)
{
	assert_in_range(l->nr, 0, LIST_MAX - 1);
	l->items[l->nr++] =
		(struct item){ .at = at, .kind = kind, .size = (uint8_t)size };
}

static void on_packet(void *ctx, enum fmt_pt_kind kind, uint64_t at, unsigned size)
{
	put(ctx, (uint8_t)kind, at, size);
}

/* Feeds pieces of at most `step` bytes, or of random sizes (0). */
static void walk(struct fmt_ptwalk *w, const uint8_t *p, size_t n, size_t step)
{
	size_t part;

	for (; n; p += part, n -= part) {
		part = step ? step : random32() % 40;
		part = part < n ? part : n;
		fmt_ptwalk_feed(w, p, part);
	}
	fmt_ptwalk_end(w);
}

static void list_ours(const uint8_t *p, size_t n, size_t step)
{
	struct fmt_ptwalk w = { .packet = on_packet, .ctx = &ours };

	ours.nr = 0;
	walk(&w, p, n, step);
}

/* What this libipt does not know, or (BBP) what changes the meaning of what follows. */
static int newer(struct pt_packet_unknown *u, const struct pt_config *c, const uint8_t *p,
		 void *ctx)
{
	size_t left = (size_t)(c->end - p);
	int size = 0;

	(void)ctx;
	(void)u;
	if (left < 2)
		return *p == 0xd9 ? -pte_eos : -pte_bad_opc;
	if (*p == 0xd9)
		size = p[1] & 0x40 ? 5 : 3;
	else if (*p == 2 && p[1] == 0x13)
		size = 4;
	else if (*p == 2 && p[1] == 0x53)
		size = 11;
	else if (*p == 2 && (p[1] & 0x7f) == 0x33)
		size = 2;
	if (!size)
		return -pte_bad_opc;
	return (size_t)size <= left ? size : -pte_eos;
}

static uint8_t unknown_kind(const uint8_t *p)
{
	if (*p == 0xd9)
		return FMT_PT_TRIG;
	return p[1] == 0x13 ? FMT_PT_CFE : p[1] == 0x53 ? FMT_PT_EVD : FMT_PT_BEP;
}

static uint8_t their_kind(const struct pt_packet *p, const uint8_t *bytes)
{
	static const uint8_t kinds[] = {
		[ppt_pad] = FMT_PT_PAD,		[ppt_psb] = FMT_PT_PSB,
		[ppt_psbend] = FMT_PT_PSBEND,	[ppt_fup] = FMT_PT_FUP,
		[ppt_tip] = FMT_PT_TIP,		[ppt_tip_pge] = FMT_PT_TIP_PGE,
		[ppt_tip_pgd] = FMT_PT_TIP_PGD, [ppt_tnt_8] = FMT_PT_TNT_8,
		[ppt_tnt_64] = FMT_PT_TNT_64,	[ppt_pip] = FMT_PT_PIP,
		[ppt_vmcs] = FMT_PT_VMCS,	[ppt_cbr] = FMT_PT_CBR,
		[ppt_tsc] = FMT_PT_TSC,		[ppt_tma] = FMT_PT_TMA,
		[ppt_mtc] = FMT_PT_MTC,		[ppt_cyc] = FMT_PT_CYC,
		[ppt_stop] = FMT_PT_STOP,	[ppt_ovf] = FMT_PT_OVF,
		[ppt_mnt] = FMT_PT_MNT,		[ppt_exstop] = FMT_PT_EXSTOP,
		[ppt_mwait] = FMT_PT_MWAIT,	[ppt_pwre] = FMT_PT_PWRE,
		[ppt_pwrx] = FMT_PT_PWRX,	[ppt_ptw] = FMT_PT_PTW,
	};

	if (p->type == ppt_unknown)
		return unknown_kind(bytes);
	if (p->type == ppt_mode)
		return p->payload.mode.leaf == pt_mol_tsx ? FMT_PT_MODE_TSX :
							    FMT_PT_MODE_EXEC;
	return (size_t)p->type < sizeof(kinds) ? kinds[p->type] : 0;
}

/* libipt goes to the next PSB, which it may find in what it has passed: that one is not ours. */
static int sync_from(struct pt_packet_decoder *d, uint64_t from)
{
	struct pt_packet skip;
	uint64_t at;
	int err;

	do {
		err = pt_pkt_sync_forward(d);
		if (!err)
			err = pt_pkt_get_offset(d, &at);
	} while (!err && at < from && pt_pkt_next(d, &skip, sizeof(skip)) > 0);
	return err;
}

static void list_theirs(uint8_t *p, size_t n)
{
	struct pt_config c;
	struct pt_packet_decoder *d;
	struct pt_packet packet;
	uint64_t at = 0;
	int got;

	theirs.nr = 0;
	pt_config_init(&c);
	c.begin = p;
	c.end = p + n;
	c.decode.callback = newer;
	d = pt_pkt_alloc_decoder(&c);
	assert_non_null(d);
	while (sync_from(d, at) >= 0) {
		for (;;) {
			pt_pkt_get_offset(d, &at);
			got = pt_pkt_next(d, &packet, sizeof(packet));
			if (got < 0)
				break;
			put(&theirs, their_kind(&packet, p + at), at, (unsigned)got);
		}
	}
	pt_pkt_free_decoder(d);
}

static void assert_lists_equal(const char *what)
{
	for (size_t i = 0; i < ours.nr && i < theirs.nr; i++) {
		struct item a = ours.items[i], b = theirs.items[i];

		if (a.at != b.at || a.kind != b.kind || a.size != b.size)
			fail_msg("%s: packet %zu: ours %s at %" PRIu64 " size %u, "
				 "theirs %s at %" PRIu64 " size %u",
				 what, i, fmt_pt_name(a.kind), a.at, a.size,
				 fmt_pt_name(b.kind), b.at, b.size);
	}
	if (ours.nr != theirs.nr)
		fail_msg("%s: ours %zu packets, theirs %zu", what, ours.nr, theirs.nr);
}

/* The quick way, without the callback, must count what the listing shows. */
static void assert_counts_listed(const uint8_t *p, size_t n, size_t step)
{
	uint64_t want[FMT_PT_KINDS] = { 0 }, sum = 0;
	struct fmt_ptwalk w = { 0 };

	for (size_t i = 0; i < ours.nr; i++) {
		want[ours.items[i].kind]++;
		sum += ours.items[i].size;
	}
	walk(&w, p, n, step);
	for (unsigned k = 0; k < FMT_PT_KINDS; k++)
		assert_int_equal(w.n[k], want[k]);
	assert_int_equal(w.bytes, n);
	assert_int_equal(w.first_psb + sum + w.skipped + w.tail, n);
}

static void compare(uint8_t *p, size_t n, const char *what)
{
	list_theirs(p, n);
	list_ours(p, n, n);
	assert_lists_equal(what);
	assert_counts_listed(p, n, n);
	list_ours(p, n, 0);
	assert_lists_equal(what);
	assert_counts_listed(p, n, 0);
}

/* ---- corpus ---- */

static const char *corpus(void)
{
	static char path[4096];
	const char *e2e = getenv("E2E");

	snprintf(path, sizeof(path), "%s%s", e2e ? e2e : "tests/e2e", "/../corpus");
	return path;
}

static size_t load(const char *name, uint8_t *buf)
{
	char path[8192];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", corpus(), name);
	f = fopen(path, "rb");
	if (!f)
		fail_msg("cannot open %s", path);
	n = fread(buf, 1, BIG, f);
	fclose(f);
	return n;
}

static unsigned kind_of(const char *name)
{
	for (unsigned k = 1; k < FMT_PT_KINDS; k++)
		if (!strcmp(fmt_pt_name(k), name))
			return k;
	fail_msg("no packet is called '%s'", name);
	return 0;
}

static uint64_t after(const char *text, const char *key)
{
	const char *s = strstr(text, key);

	assert_non_null(s);
	return strtoull(s + strlen(key), NULL, 0);
}

static void check_index_row(char *line)
{
	static uint8_t buf[BIG];
	uint64_t want[FMT_PT_KINDS] = { 0 };
	struct fmt_ptwalk w = { 0 };
	char *col[19], *word, *save, *value;
	size_t n;

	for (size_t i = 0; i < 19; i++)
		col[i] = strsep(&line, "\t");
	n = load(col[0], buf);
	w.synced = strstr(line, "--no-sync");
	walk(&w, buf, n, n);
	strtok_r(col[10], " ", &save); /* "packets:" */
	while ((word = strtok_r(NULL, " ", &save))) {
		value = strchr(word, '=');
		*value++ = 0;
		want[kind_of(word)] = strtoull(value, NULL, 10);
	}
	for (unsigned k = 0; k < FMT_PT_KINDS; k++)
		if (w.n[k] != want[k])
			fail_msg("%s: %s %" PRIu64 ", not %" PRIu64, col[0], fmt_pt_name(k),
				 w.n[k], want[k]);
	assert_int_equal(w.first_psb, after(col[14], "first PSB at "));
	assert_int_equal(w.n[FMT_PT_PSB], after(col[14], "; PSB "));
	assert_int_equal(w.n[FMT_PT_OVF], after(col[14], "OVF "));
	assert_int_equal(w.has_tsc, !!strstr(col[14], "first TSC"));
	if (w.has_tsc) {
		assert_int_equal(w.first_tsc, after(col[14], "first TSC "));
		assert_int_equal(w.last_tsc, after(col[14], "last TSC "));
	}
	if (strncmp(col[16], "clean", 5)) {
		assert_int_equal(w.nr_bad, 1);
		/* The number before the colon is hexadecimal, as ptdump prints it. */
		assert_int_equal(w.first_bad, strtoull(col[16], NULL, 16));
	} else {
		assert_int_equal(w.nr_bad, 0);
	}
}

/* Calls back for each row of raw Intel PT. */
static size_t each_trace(void (*row)(char *line))
{
	char path[8192], *line = NULL;
	size_t room = 0, nr = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/INDEX.tsv", corpus());
	f = fopen(path, "r");
	if (!f)
		return 0;
	while (getline(&line, &room, f) > 0) {
		if (!strstr(line, "\traw Intel PT\t"))
			continue;
		row(line);
		nr++;
	}
	free(line);
	fclose(f);
	return nr;
}

static void real_traces_have_the_packets_they_are_known_for(void **state)
{
	(void)state;
	assert_in_range(each_trace(check_index_row), 20, 1000);
}

static void compare_row(char *line)
{
	static uint8_t buf[BIG];
	char *name = strsep(&line, "\t");

	compare(buf, load(name, buf), name);
}

static void libipt_sees_the_same_in_real_traces(void **state)
{
	(void)state;
	assert_in_range(each_trace(compare_row), 20, 1000);
}

/* A block of BIPs has meanings of its own, which libipt does not know. */
static void avoid_blocks(uint8_t *p, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (p[i] == 2 && p[i + 1] == 0x63)
			p[i + 1] = 0x62;
}

static void mutate(uint8_t *p, size_t n)
{
	size_t at;

	for (unsigned k = random32() % 8 + 1; k; k--) {
		at = random32() % n;
		if (random32() & 1)
			p[at] = (uint8_t)random32();
		else if (n - at >= 17)
			memmove(p + at, p + at + random32() % 16, n - at - 16);
	}
	avoid_blocks(p, n);
}

static void mutate_row(char *line)
{
	static uint8_t good[BIG], buf[BIG];
	char *name = strsep(&line, "\t");
	size_t n = load(name, good);

	for (unsigned k = 0; k < 300; k++) {
		memcpy(buf, good, n);
		mutate(buf, n);
		compare(buf, n, name);
	}
}

static void libipt_sees_the_same_in_damaged_traces(void **state)
{
	(void)state;
	seed = 1;
	assert_in_range(each_trace(mutate_row), 20, 1000);
}

static void libipt_sees_the_same_in_noise(void **state)
{
	static const uint8_t psb[] = { PSB };
	static uint8_t buf[4096];
	size_t at;

	(void)state;
	seed = 2;
	for (unsigned k = 0; k < 300; k++) {
		for (size_t i = 0; i < sizeof(buf); i++)
			buf[i] = random32() % 4 ? (uint8_t)random32() : 0x02;
		for (unsigned i = 0; i < 60; i++) {
			at = random32() % (sizeof(buf) - sizeof(psb));
			memcpy(buf + at, psb, sizeof(psb));
		}
		avoid_blocks(buf, sizeof(buf));
		compare(buf, sizeof(buf), "noise");
	}
}

/* ---- trace as our own source writes it ---- */

static size_t make_trace(uint8_t *buf)
{
	const struct soft_pt_config c = { .psb_bytes = 512, .tsc = true, .branch = true };
	struct soft_ptenc e;
	struct soft_pt p;
	uint64_t ip = 0x401000;
	struct iovec v[2];
	size_t n = 0;

	assert_int_equal(soft_ptenc_init(&e, &c), 0);
	soft_pt_init(&p, &e);
	for (unsigned i = 0; i < 20000 && p.out.held < BIG - 4096; i++) {
		soft_pt_at(&p, ip, i * UINT64_C(1000), random32() % 100 == 0);
		ip += random32() % 64;
		if (random32() % 2)
			soft_pt_cond(&p, random32() & 1);
		else if (random32() % 8 == 0)
			soft_pt_jump(&p, ip += random32());
		else if (random32() % 64 == 0)
			soft_pt_leave(&p);
	}
	soft_pt_flush(&p);
	for (int got; (got = soft_bytes_peek(&p.out, v)); soft_bytes_release(&p.out))
		for (int i = 0; i < got; n += v[i++].iov_len)
			memcpy(buf + n, v[i].iov_base, v[i].iov_len);
	soft_pt_done(&p);
	soft_ptenc_done(&e);
	return n;
}

static void libipt_sees_the_same_in_our_own_traces(void **state)
{
	static uint8_t buf[BIG];
	size_t n;

	(void)state;
	seed = 3;
	for (unsigned k = 0; k < 10; k++) {
		n = make_trace(buf);
		assert_in_range(n, 4096, BIG);
		compare(buf, n, "our own");
		mutate(buf, n);
		compare(buf, n, "our own, damaged");
	}
}

/* ---- by hand ---- */

static void each_packet_has_its_kind_and_length(void **state)
{
	static const struct {
		const char *kind;
		unsigned len;
		uint8_t p[12];
	} rows[] = {
		{ "pad", 1, { 0 } },
		{ "psbend", 2, { 2, 0x23 } },
		{ "ovf", 2, { 2, 0xf3 } },
		{ "tnt.8", 1, { 4 } },
		{ "tnt.8", 1, { 0xfe } },
		{ "tnt.64", 8, { 2, 0xa3, 2 } },
		{ "tip", 1, { 0x0d } },
		{ "tip", 3, { 0x2d } },
		{ "tip", 5, { 0x4d } },
		{ "tip", 7, { 0x6d } },
		{ "tip", 7, { 0x8d } },
		{ "tip", 9, { 0xcd } },
		{ "tip.pge", 3, { 0x31 } },
		{ "tip.pgd", 1, { 0x01 } },
		{ "tip.pgd", 3, { 0x21 } },
		{ "fup", 7, { 0x7d } },
		{ "pip", 8, { 2, 0x43 } },
		{ "mode.exec", 2, { 0x99, 0x07 } },
		{ "mode.tsx", 2, { 0x99, 0x23 } },
		{ "tsc", 8, { 0x19 } },
		{ "tma", 7, { 2, 0x73, 0xff, 0xff, 0, 0xff, 1 } },
		{ "mtc", 2, { 0x59 } },
		{ "cyc", 1, { 0x03 } },
		{ "cyc", 1, { 0xfb } },
		{ "cyc", 2, { 0x07, 0xfe } },
		{ "cyc", 9, { 0x07, 1, 1, 1, 1, 1, 1, 1, 0 } },
		{ "cbr", 4, { 2, 0x03 } },
		{ "stop", 2, { 2, 0x83 } },
		{ "vmcs", 7, { 2, 0xc8 } },
		{ "mnt", 11, { 2, 0xc3, 0x88 } },
		{ "ptw", 6, { 2, 0x12 } },
		{ "ptw", 10, { 2, 0x32 } },
		{ "ptw", 6, { 2, 0x92 } },
		{ "ptw", 10, { 2, 0xb2 } },
		{ "exstop", 2, { 2, 0x62 } },
		{ "exstop", 2, { 2, 0xe2 } },
		{ "mwait", 10, { 2, 0xc2 } },
		{ "pwre", 4, { 2, 0x22 } },
		{ "pwrx", 7, { 2, 0xa2 } },
		{ "bbp", 3, { 2, 0x63 } },
		{ "bep", 2, { 2, 0x33 } },
		{ "bep", 2, { 2, 0xb3 } },
		{ "cfe", 4, { 2, 0x13, 0x83 } },
		{ "evd", 11, { 2, 0x53 } },
		{ "trig", 3, { 0xd9, 0x20 } },
		{ "trig", 5, { 0xd9, 0x60 } },
	};
	uint8_t buf[64] = { PSB };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		memset(buf + 16, 0, 48);
		memcpy(buf + 16, rows[i].p, 12);
		for (unsigned cut = 1; cut < rows[i].len; cut++) {
			struct fmt_ptwalk w = { 0 };

			walk(&w, buf, 16 + cut, 64);
			assert_int_equal(w.tail, cut);
		}
		list_ours(buf, 16 + rows[i].len, 1);
		assert_int_equal(ours.nr, 2);
		assert_string_equal(fmt_pt_name(ours.items[1].kind), rows[i].kind);
		assert_int_equal(ours.items[1].size, rows[i].len);
	}
}

static void what_is_no_packet_is_skipped_up_to_the_next_psb(void **state)
{
	static const uint8_t rows[][12] = {
		{ 0x05 }, { 0xc9 }, { 0xad }, { 0xed }, { 2, 0x04 }, { 2, 0xc3, 0x87 },
		{ 2, 0x52 }, { 2, 0x72 }, { 0x99, 0x40 }, { 0x99, 0x80 },
		{ 2, 0xa3 }, { 2, 0xa3, 1 }, { 2, 0x73, 0, 0, 1 },
		{ 2, 0x73, 0, 0, 0, 0, 2 }, { 7, 1, 1, 1, 1, 1, 1, 1, 1, 0 }, { 2, 0x82 },
	};
	static const uint8_t psb[] = { PSB };
	uint8_t buf[60];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (size_t step = 1; step < 30; step++) {
			struct fmt_ptwalk w = { 0 };

			memset(buf, 0, sizeof(buf));
			memcpy(buf + 3, psb, 16);
			memcpy(buf + 20, rows[i], 12);
			memcpy(buf + 40, psb, 16);
			walk(&w, buf, sizeof(buf), step);
			assert_int_equal(w.first_psb, 3);
			assert_int_equal(w.n[FMT_PT_PSB], 2);
			assert_int_equal(w.n[FMT_PT_PAD], 1 + 4);
			assert_int_equal(w.nr_bad, 1);
			assert_int_equal(w.first_bad, 20);
			assert_int_equal(w.skipped, 20);
			assert_int_equal(w.tail, 0);
			assert_int_equal(w.nr_dist, 1);
			assert_int_equal(w.sum_dist, 37);
		}
	}
}

/* SDM 33.4.2.27: between BBP and BEP, 4 or 8 bytes behind each xxxxx100. */
static void blocks_hold_packets_that_look_like_branches(void **state)
{
	uint8_t buf[] = { PSB, 2, 0x63, 0x81, 0x0c, 1, 2, 3, 4, 0, 0x04, 1, 2, 3, 4,
			  2, 0x33, 0x0c, 2, 0x63, 0x01, 0x0c, 1, 2, 3, 4, 5, 6, 7, 8,
			  0x06, 0x0c };

	(void)state;
	for (size_t step = 0; step < sizeof(buf); step++) {
		struct fmt_ptwalk w = { 0 };

		walk(&w, buf, sizeof(buf), step);
		assert_int_equal(w.n[FMT_PT_BBP], 2);
		assert_int_equal(w.n[FMT_PT_BIP], 3);
		assert_int_equal(w.n[FMT_PT_BEP], 1);
		assert_int_equal(w.n[FMT_PT_PAD], 1);
		assert_int_equal(w.n[FMT_PT_TNT_8], 3);
		assert_int_equal(w.skipped + w.tail, 0);
	}
}

static void the_psb_is_the_end_of_its_pattern(void **state)
{
	uint8_t buf[100];

	(void)state;
	for (size_t before = 0; before < 40; before++) {
		for (size_t len = 16; len < 40; len += 2) {
			struct fmt_ptwalk w = { 0 };
			size_t n = before + len;

			memset(buf, 0x82, sizeof(buf));
			for (size_t i = before; i < n; i += 2)
				buf[i] = 2;
			buf[n] = 2; /* another packet, not the pattern's next */
			buf[n + 1] = 0x23;
			walk(&w, buf, n + 2, 7);
			assert_int_equal(w.first_psb, n - 16);
			assert_int_equal(w.n[FMT_PT_PSBEND], 1);
			w = (struct fmt_ptwalk){ 0 };
			walk(&w, buf, n, n);
			assert_int_equal(w.first_psb, n - 16);
		}
	}
}

static void runs_are_counted_at_every_alignment(void **state)
{
	static const uint8_t others[] = { 0x00, 0x04, 0x03, 0x2d, 0x59 };
	uint8_t buf[16 + 64] = { PSB };

	(void)state;
	for (unsigned run = 0; run < 2; run++)
		for (size_t at = 0; at < 40; at++)
			for (size_t k = 0; k < sizeof(others); k++) {
				memset(buf + 16, run ? 0xfe : 0x00, 64);
				buf[16 + at] = others[k];
				list_theirs(buf, sizeof(buf));
				list_ours(buf, sizeof(buf), 64);
				assert_lists_equal("a run");
				assert_counts_listed(buf, sizeof(buf), 80);
			}
}

static void nothing_goes_on_across_a_gap(void **state)
{
	static const uint8_t one[] = { PSB, 0x6d, 1, 2 }, two[] = { 3, 4, 5, 6, PSB, 0x04 };
	struct fmt_ptwalk w = { 0 };

	(void)state;
	fmt_ptwalk_feed(&w, one, sizeof(one));
	fmt_ptwalk_gap(&w);
	fmt_ptwalk_feed(&w, two, sizeof(two));
	fmt_ptwalk_end(&w);
	assert_int_equal(w.n[FMT_PT_TIP], 0);
	assert_int_equal(w.n[FMT_PT_PSB], 2);
	assert_int_equal(w.n[FMT_PT_TNT_8], 1);
	assert_int_equal(w.skipped, 3 + 4);
	assert_int_equal(w.nr_bad, 0);
	assert_int_equal(w.nr_dist, 0);
	w = (struct fmt_ptwalk){ 0 };
	fmt_ptwalk_feed(&w, one, sizeof(one));
	fmt_ptwalk_feed(&w, two, sizeof(two));
	fmt_ptwalk_end(&w);
	assert_int_equal(w.n[FMT_PT_TIP], 1);
	assert_int_equal(w.nr_dist, 1);
	assert_int_equal(w.max_dist, 23);
}

static void bytes_without_a_psb_are_no_trace(void **state)
{
	static uint8_t buf[3000];
	struct fmt_ptwalk w = { 0 };
	size_t at;

	(void)state;
	memset(buf, 0x82, sizeof(buf));
	walk(&w, buf, sizeof(buf), 100);
	assert_int_equal(w.first_psb, sizeof(buf));
	assert_int_equal(w.n[FMT_PT_TNT_8], 0);
	assert_int_equal(w.skipped + w.tail + w.nr_bad, 0);
	assert_false(fmt_pt_find_psb(buf, sizeof(buf), &at));
	memcpy(buf + 2983, (uint8_t[]){ PSB }, 16);
	assert_true(fmt_pt_find_psb(buf, sizeof(buf), &at));
	assert_int_equal(at, 2983);
	assert_false(fmt_pt_find_psb(buf, 2998, &at));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_packet_has_its_kind_and_length),
		cmocka_unit_test(what_is_no_packet_is_skipped_up_to_the_next_psb),
		cmocka_unit_test(blocks_hold_packets_that_look_like_branches),
		cmocka_unit_test(the_psb_is_the_end_of_its_pattern),
		cmocka_unit_test(runs_are_counted_at_every_alignment),
		cmocka_unit_test(nothing_goes_on_across_a_gap),
		cmocka_unit_test(bytes_without_a_psb_are_no_trace),
		cmocka_unit_test(real_traces_have_the_packets_they_are_known_for),
		cmocka_unit_test(libipt_sees_the_same_in_real_traces),
		cmocka_unit_test(libipt_sees_the_same_in_damaged_traces),
		cmocka_unit_test(libipt_sees_the_same_in_noise),
		cmocka_unit_test(libipt_sees_the_same_in_our_own_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
