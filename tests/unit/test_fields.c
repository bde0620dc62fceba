/* SPDX-License-Identifier: Apache-2.0 */
/* Records as bytes, spelled out after the specification, and the fields found in them. */
#include "format/fields.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"
#include "tests/unit/hex.h"

/* Fields as text: a=1 b=0x2 c="text" d=[1,2] e={a=1 b=2} f=A|B. */
struct page {
	char s[8192];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void add(struct page *p, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(p->s + p->n, sizeof(p->s) - p->n, fmt, ap);
	va_end(ap);
	p->n += (size_t)n;
	assert_true(p->n < sizeof(p->s));
}

static void add_flags(struct page *p, const struct fmt_field *f)
{
	const struct fmt_flag *at = f->flags;
	const char *name, *sep = "";
	uint64_t v = f->v;

	while ((name = fmt_flags_next(&at, &v))) {
		add(p, "%s%s", sep, name);
		sep = "|";
	}
	if (v || !*sep)
		add(p, *sep ? "|0x%" PRIx64 : v ? "0x%" PRIx64 : "%" PRIx64, v);
}

static void render(void *ctx, const struct fmt_field *f)
{
	struct page *p = ctx;
	double real;

	if (f->kind == FMT_AS_END) {
		add(p, " >");
		return;
	}
	add(p, p->n ? " " : "");
	if (f->name)
		add(p, "%s=", f->name);
	switch (f->kind) {
	case FMT_AS_DEC:
		add(p, "%" PRIu64, f->v);
		break;
	case FMT_AS_INT:
		add(p, "%" PRId64, (int64_t)f->v);
		break;
	case FMT_AS_HEX:
		add(p, "0x%" PRIx64, f->v);
		break;
	case FMT_AS_TIME:
		add(p, "%" PRIu64 "ns", f->v);
		break;
	case FMT_AS_REAL:
		memcpy(&real, &f->v, 8);
		add(p, "%g", real);
		break;
	case FMT_AS_WORD:
		if (f->word)
			add(p, "%s", f->word);
		else
			add(p, "%" PRIu64, f->v);
		break;
	case FMT_AS_FLAGS:
		add_flags(p, f);
		break;
	case FMT_AS_TEXT:
		add(p, "'%.*s'", (int)f->len, (const char *)f->p);
		break;
	case FMT_AS_BYTES:
		add(p, "/");
		for (size_t i = 0; i < f->len; i++)
			add(p, "%02x", f->p[i]);
		break;
	default:
		add(p, "<");
	}
}

/* The event that all kernel records here belong to. */
struct kind_of_event {
	uint64_t sample_type, read_format, branch_type, regs_user, regs_intr;
	bool no_id_all;
	const char *arch; /* with its NUL */
};
#define USUAL { .sample_type = 0x10087 } /* IP TID TIME CPU IDENTIFIER */

struct world {
	struct fmt_reader r;
	struct fmt_reader_event e;
	uint8_t attr[128], arch[64];
};

static void make_world(struct world *w, const struct kind_of_event *k)
{
	*w = (struct world){ 0 };
	le_put(w->attr + FMT_ATTR_AT_SAMPLE_TYPE, k->sample_type, 8);
	le_put(w->attr + FMT_ATTR_AT_READ_FORMAT, k->read_format, 8);
	le_put(w->attr + FMT_ATTR_AT_BRANCH_SAMPLE_TYPE, k->branch_type, 8);
	le_put(w->attr + FMT_ATTR_AT_SAMPLE_REGS_USER, k->regs_user, 8);
	le_put(w->attr + FMT_ATTR_AT_SAMPLE_REGS_INTR, k->regs_intr, 8);
	if (!k->no_id_all)
		le_put(w->attr + FMT_ATTR_AT_FLAGS, FMT_ATTR_F_SAMPLE_ID_ALL, 8);
	w->e = (struct fmt_reader_event){ .attr = w->attr, .attr_size = 128 };
	w->r.events = &w->e;
	w->r.nr_events = 1;
	w->r.same_layout = true;
	w->r.pipe = true;
	if (!k->arch)
		return;
	le_put(w->arch, 32, 4);
	strcpy((char *)w->arch + 4, k->arch);
	w->r.sent[FMT_FEAT_ARCH] = (struct fmt_span){ .p = w->arch, .len = 36 };
}

/* The first n bytes as a record, in memory of exactly that size. */
static struct fmt_fit visit(const struct world *w, const uint8_t *bytes, size_t n,
			    struct page *p)
{
	uint8_t *exact = malloc(n);
	struct fmt_rec rec = { .p = exact, .size = (uint16_t)n };
	struct fmt_fit fit;

	assert_non_null(exact);
	memcpy(exact, bytes, n);
	rec.type = le_get32(exact);
	rec.misc = le_get16(exact + 4);
	*p = (struct page){ 0 };
	fit = fmt_fields(&w->r, &rec, 0, render, p);
	free(exact);
	return fit;
}

enum { ANYWHERE = 1 }; /* text with room to spare: cuts of the room are not seen */

struct golden {
	struct kind_of_event k;
	const char *bytes, *fields;
	/* Where the record may end as well: a layout that grew, a list up to the end. */
	size_t ends[12];
};

static bool may_end(const struct golden *g, size_t n)
{
	if (g->ends[0] == ANYWHERE)
		return true;
	for (size_t i = 0; g->ends[i]; i++)
		if (g->ends[i] == n)
			return true;
	return false;
}

static void check(const struct golden *g)
{
	static uint8_t bytes[4096];
	size_t n = hex_bytes(bytes, sizeof(bytes), g->bytes);
	struct fmt_fit fit;
	struct world w;
	struct page p;

	make_world(&w, &g->k);
	assert_int_equal(le_get16(bytes + 6), n);
	fit = visit(&w, bytes, n, &p);
	assert_string_equal(p.s, g->fields);
	assert_true(fit.known);
	assert_null(fit.missing);
	assert_int_equal(fit.left, 0);
	for (size_t cut = 8; cut < n; cut++) {
		fit = visit(&w, bytes, cut, &p);
		if (!fit.missing && !fit.left && !may_end(g, cut))
			fail_msg("%s: cut at %zu is not noticed", g->fields, cut);
	}
}

#define TRAILER                                                                  \
	"07000000 08000000 00ca9a3b00000000 03000000 00000000 0b00000000000000"
#define SAID " s_pid=7 s_tid=8 at=1000000000ns cpu=3 s_identifier=11"

static const struct golden kernel[] = {
	{ USUAL,
	  "01000000 0120 5000 ffffffff 00000000 0010000000000000 0020000000000000"
	  "0030000000000000 'kernel' 00[2]" TRAILER,
	  "misc=KERNEL|MMAP_DATA pid=-1 tid=0 addr=0x1000 len=0x2000 pgoff=0x3000"
	  " filename='kernel'" SAID, { 79 } },
	{ USUAL, "02000000 0000 3800 0b00000000000000 0500000000000000" TRAILER,
	  "misc=0 id=11 lost=5" SAID, { 0 } },
	{ USUAL, "03000000 0020 4000 01000000 02000000 'seventy-seven77' 00" TRAILER,
	  "misc=COMM_EXEC pid=1 tid=2 comm='seventy-seven77'" SAID, { 0 } },
	{ USUAL,
	  "04000000 0000 4000 01000000 02000000 03000000 04000000 0900000000000000"
	  TRAILER, "misc=0 pid=1 ppid=2 tid=3 ptid=4 time=9ns" SAID, { 0 } },
	{ USUAL,
	  "05000000 0000 4000 0900000000000000 0b00000000000000 0c00000000000000"
	  TRAILER, "misc=0 time=9ns id=11 stream_id=12" SAID, { 0 } },
	{ USUAL,
	  "06000000 0000 4000 0900000000000000 0b00000000000000 0c00000000000000"
	  TRAILER, "misc=0 time=9ns id=11 stream_id=12" SAID, { 0 } },
	{ USUAL,
	  "07000000 0020 4000 01000000 02000000 03000000 04000000 0900000000000000"
	  TRAILER, "misc=FORK_EXEC pid=1 ppid=2 tid=3 ptid=4 time=9ns" SAID, { 0 } },
	{ { .sample_type = 0x10087, .read_format = 0x17 },
	  "08000000 0000 5800 01000000 02000000 6400000000000000 0a00000000000000"
	  "0500000000000000 0b00000000000000 0100000000000000" TRAILER,
	  "misc=0 pid=1 tid=2 read=< value=100 time_enabled=10 time_running=5 id=11 lost=1 >"
	  SAID, { 0 } },
	{ { .sample_type = 0x10087, .read_format = 0x1f },
	  "08000000 0000 7800 01000000 02000000 0200000000000000 0a00000000000000"
	  "0500000000000000 6400000000000000 0b00000000000000 0100000000000000"
	  "6500000000000000 0c00000000000000 0000000000000000" TRAILER,
	  "misc=0 pid=1 tid=2 read=< nr=2 time_enabled=10 time_running=5 values=<"
	  " < value=100 id=11 lost=1 > < value=101 id=12 lost=0 > > >" SAID, { 0 } },
	{ USUAL,
	  "0a000000 0200 7000 01000000 02000000 0010000000000000 0020000000000000"
	  "0030000000000000 08000000 01000000 3412000000000000 0700000000000000"
	  "05000000 02000000 '/bin/ls' 00" TRAILER,
	  "misc=USER pid=1 tid=2 addr=0x1000 len=0x2000 pgoff=0x3000 maj=8 min=1 ino=4660"
	  " ino_generation=7 prot=0x5 flags=0x2 filename='/bin/ls'" SAID, { 0 } },
	{ USUAL,
	  "0a000000 0240 7000 01000000 02000000 0010000000000000 0020000000000000"
	  "0030000000000000 0400 0000 aabbccdd 00[16] 05000000 02000000 '/bin/ls' 00" TRAILER,
	  "misc=USER|MMAP_BUILD_ID pid=1 tid=2 addr=0x1000 len=0x2000 pgoff=0x3000"
	  " build_id_size=4 build_id=/aabbccdd prot=0x5 flags=0x2 filename='/bin/ls'" SAID,
	  { 0 } },
	{ USUAL,
	  "0b000000 0000 4000 0010000000000000 0020000000000000 0504000000000000" TRAILER,
	  "misc=0 aux_offset=0x1000 aux_size=0x2000 flags=TRUNCATED|PARTIAL|0x400" SAID,
	  { 0 } },
	{ USUAL, "0c000000 0000 3000 01000000 02000000" TRAILER, "misc=0 pid=1 tid=2" SAID,
	  { 0 } },
	{ USUAL, "0d000000 0080 3000 0500000000000000" TRAILER,
	  "misc=LOST_SAMPLES_BPF lost=5" SAID, { 0 } },
	{ USUAL, "0e000000 0060 2800" TRAILER,
	  "misc=SWITCH_OUT|SWITCH_OUT_PREEMPT" SAID, { 0 } },
	{ USUAL, "0f000000 0000 3000 0500000006000000" TRAILER,
	  "misc=0 next_prev_pid=5 next_prev_tid=6" SAID, { 0 } },
	{ USUAL,
	  "10000000 0000 5800 01000000 02000000 0200000000000000 0400000000000000"
	  "0100000000000000 0400000000000000 0200000000000000" TRAILER,
	  "misc=0 pid=1 tid=2 nr_namespaces=2 namespaces=< < ns=net dev=4 ino=1 >"
	  " < ns=uts dev=4 ino=2 > >" SAID, { 0 } },
	{ USUAL,
	  "11000000 0000 4000 0010000000000000 80000000 0100 0100 'bpf_p_1' 00" TRAILER,
	  "misc=0 addr=0x1000 len=0x80 ksym_type=BPF flags=UNREGISTER name='bpf_p_1'" SAID,
	  { 0 } },
	{ USUAL, "12000000 0000 3800 0200 0000 2a000000 0102030405060708" TRAILER,
	  "misc=0 type=PROG_UNLOAD flags=0x0 id=42 tag=/0102030405060708" SAID, { 0 } },
	{ USUAL, "13000000 0000 3800 2a00000000000000 '/a.slic' 00" TRAILER,
	  "misc=0 id=42 path='/a.slic'" SAID, { 0 } },
	{ USUAL,
	  "14000000 0100 4000 0010000000000000 0500 0500 0f1f440000 e811223344 00[2]" TRAILER,
	  "misc=KERNEL addr=0x1000 old_len=5 new_len=5 old=/0f1f440000 new=/e811223344" SAID,
	  { 62, 63 } },
	{ USUAL, "15000000 0000 3000 0100000000000080" TRAILER,
	  "misc=0 hw_id=0x8000000000000001" SAID, { 0 } },
	{ USUAL,
	  "16000000 0200 4800 0700000000000000 0200000000000000 0010000000000000"
	  "0020000000000000" TRAILER,
	  "misc=USER cookie=0x7 nr=2 ips=< 0x1000 0x2000 >" SAID, { 0 } },
	/* The other parts of a trailer, none at all, and reserved bytes that are not 0. */
	{ { .sample_type = 0x3c2 },
	  "0e000000 0008 2800 01000000 02000000 0b00000000000000 0c00000000000000"
	  "ffffffff 05000000",
	  "misc=0x800 s_pid=1 s_tid=2 s_id=11 s_stream_id=12 cpu=-1 reserved=0x5", { 0 } },
	{ { .sample_type = 0x10087, .no_id_all = true }, "0d000000 0000 1000 0500000000000000",
	  "misc=0 lost=5", { 0 } },
};

static const struct golden samples[] = {
	{ { .sample_type = 0x103cf },
	  "09000000 0240 5000 0b00000000000000 0010000000000000 01000000 02000000"
	  "0500000000000000 0020000000000000 0d00000000000000 0c00000000000000"
	  "03000000 00000000 e803000000000000",
	  "misc=USER|EXACT_IP identifier=11 ip=0x1000 pid=1 tid=2 at=5ns addr=0x2000 id=13"
	  " stream_id=12 cpu=3 period=1000", { 0 } },
	{ { .sample_type = 0x30 }, /* READ CALLCHAIN */
	  "09000000 0200 2800 6400000000000000 0200000000000000 00feffffffffffff"
	  "0010000000000000",
	  "misc=USER read=< value=100 > nr=2 ips=< 0xfffffffffffffe00 0x1000 >", { 0 } },
	{ { .sample_type = 0x400 },
	  "09000000 0100 1800 0c000000 0102030405060708 090a0b0c",
	  "misc=KERNEL raw_size=12 raw=/0102030405060708090a0b0c", { 0 } },
	{ { .sample_type = 0x800, .branch_type = 0x20000 },
	  "09000000 0000 3000 0100000000000000 ffffffffffffffff 0010000000000000"
	  "0020000000000000 d100500400000000",
	  "misc=0 bnr=1 hw_idx=-1 lbr=< < from=0x1000 to=0x2000 flags=mispred cycles=13"
	  " type=IND_CALL spec=0 new_type=1 priv=0 > >", { 0 } },
	{ { .sample_type = 0x800, .branch_type = 0x80000 },
	  "09000000 0000 3000 0100000000000000 0010000000000000 0020000000000000"
	  "0200000002000000 0500000000000000",
	  "misc=0 bnr=1 lbr=< < from=0x1000 to=0x2000 flags=predicted cycles=0 type=UNKNOWN"
	  " spec=0 new_type=0 priv=0 reserved=0x1 > > counters=< 0x5 >", { 0 } },
	{ { .sample_type = 0x41000, .regs_user = 0x181, .regs_intr = 1, .arch = "x86_64" },
	  "09000000 0000 3000 0200000000000000 0100000000000000 0200000000000000"
	  "0300000000000000 0000000000000000",
	  "misc=0 user_abi=64 user_regs=< ax=0x1 sp=0x2 ip=0x3 > intr_abi=NONE", { 0 } },
	{ { .sample_type = 0x40000, .regs_intr = UINT64_C(0x100000001), .arch = "aarch64" },
	  "09000000 0000 2000 0200000000000000 0100000000000000 0200000000000000",
	  "misc=0 intr_abi=64 intr_regs=< r0=0x1 r32=0x2 >", { 0 } },
	{ { .sample_type = 0x2000 },
	  "09000000 0000 2000 0800000000000000 1122334455667788 0400000000000000",
	  "misc=0 stack_size=8 stack=/1122334455667788 dyn_size=4", { 0 } },
	{ { .sample_type = 0x2000 }, "09000000 0000 1000 0000000000000000",
	  "misc=0 stack_size=0 stack=/", { 0 } },
	{ { .sample_type = 0x2c000 },
	  "09000000 0000 2000 0500000000000000 4201000000000000 2400000078563412",
	  "misc=0 weight=5 data_src=0x142 transaction=SYNC|CONFLICT|0x1234567800000000", { 0 } },
	{ { .sample_type = 0x1e80000 },
	  "09000000 0000 3000 01000000 0200 0300 0010000000000000 2a00000000000000"
	  "0010000000000000 0000200000000000",
	  "misc=0 var1_dw=1 var2_w=2 var3_w=3 phys_addr=0x1000 cgroup=42"
	  " data_page_size=4096 code_page_size=2097152", { 0 } },
	{ { .sample_type = 0x100000 }, "09000000 0000 1800 0800000000000000 0282028202820282",
	  "misc=0 aux_size=8 aux=/0282028202820282", { 0 } },
};

/* The words of each kind of trace, and more of them than have names. */
static const struct golden infos[] = {
	{ USUAL,
	  "46000000 0000 b000 01000000 00000000 0800000000000000 0a00000000000000"
	  "0b00000000000000 0c00000000000000 0100000000000000 0004000000000000"
	  "0008000000000000 0300000000000000 0000000000000000 0100000000000000"
	  "0002000000000000 00c0030000000000 0200000000000000 0100000000000000"
	  "0200000000000000 1800000000000000 0600000000000000 'f 1/2@' 00[2]"
	  "0100000000000000 2a00000000000000",
	  "misc=0 type=INTEL_PT pmu_type=0x8 time_shift=0xa time_mult=0xb time_zero=0xc"
	  " cap_user_time_zero=0x1 tsc_bit=0x400 noretcomp_bit=0x800 have_sched_switch=0x3"
	  " snapshot_mode=0x0 per_cpu_mmaps=0x1 mtc_bit=0x200 mtc_freq_bits=0x3c000"
	  " tsc_ctc_n=0x2 tsc_ctc_d=0x1 cyc_bit=0x2 max_nonturbo_ratio=0x18 filter_str_len=6"
	  " filter='f 1/2@' cap_event_trace=0x1 words=< 0x2a >", { ANYWHERE } },
	{ USUAL,
	  "46000000 0000 4000 02000000 00000000 0900000000000000 0a00000000000000"
	  "0b00000000000000 0c00000000000000 0100000000000000 0000000000000000",
	  "misc=0 type=INTEL_BTS pmu_type=0x9 time_shift=0xa time_mult=0xb time_zero=0xc"
	  " cap_user_time_zero=0x1 snapshot_mode=0x0", { 16, 24, 32, 40, 48, 56 } },
	{ USUAL, "46000000 0000 2000 04000000 00000000 0800000000000000 0100000000000000",
	  "misc=0 type=ARM_SPE pmu_type=0x8 per_cpu_mmaps=0x1", { 16, 24 } },
	{ USUAL,
	  "46000000 0000 5000 04000000 00000000 0200000000000000 0400000000000000"
	  "0800000000000000 0100000000000000 1010101010101010 0300000000000000"
	  "0100000000000000 2a00000000000000",
	  "misc=0 type=ARM_SPE header_version=0x2 header_size=0x4 pmu_type=0x8 nr_cpus=0x1"
	  " cpus=< < magic=0x1010101010101010 cpu=0x3 nr_params=0x1 params=< 0x2a > > >",
	  { 16, 24, 32, 40, 48, 56, 64 } },
	{ USUAL,
	  "46000000 0000 5800 03000000 00000000 0100000000000000 0100000008000000"
	  "0000000000000000 4040404040404040 0200000000000000 0300000000000000"
	  "0100000000000000 1000000000000000 0200000000000000",
	  "misc=0 type=CS_ETM header_version=1 pmu_type=8 nr_cpus=1 snapshot=0 cpus=<"
	  " < magic=0x4040404040404040 cpu=2 nr_trc_params=3 trcconfigr=0x1 trctraceidr=0x10"
	  " trcidr0=0x2 > >", { 40, 48, 56 } },
	{ USUAL, "46000000 0000 1800 06000000 00000000 0800000000000000",
	  "misc=0 type=HISI_PTT words=< 0x8 >", { 16 } },
};

static const struct golden user[] = {
	{ USUAL,
	  "40000000 0000 5800"
	  "08000000 40000000 0100000000000000 a00f000000000000 8700010000000000"
	  "1400000000000000 2084040001000080 01000000 00000000 0000000000000000"
	  "0b00000000000000 0c00000000000000",
	  "misc=0 attr=< type=8 size=64 config=0x1 sample_freq=4000"
	  " sample_type=IP|TID|TIME|CPU|IDENTIFIER read_format=ID|LOST"
	  " flags=exclude_kernel|freq|sample_id_all|cgroup|0x8000000000000000 precise_ip=1"
	  " wakeup_events=1 bp_type=0x0 config1=0x0 > ids=< 11 12 >", { 72, 80 } },
	{ USUAL, "41000000 0000 1800 0700000000000000 'cycles' 00[2]",
	  "misc=0 event_id=7 name='cycles'", { 23 } },
	{ USUAL, "42000000 0000 0c00 e8030000", "misc=0 size=1000", { 0 } },
	{ USUAL, "43000000 0280 2c00 ffffffff aabbccdd 00[16] 04 00[3] '/bin/ls' 00",
	  "misc=USER|BUILD_ID_SIZE pid=-1 build_id=/aabbccdd build_id_size=4"
	  " filename='/bin/ls'", { 0 } },
	{ USUAL, "44000000 0000 0800", "misc=0", { 0 } },
	{ USUAL,
	  "45000000 0000 4000 0100000000000000 0b00000000000000 0100000000000000"
	  "0200000000000000 ffffffffffffffff 0000000000000000 0000000000000000",
	  "misc=0 nr=1 entries=< < id=11 idx=1 cpu=2 tid=-1 > > guests=<"
	  " < machine_pid=0 vcpu=0 > >", { 48 } },
	{ USUAL,
	  "47000000 0000 3000 e803000000000000 0010000000000000 0020000000000000"
	  "01000000 ffffffff 02000000 00000000",
	  "misc=0 size=1000 offset=0x1000 reference=0x2000 idx=1 tid=-1 cpu=2", { 0 } },
	{ USUAL,
	  "48000000 0000 4000 01000000 08000000 02000000 03000000 04000000 01000000"
	  "0010000000000000 0900000000000000 'Lost trace data' 00",
	  "misc=0 type=ITRACE code=8 cpu=2 pid=3 tid=4 fmt=1 ip=0x1000 time=9ns"
	  " msg='Lost trace data'", { 0 } },
	{ USUAL,
	  "48000000 0000 7800 01000000 08000000 02000000 03000000 04000000 02000000"
	  "0010000000000000 0900000000000000 'Lost' 00[60] 05000000 06000000",
	  "misc=0 type=ITRACE code=8 cpu=2 pid=3 tid=4 fmt=2 ip=0x1000 time=9ns"
	  " msg='Lost' machine_pid=5 vcpu=6", { ANYWHERE } },
	{ USUAL,
	  "48000000 0000 3800 01000000 08000000 02000000 03000000 04000000 00000000"
	  "0010000000000000 'Lost trace data' 00",
	  "misc=0 type=ITRACE code=8 cpu=2 pid=3 tid=4 fmt=0 ip=0x1000 msg='Lost trace data'",
	  { 0 } },
	{ USUAL,
	  "49000000 0000 2800 0100000000000000 ffffffffffffffff 'abc' 00[13]",
	  "misc=0 nr=1 entries=< < pid=-1 comm='abc' > >", { 0 } },
	{ USUAL, "4a000000 0000 1000 0000 0200 0000 0100", "misc=0 type=CPUS nr=2 cpus=< 0 1 >",
	  { 0 } },
	{ USUAL, "4a000000 0000 2000 0100 0100 0800 00[4] 0500000000000000 00[6]",
	  "misc=0 type=MASK nr=1 long_size=8 mask=< 0x5 >", { 26, 27, 28, 29, 30, 31 } },
	{ USUAL, "4a000000 0000 1800 0100 0200 0400 05000000 06000000 00[2]",
	  "misc=0 type=MASK nr=2 long_size=4 mask=< 0x5 0x6 >", { 22, 23 } },
	{ USUAL, "4a000000 0000 1000 0200 01 00 0200 0500",
	  "misc=0 type=RANGE_CPUS any_cpu=1 start_cpu=2 end_cpu=5", { 0 } },
	{ USUAL, "4b000000 0000 2000 0100000000000000 0200000000000000 0100000000000000",
	  "misc=0 nr=1 data=< < tag=SCALE val=1 > >", { 0 } },
	{ USUAL,
	  "4c000000 0000 3000 0b00000000000000 02000000 03000000 0400000000000000"
	  "0500000000000000 0600000000000000",
	  "misc=0 id=11 cpu=2 thread=3 val=4 ena=5 run=6", { 0 } },
	{ USUAL, "4d000000 0000 1800 0100000000000000 0900000000000000",
	  "misc=0 type=FINAL time=9ns", { 0 } },
	{ USUAL, "4e000000 0000 2000 0000000000000000 0b00000000000000 'Joules' 00[2]",
	  "misc=0 type=UNIT id=11 unit='Joules'", { 31 } },
	{ USUAL, "4e000000 0000 2000 0100000000000000 0b00000000000000 000000000000e03f",
	  "misc=0 type=SCALE id=11 scale=0.5", { 0 } },
	{ USUAL, "4e000000 0000 2000 0200000000000000 0b00000000000000 'dummy:u' 00",
	  "misc=0 type=NAME id=11 name='dummy:u'", { 0 } },
	{ USUAL, "4e000000 0000 2000 0300000000000000 0b00000000000000 0000 0200 0000 0100",
	  "misc=0 type=CPUS id=11 cpu_map=< type=CPUS nr=2 cpus=< 0 1 > >", { 0 } },
	{ USUAL,
	  "4f000000 0000 3800 0a00000000000000 0b00000000000000 0c00000000000000"
	  "0d00000000000000 0e00000000000000 01 00 00[6]",
	  "misc=0 time_shift=10 time_mult=11 time_zero=0xc time_cycles=0xd time_mask=0xe"
	  " cap_user_time_zero=1 cap_user_time_short=0", { 32 } },
	{ USUAL, "50000000 0000 1c00 0300000000000000 08000000 'machine' 00",
	  "misc=0 feat_id=HOSTNAME text='machine'", { 0 } },
	{ USUAL, "50000000 0000 1800 0700000000000000 08000000 04000000",
	  "misc=0 feat_id=NRCPUS nr_cpus_avail=8 nr_cpus_online=4", { 0 } },
	{ USUAL, "50000000 0000 2400 0b00000000000000 02000000 04000000 'ls' 00[2]"
		 "04000000 '-l' 00[2]",
	  "misc=0 feat_id=CMDLINE nr=2 args=< 'ls' '-l' >", { 35 } },
	{ USUAL, "50000000 0000 1400 6300000000000000 01020304",
	  "misc=0 feat_id=99 data=/01020304", { 16, 17, 18, 19 } },
	{ USUAL, "51000000 0000 0b00 010203", "misc=0 data=/010203", { 8, 9, 10 } },
	{ USUAL, "52000000 0000 0800", "misc=0", { 0 } },
	{ USUAL, "53000000 0000 1800 0300000000000000 010203 00[5]",
	  "misc=0 data_size=3 data=/010203", { 19, 20, 21, 22, 23 } },
	{ USUAL,
	  "54000000 0000 5003 'prog' 00[508] 0100000000000000 'key' 00[61] 'value' 00[251]",
	  "misc=0 prog_name='prog' nr_entries=1 entries=< < key='key' value='value' > >", { 0 } },
	{ USUAL, "55000000 0000 2000 0900000000000000 02000000 0f00 0000 0102030405060708",
	  "misc=0 timestamp=9 cpu=2 version=15 data=/0102030405060708",
	  { 24, 25, 26, 27, 28, 29, 30, 31 } },
	{ USUAL, "56000000 0000 1800 0900000000000000 02000000 0f00 0100",
	  "misc=0 timestamp=9 cpu=2 version=15 domain=1", { 0 } },
};

static void all(const struct golden *g, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(&g[i]);
}
#define ALL(g) all(g, sizeof(g) / sizeof(*(g)))

static void the_kernels_records_are_described(void **state)
{
	(void)state;
	ALL(kernel);
}

static void samples_are_described(void **state)
{
	(void)state;
	ALL(samples);
}

static void perfs_own_records_are_described(void **state)
{
	(void)state;
	ALL(user);
}

static void the_words_of_each_kind_of_trace_are_named(void **state)
{
	(void)state;
	ALL(infos);
	assert_string_equal(fmt_auxtrace_name(FMT_AUXTRACE_ARM_SPE), "ARM_SPE");
	assert_null(fmt_auxtrace_name(0));
	assert_null(fmt_auxtrace_name(UINT64_MAX));
}

static struct fmt_fit visit_hex(const struct kind_of_event *k, const char *hex, struct page *p)
{
	uint8_t bytes[512];
	struct world w;

	make_world(&w, k);
	return visit(&w, bytes, hex_bytes(bytes, sizeof(bytes), hex), p);
}

static void what_no_field_takes_is_counted(void **state)
{
	static const struct kind_of_event usual = USUAL;
	struct fmt_fit fit;
	struct page p;

	(void)state;
	fit = visit_hex(&usual, "0d000000 0000 4000 0500000000000000 ee[16]" TRAILER, &p);
	assert_int_equal(fit.left, 16);
	assert_string_equal(p.s, "misc=0 lost=5" SAID);
	fit = visit_hex(&usual, "44000000 0000 0c00 ee[4]", &p);
	assert_int_equal(fit.left, 4);
	fit = visit_hex(&usual, "5a000000 0000 1000 ee[8]", &p);
	assert_false(fit.known);
	assert_int_equal(fit.left, 8);
	assert_string_equal(p.s, "misc=0");
}

/* Counts that would wrap around, or ask for more than the record has. */
static void counts_are_not_believed(void **state)
{
	static const struct kind_of_event usual = USUAL, chain = { .sample_type = 0x20 },
					  raw = { .sample_type = 0x400 },
					  aux = { .sample_type = 0x100000 };
	struct fmt_fit fit;
	struct page p;

	(void)state;
	fit = visit_hex(&chain, "09000000 0000 1800 0100000000000020 0010000000000000", &p);
	assert_string_equal(fit.missing, "ips");
	assert_int_equal(fit.left, 8);
	fit = visit_hex(&raw, "09000000 0000 1000 ffffffff 01020304", &p);
	assert_string_equal(fit.missing, "raw");
	fit = visit_hex(&aux, "09000000 0000 1800 ffffffffffffffff 0102030405060708", &p);
	assert_string_equal(fit.missing, "aux");
	fit = visit_hex(&usual, "45000000 0000 1800 0000000000000008 00[8]", &p);
	assert_string_equal(fit.missing, "entries");
	fit = visit_hex(&usual, "0d000000 0000 1000 0500000000000000", &p);
	assert_string_equal(fit.missing, "sample_id");
	assert_string_equal(p.s, "misc=0 lost=5");
}

/* Two events that disagree: what lies behind the fixed fields is not guessed. */
static void without_an_event_the_trailer_is_left(void **state)
{
	static const struct kind_of_event usual = USUAL;
	uint8_t bytes[64];
	struct fmt_rec rec = { .p = bytes, .type = FMT_REC_LOST_SAMPLES, .size = 48 };
	struct fmt_fit fit;
	struct page p = { 0 };
	struct world w;

	(void)state;
	make_world(&w, &usual);
	w.r.same_layout = false;
	hex_bytes(bytes, sizeof(bytes), "0d000000 0000 3000 0500000000000000" TRAILER);
	fit = fmt_fields(&w.r, &rec, -1, render, &p);
	assert_string_equal(p.s, "misc=0 lost=5");
	assert_int_equal(fit.left, 32);
	rec.type = FMT_REC_SAMPLE;
	fit = fmt_fields(&w.r, &rec, -1, render, &p);
	assert_int_equal(fit.left, 40);
}

static void an_attr_is_described_alone(void **state)
{
	uint8_t attr[160] = { 0 };
	struct page p = { 0 };
	struct fmt_fit fit;

	(void)state;
	le_put(attr + FMT_ATTR_AT_SIZE, 160, 4);
	le_put(attr + FMT_ATTR_AT_FLAGS, FMT_ATTR_F_WATERMARK | UINT64_C(3) << 15, 8);
	le_put(attr + FMT_ATTR_AT_RESERVED_2, 7, 2);
	le_put(attr + FMT_ATTR_AT_AUX_ACTION, 0xd, 4);
	le_put(attr + 144, 0x1122, 2);
	fit = fmt_attr_fields(attr, sizeof(attr), render, &p);
	assert_null(fit.missing);
	assert_int_equal(fit.left, 0);
	assert_string_equal(
		p.s, "type=HARDWARE size=160 config=0x0 sample_period=0 sample_type=0"
		     " read_format=0 flags=watermark precise_ip=3 wakeup_watermark=0 bp_type=0x0"
		     " config1=0x0 config2=0x0 branch_sample_type=0 sample_regs_user=0x0"
		     " sample_stack_user=0 clockid=0 sample_regs_intr=0x0 aux_watermark=0"
		     " sample_max_stack=0 reserved=0x7 aux_sample_size=0"
		     " aux_action=aux_start_paused|aux_resume|0x8 sig_data=0x0 config3=0x0"
		     " config4=0x0 newer=/22110000000000000000000000000000");
	fit = fmt_attr_fields(attr, 100, render, &p);
	assert_string_equal(fit.missing, "sample_regs_intr");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernels_records_are_described),
		cmocka_unit_test(samples_are_described),
		cmocka_unit_test(perfs_own_records_are_described),
		cmocka_unit_test(the_words_of_each_kind_of_trace_are_named),
		cmocka_unit_test(what_no_field_takes_is_counted),
		cmocka_unit_test(counts_are_not_believed),
		cmocka_unit_test(without_an_event_the_trailer_is_left),
		cmocka_unit_test(an_attr_is_described_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
