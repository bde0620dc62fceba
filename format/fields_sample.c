/* SPDX-License-Identifier: Apache-2.0 */
/* PERF_RECORD_SAMPLE, its fields in the order of the kernel's perf_output_sample(), and the
 * values of PERF_RECORD_READ. */
#include "format/abi.h"
#include "format/event.h"
#include "format/fields_priv.h"

#define BRANCH_HW_INDEX (UINT64_C(1) << 17) /* attr.branch_sample_type [uapi] */
#define BRANCH_COUNTERS (UINT64_C(1) << 19) /* Linux 6.8 */

static uint64_t attr_num(const struct fmt_visit *v, size_t at, unsigned n)
{
	return v->attr_size >= at + n ? le_get(v->attr + at, n) : 0;
}

/* value, and what read_format adds to each. */
static void visit_value(struct fmt_visit *v, uint64_t rf)
{
	fmt_visit_num(v, "value", FMT_AS_DEC, 8);
	if (!(rf & FMT_FORMAT_GROUP)) {
		if (rf & FMT_FORMAT_TOTAL_TIME_ENABLED)
			fmt_visit_num(v, "time_enabled", FMT_AS_DEC, 8);
		if (rf & FMT_FORMAT_TOTAL_TIME_RUNNING)
			fmt_visit_num(v, "time_running", FMT_AS_DEC, 8);
	}
	if (rf & FMT_FORMAT_ID)
		fmt_visit_num(v, "id", FMT_AS_DEC, 8);
	if (rf & FMT_FORMAT_LOST)
		fmt_visit_num(v, "lost", FMT_AS_DEC, 8);
}

static void visit_group(struct fmt_visit *v, uint64_t rf)
{
	size_t each = 8u + (rf & FMT_FORMAT_ID ? 8u : 0u) + (rf & FMT_FORMAT_LOST ? 8u : 0u);
	uint64_t nr = fmt_visit_num(v, "nr", FMT_AS_DEC, 8);

	if (rf & FMT_FORMAT_TOTAL_TIME_ENABLED)
		fmt_visit_num(v, "time_enabled", FMT_AS_DEC, 8);
	if (rf & FMT_FORMAT_TOTAL_TIME_RUNNING)
		fmt_visit_num(v, "time_running", FMT_AS_DEC, 8);
	if (!fmt_visit_list(v, "values", nr, each))
		return;
	for (; nr; nr--) {
		fmt_visit_open(v, NULL, FMT_AS_GROUP);
		visit_value(v, rf);
		fmt_visit_close(v);
	}
	fmt_visit_close(v);
}

/* Group-wide and single values share names with other fields of a sample. */
void fmt_visit_read(struct fmt_visit *v)
{
	uint64_t rf = fmt_attr_read_format(v->attr, v->attr_size);

	if (v->missing)
		return;
	fmt_visit_open(v, "read", FMT_AS_GROUP);
	if (rf & FMT_FORMAT_GROUP)
		visit_group(v, rf);
	else
		visit_value(v, rf);
	fmt_visit_close(v);
}

static void visit_branch(struct fmt_visit *v)
{
	static const char *const types[] = { "UNKNOWN",	"COND",	    "UNCOND",	"IND",
					     "CALL",	"IND_CALL", "RET",	"SYSCALL",
					     "SYSRET",	"COND_CALL", "COND_RET", "ERET",
					     "IRQ",	"SERROR",   "NO_TX",	"EXTEND_ABI" };
	uint64_t bits;

	fmt_visit_open(v, NULL, FMT_AS_GROUP);
	fmt_visit_num(v, "from", FMT_AS_HEX, 8);
	fmt_visit_num(v, "to", FMT_AS_HEX, 8);
	bits = fmt_take_num(v, "flags", 8);
	fmt_give(v, &(struct fmt_field){ .name = "flags", .kind = FMT_AS_FLAGS,
					 .flags = fmt_branch_flags, .v = bits & 0xf });
	fmt_give_num(v, "cycles", FMT_AS_DEC, bits >> 4 & 0xffff);
	fmt_give(v, &(struct fmt_field){ .name = "type", .kind = FMT_AS_WORD,
					 .word = types[bits >> 20 & 0xf],
					 .v = bits >> 20 & 0xf });
	fmt_give_num(v, "spec", FMT_AS_DEC, bits >> 24 & 3);
	fmt_give_num(v, "new_type", FMT_AS_DEC, bits >> 26 & 0xf);
	fmt_give_num(v, "priv", FMT_AS_DEC, bits >> 30 & 7);
	if (bits >> 33)
		fmt_give_num(v, "reserved", FMT_AS_HEX, bits >> 33);
	fmt_visit_close(v);
}

static void visit_branches(struct fmt_visit *v)
{
	uint64_t bst = attr_num(v, FMT_ATTR_AT_BRANCH_SAMPLE_TYPE, 8);
	uint64_t nr = fmt_visit_num(v, "bnr", FMT_AS_DEC, 8);

	if (bst & BRANCH_HW_INDEX)
		fmt_visit_num(v, "hw_idx", FMT_AS_INT, 8);
	if (!fmt_visit_list(v, "lbr", nr, 24))
		return;
	for (uint64_t i = 0; i < nr; i++)
		visit_branch(v);
	fmt_visit_close(v);
	if (bst & BRANCH_COUNTERS)
		fmt_visit_nums(v, "counters", FMT_AS_HEX, nr, 8);
}

/* The names of enum perf_event_x86_regs (asm/perf_regs.h); other machines have numbers. */
static const char *const x86_regs[32] = { "ax", "bx", "cx", "dx",  "si",  "di",	   "bp",
					  "sp", "ip", "flags", "cs", "ss", "ds",   "es",
					  "fs", "gs", "r8", "r9",  "r10", "r11",   "r12",
					  "r13", "r14", "r15" };
static const char *const plain_regs[64] = {
	"r0",  "r1",  "r2",  "r3",  "r4",  "r5",  "r6",	 "r7",	"r8",  "r9",  "r10",
	"r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21",
	"r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31", "r32",
	"r33", "r34", "r35", "r36", "r37", "r38", "r39", "r40", "r41", "r42", "r43",
	"r44", "r45", "r46", "r47", "r48", "r49", "r50", "r51", "r52", "r53", "r54",
	"r55", "r56", "r57", "r58", "r59", "r60", "r61", "r62", "r63"
};

static bool is_x86(const struct fmt_reader *r)
{
	const char *arch = fmt_reader_feature_str(r, FMT_FEAT_ARCH);

	return arch && (!strcmp(arch, "x86_64") || (arch[0] == 'i' && !strcmp(arch + 2, "86")));
}

static void visit_regs(struct fmt_visit *v, const char *abi_name, const char *name,
		       uint64_t mask)
{
	static const char *const abis[] = { "NONE", "32", "64" };
	uint64_t abi = fmt_visit_word(v, abi_name, abis, 3, 8);
	bool x86 = is_x86(v->r);
	const char *reg;

	if (v->missing || !abi)
		return;
	if ((size_t)__builtin_popcountll(mask) > v->left / 8) {
		v->missing = name;
		return;
	}
	fmt_visit_open(v, name, FMT_AS_GROUP);
	for (unsigned i = 0; i < 64; i++) {
		if (!(mask >> i & 1))
			continue;
		reg = x86 && i < 32 && x86_regs[i] ? x86_regs[i] : plain_regs[i];
		fmt_visit_num(v, reg, FMT_AS_HEX, 8);
	}
	fmt_visit_close(v);
}

static void visit_sized(struct fmt_visit *v, const char *size_name, const char *name,
			unsigned n)
{
	uint64_t size = fmt_visit_num(v, size_name, FMT_AS_DEC, n);

	if (size > v->left && !v->missing)
		v->missing = name;
	fmt_visit_bytes(v, name, (size_t)size);
}

static void visit_stack(struct fmt_visit *v)
{
	uint64_t size = v->left >= 8 ? fmt_load(v->p, 8) : 0;

	visit_sized(v, "stack_size", "stack", 8);
	if (size)
		fmt_visit_num(v, "dyn_size", FMT_AS_DEC, 8);
}

static void visit_weight(struct fmt_visit *v, uint64_t st)
{
	if (st & FMT_SAMPLE_WEIGHT) {
		fmt_visit_num(v, "weight", FMT_AS_DEC, 8);
		return;
	}
	fmt_visit_num(v, "var1_dw", FMT_AS_DEC, 4);
	fmt_visit_num(v, "var2_w", FMT_AS_DEC, 2);
	fmt_visit_num(v, "var3_w", FMT_AS_DEC, 2);
}

/* The fields that are numbers, up to PERIOD. */
static void visit_head(struct fmt_visit *v, uint64_t st)
{
	if (st & FMT_SAMPLE_IDENTIFIER)
		fmt_visit_num(v, "identifier", FMT_AS_DEC, 8);
	if (st & FMT_SAMPLE_IP)
		fmt_visit_num(v, "ip", FMT_AS_HEX, 8);
	if (st & FMT_SAMPLE_TID) {
		fmt_visit_num(v, "pid", FMT_AS_INT, 4);
		fmt_visit_num(v, "tid", FMT_AS_INT, 4);
	}
	if (st & FMT_SAMPLE_TIME)
		fmt_visit_num(v, "at", FMT_AS_TIME, 8);
	if (st & FMT_SAMPLE_ADDR)
		fmt_visit_num(v, "addr", FMT_AS_HEX, 8);
	if (st & FMT_SAMPLE_ID)
		fmt_visit_num(v, "id", FMT_AS_DEC, 8);
	if (st & FMT_SAMPLE_STREAM_ID)
		fmt_visit_num(v, "stream_id", FMT_AS_DEC, 8);
	if (st & FMT_SAMPLE_CPU) {
		fmt_visit_num(v, "cpu", FMT_AS_INT, 4);
		fmt_visit_reserved(v, 4);
	}
	if (st & FMT_SAMPLE_PERIOD)
		fmt_visit_num(v, "period", FMT_AS_DEC, 8);
}

static void visit_middle(struct fmt_visit *v, uint64_t st)
{
	uint64_t nr;

	if (st & FMT_SAMPLE_READ)
		fmt_visit_read(v);
	if (st & FMT_SAMPLE_CALLCHAIN) {
		nr = fmt_visit_num(v, "nr", FMT_AS_DEC, 8);
		fmt_visit_nums(v, "ips", FMT_AS_HEX, nr, 8);
	}
	if (st & FMT_SAMPLE_RAW)
		visit_sized(v, "raw_size", "raw", 4);
	if (st & FMT_SAMPLE_BRANCH_STACK)
		visit_branches(v);
	if (st & FMT_SAMPLE_REGS_USER)
		visit_regs(v, "user_abi", "user_regs",
			   attr_num(v, FMT_ATTR_AT_SAMPLE_REGS_USER, 8));
	if (st & FMT_SAMPLE_STACK_USER)
		visit_stack(v);
}

void fmt_visit_sample(struct fmt_visit *v)
{
	uint64_t st = fmt_attr_sample_type(v->attr, v->attr_size);

	visit_head(v, st);
	visit_middle(v, st);
	if (st & (FMT_SAMPLE_WEIGHT | FMT_SAMPLE_WEIGHT_STRUCT))
		visit_weight(v, st);
	if (st & FMT_SAMPLE_DATA_SRC)
		fmt_visit_num(v, "data_src", FMT_AS_HEX, 8);
	if (st & FMT_SAMPLE_TRANSACTION)
		fmt_visit_flags(v, "transaction", fmt_txn_flags, 8);
	if (st & FMT_SAMPLE_REGS_INTR)
		visit_regs(v, "intr_abi", "intr_regs",
			   attr_num(v, FMT_ATTR_AT_SAMPLE_REGS_INTR, 8));
	if (st & FMT_SAMPLE_PHYS_ADDR)
		fmt_visit_num(v, "phys_addr", FMT_AS_HEX, 8);
	if (st & FMT_SAMPLE_CGROUP)
		fmt_visit_num(v, "cgroup", FMT_AS_DEC, 8);
	if (st & FMT_SAMPLE_DATA_PAGE_SIZE)
		fmt_visit_num(v, "data_page_size", FMT_AS_DEC, 8);
	if (st & FMT_SAMPLE_CODE_PAGE_SIZE)
		fmt_visit_num(v, "code_page_size", FMT_AS_DEC, 8);
	if (st & FMT_SAMPLE_AUX)
		visit_sized(v, "aux_size", "aux", 8);
}
