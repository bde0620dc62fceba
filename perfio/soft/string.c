/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/string.h"

enum { PAGE = 4096 };
/* Of more rounds, a stop is the cheaper way. */
enum { ROUNDS_MAX = 4096 };

/* All n bytes from at on, or (down) those before the end of the first. False: not that, or too
 * close to the edges of all memory, or a round would write into two pages, which is refused when
 * others have been written. */
static bool owned(const struct soft_access *m, uint64_t at, uint64_t n, unsigned size, bool down,
		  bool write)
{
	uint64_t from = down ? at + size - n : at;

	if (from > UINT64_MAX - n)
		return false;
	if (write && at % size && from / PAGE != (from + n - 1) / PAGE)
		return false;
	for (uint64_t end = from + n; from < end;) {
		uint64_t part = PAGE - from % PAGE;

		if (part > end - from)
			part = end - from;
		if (!m->owned(m->arg, from, part, write, false))
			return false;
		from += part;
	}
	return true;
}

static bool rounds(const struct soft_op *op, struct user_regs_struct *r,
		   const struct soft_access *m, uint64_t n)
{
	const bool moves = op->what == SOFT_MOVS;
	const uint64_t by = r->eflags & SOFT_DF ? -(uint64_t)op->to.size : op->to.size;
	uint64_t v = r->rax;

	while (n--) {
		if (moves && !m->read(m->arg, r->rsi, &v, op->to.size))
			return false;
		if (!m->write(m->arg, r->rdi, &v, op->to.size))
			return false;
		r->rdi += by;
		if (moves)
			r->rsi += by;
	}
	return true;
}

bool soft_string_run(const struct soft_op *op, struct user_regs_struct *r,
		     const struct soft_access *m)
{
	const uint64_t n = op->repeats ? r->rcx : 1;
	const bool down = r->eflags & SOFT_DF;
	const unsigned size = op->to.size;
	struct user_regs_struct after = *r;

	if (n > ROUNDS_MAX)
		return false;
	if (n > 1 && !(owned(m, r->rdi, n * size, size, down, true) &&
		       (op->what != SOFT_MOVS || owned(m, r->rsi, n * size, size, down, false))))
		return false;
	if (!rounds(op, &after, m, n))
		return false;
	if (op->repeats)
		after.rcx = 0;
	*r = after;
	return true;
}
