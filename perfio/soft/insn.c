/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/insn.h"
#include "perfio/soft/mem.h"
#include "perfio/soft/opdecode.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdlib.h>

enum { CACHE_BITS = 14 };

static enum soft_class branch(const ZydisDecodedInstruction *z, enum soft_class direct,
			      enum soft_class indirect)
{
	if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return SOFT_FAR;
	return z->raw.imm[0].is_relative ? direct : indirect;
}

static bool repeats(const ZydisDecodedInstruction *z)
{
	return z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
				ZYDIS_ATTRIB_HAS_REPNE);
}

/*
 * Loads of ss hold traps off for one instruction (SDM vol. 3A, 6.8.3); cpuid does where a
 * hypervisor carries it out and forgets the trap flag.
 */
static bool shadows(const ZydisDecodedInstruction *z)
{
	if (z->mnemonic == ZYDIS_MNEMONIC_CPUID)
		return true;
	return z->mnemonic == ZYDIS_MNEMONIC_MOV && z->opcode == 0x8e &&
	       z->raw.modrm.reg == 2;
}

static enum soft_class by_mnemonic(const ZydisDecodedInstruction *z)
{
	if (shadows(z))
		return SOFT_SHADOW;
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
		return SOFT_PUSHF;
	case ZYDIS_MNEMONIC_PTWRITE:
		return SOFT_PTWRITE;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_ENCLU:
		return SOFT_ALONE;
	default:
		return z->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED ? SOFT_ALONE : SOFT_OTHER;
	}
}

static enum soft_class classify(const ZydisDecodedInstruction *z)
{
	/* Transactions are no branches to Intel PT; stepped, they abort at once. */
	if (z->mnemonic == ZYDIS_MNEMONIC_XBEGIN)
		return SOFT_ALONE;
	if (z->mnemonic == ZYDIS_MNEMONIC_XABORT)
		return SOFT_OTHER;
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return SOFT_JCC;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return branch(z, SOFT_JMP, SOFT_JMP_IND);
	case ZYDIS_CATEGORY_CALL:
		return branch(z, SOFT_CALL, SOFT_CALL_IND);
	case ZYDIS_CATEGORY_RET:
		return z->mnemonic == ZYDIS_MNEMONIC_RET &&
		       z->meta.branch_type != ZYDIS_BRANCH_TYPE_FAR ? SOFT_RET : SOFT_FAR;
	case ZYDIS_CATEGORY_SYSCALL:
		return SOFT_SYSCALL;
	case ZYDIS_CATEGORY_SYSRET:
		return SOFT_FAR;
	case ZYDIS_CATEGORY_INTERRUPT:
		return z->mnemonic == ZYDIS_MNEMONIC_INT &&
		       z->raw.imm[0].value.u == 0x80 ? SOFT_SYSCALL : SOFT_INT;
	case ZYDIS_CATEGORY_STRINGOP:
	case ZYDIS_CATEGORY_IOSTRINGOP:
		return repeats(z) ? SOFT_REP : SOFT_OTHER;
	default:
		return by_mnemonic(z);
	}
}

static bool loads_flags(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		return true;
	default:
		return false;
	}
}

static bool sized(const ZydisDecodedInstruction *z)
{
	for (unsigned k = 0; k < z->raw.prefix_count; k++)
		if (z->raw.prefixes[k].value == 0x66 || z->raw.prefixes[k].value == 0x67)
			return true;
	return false;
}

/* Opcodes: SDM vol. 2D, tables. */
static uint8_t condition(const ZydisDecodedInstruction *z)
{
	if (z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && z->opcode >= 0xe0)
		return (uint8_t)(SOFT_IF_LOOPNE + (z->opcode & 3));
	return z->opcode & 15;
}

static uint8_t segment(const ZydisDecodedInstruction *z)
{
	if (z->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS)
		return SOFT_REG_FS;
	return z->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS ? SOFT_REG_GS : SOFT_REG_NONE;
}

/* Forms of addresses: SDM vol. 2A, 2.1.5 and 2.2.1. */
static void operand(struct soft_operand *ret, const ZydisDecodedInstruction *z)
{
	const unsigned mod = z->raw.modrm.mod, rm = z->raw.modrm.rm;
	const unsigned b = z->raw.rex.B * 8u, x = z->raw.rex.X * 8u;
	struct soft_operand o = { .memory = mod != 3, .narrow = z->address_width == 32,
				  .base = (uint8_t)(b + rm),
				  .index = SOFT_REG_NONE, .seg = segment(z),
				  .disp = (int32_t)z->raw.disp.value };

	if (o.memory && rm == 4) {
		o.base = (uint8_t)(b + z->raw.sib.base);
		if (x + z->raw.sib.index != 4)
			o.index = (uint8_t)(x + z->raw.sib.index);
		o.scale = z->raw.sib.scale;
		if (!mod && z->raw.sib.base == 5)
			o.base = SOFT_REG_NONE;
	} else if (!mod && rm == 5) {
		o.base = SOFT_REG_RIP;
	}
	*ret = o;
}

/* lea only computes: segments do not count. */
static void carried(struct soft_insn *i, const ZydisDecodedInstruction *z,
		    const ZydisDecodedOperand *arg)
{
	soft_op_decode(&i->op, z, arg);
	if (i->op.what == SOFT_LEFT)
		return;
	operand(&i->from, z);
	if (i->op.what == SOFT_LEA)
		i->from.seg = SOFT_REG_NONE;
}

static void depends(struct soft_insn *i, const ZydisDecodedInstruction *z,
		    const ZydisDecodedOperand *arg)
{
	i->sized = sized(z);
	i->loads_flags = loads_flags(z);
	switch ((enum soft_class)i->cls) {
	case SOFT_JCC:
		i->cond = condition(z);
		break;
	case SOFT_RET:
		i->pops = (uint16_t)z->raw.imm[0].value.u;
		break;
	case SOFT_JMP_IND:
	case SOFT_CALL_IND:
	case SOFT_PTWRITE:
		i->wide = z->raw.rex.W;
		operand(&i->from, z);
		break;
	case SOFT_OTHER:
		carried(i, z, arg);
		break;
	default:
		break;
	}
}

void soft_insn_decode(struct soft_insn *ret, uint64_t ip, const uint8_t *p, size_t n)
{
	struct soft_insn i = { .ip = ip, .cls = SOFT_BAD };
	ZydisDecodedOperand arg[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	ZydisDecoder d;

	if (ZYAN_SUCCESS(ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64,
					  ZYDIS_STACK_WIDTH_64)) &&
	    ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, p, n, &z, arg))) {
		i.cls = (uint8_t)classify(&z);
		i.len = z.length;
		if (z.raw.imm[0].is_relative)
			i.rel = (int32_t)z.raw.imm[0].value.s;
		i.legacy = z.mnemonic == ZYDIS_MNEMONIC_INT;
		depends(&i, &z, arg);
	}
	*ret = i;
}

void soft_insn_fresh(struct soft_insn *ret, struct soft_mem *m, uint64_t ip)
{
	uint8_t b[ZYDIS_MAX_INSTRUCTION_LENGTH];

	soft_insn_decode(ret, ip, b, soft_mem_read(m, ip, b, sizeof(b)));
	ret->gen = m->code_gen;
}

/* Code that is fixed has been read already, most of the time, a page at once. */
static void decode_fixed(struct soft_insn *ret, struct soft_mem *m, uint64_t ip)
{
	uint8_t b[ZYDIS_MAX_INSTRUCTION_LENGTH];

	soft_insn_decode(ret, ip, b, soft_plants_code(&m->plants, ip, b, sizeof(b)));
	ret->gen = m->code_gen;
}

void soft_insn_at(struct soft_insn *ret, struct soft_mem *m, uint64_t ip)
{
	size_t slot = (ip ^ ip >> CACHE_BITS) & ((1 << CACHE_BITS) - 1);

	if (!m->cache)
		m->cache = calloc((size_t)1 << CACHE_BITS, sizeof(*m->cache));
	if (m->cache && m->cache[slot].ip == ip && m->cache[slot].gen == m->code_gen) {
		*ret = m->cache[slot];
		return;
	}
	if (!soft_mem_is_fixed(m, ip)) {
		soft_insn_fresh(ret, m, ip);
		ret->loose = true;
		return;
	}
	decode_fixed(ret, m, ip);
	if (m->cache && ret->len)
		m->cache[slot] = *ret;
}
