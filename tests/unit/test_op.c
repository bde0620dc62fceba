/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions carried out from registers and memory, held against the CPU: a child runs each of
 * them for one step, from the same registers, flags and bytes, and both must come to the same.
 * The instructions are drawn at random, from one seed, out of all forms of the opcodes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfio/soft/insn.h"
#include "perfio/soft/op.h"
#include "perfio/soft/regs.h"
#include "tests/unit/drawn.h"
#include "tests/unit/onestep.h"
#include "tests/unit/softrun.h"

#include <stdio.h>
#include <string.h>

/* So many instructions; and at least so many of each kind. */
enum { DRAWN = 80000, EACH = 10 };

enum { PAGE = 4096 };

/* The data of the child, and what becomes of them here. */
struct data {
	uint8_t first[ONESTEP_SIZE], v[ONESTEP_SIZE];
};

static bool peek(void *arg, uint64_t addr, void *to, size_t n)
{
	struct data *d = arg;

	if (!onestep_data(addr, n))
		return false;
	memcpy(to, d->v + (addr - ONESTEP_DATA), n);
	return true;
}

static bool poke(void *arg, uint64_t addr, const void *from, size_t n)
{
	struct data *d = arg;

	if (!onestep_data(addr, n) || addr % PAGE + n > PAGE) /* as view.h's does */
		return false;
	memcpy(d->v + (addr - ONESTEP_DATA), from, n);
	return true;
}

static bool owned(void *arg, uint64_t addr, size_t n, bool write, bool locked)
{
	(void)arg;
	(void)write;
	(void)locked;
	return onestep_data(addr, n);
}

static struct user_regs_struct registers(const struct onestep *w)
{
	struct user_regs_struct r = w->first;

	for (unsigned k = 0; k < 16; k++)
		*soft_reg(&r, k) = drawn_number();
	r.orig_rax = UINT64_MAX;
	r.rip = ONESTEP_CODE + 1024;
	r.rsp = ONESTEP_MIDDLE + 8 * drawn_below(64);
	if (drawn_below(2))
		r.rbp = ONESTEP_MIDDLE + 8 * drawn_below(64);
	if (drawn_below(2)) /* a dividend of one register */
		r.rdx = (int64_t)r.rax < 0 ? UINT64_MAX : 0;
	r.eflags = 0x202 | (drawn() & SOFT_ARITHMETIC);
	return r;
}

/* One-byte opcodes, and those behind 0f: SDM vol. 2D, tables. */
static const uint8_t one[] = {
	0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x10, 0x11,
	0x12, 0x13, 0x14, 0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x20, 0x21, 0x22, 0x23,
	0x24, 0x25, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35,
	0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x50, 0x53, 0x54, 0x57, 0x58, 0x5b, 0x5c, 0x5f,
	0x63, 0x68, 0x69, 0x6a, 0x6b, 0x80, 0x81, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89,
	0x8a, 0x8b, 0x8d, 0x90, 0x91, 0x97, 0x98, 0x99, 0xa4, 0xa5, 0xa8, 0xa9,
	0xaa, 0xab, 0xb0, 0xb4, 0xb8, 0xbf,
	0xc0, 0xc1, 0xc6, 0xc7, 0xc9, 0xd0, 0xd1, 0xd2, 0xd3, 0xf6, 0xf7, 0xfe, 0xff,
};
static const uint8_t two[] = {
	0x1f, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x4b, 0x4c,
	0x4d, 0x4e, 0x4f, 0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a,
	0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa3, 0xab, 0xaf, 0xb3, 0xb6, 0xb7, 0xb8, 0xba, 0xbb,
	0xbc, 0xbd, 0xbe, 0xbf, 0xc8, 0xcb, 0xcc, 0xcf,
};

/* Any prefixes, any opcode, any bytes behind it. */
static void bytes(uint8_t code[16])
{
	size_t n = 0;

	if (!drawn_below(4))
		code[n++] = 0x66;
	if (!drawn_below(12))
		code[n++] = drawn_below(2) ? 0xf3 : 0xf2;
	if (!drawn_below(16))
		code[n++] = drawn_below(2) ? 0x64 : 0x65;
	if (drawn_below(2))
		code[n++] = (uint8_t)(0x40 | drawn_below(16));
	if (drawn_below(3)) {
		code[n++] = one[drawn_below(sizeof(one))];
	} else {
		code[n++] = 0x0f;
		code[n++] = two[drawn_below(sizeof(two))];
	}
	while (n < 16)
		code[n++] = (uint8_t)drawn();
}

/* Those of stub.h have a test of their own. */
static bool is_op(const struct soft_insn *i)
{
	return i->op.what != SOFT_LEFT && i->op.what != SOFT_STUB;
}

static bool is_string(const struct soft_insn *i)
{
	return i->op.what == SOFT_MOVS || i->op.what == SOFT_STOS;
}

/* Where both are, that may overlap. */
static void aim_string(struct user_regs_struct *r)
{
	r->rdi = ONESTEP_MIDDLE - 512 + drawn_below(1024);
	r->rsi = r->rdi - 64 + drawn_below(128);
	r->rcx = drawn_below(40);
	if (drawn_below(2))
		r->eflags |= SOFT_DF;
}

/* Choose a register so that the operand lies within the data. False: none can be. */
static bool aim(const struct soft_insn *i, struct user_regs_struct *r)
{
	const struct soft_operand *o = &i->from;
	const uint64_t to = ONESTEP_MIDDLE - 512 + drawn_below(1024);

	if (is_string(i))
		aim_string(r);
	if (i->op.to.kind != SOFT_ARG_MEM && i->op.by.kind != SOFT_ARG_MEM)
		return true;
	if (o->base < 16)
		*soft_reg(r, o->base) += to - soft_address(i, r);
	return onestep_data(soft_address(i, r), 8);
}

/* Both ways. False: it is left to the CPU. */
static bool both(struct onestep *w, struct data *d, const struct soft_insn *i,
		 const uint8_t *code, const struct user_regs_struct *r)
{
	const struct soft_access m = { .read = peek, .write = poke, .owned = owned,
				       .arg = d };
	struct user_regs_struct ours = *r, cpus = *r;
	uint8_t after[ONESTEP_SIZE];
	char words[80];
	int n = 0;

	for (unsigned k = 0; k < i->len; k++)
		n += snprintf(words + n, sizeof(words) - (size_t)n, "%02x ", code[k]);
	memcpy(d->v, d->first, sizeof(d->v));
	if (!soft_op_run(i, &ours, &m)) {
		assert_memory_equal(&ours, r, sizeof(ours));
		assert_memory_equal(d->v, d->first, sizeof(d->v));
		return false;
	}
	assert_true(onestep_write(w, r->rip, code, 16));
	assert_true(onestep_write(w, ONESTEP_DATA, d->first, sizeof(d->first)));
	do
		if (!onestep_run(w, &cpus))
			fail_msg("%s: the cpu faults", words);
	while (i->cls == SOFT_REP && cpus.rip == r->rip);
	onestep_same(words, &ours, &cpus);
	assert_true(onestep_read(w, ONESTEP_DATA, after, sizeof(after)));
	if (memcmp(after, d->v, sizeof(after)))
		fail_msg("%s: other memory", words);
	return true;
}

static void each_does_what_the_cpu_does(void **state)
{
	static const char *const name[] = {
		"left", "nop", "mov", "movsx", "lea", "push", "pop", "leave", "xchg", "setcc",
		"cmov", "extend", "spread", "add", "or", "adc", "sbb", "and", "sub", "xor",
		"cmp", "test", "rol", "ror", "shl", "shr", "sar", "imul", "bt", "bts", "btr",
		"btc", "bsf", "bsr", "tzcnt", "lzcnt", "popcnt", "inc", "dec", "not", "neg",
		"bswap", "mul", "imul wide", "div", "idiv", "movs", "stos",
	};
	unsigned done[SOFT_STOS + 1] = { 0 };
	struct onestep *w = *state;
	static struct data d;

	assert_int_equal(sizeof(name) / sizeof(name[0]), SOFT_STOS + 1);
	for (unsigned k = 0; k < DRAWN; k++) {
		struct user_regs_struct r = registers(w);
		struct soft_insn i;
		uint8_t code[16];

		drawn_bytes(d.first, sizeof(d.first));
		do {
			bytes(code);
			soft_insn_decode(&i, r.rip, code, sizeof(code));
		} while ((i.cls != SOFT_OTHER && i.cls != SOFT_REP) || !is_op(&i) || !aim(&i, &r));
		done[i.op.what] += both(w, &d, &i, code, &r);
	}
	for (unsigned what = SOFT_LEFT + 1; what <= SOFT_STOS; what++)
		if (done[what] < EACH)
			fail_msg("%s: only %u times", name[what], done[what]);
}

static void left(const char *words, const uint8_t *code, size_t n)
{
	struct soft_insn i;

	soft_insn_decode(&i, ONESTEP_CODE, code, n);
	assert_int_equal(i.len, n);
	if (is_op(&i))
		fail_msg("%s is not left to the CPU", words);
}

#define LEFT(words, ...) left(words, (uint8_t[]){ __VA_ARGS__ }, \
			      sizeof((uint8_t[]){ __VA_ARGS__ }))

static void what_is_more_than_that_is_left_to_the_cpu(void **state)
{
	(void)state;
	LEFT("lock inc", 0xf0, 0xff, 0x00);
	LEFT("xchg with memory", 0x87, 0x00);
	LEFT("bts of memory by register", 0x0f, 0xab, 0x00);
	LEFT("mov to ds", 0x8e, 0xd8);
	LEFT("mov from ds", 0x8c, 0xd8);
	LEFT("mov from a fixed address", 0x48, 0xa1, 0, 0, 0, 0x20, 0, 0, 0, 0);
	LEFT("mov with an address of 32 bits", 0x67, 0x8b, 0x00);
	LEFT("push of two bytes", 0x66, 0x50);
	LEFT("pop to memory", 0x8f, 0x00);
	LEFT("movups", 0x0f, 0x10, 0x00);
	LEFT("movd", 0x66, 0x0f, 0x6e, 0xc0);
	LEFT("movsb from fs", 0x64, 0xa4);
	LEFT("lodsb", 0xac);
	LEFT("rep scasb", 0xf3, 0xae);
	LEFT("popf", 0x9d);
	LEFT("std", 0xfd);
	LEFT("rdtsc", 0x0f, 0x31);
	LEFT("xgetbv", 0x0f, 0x01, 0xd0);
	LEFT("kmovw", 0xc5, 0xf8, 0x90, 0xc8);
	LEFT("wrfsbase", 0xf3, 0x0f, 0xae, 0xd0);
	LEFT("cmpxchg", 0x0f, 0xb1, 0x08);
}

/* All that would fault: nothing may have changed. */
static void faults_are_left_to_the_cpu(void **state)
{
	static const struct {
		const char *words;
		uint8_t code[8];
		uint64_t rax, rdx, rcx;
	} t[] = {
		{ "div by 0", { 0x48, 0xf7, 0xf1 }, 5, 0, 0 },
		{ "div, too much", { 0x48, 0xf7, 0xf1 }, 5, 7, 7 },
		{ "idiv by 0", { 0x48, 0xf7, 0xf9 }, 5, 0, 0 },
		{ "idiv of the least by -1", { 0x48, 0xf7, 0xf9 }, 1ull << 63, UINT64_MAX,
		  UINT64_MAX },
		{ "mov from nowhere", { 0x48, 0x8b, 0x00 }, 8, 0, 0 },
		{ "mov to nowhere", { 0x48, 0x89, 0x00 }, 8, 0, 0 },
		{ "add to nowhere", { 0x48, 0x01, 0x00 }, 8, 0, 0 },
		{ "mov beyond the end", { 0x48, 0x89, 0x08 },
		  ONESTEP_DATA + ONESTEP_SIZE - 4, 0, 1 },
	};
	struct onestep *w = *state;
	static struct data d;

	for (size_t k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		struct user_regs_struct r = registers(w);
		struct soft_insn i;

		r.rax = t[k].rax;
		r.rdx = t[k].rdx;
		r.rcx = t[k].rcx;
		soft_insn_decode(&i, r.rip, t[k].code, sizeof(t[k].code));
		assert_int_not_equal(i.op.what, SOFT_LEFT);
		if (both(w, &d, &i, t[k].code, &r))
			fail_msg("%s was carried out", t[k].words);
		assert_true(onestep_write(w, r.rip, t[k].code, sizeof(t[k].code)));
		if (onestep_run(w, &r))
			fail_msg("%s does not fault", t[k].words);
	}
}

static void its_own_trap_flag_is_left_to_the_cpu(void **state)
{
	struct user_regs_struct r = registers(*state);
	static struct data d;
	struct soft_insn i;
	uint8_t nop[16] = { 0x90 };

	r.eflags |= SOFT_TF;
	soft_insn_decode(&i, r.rip, nop, sizeof(nop));
	assert_false(both(*state, &d, &i, nop, &r));
}

#define T(f) cmocka_unit_test_setup_teardown(f, onestep_begin, onestep_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_does_what_the_cpu_does),
		T(what_is_more_than_that_is_left_to_the_cpu),
		T(faults_are_left_to_the_cpu),
		T(its_own_trap_flag_is_left_to_the_cpu),
	};

	if (!softrun_permitted()) {
		puts("ptrace(2) is not permitted here");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
