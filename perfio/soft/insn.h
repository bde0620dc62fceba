/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of instruction is at an address, and what it depends on where it can be carried out
 * in a thread's place.
 */
#ifndef PERFIO_SOFT_INSN_H
#define PERFIO_SOFT_INSN_H

#include "perfio/soft/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct soft_mem;

enum soft_class {
	SOFT_BAD, /* not readable, or no instruction */
	SOFT_OTHER,
	SOFT_REP, /* string instruction with a repeat prefix: traps after every round */
	SOFT_JCC, /* also loop and jrcxz */
	SOFT_JMP, /* direct */
	SOFT_CALL,
	SOFT_JMP_IND,
	SOFT_CALL_IND,
	SOFT_RET,
	SOFT_FAR,
	SOFT_SYSCALL, /* syscall, sysenter, int 0x80 */
	SOFT_INT,     /* int3 and its kin: the program's own trap */
	SOFT_SHADOW,  /* may swallow the trap that should follow it */
	SOFT_PUSHF,   /* shows the program the trap flag */
	SOFT_PTWRITE, /* writes its operand into the trace */
	SOFT_ALONE,   /* may fault or go elsewhere by its nature: ud2, hlt, xbegin */
};

/* When a SOFT_JCC jumps: 0 to 15 as in the low bits of the opcode of jcc, and then: */
enum soft_cond { SOFT_IF_LOOPNE = 16, SOFT_IF_LOOPE, SOFT_IF_LOOP, SOFT_IF_RCXZ };

/* Registers by their numbers in machine code: rax 0, rcx 1, ... r15 15, and then: */
enum soft_reg { SOFT_REG_RIP = 16, SOFT_REG_FS, SOFT_REG_GS, SOFT_REG_NONE };

/* What SOFT_JMP_IND and SOFT_CALL_IND read their target from, and SOFT_PTWRITE its value; memory
 * that an `op` uses. */
struct soft_operand {
	bool memory; /* else: register `base` */
	bool narrow; /* an address of 32 bits */
	uint8_t base, index, seg; /* enum soft_reg */
	uint8_t scale;		  /* 0 to 3: index times 1 to 8 */
	int32_t disp;
};

struct soft_insn {
	uint64_t ip;
	int32_t rel; /* JCC, JMP, CALL: target minus end */
	uint32_t gen;
	uint8_t len; /* 0 for SOFT_BAD */
	uint8_t cls; /* enum soft_class */
	bool loose;  /* read where code can change unseen */
	bool legacy; /* SYSCALL: int 0x80, whose numbers are those of i386 */
	bool sized;  /* a branch with a size prefix, of which makers of CPUs think differently */
	bool wide;   /* PTWRITE: of eight bytes, not four */
	bool loads_flags; /* popf, iret: the trap flag among them */
	uint8_t cond;  /* JCC: enum soft_cond */
	uint16_t pops; /* RET: bytes beside the address */
	struct soft_operand from; /* JMP_IND, CALL_IND, PTWRITE, and of `op` */
	struct soft_op op;	  /* OTHER, REP */
};

/* Decode n bytes found at ip. */
void soft_insn_decode(struct soft_insn *ret, uint64_t ip, const uint8_t *p, size_t n);
/* What is at ip, from the cache of the address space where its code cannot have changed. */
void soft_insn_at(struct soft_insn *ret, struct soft_mem *m, uint64_t ip);
/* The same, from memory whatever the cache says. */
void soft_insn_fresh(struct soft_insn *ret, struct soft_mem *m, uint64_t ip);

static inline uint64_t soft_insn_end(const struct soft_insn *i)
{
	return i->ip + i->len;
}

static inline uint64_t soft_insn_target(const struct soft_insn *i)
{
	return i->ip + i->len + (uint64_t)(int64_t)i->rel;
}

#endif
