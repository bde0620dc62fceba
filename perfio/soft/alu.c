/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/alu.h"
#include "perfio/soft/regs.h"

/* The stack below rsp may be in use (the red zone: System V ABI, AMD64, 3.2.2). */
#define FLAGS_IN "lea -128(%%rsp), %%rsp\n\tpush %[f]\n\tpopf\n\t"
#define FLAGS_OUT "\n\tpushf\n\tpop %[f]\n\tlea 128(%%rsp), %%rsp"

#define RUN(text, source)                                                                \
	__asm__ volatile(FLAGS_IN text FLAGS_OUT                                         \
			 : [a] "+q"(*a), [f] "+r"(*f)                                    \
			 : [b] source(b)                                                 \
			 : "cc", "memory")

#define OF_BYTES(insn)                                                                   \
	case 1:                                                                          \
		RUN(insn "b %b[b], %b[a]", "q");                                         \
		return true

#define OF_MORE(insn)                                                                    \
	case 2:                                                                          \
		RUN(insn "w %w[b], %w[a]", "q");                                         \
		return true;                                                             \
	case 4:                                                                          \
		RUN(insn "l %k[b], %k[a]", "q");                                         \
		return true;                                                             \
	case 8:                                                                          \
		RUN(insn "q %q[b], %q[a]", "q");                                         \
		return true

#define ONE(insn)                                                                        \
	case 1:                                                                          \
		RUN(insn "b %b[a]", "q");                                                \
		return true;                                                             \
	case 2:                                                                          \
		RUN(insn "w %w[a]", "q");                                                \
		return true;                                                             \
	case 4:                                                                          \
		RUN(insn "l %k[a]", "q");                                                \
		return true;                                                             \
	case 8:                                                                          \
		RUN(insn "q %q[a]", "q");                                                \
		return true

#define SHIFT(insn)                                                                      \
	case 1:                                                                          \
		RUN(insn "b %%cl, %b[a]", "c");                                          \
		return true;                                                             \
	case 2:                                                                          \
		RUN(insn "w %%cl, %w[a]", "c");                                          \
		return true;                                                             \
	case 4:                                                                          \
		RUN(insn "l %%cl, %k[a]", "c");                                          \
		return true;                                                             \
	case 8:                                                                          \
		RUN(insn "q %%cl, %q[a]", "c");                                          \
		return true

#define FUNCTION(name, cases)                                                            \
	static bool do_##name(unsigned size, uint64_t *a, uint64_t b, uint64_t *f)       \
	{                                                                                \
		switch (size) {                                                          \
			cases;                                                           \
		default:                                                                 \
			return false;                                                    \
		}                                                                        \
	}
#define TWO(name) FUNCTION(name, OF_BYTES(#name); OF_MORE(#name))
#define WIDE(name) FUNCTION(name, OF_MORE(#name))

TWO(add)
TWO(or)
TWO(adc)
TWO(sbb)
TWO(and)
TWO(sub)
TWO(xor)
TWO(cmp)
TWO(test)
WIDE(imul)
WIDE(bt)
WIDE(bts)
WIDE(btr)
WIDE(btc)
WIDE(bsf)
WIDE(bsr)
WIDE(tzcnt)
WIDE(lzcnt)
WIDE(popcnt)
FUNCTION(rol, SHIFT("rol"))
FUNCTION(ror, SHIFT("ror"))
FUNCTION(shl, SHIFT("shl"))
FUNCTION(shr, SHIFT("shr"))
FUNCTION(sar, SHIFT("sar"))
FUNCTION(inc, ONE("inc"))
FUNCTION(dec, ONE("dec"))
FUNCTION(not, ONE("not"))
FUNCTION(neg, ONE("neg"))

static bool do_bswap(unsigned size, uint64_t *a, uint64_t b, uint64_t *f)
{
	(void)b;
	(void)f;
	if (size < 4)
		return false;
	*a = size == 8 ? __builtin_bswap64(*a) : __builtin_bswap32((uint32_t)*a);
	return true;
}

typedef bool operation(unsigned size, uint64_t *a, uint64_t b, uint64_t *f);

bool soft_alu(enum soft_what op, unsigned size, uint64_t *a, uint64_t b, uint64_t *flags)
{
	static operation *const all[] = {
		[SOFT_ADD] = do_add,	   [SOFT_OR] = do_or,	    [SOFT_ADC] = do_adc,
		[SOFT_SBB] = do_sbb,	   [SOFT_AND] = do_and,	    [SOFT_SUB] = do_sub,
		[SOFT_XOR] = do_xor,	   [SOFT_CMP] = do_cmp,	    [SOFT_TEST] = do_test,
		[SOFT_ROL] = do_rol,	   [SOFT_ROR] = do_ror,	    [SOFT_SHL] = do_shl,
		[SOFT_SHR] = do_shr,	   [SOFT_SAR] = do_sar,	    [SOFT_IMUL] = do_imul,
		[SOFT_BT] = do_bt,	   [SOFT_BTS] = do_bts,	    [SOFT_BTR] = do_btr,
		[SOFT_BTC] = do_btc,	   [SOFT_BSF] = do_bsf,	    [SOFT_BSR] = do_bsr,
		[SOFT_TZCNT] = do_tzcnt,   [SOFT_LZCNT] = do_lzcnt, [SOFT_POPCNT] = do_popcnt,
		[SOFT_INC] = do_inc,	   [SOFT_DEC] = do_dec,	    [SOFT_NOT] = do_not,
		[SOFT_NEG] = do_neg,	   [SOFT_BSWAP] = do_bswap,
	};
	uint64_t f = *flags & SOFT_ARITHMETIC;

	if (op >= sizeof(all) / sizeof(all[0]) || !all[op] || !all[op](size, a, b, &f))
		return false;
	*flags = (*flags & ~(uint64_t)SOFT_ARITHMETIC) | (f & SOFT_ARITHMETIC);
	return true;
}

#define RUN_WIDE(text)                                                                   \
	__asm__ volatile(FLAGS_IN text FLAGS_OUT                                         \
			 : "+a"(*a), "+d"(*d), [f] "+r"(*f)                              \
			 : [b] "q"(b)                                                    \
			 : "cc", "memory")

#define ALL_WIDE(insn)                                                                   \
	switch (size) {                                                                  \
	case 1:                                                                          \
		RUN_WIDE(insn "b %b[b]");                                                \
		return true;                                                             \
	case 2:                                                                          \
		RUN_WIDE(insn "w %w[b]");                                                \
		return true;                                                             \
	case 4:                                                                          \
		RUN_WIDE(insn "l %k[b]");                                                \
		return true;                                                             \
	case 8:                                                                          \
		RUN_WIDE(insn "q %q[b]");                                                \
		return true;                                                             \
	default:                                                                         \
		return false;                                                            \
	}

static bool do_mul(unsigned size, uint64_t *a, uint64_t *d, uint64_t b, uint64_t *f)
{
	ALL_WIDE("mul")
}

static bool do_imul_wide(unsigned size, uint64_t *a, uint64_t *d, uint64_t b, uint64_t *f)
{
	ALL_WIDE("imul")
}

static bool do_div(unsigned size, uint64_t *a, uint64_t *d, uint64_t b, uint64_t *f)
{
	ALL_WIDE("div")
}

static bool do_idiv(unsigned size, uint64_t *a, uint64_t *d, uint64_t b, uint64_t *f)
{
	ALL_WIDE("idiv")
}

/* The quotient must fit: SDM vol. 2A, DIV. Of bytes, the dividend is ax: left to the CPU. */
static bool divides(unsigned size, uint64_t rdx, uint64_t b)
{
	return size > 1 && soft_low(rdx, size) < soft_low(b, size);
}

/* IDIV; only dividends of one register, which are those that compilers make. */
static bool divides_signed(unsigned size, uint64_t rax, uint64_t rdx, uint64_t b)
{
	int64_t n = soft_widened(rax, size), by = soft_widened(b, size);

	if (size == 1 || !by || soft_low(rdx, size) != soft_low(n < 0 ? UINT64_MAX : 0, size))
		return false;
	return by != -1 || n != soft_widened((uint64_t)1 << (size * 8 - 1), size);
}

bool soft_alu_wide(enum soft_what op, unsigned size, uint64_t *rax, uint64_t *rdx, uint64_t b,
		   uint64_t *flags)
{
	uint64_t f = *flags & SOFT_ARITHMETIC;
	bool done = false;

	if (op == SOFT_MUL)
		done = do_mul(size, rax, rdx, b, &f);
	else if (op == SOFT_IMUL_WIDE)
		done = do_imul_wide(size, rax, rdx, b, &f);
	else if (op == SOFT_DIV && divides(size, *rdx, b))
		done = do_div(size, rax, rdx, b, &f);
	else if (op == SOFT_IDIV && divides_signed(size, *rax, *rdx, b))
		done = do_idiv(size, rax, rdx, b, &f);
	if (done)
		*flags = (*flags & ~(uint64_t)SOFT_ARITHMETIC) | (f & SOFT_ARITHMETIC);
	return done;
}
