/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/insn.h"
#include "perfio/soft/mem.h"
#include "perfio/soft/opdecode.h"
#include "perfio/soft/stubdecode.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdlib.h>

enum { CACHE_BITS = 15 };

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

static uint8_t reg_number(ZydisRegister reg)
{
	switch (reg) {
	case ZYDIS_REGISTER_NONE:
		return SOFT_REG_NONE;
	case ZYDIS_REGISTER_RIP:
	case ZYDIS_REGISTER_EIP:
		return SOFT_REG_RIP;
	case ZYDIS_REGISTER_FS:
		return SOFT_REG_FS;
	case ZYDIS_REGISTER_GS:
		return SOFT_REG_GS;
	default:
		return (uint8_t)ZydisRegisterGetId(reg);
	}
}

/* Of other segments, the base is 0: SDM vol. 1, 3.3.4. */
static uint8_t segment(ZydisRegister reg)
{
	return reg == ZYDIS_REGISTER_FS || reg == ZYDIS_REGISTER_GS ? reg_number(reg)
								    : SOFT_REG_NONE;
}

/* The memory among the operands that are written down, or the first of them. */
static void operand(struct soft_operand *ret, const ZydisDecodedInstruction *z,
		    const ZydisDecodedOperand *arg)
{
	const ZydisDecodedOperand *o = arg;

	*ret = (struct soft_operand){ .base = SOFT_REG_NONE };
	for (unsigned k = 0; k < z->operand_count_visible; k++)
		if (arg[k].type == ZYDIS_OPERAND_TYPE_MEMORY)
			o = &arg[k];
	if (!z->operand_count_visible)
		return;
	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
		ret->base = reg_number(o->reg.value);
	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return;
	*ret = (struct soft_operand){
		.memory = true,
		.narrow = z->address_width == 32,
		.base = reg_number(o->mem.base),
		.index = reg_number(o->mem.index),
		.seg = segment(o->mem.segment),
		.scale = (uint8_t)(o->mem.scale ? __builtin_ctz(o->mem.scale) : 0),
		.disp = (int32_t)o->mem.disp.value,
	};
}

/* lea only computes: segments do not count. */
static void carried(struct soft_insn *i, const ZydisDecodedInstruction *z,
		    const ZydisDecodedOperand *arg, const uint8_t *p)
{
	struct soft_stub stub;

	soft_op_decode(&i->op, z, arg);
	if (i->op.what == SOFT_LEFT && soft_stub_decode(&stub, z, arg, p))
		i->op = (struct soft_op){ .what = SOFT_STUB, .stub = stub };
	if (i->op.what == SOFT_LEFT)
		return;
	operand(&i->from, z, arg);
	if (i->op.what == SOFT_LEA)
		i->from.seg = SOFT_REG_NONE;
}

static void depends(struct soft_insn *i, const ZydisDecodedInstruction *z,
		    const ZydisDecodedOperand *arg, const uint8_t *p)
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
		operand(&i->from, z, arg);
		break;
	case SOFT_OTHER:
	case SOFT_REP:
		carried(i, z, arg, p);
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
		depends(&i, &z, arg, p);
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
	ret->len = 0;
	if (soft_mem_is_fixed(m, ip))
		decode_fixed(ret, m, ip);
	/* It may end in another page. */
	if (!soft_mem_is_fixed(m, ret->len ? ip + ret->len - 1 : ip)) {
		soft_insn_fresh(ret, m, ip);
		ret->loose = true;
		return;
	}
	if (m->cache && ret->len)
		m->cache[slot] = *ret;
}
