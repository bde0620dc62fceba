/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/opdecode.h"

struct entry {
	uint16_t mnemonic; /* ZydisMnemonic */
	uint8_t what;	   /* enum soft_what */
};

#define M(name, what) { ZYDIS_MNEMONIC_##name, SOFT_##what }
#define SAME(name) M(name, name)

static const struct entry table[] = {
	SAME(NOP),	SAME(MOV),	M(MOVZX, MOV),	 SAME(MOVSX),  M(MOVSXD, MOVSX),
	SAME(LEA),	SAME(PUSH),	SAME(POP),	 SAME(LEAVE),  SAME(XCHG),
	M(CBW, EXTEND), M(CWDE, EXTEND), M(CDQE, EXTEND), M(CWD, SPREAD), M(CDQ, SPREAD),
	M(CQO, SPREAD), SAME(ADD),	SAME(OR),	 SAME(ADC),    SAME(SBB),
	SAME(AND),	SAME(SUB),	SAME(XOR),	 SAME(CMP),    SAME(TEST),
	SAME(ROL),	SAME(ROR),	SAME(SHL),	 SAME(SHR),    SAME(SAR),
	SAME(IMUL),	SAME(BT),	SAME(BTS),	 SAME(BTR),    SAME(BTC),
	SAME(BSF),	SAME(BSR),	SAME(TZCNT),	 SAME(LZCNT),  SAME(POPCNT),
	SAME(INC),	SAME(DEC),	SAME(NOT),	 SAME(NEG),    SAME(BSWAP),
	SAME(MUL),	SAME(DIV),	SAME(IDIV),	 M(ENDBR64, NOP), M(PAUSE, NOP),
};

/* Of setcc and cmovcc the opcode tells the condition: SDM vol. 2D, table A-3. */
static enum soft_what conditional(const ZydisDecodedInstruction *z)
{
	if (z->opcode_map != ZYDIS_OPCODE_MAP_0F)
		return SOFT_LEFT;
	switch (z->opcode & 0xf0) {
	case 0x40:
		return SOFT_CMOV;
	case 0x90:
		return SOFT_SETCC;
	default:
		return SOFT_LEFT;
	}
}

/* SDM vol. 2D, table A-2: of all mnemonics, movsd is that of a move of vectors, too. Through fs and
 * gs, nobody moves. */
static bool string(struct soft_op *op, const ZydisDecodedInstruction *z)
{
	if (z->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT || z->attributes & ZYDIS_ATTRIB_HAS_SEGMENT)
		return false;
	switch (z->opcode) {
	case 0xa4:
	case 0xa5:
		op->what = SOFT_MOVS;
		break;
	case 0xaa:
	case 0xab:
		op->what = SOFT_STOS;
		break;
	default:
		return false;
	}
	op->to.size = z->opcode & 1 ? (uint8_t)(z->operand_width / 8) : 1;
	op->repeats = z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
				       ZYDIS_ATTRIB_HAS_REPNE);
	return true;
}

static enum soft_what what(const ZydisDecodedInstruction *z)
{
	for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++)
		if (table[k].mnemonic == z->mnemonic)
			return (enum soft_what)table[k].what;
	return conditional(z);
}

static bool arg_register(struct soft_arg *ret, ZydisRegister reg)
{
	const ZydisRegisterClass c = ZydisRegisterGetClass(reg);
	const int id = ZydisRegisterGetId(reg);

	ret->kind = SOFT_ARG_REG;
	ret->reg = (uint8_t)id;
	if (c == ZYDIS_REGCLASS_GPR8) {
		/* al, cl, dl, bl, ah, ch, dh, bh, spl, bpl, ... */
		if (id >= 4 && id < 8)
			ret->kind = SOFT_ARG_HIGH;
		if (id >= 4)
			ret->reg = (uint8_t)(id - 4);
	}
	return c == ZYDIS_REGCLASS_GPR8 || c == ZYDIS_REGCLASS_GPR16 ||
	       c == ZYDIS_REGCLASS_GPR32 || c == ZYDIS_REGCLASS_GPR64;
}

static bool arg(struct soft_op *op, struct soft_arg *ret, const ZydisDecodedOperand *o)
{
	ret->size = (uint8_t)(o->size / 8);
	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return arg_register(ret, o->reg.value);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		ret->kind = SOFT_ARG_MEM;
		return (int32_t)o->mem.disp.value == o->mem.disp.value &&
		       (o->mem.type == ZYDIS_MEMOP_TYPE_MEM ||
			o->mem.type == ZYDIS_MEMOP_TYPE_AGEN);
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		*ret = (struct soft_arg){ .kind = SOFT_ARG_IMM, .size = 8 };
		op->imm = o->imm.value.s;
		return true;
	default:
		return false;
	}
}

/* Two operands are `to` and `by`; one is whichever the instruction has. */
static bool args(struct soft_op *op, const ZydisDecodedInstruction *z,
		 const ZydisDecodedOperand *o)
{
	const bool source = op->what == SOFT_PUSH || op->what == SOFT_MUL ||
			    op->what == SOFT_IMUL_WIDE || op->what == SOFT_DIV ||
			    op->what == SOFT_IDIV;

	switch (z->operand_count_visible) {
	case 1:
		return arg(op, source ? &op->by : &op->to, o);
	case 2:
		return arg(op, &op->to, o) && arg(op, &op->by, o + 1);
	case 3:
		op->three = op->what == SOFT_IMUL;
		op->imm = o[2].imm.value.s;
		return op->three && arg(op, &op->to, o) && arg(op, &op->by, o + 1);
	default:
		return true;
	}
}

static bool in_memory(const struct soft_op *op)
{
	return op->to.kind == SOFT_ARG_MEM || op->by.kind == SOFT_ARG_MEM;
}

/* Forms of some that are left to the CPU. */
static bool usual(const struct soft_op *op, const ZydisDecodedInstruction *z)
{
	switch ((enum soft_what)op->what) {
	case SOFT_NOP: /* pause with rex.b is xchg of r8 to some CPUs */
		return z->opcode != 0x90 || !z->raw.rex.B;
	case SOFT_PUSH:
	case SOFT_LEAVE:
		return z->operand_width == 64;
	case SOFT_POP:
		return z->operand_width == 64 && op->to.kind == SOFT_ARG_REG;
	case SOFT_XCHG: /* locks memory */
		return op->to.kind != SOFT_ARG_MEM && op->by.kind != SOFT_ARG_MEM;
	case SOFT_BT:
	case SOFT_BTS:
	case SOFT_BTR:
	case SOFT_BTC: /* a register selects bits of memory far away, too */
		return op->to.kind != SOFT_ARG_MEM || op->by.kind == SOFT_ARG_IMM;
	default:
		return true;
	}
}

void soft_op_decode(struct soft_op *ret, const ZydisDecodedInstruction *z,
		    const ZydisDecodedOperand *o)
{
	struct soft_op op = { .what = (uint8_t)what(z), .cond = z->opcode & 15 };

	*ret = (struct soft_op){ .what = SOFT_LEFT };
	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || z->address_width != 64 ||
	    z->attributes & ZYDIS_ATTRIB_HAS_LOCK)
		return;
	if (string(&op, z)) {
		*ret = op;
		return;
	}
	if (op.what == SOFT_IMUL && z->operand_count_visible == 1)
		op.what = SOFT_IMUL_WIDE;
	if (op.what == SOFT_EXTEND || op.what == SOFT_SPREAD || op.what == SOFT_LEAVE)
		op.to.size = (uint8_t)(z->operand_width / 8);
	else if (op.what != SOFT_NOP && !args(&op, z, o))
		return;
	if (in_memory(&op) && !(z->attributes & ZYDIS_ATTRIB_HAS_MODRM))
		return; /* its address is part of the opcode */
	if (usual(&op, z))
		*ret = op;
}
