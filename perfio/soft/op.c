/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/op.h"
#include "perfio/soft/alu.h"
#include "perfio/soft/insn.h"
#include "perfio/soft/regs.h"
#include "perfio/soft/string.h"

/* One instruction on its way: what it reads is read, and what it writes not yet written. */
struct work {
	const struct soft_insn *i;
	const struct soft_op *op;
	struct user_regs_struct *r;
	const struct soft_access *m;
};

static bool get(const struct work *w, const struct soft_arg *a, uint64_t *ret)
{
	*ret = 0;
	switch ((enum soft_arg_kind)a->kind) {
	case SOFT_ARG_REG:
		*ret = *soft_reg(w->r, a->reg);
		return true;
	case SOFT_ARG_HIGH:
		*ret = *soft_reg(w->r, a->reg) >> 8;
		return true;
	case SOFT_ARG_MEM:
		return w->m->read(w->m->arg, soft_address(w->i, w->r), ret, a->size);
	case SOFT_ARG_IMM:
		*ret = (uint64_t)w->op->imm;
		return true;
	default:
		return true;
	}
}

/* Lower bits of a register replaced by v; of 32 bits, the upper half becomes 0. */
static uint64_t merged(uint64_t reg, uint64_t v, unsigned size)
{
	const uint64_t kept = size >= 4 ? 0 : reg & ~soft_low(UINT64_MAX, size);

	return kept | soft_low(v, size);
}

static bool set(const struct work *w, const struct soft_arg *a, uint64_t v)
{
	unsigned long long *reg;

	if (a->kind == SOFT_ARG_MEM)
		return w->m->write(w->m->arg, soft_address(w->i, w->r), &v, a->size);
	reg = soft_reg(w->r, a->reg);
	if (a->kind == SOFT_ARG_HIGH)
		*reg = (*reg & ~0xff00ull) | (v & 0xff) << 8;
	else
		*reg = merged(*reg, v, a->size);
	return true;
}

static bool move(const struct work *w)
{
	uint64_t v;

	if (!get(w, &w->op->by, &v))
		return false;
	v = w->op->what == SOFT_MOVSX ? (uint64_t)soft_widened(v, w->op->by.size)
				      : soft_low(v, w->op->by.size);
	return set(w, &w->op->to, v);
}

static bool push(const struct work *w)
{
	uint64_t v;

	if (!get(w, &w->op->by, &v) || !w->m->write(w->m->arg, w->r->rsp - 8, &v, 8))
		return false;
	w->r->rsp -= 8;
	return true;
}

static bool pop(const struct work *w, unsigned reg)
{
	uint64_t v;

	if (!w->m->read(w->m->arg, w->r->rsp, &v, 8))
		return false;
	w->r->rsp += 8;
	*soft_reg(w->r, reg) = v;
	return true;
}

static bool leave(const struct work *w)
{
	uint64_t v;

	if (!w->m->read(w->m->arg, w->r->rbp, &v, 8))
		return false;
	w->r->rsp = w->r->rbp + 8;
	w->r->rbp = v;
	return true;
}

static bool exchange(const struct work *w)
{
	uint64_t a, b;

	return get(w, &w->op->to, &a) && get(w, &w->op->by, &b) && set(w, &w->op->to, b) &&
	       set(w, &w->op->by, a);
}

/* Reads its operand whether it moves it or not, and of 32 bits always clears the upper half. */
static bool move_if(const struct work *w)
{
	uint64_t v, old;

	if (!get(w, &w->op->by, &v) || !get(w, &w->op->to, &old))
		return false;
	return set(w, &w->op->to, soft_cond_holds(w->r->eflags, w->op->cond) ? v : old);
}

static bool set_if(const struct work *w)
{
	return set(w, &w->op->to, soft_cond_holds(w->r->eflags, w->op->cond));
}

static bool extend(const struct work *w)
{
	const unsigned size = w->op->to.size;

	w->r->rax = merged(w->r->rax, (uint64_t)soft_widened(w->r->rax, size / 2), size);
	return true;
}

static bool spread(const struct work *w)
{
	const unsigned size = w->op->to.size;
	const bool minus = soft_widened(w->r->rax, size) < 0;

	w->r->rdx = merged(w->r->rdx, minus ? UINT64_MAX : 0, size);
	return true;
}

static bool is_compare(const struct soft_op *op)
{
	return op->what == SOFT_CMP || op->what == SOFT_TEST || op->what == SOFT_BT;
}

static bool compute(const struct work *w)
{
	const struct soft_op *op = w->op;
	uint64_t a, b, f = w->r->eflags;

	if (!get(w, &op->by, &b) || !get(w, &op->to, &a))
		return false;
	if (op->three) {
		/* The CPU overwrites its target with the product. */
		a = merged(a, b, op->to.size);
		b = (uint64_t)op->imm;
	}
	if (!soft_alu((enum soft_what)op->what, op->to.size, &a, b, &f))
		return false;
	if (!is_compare(op)) {
		if (op->to.kind == SOFT_ARG_REG)
			*soft_reg(w->r, op->to.reg) = a;
		else if (!set(w, &op->to, a))
			return false;
	}
	w->r->eflags = f;
	return true;
}

static bool compute_wide(const struct work *w)
{
	uint64_t a = w->r->rax, d = w->r->rdx, f = w->r->eflags, b;

	if (!get(w, &w->op->by, &b) ||
	    !soft_alu_wide((enum soft_what)w->op->what, w->op->by.size, &a, &d, b, &f))
		return false;
	w->r->rax = a;
	w->r->rdx = d;
	w->r->eflags = f;
	return true;
}

static bool carry_out(const struct work *w)
{
	switch ((enum soft_what)w->op->what) {
	case SOFT_LEFT:
		return false;
	case SOFT_NOP:
		return true;
	case SOFT_MOV:
	case SOFT_MOVSX:
		return move(w);
	case SOFT_LEA:
		return set(w, &w->op->to, soft_address(w->i, w->r));
	case SOFT_PUSH:
		return push(w);
	case SOFT_POP:
		return pop(w, w->op->to.reg);
	case SOFT_LEAVE:
		return leave(w);
	case SOFT_XCHG:
		return exchange(w);
	case SOFT_SETCC:
		return set_if(w);
	case SOFT_CMOV:
		return move_if(w);
	case SOFT_EXTEND:
		return extend(w);
	case SOFT_SPREAD:
		return spread(w);
	case SOFT_MUL:
	case SOFT_IMUL_WIDE:
	case SOFT_DIV:
	case SOFT_IDIV:
		return compute_wide(w);
	case SOFT_MOVS:
	case SOFT_STOS:
		return soft_string_run(w->op, w->r, w->m);
	case SOFT_STUB:
		return w->m->stubs && soft_stub_run(w->m->stubs, w->i, w->r, w->m);
	default:
		return compute(w);
	}
}

bool soft_op_run(const struct soft_insn *i, struct user_regs_struct *r,
		 const struct soft_access *m)
{
	const struct work w = { i, &i->op, r, m };

	if (r->eflags & SOFT_TF || !carry_out(&w))
		return false;
	r->rip = soft_insn_end(i);
	return true;
}
