/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/stubdecode.h"
#include "perfio/soft/isa.h"

#include <string.h>

enum { RSP = 4 };
/* ModRM of an address of rip, and its four bytes: SDM vol. 2A, 2.2.1.6. */
enum { MODRM_REG = 0x38, MODRM_RIP = 5, DISP = 4 };

static bool exchanges(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_XCHG:
	case ZYDIS_MNEMONIC_CMPXCHG:
	case ZYDIS_MNEMONIC_CMPXCHG8B:
	case ZYDIS_MNEMONIC_CMPXCHG16B:
	case ZYDIS_MNEMONIC_XADD:
		return true;
	default:
		return z->attributes & ZYDIS_ATTRIB_HAS_LOCK;
	}
}

/* Of the instruction sets that are as old as the x86, few are about what we lend. */
static bool is_old_friend(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHRD:
	case ZYDIS_MNEMONIC_RCL:
	case ZYDIS_MNEMONIC_RCR:
	case ZYDIS_MNEMONIC_CLC:
	case ZYDIS_MNEMONIC_STC:
	case ZYDIS_MNEMONIC_CMC:
		return true;
	default:
		return exchanges(z);
	}
}

static bool is_old(ZydisISASet set)
{
	return set == ZYDIS_ISA_SET_I86 || set == ZYDIS_ISA_SET_I386 ||
	       set == ZYDIS_ISA_SET_I486REAL || set == ZYDIS_ISA_SET_PENTIUMREAL;
}

/* A bit that a register selects may lie far from the operand's address. */
static bool is_of_bits(const ZydisDecodedInstruction *z)
{
	return (z->mnemonic == ZYDIS_MNEMONIC_BT || z->mnemonic == ZYDIS_MNEMONIC_BTS ||
		z->mnemonic == ZYDIS_MNEMONIC_BTR || z->mnemonic == ZYDIS_MNEMONIC_BTC) &&
	       !z->raw.imm[0].size;
}

static bool is_rsp(ZydisRegister reg, ZydisRegisterClass c)
{
	int id = ZydisRegisterGetId(reg);

	if (c == ZYDIS_REGCLASS_GPR8) /* al, cl, dl, bl, ah, ch, dh, bh, spl */
		return id == RSP + 4;
	return id == RSP;
}

static bool lends(ZydisRegister reg, bool vectors)
{
	const ZydisRegisterClass c = ZydisRegisterGetClass(reg);

	switch (c) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return !is_rsp(reg, c);
	case ZYDIS_REGCLASS_FLAGS:
		return true;
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
	case ZYDIS_REGCLASS_MASK:
		return vectors;
	default:
		return reg == ZYDIS_REGISTER_MXCSR && vectors;
	}
}

/* Unaligned vectors are for the others of SSE, aligned ones for these of AVX: SDM vol. 1, 14.9. */
static bool needs_alignment(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_LDDQU:
		return false;
	case ZYDIS_MNEMONIC_VMOVAPS:
	case ZYDIS_MNEMONIC_VMOVAPD:
	case ZYDIS_MNEMONIC_VMOVDQA:
	case ZYDIS_MNEMONIC_VMOVDQA32:
	case ZYDIS_MNEMONIC_VMOVDQA64:
	case ZYDIS_MNEMONIC_VMOVNTPS:
	case ZYDIS_MNEMONIC_VMOVNTPD:
	case ZYDIS_MNEMONIC_VMOVNTDQ:
	case ZYDIS_MNEMONIC_VMOVNTDQA:
		return true;
	default:
		return z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
	}
}

static bool is_hard(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_VLDMXCSR: /* may fault */
		return true;
	case ZYDIS_MNEMONIC_VCVTPS2PH: /* changes MXCSR beside memory */
		return z->raw.modrm.mod != 3;
	default:
		return false;
	}
}

/* Of its memory, only parts are touched. */
static bool is_masked(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		return true;
	default:
		break;
	}
	return z->avx.mask.reg != ZYDIS_REGISTER_NONE && z->avx.mask.reg != ZYDIS_REGISTER_K0;
}

static bool memory(struct soft_stub *s, const ZydisDecodedInstruction *z,
		   const ZydisDecodedOperand *o)
{
	if (s->bytes || o->mem.type != ZYDIS_MEMOP_TYPE_MEM || is_of_bits(z) ||
	    o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN || o->size > 512 || o->size < 8 ||
	    (int32_t)o->mem.disp.value != o->mem.disp.value)
		return false;
	s->bytes = (uint8_t)(o->size / 8);
	s->writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	s->partly = is_masked(z);
	s->reads = !s->writes || o->actions & ZYDIS_OPERAND_ACTION_MASK_READ || s->partly;
	s->locked = exchanges(z);
	s->whole = s->locked || s->bytes > 8 || s->partly;
	s->aligned = s->bytes > 8 && needs_alignment(z);
	return true;
}

static bool operands(struct soft_stub *s, const ZydisDecodedInstruction *z,
		     const ZydisDecodedOperand *o)
{
	for (unsigned k = 0; k < z->operand_count; k++) {
		if (o[k].type == ZYDIS_OPERAND_TYPE_REGISTER && !lends(o[k].reg.value, s->vectors))
			return false;
		if (o[k].type == ZYDIS_OPERAND_TYPE_MEMORY && !memory(s, z, &o[k]))
			return false;
		if (o[k].type == ZYDIS_OPERAND_TYPE_POINTER)
			return false;
	}
	return true;
}

/* Segments are part of the address, which is ours. */
static bool is_segment(const ZydisDecodedInstruction *z, unsigned k)
{
	switch (z->raw.prefixes[k].value) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
		return true;
	default:
		return false;
	}
}

/* Prefixes are the bytes before the opcode, of which rex has to be the last. */
static bool copy(struct soft_stub *s, const ZydisDecodedInstruction *z, const uint8_t *p)
{
	const unsigned behind = z->raw.modrm.offset + 1u, imm = z->raw.imm[0].size / 8;
	unsigned n = 0, from = 0;

	for (unsigned k = 0; k < z->raw.prefix_count; k++, from++)
		if (z->raw.prefixes[k].value == 0x67)
			return false;
		else if (!is_segment(z, k))
			s->code[n++] = p[from];
		else if (k && z->raw.prefixes[k - 1].value >> 4 == 4)
			return false;
	if (!s->bytes) {
		memcpy(s->code + n, p + from, z->length - from);
		s->len = (uint8_t)(n + z->length - from);
		return true;
	}
	if (behind == 1 || n + (behind - from) + DISP + imm > SOFT_STUB_MAX || z->raw.imm[1].size)
		return false;
	memcpy(s->code + n, p + from, behind - from);
	n += behind - from;
	s->code[n - 1] = (uint8_t)((s->code[n - 1] & MODRM_REG) | MODRM_RIP);
	s->disp = (uint8_t)n;
	n += DISP;
	memcpy(s->code + n, p + z->length - imm, imm);
	s->len = (uint8_t)(n + imm);
	return true;
}

bool soft_stub_decode(struct soft_stub *ret, const ZydisDecodedInstruction *z,
		      const ZydisDecodedOperand *o, const uint8_t *p)
{
	const enum soft_isa isa = soft_isa_of(z->meta.isa_set);

	*ret = (struct soft_stub){ .vectors = isa == SOFT_ISA_VECTORS };
	return isa != SOFT_ISA_NONE && z->address_width == 64 && !is_hard(z) &&
	       (!is_old(z->meta.isa_set) || is_old_friend(z)) && operands(ret, z, o) &&
	       copy(ret, z, p);
}
