/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/stub.h"
#include "perfio/soft/insn.h"
#include "perfio/soft/isa.h"
#include "perfio/soft/regs.h"
#include "perfio/soft/vectors.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Copies: a table by their bytes. One that is new there takes the place of another. */
enum { SLOTS_BITS = 12, SLOTS = 1 << SLOTS_BITS, SLOT = 32, CODE = SLOTS * SLOT };
enum { PAGE = 4096, OPERAND = 64 };

struct soft_stubs {
	struct soft_vectors vectors;
	uint8_t *code;	  /* CODE bytes, which can run, and behind them: */
	uint8_t *operand; /* OPERAND bytes, in a page of their own */
	uint64_t xstate;
	uint8_t made[SLOTS][SOFT_STUB_MAX]; /* what is in `code`; zeros: nothing */
};

struct soft_stubs *soft_stubs_new(void)
{
	struct soft_stubs *s = aligned_alloc(64, (sizeof(*s) + 63) & ~(size_t)63);
	void *p = mmap(NULL, CODE + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (!s || p == MAP_FAILED)
		goto out;
	memset(s, 0, sizeof(*s));
	s->code = p;
	s->operand = s->code + CODE;
	s->xstate = soft_isa_xstate();
	if (!mprotect(p, CODE, PROT_READ | PROT_EXEC))
		return s;
out:
	if (p != MAP_FAILED)
		munmap(p, CODE + PAGE);
	free(s);
	return NULL;
}

void soft_stubs_free(struct soft_stubs *s)
{
	if (!s)
		return;
	munmap(s->code, CODE + PAGE);
	free(s);
}

void soft_stubs_open(struct soft_stubs *s, pid_t tid)
{
	soft_vectors_of(&s->vectors, tid);
}

bool soft_stubs_changed(const struct soft_stubs *s)
{
	return s->vectors.changed;
}

int soft_stubs_close(struct soft_stubs *s)
{
	return soft_vectors_put(&s->vectors);
}

static size_t slot_of(const struct soft_stub *c)
{
	uint64_t a = 0, b = 0;

	memcpy(&a, c->code, 8);
	memcpy(&b, c->code + 8, SOFT_STUB_MAX - 8);
	/* D. Knuth, The Art of Computer Programming vol. 3, 6.4: the golden ratio. */
	return ((a ^ b * 31) * 0x9e3779b97f4a7c15u) >> (64 - SLOTS_BITS);
}

/* The code is never writable and executable at once. */
static bool make(struct soft_stubs *s, size_t k, const struct soft_stub *c)
{
	uint8_t *to = s->code + k * SLOT, *page = s->code + k * SLOT / PAGE * PAGE;
	const int32_t disp = (int32_t)(s->operand - (to + c->len));

	if (mprotect(page, PAGE, PROT_READ | PROT_WRITE))
		return false;
	memcpy(to, c->code, c->len);
	if (c->bytes)
		memcpy(to + c->disp, &disp, sizeof(disp));
	to[c->len] = 0xc3; /* ret */
	memcpy(s->made[k], c->code, sizeof(s->made[k]));
	if (!mprotect(page, PAGE, PROT_READ | PROT_EXEC))
		return true;
	memset(s->made[k], 0, sizeof(s->made[k]));
	return false;
}

#ifdef __x86_64__
/* Everything but rsp and rdi, between *rdi and the registers; rdi last. */
#define EACH(insn)                                                                       \
	insn(rax) insn(rbx) insn(rcx) insn(rdx) insn(rsi) insn(rbp) insn(r8) insn(r9)    \
	insn(r10) insn(r11) insn(r12) insn(r13) insn(r14) insn(r15)
#define LOAD(reg) "mov %c[" #reg "](%%rdi), %%" #reg "\n\t"
#define STORE(reg) "mov %%" #reg ", %c[" #reg "](%%rdi)\n\t"
#define OFFSET(reg) [reg] "i"(offsetof(struct user_regs_struct, reg)),

/*
 * The stack below rsp may be in use (the red zone: System V ABI, AMD64, 3.2.2). On it, from the top
 * on: r, the stub, the area, its components, our MXCSR.
 */
#define BEGIN                                                                            \
	"lea -128(%%rsp), %%rsp\n\t"                                                     \
	"push %%rbp\n\tpush %%rbx\n\t"                                                   \
	"push %%rax\n\tstmxcsr (%%rsp)\n\t"                                              \
	"push %%rax\n\tpush %%rcx\n\tpush %%rsi\n\tpush %%rdi\n\t"
#define CALL                                                                             \
	"pushq %c[eflags](%%rdi)\n\tpopf\n\t"                                            \
	EACH(LOAD) LOAD(rdi)                                                             \
	"call *8(%%rsp)\n\t"                                                             \
	"pushf\n\tpush %%rdi\n\t"                                                        \
	"mov 16(%%rsp), %%rdi\n\t"                                                       \
	EACH(STORE)                                                                      \
	"popq %c[rdi](%%rdi)\n\tpopq %c[eflags](%%rdi)\n\t"
#define END                                                                              \
	"add $32, %%rsp\n\tldmxcsr (%%rsp)\n\tpop %%rax\n\t"                             \
	"pop %%rbx\n\tpop %%rbp\n\t"                                                     \
	"lea 128(%%rsp), %%rsp"
#define RESTORE "xor %%edx, %%edx\n\txrstor64 (%%rcx)\n\t"
#define SAVE                                                                             \
	"mov 16(%%rsp), %%rcx\n\tmov 24(%%rsp), %%rax\n\t"                              \
	"xor %%edx, %%edx\n\txsave64 (%%rcx)\n\t"
#ifdef __AVX512F__
#error "what is compiled for AVX-512 has registers that are not told to be lost here"
#endif

#define RUN(before, after)                                                               \
	__asm__ volatile(BEGIN before CALL after END                                     \
			 : "+D"(r), "+S"(stub), "+c"(area), "+a"(components)             \
			 : EACH(OFFSET) OFFSET(rdi)                                      \
			   [eflags] "i"(offsetof(struct user_regs_struct, eflags))       \
			 : "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",  \
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",       \
			   "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",   \
			   "xmm14", "xmm15", "cc", "memory")

enum how { GENERAL, FETCHES, CHANGES };

/* r has flags that popf takes, and gets all of them. */
static void run(enum how how, struct user_regs_struct *r, const uint8_t *stub, uint8_t *area,
		uint64_t components)
{
	const bool avx = components & SOFT_XSTATE_AVX;

	switch (how) {
	case GENERAL:
		RUN("", "");
		return;
	case FETCHES:
		RUN(RESTORE, "");
		break;
	case CHANGES:
		RUN(RESTORE, SAVE);
		break;
	}
	if (avx)
		__asm__ volatile("vzeroupper" : : : "memory");
}
#else
enum how { GENERAL, FETCHES, CHANGES };

static void run(enum how how, struct user_regs_struct *r, const uint8_t *stub, uint8_t *area,
		uint64_t components)
{
	(void)how;
	(void)r;
	(void)stub;
	(void)area;
	(void)components;
}
#endif

static bool fetch(struct soft_stubs *s, const struct soft_stub *c, uint64_t at,
		  const struct soft_access *m)
{
	if (c->aligned && at % c->bytes)
		return false;
	if (c->whole && !m->owned(m->arg, at, c->bytes, c->writes, c->locked))
		return false;
	return !c->reads || m->read(m->arg, at, s->operand, c->bytes);
}

/* What was not touched, the kernel may change meanwhile. */
static bool store(const struct soft_stubs *s, const struct soft_stub *c, uint64_t at,
		  const uint8_t *before, const struct soft_access *m)
{
	if (!c->partly)
		return m->write(m->arg, at, s->operand, c->bytes);
	for (unsigned k = 0; k < c->bytes; k++)
		if (s->operand[k] != before[k] && !m->write(m->arg, at + k, s->operand + k, 1))
			return false;
	return true;
}

/* What writes memory changes no vectors. */
static enum how how_to(const struct soft_stub *c)
{
	if (!c->vectors)
		return GENERAL;
	return c->writes ? FETCHES : CHANGES;
}

bool soft_stub_run(struct soft_stubs *s, const struct soft_insn *i, struct user_regs_struct *r,
		   const struct soft_access *m)
{
	const struct soft_stub *c = &i->op.stub;
	const uint64_t at = c->bytes ? soft_address(i, r) : 0;
	const size_t k = slot_of(c);
	struct user_regs_struct after = *r;
	uint8_t before[OPERAND];

	if (c->vectors && !soft_vectors_get(&s->vectors))
		return false;
	if (memcmp(s->made[k], c->code, sizeof(s->made[k])) != 0 && !make(s, k, c))
		return false;
	if (c->bytes && !fetch(s, c, at, m))
		return false;
	if (c->partly)
		memcpy(before, s->operand, c->bytes);
	after.eflags &= SOFT_ARITHMETIC;
	run(how_to(c), &after, s->code + k * SLOT, s->vectors.area, s->xstate);
	if (c->writes && !store(s, c, at, before, m))
		return false;
	s->vectors.changed |= how_to(c) == CHANGES;
	after.eflags = (r->eflags & ~(uint64_t)SOFT_ARITHMETIC) | (after.eflags & SOFT_ARITHMETIC);
	*r = after;
	return true;
}
