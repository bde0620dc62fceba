/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/fence.h"
#include "perfio/soft/away.h"
#include "perfio/soft/resume.h"
#include "perfio/soft/wait.h"

#include <sys/ptrace.h>

/* Longest instruction: SDM vol. 2A, 2.3.11. */
enum { INSN_MAX = 15 };

static bool concerned(const struct soft_thread *t)
{
	return soft_runs_user(t) && !t->parked && soft_filter_concerns(t);
}

bool soft_fence_holds(const struct soft *s, const struct soft_thread *t)
{
	const struct soft_mem *m = t->mem;

	if ((m->unfenced && m->fence_gen == m->code_gen) || soft_filter_concerns(t) ||
	    soft_plants_stops(&m->plants, t->insn.ip)) /* another one is waited for there */
		return true;
	if (t->mem->refs == 1)
		return false;
	for (size_t i = 0; i < s->nr_live; i++)
		if (s->live[i]->mem == t->mem && s->live[i] != t && concerned(s->live[i]))
			return true;
	return false;
}

/* One in the kernel stops on its way out of it. One that cannot be awaited is in the kernel, too:
 * the page that it touches does not come. */
static void catch(struct soft *s, struct soft_thread *t)
{
	if (t->mode != SOFT_AWAY || t->in_kernel || t->listening || t->called || t->wakes_at)
		return;
	t->called = true;
	ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
	soft_await(s, t);
}

int soft_fence_drop(struct soft *s, struct soft_mem *m)
{
	m->fenced = false;
	for (size_t i = 0; i < s->nr_live; i++)
		if (s->live[i]->mem == m)
			catch(s, s->live[i]);
	return soft_away_stay(s, m);
}

int soft_fence_enter(struct soft *s, struct soft_thread *t)
{
	int err = 0;

	t->mem->fenced = false;
	if (t->mem->refs > 1)
		err = soft_fence_drop(s, t->mem);
	soft_plants_open(&t->mem->plants, t->insn.ip, t->insn.len ? t->insn.len : INSN_MAX);
	return err;
}

/* Each instruction, as they follow each other. */
static bool plant_site(struct soft_mem *m, const struct soft_site *s)
{
	struct soft_insn i;

	for (uint64_t ip = s->begin; ip < s->end; ip += i.len ? i.len : 1) {
		uint8_t b[INSN_MAX];

		soft_insn_decode(&i, ip, b, soft_plants_code(&m->plants, ip, b, sizeof(b)));
		if ((i.len || ip == s->begin) && !soft_plants_entry(&m->plants, ip))
			return false;
	}
	return true;
}

static bool is_fixed(const struct soft_mem *m, const struct soft_site *s)
{
	return s->fixed && !soft_ranges_meet(&m->altered, s->begin, s->end);
}

static bool plant_sites(struct soft_mem *m, const struct soft_filters *f)
{
	const struct soft_sites *s = soft_sites_of(m, f);

	for (size_t i = 0; i < s->n; i++)
		if (soft_site_counts(&s->v[i], f) && (!is_fixed(m, &s->v[i]) ||
						      !plant_site(m, &s->v[i])))
			return false;
	return !s->failed;
}

/* Those that sleep since before they were traced are waited for all the time. */
static bool keep_waiting(const struct soft *s, struct soft_mem *m)
{
	bool all = true;

	for (size_t i = 0; i < s->nr_live; i++)
		if (s->live[i]->mem == m && s->live[i]->wakes_at)
			all &= soft_plants_put(&m->plants, s->live[i]->wakes_at);
	return all;
}

bool soft_fence_arm(const struct soft *s, struct soft_mem *m)
{
	if (m->fence_gen != m->code_gen)
		m->unfenced = m->stepped || !plant_sites(m, &s->gate.filters);
	m->fence_gen = m->code_gen;
	m->unfenced |= !soft_plants_arm(&m->plants) || !keep_waiting(s, m);
	m->fenced = !m->unfenced;
	return m->fenced;
}

int soft_fence_release(struct soft *s)
{
	int err = 0;

	for (size_t i = s->nr_live; i-- > 0 && !err;) {
		const struct soft_thread *t = s->live[i];

		if (t->parked && !soft_needs_plants(s, t->mem)) {
			err = soft_clear_mem(s, t->mem);
			i = s->nr_live; /* others may have gone with it */
		}
	}
	return err;
}
