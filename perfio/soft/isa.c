/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/isa.h"

#include <pthread.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

enum reg { EAX, EBX, ECX, EDX };

/* Instruction sets from `first` to `last` are there if a bit of cpuid says so, and the kernel has
 * enabled their state: SDM vol. 2A, CPUID; of ABM and SSE4a, AMD64 manual vol. 3, appendix E. */
struct row {
	uint16_t first, last; /* ZydisISASet */
	uint32_t leaf;
	uint8_t sub, reg, bit;
	uint8_t needs; /* of soft_isa_xstate() */
	bool general;
};

#define EXTENDED 0x80000001u
#define Z(set) ZYDIS_ISA_SET_##set
#define FOR_SSE SOFT_XSTATE_SSE
#define FOR_AVX (FOR_SSE | SOFT_XSTATE_AVX)
#define GENERAL(set, leaf, reg, bit) { Z(set), Z(set), leaf, 0, reg, bit, 0, true }
#define VECTORS(set, leaf, sub, reg, bit, needs)                                          \
	{ Z(set), Z(set), leaf, sub, reg, bit, needs, false }
/* Of AVX-512, no CPU is known to lack VL but those that nobody runs Linux on any more. */
#define AVX512(from, to, sub, reg, bit)                                                  \
	{ Z(AVX512##from), Z(AVX512##to), 7, sub, reg, bit, FOR_AVX | SOFT_XSTATE_AVX512, \
	  false }

static const struct row table[] = {
	VECTORS(SSE, 1, 0, EDX, 25, FOR_SSE),
	VECTORS(SSE2, 1, 0, EDX, 26, FOR_SSE),
	VECTORS(SSE3, 1, 0, ECX, 0, FOR_SSE),
	VECTORS(SSSE3, 1, 0, ECX, 9, FOR_SSE),
	VECTORS(SSE4, 1, 0, ECX, 19, FOR_SSE),
	VECTORS(SSE42, 1, 0, ECX, 20, FOR_SSE),
	VECTORS(PCLMULQDQ, 1, 0, ECX, 1, FOR_SSE),
	VECTORS(AES, 1, 0, ECX, 25, FOR_SSE),
	VECTORS(SHA, 7, 0, EBX, 29, FOR_SSE),
	VECTORS(GFNI, 7, 0, ECX, 8, FOR_SSE),
	VECTORS(SSE4A, EXTENDED, 0, ECX, 6, FOR_SSE),
	VECTORS(AVX, 1, 0, ECX, 28, FOR_AVX),
	VECTORS(AVXAES, 1, 0, ECX, 25, FOR_AVX),
	VECTORS(F16C, 1, 0, ECX, 29, FOR_AVX),
	VECTORS(FMA, 1, 0, ECX, 12, FOR_AVX),
	VECTORS(AVX2, 7, 0, EBX, 5, FOR_AVX),
	VECTORS(AVX_GFNI, 7, 0, ECX, 8, FOR_AVX),
	VECTORS(VAES, 7, 0, ECX, 9, FOR_AVX),
	VECTORS(VPCLMULQDQ, 7, 0, ECX, 10, FOR_AVX),
	VECTORS(AVX_VNNI, 7, 1, EAX, 4, FOR_AVX),
	AVX512(F_128, F_SCALAR, 0, EBX, 16),
	AVX512(DQ_128, DQ_SCALAR, 0, EBX, 17),
	AVX512(CD_128, CD_512, 0, EBX, 28),
	AVX512(BW_128, BW_KOP, 0, EBX, 30),
	AVX512(_IFMA_128, _IFMA_512, 0, EBX, 21),
	AVX512(_VBMI_128, _VBMI_512, 0, ECX, 1),
	AVX512(_VBMI2_128, _VBMI2_512, 0, ECX, 6),
	AVX512(_GFNI_128, _GFNI_512, 0, ECX, 8),
	AVX512(_VAES_128, _VAES_512, 0, ECX, 9),
	AVX512(_VPCLMULQDQ_128, _VPCLMULQDQ_512, 0, ECX, 10),
	AVX512(_VNNI_128, _VNNI_512, 0, ECX, 11),
	AVX512(_BITALG_128, _BITALG_512, 0, ECX, 12),
	AVX512(_VPOPCNTDQ_128, _VPOPCNTDQ_512, 0, ECX, 14),
	AVX512(_BF16_128, _BF16_512, 1, EAX, 5),
	GENERAL(BMI1, 7, EBX, 3),
	GENERAL(BMI2, 7, EBX, 8),
	GENERAL(ADOX_ADCX, 7, EBX, 19),
	GENERAL(MOVBE, 1, ECX, 22),
	GENERAL(LAHF, EXTENDED, ECX, 0),
	GENERAL(CMPXCHG16B, 1, ECX, 13),
	GENERAL(PENTIUMREAL, 1, EDX, 8), /* as these: */
	GENERAL(I486REAL, 1, EDX, 8),
	GENERAL(I386, 1, EDX, 8),
	GENERAL(I86, 1, EDX, 8),
};

/* AVX-512 VL: leaf 7, ebx. */
enum { VL = 31 };

static uint8_t known[ZYDIS_ISA_SET_MAX_VALUE + 1]; /* enum soft_isa */
static uint64_t xstate;

#ifdef __x86_64__
static uint64_t enabled(void)
{
	uint32_t a, b, c, d, low, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) /* OSXSAVE */
		return 0;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	low &= FOR_AVX | SOFT_XSTATE_AVX512;
	if ((low & FOR_AVX) != FOR_AVX)
		return low & FOR_SSE;
	return (low & SOFT_XSTATE_AVX512) == SOFT_XSTATE_AVX512 ? low : FOR_AVX;
}

static bool bit(uint32_t leaf, unsigned sub, unsigned reg, unsigned at)
{
	uint32_t v[4] = { 0 };

	return __get_cpuid_count(leaf, sub, &v[EAX], &v[EBX], &v[ECX], &v[EDX]) &&
	       v[reg] >> at & 1;
}
#else
static uint64_t enabled(void)
{
	return 0;
}

static bool bit(uint32_t leaf, unsigned sub, unsigned reg, unsigned at)
{
	(void)leaf;
	(void)sub;
	(void)reg;
	(void)at;
	return false;
}
#endif

static bool has(const struct row *r)
{
	if ((r->needs & xstate) != r->needs)
		return false;
	if (r->needs & SOFT_XSTATE_AVX512 && !bit(7, 0, EBX, VL))
		return false;
	return bit(r->leaf, r->sub, r->reg, r->bit);
}

static void look(void)
{
	xstate = enabled();
	for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++)
		if (has(&table[k]))
			memset(known + table[k].first,
			       table[k].general ? SOFT_ISA_GENERAL : SOFT_ISA_VECTORS,
			       table[k].last - table[k].first + 1u);
}

static void look_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, look);
}

enum soft_isa soft_isa_of(ZydisISASet set)
{
	look_once();
	return (unsigned)set < sizeof(known) ? (enum soft_isa)known[set] : SOFT_ISA_NONE;
}

uint64_t soft_isa_xstate(void)
{
	look_once();
	return xstate;
}
