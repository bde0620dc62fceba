/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that run as copies, held against the CPU: a child runs each of them for one step,
 * from the same registers, those of vectors too, and the same bytes. Drawn at random, from one
 * seed, out of all that decodes as such on this CPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfio/soft/insn.h"
#include "perfio/soft/isa.h"
#include "perfio/soft/op.h"
#include "perfio/soft/regs.h"
#include "tests/unit/drawn.h"
#include "tests/unit/onestep.h"
#include "tests/unit/softrun.h"

#include <Zydis/Zydis.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum { DRAWN = 40000 };
/* In the area of XSAVE (SDM vol. 1, 13.4): MXCSR, xmm0 to xmm15, the header, what follows it. */
enum { MXCSR = 24, XMM = 160, XMM_END = 416, HEADER = 512, MORE = 576, AREA = 16384 };
/* Exceptions that are masked; what else may be drawn of MXCSR: flags, rounding, zeros. */
enum { MASKS = 0x1f80, OTHER = 0xe07f };

struct state {
	uint8_t v[AREA];
	size_t size;
};

struct world {
	struct onestep *child;
	struct soft_stubs *stubs;
	uint8_t first[ONESTEP_SIZE], v[ONESTEP_SIZE];
	struct state plain, before, ours, cpus;
	bool shared; /* nothing is ours alone */
	size_t written; /* bytes */
};

static bool peek(void *arg, uint64_t addr, void *to, size_t n)
{
	struct world *w = arg;

	if (!onestep_data(addr, n))
		return false;
	memcpy(to, w->v + (addr - ONESTEP_DATA), n);
	return true;
}

static bool poke(void *arg, uint64_t addr, const void *from, size_t n)
{
	struct world *w = arg;

	if (!onestep_data(addr, n))
		return false;
	memcpy(w->v + (addr - ONESTEP_DATA), from, n);
	w->written += n;
	return true;
}

static bool owned(void *arg, uint64_t addr, size_t n, bool write, bool locked)
{
	const struct world *w = arg;

	(void)write;
	(void)locked;
	return !w->shared && onestep_data(addr, n);
}

static void fetch(const struct world *w, struct state *ret)
{
	struct iovec all = { ret->v, sizeof(ret->v) };

	assert_int_equal(ptrace(PTRACE_GETREGSET, w->child->child, NT_X86_XSTATE, &all), 0);
	ret->size = all.iov_len;
}

static void give(const struct world *w, const struct state *from)
{
	struct iovec all = { (void *)from->v, from->size };

	assert_int_equal(ptrace(PTRACE_SETREGSET, w->child->child, NT_X86_XSTATE, &all), 0);
}

/* All components of vectors, from the start of each on, at random; or some as they are when new. */
static void draw_state(struct world *w)
{
	const uint64_t all = soft_isa_xstate() & (drawn_below(4) ? UINT64_MAX : drawn());
	const uint32_t mxcsr = MASKS | (drawn() & OTHER);
	struct state *s = &w->before;

	*s = w->plain;
	memcpy(s->v + MXCSR, &mxcsr, sizeof(mxcsr));
	drawn_bytes(s->v + XMM, XMM_END - XMM);
	if (all & SOFT_XSTATE_AVX)
		drawn_bytes(s->v + MORE, 256);
	if (all & SOFT_XSTATE_AVX512 && s->size > 2696 - 8) {
		/* Where they are on all CPUs that have them: Linux 6.1, cpuid leaf 13. */
		unsigned at, size, ecx, edx;

		for (unsigned k = 5; k <= 7; k++) {
			__asm__("cpuid" : "=a"(size), "=b"(at), "=c"(ecx), "=d"(edx)
				: "0"(13), "2"(k));
			drawn_bytes(s->v + at, size);
		}
	}
	memcpy(s->v + HEADER, &(uint64_t){ all | 2 }, 8);
}

static struct user_regs_struct registers(const struct world *w)
{
	struct user_regs_struct r = w->child->first;

	for (unsigned k = 0; k < 16; k++)
		*soft_reg(&r, k) = drawn_number();
	r.orig_rax = UINT64_MAX;
	r.rip = ONESTEP_CODE + 1024;
	r.rsp = ONESTEP_MIDDLE + 8 * drawn_below(64);
	r.eflags = 0x202 | (drawn() & SOFT_ARITHMETIC);
	return r;
}

/* Any prefixes, and any bytes behind them that begin an opcode of some vectors or locks. */
static void bytes(uint8_t code[16])
{
	static const uint8_t prefix[] = { 0x66, 0xf2, 0xf3, 0xf0, 0x64, 0x2e };
	size_t n = 0;
	unsigned k = drawn_below(8);

	for (size_t b = 0; b < 16; b++)
		code[b] = (uint8_t)drawn();
	if (k < 4) {
		while (!drawn_below(2) && n < 3)
			code[n++] = prefix[drawn_below(sizeof(prefix))];
		if (drawn_below(2))
			code[n++] = (uint8_t)(0x40 | drawn_below(16));
		if (k == 3)
			return;
		code[n++] = 0x0f;
		if (k == 2)
			code[n] = drawn_below(2) ? 0x38 : 0x3a;
	} else if (k < 6) {
		code[n] = drawn_below(2) ? 0xc5 : 0xc4;
		if (code[n] == 0xc4)
			code[1] = (uint8_t)((code[1] & 0xe0) | (1 + drawn_below(3)));
	} else {
		code[0] = 0x62;
		code[1] = (uint8_t)((code[1] & 0xf0) | (1 + drawn_below(3)));
		code[2] |= 4;
	}
}

static bool aim(const struct soft_insn *i, struct user_regs_struct *r)
{
	const struct soft_operand *o = &i->from;
	const unsigned n = i->op.stub.bytes;
	uint64_t to = ONESTEP_MIDDLE - 512 + drawn_below(1024);

	if (!n)
		return true;
	if (drawn_below(4))
		to -= to % n;
	if (o->base < 16)
		*soft_reg(r, o->base) += to - soft_address(i, r);
	return onestep_data(soft_address(i, r), n);
}

static void same_state(const char *words, const struct state *a, const struct state *b)
{
	if (memcmp(a->v + MXCSR, b->v + MXCSR, 4) != 0)
		fail_msg("%s: other MXCSR", words);
	for (size_t k = XMM; k < a->size; k++)
		if ((k < XMM_END || k >= MORE) && a->v[k] != b->v[k])
			fail_msg("%s: vectors differ at byte %zu", words, k);
}

static void in_words(char words[80], const uint8_t *code, size_t n)
{
	for (size_t k = 0; k < n; k++)
		words += snprintf(words, 4, "%02x ", code[k]);
}

/* Both ways. False: it is left to the thread. */
static bool both(struct world *w, const struct soft_insn *i, const uint8_t *code,
		 const struct user_regs_struct *r)
{
	const struct soft_access m = { peek, poke, owned, w, w->stubs };
	struct user_regs_struct ours = *r, cpus = *r;
	uint8_t after[ONESTEP_SIZE];
	char words[80];
	bool done;

	in_words(words, code, i->len);
	memcpy(w->v, w->first, sizeof(w->v));
	give(w, &w->before);
	soft_stubs_open(w->stubs, w->child->child);
	done = soft_op_run(i, &ours, &m);
	assert_int_equal(soft_stubs_close(w->stubs), 0);
	fetch(w, &w->ours);
	if (!done) {
		assert_memory_equal(&ours, r, sizeof(ours));
		assert_memory_equal(w->v, w->first, sizeof(w->v));
		give(w, &w->before);
		fetch(w, &w->cpus);
		same_state(words, &w->ours, &w->cpus);
		return false;
	}
	give(w, &w->before);
	assert_true(onestep_write(w->child, r->rip, code, 16));
	assert_true(onestep_write(w->child, ONESTEP_DATA, w->first, sizeof(w->first)));
	if (!onestep_run(w->child, &cpus))
		fail_msg("%s: the cpu faults", words);
	fetch(w, &w->cpus);
	onestep_same(words, &ours, &cpus);
	same_state(words, &w->ours, &w->cpus);
	assert_true(onestep_read(w->child, ONESTEP_DATA, after, sizeof(after)));
	if (memcmp(after, w->v, sizeof(after)))
		fail_msg("%s: other memory", words);
	return true;
}

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	void *child = NULL;

	if (onestep_begin(&child))
		return -1;
	w->child = child;
	w->stubs = soft_stubs_new();
	fetch(w, &w->plain);
	*state = w;
	return w->stubs ? 0 : -1;
}

static int end(void **state)
{
	struct world *w = *state;
	void *child = w->child;

	soft_stubs_free(w->stubs);
	free(w);
	return onestep_end(&child);
}

static ZydisMnemonic mnemonic(const uint8_t *code)
{
	ZydisDecodedOperand arg[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	ZydisDecoder d;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	assert_true(ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, code, 16, &z, arg)));
	return z.mnemonic;
}

/* At least so many kinds: what every CPU of the last ten years has; what this one has beyond. */
enum { KINDS = 300, KINDS_AVX512 = 700 };

static void each_does_what_the_cpu_does(void **state)
{
	static unsigned done[ZYDIS_MNEMONIC_MAX_VALUE + 1];
	struct world *w = *state;
	unsigned kinds = 0;

	for (unsigned k = 0; k < DRAWN; k++) {
		struct user_regs_struct r = registers(w);
		struct soft_insn i;
		uint8_t code[16];

		drawn_bytes(w->first, sizeof(w->first));
		draw_state(w);
		do {
			bytes(code);
			soft_insn_decode(&i, r.rip, code, sizeof(code));
		} while (i.cls != SOFT_OTHER || i.op.what != SOFT_STUB || !aim(&i, &r));
		if (both(w, &i, code, &r))
			done[mnemonic(code)]++;
	}
	for (unsigned k = 0; k <= ZYDIS_MNEMONIC_MAX_VALUE; k++)
		kinds += done[k] > 0;
	if (soft_isa_xstate() & SOFT_XSTATE_AVX512)
		assert_in_range(kinds, KINDS_AVX512, UINT32_MAX);
	assert_in_range(kinds, KINDS, UINT32_MAX);
}

static bool is_stub(const uint8_t *code, size_t n)
{
	struct soft_insn i;

	soft_insn_decode(&i, ONESTEP_CODE, code, n);
	assert_int_equal(i.len, n);
	return i.op.what == SOFT_STUB;
}

#define BYTES(...) (uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ })
#define LEFT(words, ...)                                                                 \
	if (is_stub(BYTES(__VA_ARGS__)))                                                 \
		fail_msg("%s is not left to the thread", words)

static void what_is_more_than_that_is_left_to_the_thread(void **state)
{
	(void)state;
	assert_true(is_stub(BYTES(0x0f, 0x10, 0x00))); /* movups (%rax), %xmm0 */
	LEFT("movd from esp", 0x66, 0x0f, 0x6e, 0xc4);
	LEFT("pextrb into spl", 0x66, 0x40, 0x0f, 0x3a, 0x14, 0xc4, 0x00);
	LEFT("lock xadd of rsp", 0xf0, 0x48, 0x0f, 0xc1, 0x20);
	LEFT("maskmovdqu", 0x66, 0x0f, 0xf7, 0xc1);
	LEFT("maskmovq", 0x0f, 0xf7, 0xc1);
	LEFT("paddb of mmx", 0x0f, 0xfc, 0xc1);
	LEFT("cvtpi2ps", 0x0f, 0x2a, 0xc1);
	LEFT("fld", 0xd9, 0x00);
	LEFT("ldmxcsr", 0x0f, 0xae, 0x10);
	LEFT("vldmxcsr", 0xc5, 0xf8, 0xae, 0x10);
	LEFT("fxsave", 0x0f, 0xae, 0x00);
	LEFT("xsave", 0x0f, 0xae, 0x20);
	LEFT("vpgatherdd", 0xc4, 0xe2, 0x75, 0x90, 0x04, 0x10);
	LEFT("movups with an address of 32 bits", 0x67, 0x0f, 0x10, 0x00);
	LEFT("lock bts of memory by register", 0xf0, 0x0f, 0xab, 0x00);
	LEFT("cpuid", 0x0f, 0xa2);
	LEFT("rdtsc", 0x0f, 0x31);
	LEFT("rdrand", 0x0f, 0xc7, 0xf0);
	LEFT("rdfsbase", 0xf3, 0x0f, 0xae, 0xc0);
	LEFT("std", 0xfd);
	LEFT("clflush", 0x0f, 0xae, 0x38);
}

/* The instruction with rax at an address of the data, and whether it was carried out. */
static bool carried(struct world *w, uint64_t rax, const uint8_t *code, size_t n)
{
	struct user_regs_struct r = registers(w);
	uint8_t padded[16] = { 0 };
	struct soft_insn i;

	drawn_bytes(w->first, sizeof(w->first));
	memcpy(padded, code, n);
	r.rax = rax;
	soft_insn_decode(&i, r.rip, code, n);
	assert_int_equal(i.op.what, SOFT_STUB);
	return both(w, &i, padded, &r);
}

static void what_would_fault_is_left_to_the_thread(void **state)
{
	struct world *w = *state;
	const uint64_t end = ONESTEP_DATA + ONESTEP_SIZE, aligned = ONESTEP_MIDDLE;

	draw_state(w);
	assert_true(carried(w, aligned, BYTES(0x0f, 0x28, 0x00))); /* movaps (%rax), %xmm0 */
	assert_false(carried(w, aligned + 8, BYTES(0x0f, 0x28, 0x00)));
	assert_false(carried(w, aligned + 8, BYTES(0x66, 0x0f, 0xfc, 0x00))); /* paddb */
	assert_true(carried(w, aligned + 8, BYTES(0x0f, 0x10, 0x00)));	      /* movups */
	assert_false(carried(w, end - 8, BYTES(0x0f, 0x10, 0x00)));
	assert_false(carried(w, end - 8, BYTES(0x0f, 0x11, 0x00))); /* movups to memory */
	assert_false(carried(w, aligned + 8, BYTES(0x48, 0x0f, 0xc7, 0x08))); /* cmpxchg16b */
}

static void what_others_may_see_is_left_to_the_thread(void **state)
{
	struct world *w = *state;

	draw_state(w);
	w->shared = true;
	assert_false(carried(w, ONESTEP_MIDDLE, BYTES(0xf0, 0xff, 0x00)));	 /* lock incl */
	assert_false(carried(w, ONESTEP_MIDDLE, BYTES(0x0f, 0xb1, 0x08)));	 /* cmpxchg */
	assert_false(carried(w, ONESTEP_MIDDLE, BYTES(0x87, 0x08)));		 /* xchg */
	assert_false(carried(w, ONESTEP_MIDDLE, BYTES(0x0f, 0x28, 0x00)));	 /* movaps */
	assert_true(carried(w, ONESTEP_MIDDLE, BYTES(0x66, 0x0f, 0xd6, 0x00))); /* movq */
}

/* Bytes that an instruction does not touch may be somebody else's. */
static void what_is_not_touched_is_not_written(void **state)
{
	/* vpmaskmovd %ymm0, %ymm1, (%rax) */
	const uint8_t code[] = { 0xc4, 0xe2, 0x75, 0x8e, 0x00 };
	const uint32_t mask[4] = { 0, 1u << 31, 0, 0 };
	struct world *w = *state;

	if (soft_isa_of(ZYDIS_ISA_SET_AVX2) == SOFT_ISA_NONE)
		skip();
	draw_state(w);
	memset(w->before.v + MORE, 0, 256);
	memset(w->before.v + XMM, 0x5a, 16);
	memcpy(w->before.v + XMM + 16, mask, sizeof(mask));
	w->written = 0;
	assert_true(carried(w, ONESTEP_MIDDLE, code, sizeof(code)));
	assert_in_range(w->written, 1, 4);
}

/* addps of a signalling NaN: SDM vol. 1, 11.5.2.1. */
static void exceptions_that_are_not_masked_are_left_to_the_thread(void **state)
{
	const uint8_t addps[] = { 0x0f, 0x58, 0xc0 };
	const uint32_t snan = 0x7f800001;
	struct world *w = *state;

	for (int masks = 0; masks < 2; masks++) {
		uint32_t mxcsr = masks ? MASKS : MASKS & ~0x80;

		draw_state(w);
		memcpy(w->before.v + MXCSR, &mxcsr, sizeof(mxcsr));
		memcpy(w->before.v + XMM, &snan, sizeof(snan));
		assert_int_equal(carried(w, 0, addps, sizeof(addps)), masks);
	}
}

/* More copies than there is room for: each is made anew. */
static void many_copies_are_made(void **state)
{
	struct world *w = *state;

	draw_state(w);
	for (unsigned k = 0; k < 3 * 256 * 64; k += 7) {
		/* pshufd $k, %xmm, %xmm */
		const uint8_t code[] = { 0x66, 0x0f, 0x70, (uint8_t)(0xc0 | k % 64),
					 (uint8_t)(k / 64) };

		assert_true(carried(w, 0, code, sizeof(code)));
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_does_what_the_cpu_does),
		T(what_is_more_than_that_is_left_to_the_thread),
		T(what_would_fault_is_left_to_the_thread),
		T(what_others_may_see_is_left_to_the_thread),
		T(what_is_not_touched_is_not_written),
		T(exceptions_that_are_not_masked_are_left_to_the_thread),
		T(many_copies_are_made),
	};

	if (!softrun_permitted()) {
		puts("ptrace(2) is not permitted here");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
