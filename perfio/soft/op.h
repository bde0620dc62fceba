/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that can be carried out in a stopped thread's place, as branches are (branch.h). A
 * stop costs as much as hundreds of them. What is common is done here, the rest as stub.h tells.
 */
#ifndef PERFIO_SOFT_OP_H
#define PERFIO_SOFT_OP_H

#include "perfio/soft/stub.h"

#include <stdbool.h>
#include <stdint.h>

struct soft_insn;
struct soft_access;
struct user_regs_struct;

enum soft_what {
	SOFT_LEFT, /* to the CPU */
	SOFT_NOP,
	SOFT_MOV, /* also movzx */
	SOFT_MOVSX,
	SOFT_LEA,
	SOFT_PUSH,
	SOFT_POP,
	SOFT_LEAVE,
	SOFT_XCHG, /* of registers */
	SOFT_SETCC,
	SOFT_CMOV,
	SOFT_EXTEND, /* cbw, cwde, cdqe: rax within itself */
	SOFT_SPREAD, /* cwd, cdq, cqo: the sign of rax into rdx */

	/* alu.h: to = to OP by */
	SOFT_ADD,
	SOFT_OR,
	SOFT_ADC,
	SOFT_SBB,
	SOFT_AND,
	SOFT_SUB,
	SOFT_XOR,
	SOFT_CMP,
	SOFT_TEST,
	SOFT_ROL,
	SOFT_ROR,
	SOFT_SHL,
	SOFT_SHR,
	SOFT_SAR,
	SOFT_IMUL, /* two operands, or three */
	SOFT_BT,
	SOFT_BTS,
	SOFT_BTR,
	SOFT_BTC,
	SOFT_BSF,
	SOFT_BSR,
	SOFT_TZCNT,
	SOFT_LZCNT,
	SOFT_POPCNT,
	/* to = OP to */
	SOFT_INC,
	SOFT_DEC,
	SOFT_NOT,
	SOFT_NEG,
	SOFT_BSWAP,
	/* rdx:rax = rdx:rax OP by */
	SOFT_MUL,
	SOFT_IMUL_WIDE,
	SOFT_DIV,
	SOFT_IDIV,

	/* string.h; to.size is that of a round */
	SOFT_MOVS,
	SOFT_STOS,

	SOFT_STUB, /* stub.h */
};

enum soft_arg_kind { SOFT_ARG_NONE, SOFT_ARG_REG, SOFT_ARG_HIGH, SOFT_ARG_MEM, SOFT_ARG_IMM };

struct soft_arg {
	uint8_t kind; /* enum soft_arg_kind; HIGH: ah, ch, dh, bh */
	uint8_t reg;  /* 0 to 15 */
	uint8_t size; /* bytes: 1, 2, 4, 8 */
};

/* Memory, at most one operand of it, is the instruction's `from`. */
struct soft_op {
	uint8_t what;		 /* enum soft_what */
	uint8_t cond;		 /* SETCC, CMOV: 0 to 15 of enum soft_cond */
	union {
		struct {
			struct soft_arg to, by;	 /* `by` is no memory where `to` is */
			bool three;		 /* IMUL: to = by * imm */
			bool repeats;		 /* MOVS, STOS: rcx times */
			int64_t imm;		 /* of the SOFT_ARG_IMM; of an IMUL of three */
		};
		struct soft_stub stub; /* STUB */
	};
};

/*
 * True: i has run, and r says what it did; r->rip is its end. False: r and the memory are as
 * before, and the CPU has to do it: it would fault, or trap behind i, or i is none of the above.
 * r->rip need not be that of i.
 */
__attribute__((warn_unused_result))
bool soft_op_run(const struct soft_insn *i, struct user_regs_struct *r,
		 const struct soft_access *m);

#endif
