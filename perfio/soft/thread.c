/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/thread.h"
#include "perfio/soft/ptwrite.h"

/* Several swallowed traps in a row: cpuid after cpuid. */
enum { SHADOW_MAX = 4 };

/* The kernel carries out calls of this page and returns for it: Linux 6.1
 * arch/x86/include/uapi/asm/vsyscall.h. */
#define VSYSCALL 0xffffffffff600000
#define VSYSCALL_SIZE 4096

void soft_thread_goto(struct soft_thread *t, uint64_t ip)
{
	soft_insn_at(&t->insn, t->mem, ip);
}

static bool explains(const struct soft_insn *i, uint64_t ip)
{
	switch ((enum soft_class)i->cls) {
	case SOFT_BAD:
		return false;
	case SOFT_JCC:
		return ip == soft_insn_end(i) || ip == soft_insn_target(i);
	case SOFT_JMP:
	case SOFT_CALL:
		return ip == soft_insn_target(i);
	case SOFT_JMP_IND:
	case SOFT_CALL_IND:
	case SOFT_RET:
	case SOFT_FAR:
	case SOFT_SYSCALL:
	case SOFT_INT:
		return true;
	case SOFT_REP:
		return ip == soft_insn_end(i) || ip == i->ip;
	default:
		return ip == soft_insn_end(i);
	}
}

/* What i did, if more than to go on. */
static void write_branch(struct soft_pt *p, const struct soft_insn *i, uint64_t ip)
{
	switch ((enum soft_class)i->cls) {
	case SOFT_JCC:
		soft_pt_cond(p, ip == soft_insn_target(i) && i->rel);
		break;
	case SOFT_CALL:
		/* A call of the next instruction only asks where it is: SDM 33.4.2.2. */
		if (i->rel)
			soft_pt_call(p, soft_insn_end(i));
		break;
	case SOFT_CALL_IND:
		soft_pt_call(p, soft_insn_end(i));
		soft_pt_jump(p, ip);
		break;
	case SOFT_JMP_IND:
		soft_pt_jump(p, ip);
		break;
	case SOFT_FAR:
		soft_pt_far(p, ip);
		break;
	case SOFT_RET:
		soft_pt_return(p, ip);
		break;
	case SOFT_SYSCALL:
	case SOFT_INT:
		soft_pt_leave(p);
		break;
	default:
		break;
	}
}

/* The same, where ip is filtered out. An unconditional branch out of a range tells where it goes
 * (SDM 33.4.2.5), which perf understands where it knows the ranges. A conditional one would tell
 * only that it goes, which libipt does not understand, and perf takes for the instruction behind
 * it: so that, and every other end, is told as one by an interrupt. */
static void write_exit(struct soft_thread *t, const struct soft_insn *i, uint64_t ip)
{
	struct soft_pt *p = &t->pt;

	if (!t->gate->filters.switches && i->cls >= SOFT_JMP && i->cls <= SOFT_FAR) {
		soft_pt_leave_to(p, ip);
		return;
	}
	write_branch(p, i, ip);
	soft_pt_cut(p, ip);
	soft_pt_forget(p);
}

/* Since the last TSC packet, and before t was told to run. What it ran when another thread changed
 * them is told by a time before that, which says nothing of what it will run. */
static bool mappings_changed(struct soft_thread *t)
{
	if (t->timed_gen == t->mem->gen || t->resumed < t->mem->gen_time)
		return false;
	t->timed_gen = t->mem->gen;
	return true;
}

/* One instruction that ran, and that does explain ip. */
static void account(struct soft_thread *t, const struct soft_insn *i, uint64_t ip)
{
	if (soft_gate_shut(t->gate) || !soft_filter_admits(t, i->ip))
		return;
	soft_code_ahead(t, i, ip);
	soft_cpu_take(t);
	soft_pt_at(&t->pt, i->ip, t->resumed, mappings_changed(t));
	soft_iplog_add(&t->log, i->ip);
	t->stats->instructions++;
	if (i->cls == SOFT_PTWRITE)
		soft_ptwrite_ran(t, i);
	if (soft_filter_would(t, ip))
		write_branch(&t->pt, i, ip);
	else
		write_exit(t, i, ip);
	if (soft_gate_passed(t->gate))
		soft_pt_cut(&t->pt, ip);
}

/*
 * Nothing trapped between insn and ip, but more than insn ran: follow neighbours until one
 * of them leads to ip. Only after an instruction known to swallow traps may that be an
 * indirect branch, which would explain everything.
 */
static bool account_shadowed(struct soft_thread *t, uint64_t ip)
{
	struct soft_insn i[SHADOW_MAX];
	bool known = t->insn.cls == SOFT_SHADOW;
	int n = 1;

	i[0] = t->insn;
	while (i[n - 1].cls == SOFT_OTHER || i[n - 1].cls == SOFT_SHADOW) {
		if (n == SHADOW_MAX || (!known && n == 2))
			return false;
		soft_insn_at(&i[n], t->mem, soft_insn_end(&i[n - 1]));
		n++;
		if (!explains(&i[n - 1], ip))
			continue;
		if (!known && i[n - 1].cls > SOFT_CALL && i[n - 1].cls < SOFT_SHADOW)
			return false;
		for (int k = 0; k < n - 1; k++)
			account(t, &i[k], i[k + 1].ip);
		t->stats->shadowed += (unsigned)n - 1;
		t->insn = i[n - 1];
		if (t->insn.cls != SOFT_REP || ip != t->insn.ip)
			account(t, &t->insn, ip);
		return true;
	}
	return false;
}

void soft_thread_ran(struct soft_thread *t, uint64_t ip)
{
	if (!explains(&t->insn, ip))
		soft_insn_fresh(&t->insn, t->mem, t->insn.ip);
	if (explains(&t->insn, ip)) {
		/* Between two rounds of a string instruction it has not completed. */
		if (t->insn.cls != SOFT_REP || ip != t->insn.ip)
			account(t, &t->insn, ip);
		return;
	}
	if (account_shadowed(t, ip))
		return;
	if (t->insn.ip - VSYSCALL >= VSYSCALL_SIZE)
		t->stats->unexplained++;
	soft_thread_cut(t);
}

void soft_thread_came(struct soft_thread *t, uint64_t ip)
{
	for (int n = 0; t->insn.ip != ip; n++) {
		uint64_t next = soft_run_next(&t->insn);

		if (n > SOFT_RUN_MAX || !soft_run_passes(&t->insn)) {
			t->stats->unexplained++;
			soft_thread_cut(t);
			soft_thread_goto(t, ip);
			return;
		}
		account(t, &t->insn, next);
		soft_thread_goto(t, next);
	}
}

void soft_thread_entered(struct soft_thread *t)
{
	account(t, &t->insn, soft_insn_end(&t->insn));
}

void soft_thread_stopped(struct soft_thread *t)
{
	if (!t->pt.begun)
		return;
	soft_cpu_take(t);
	soft_pt_stopped(&t->pt, t->resumed);
}

void soft_thread_cut(struct soft_thread *t)
{
	soft_pt_cut(&t->pt, t->insn.ip);
}
