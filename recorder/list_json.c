/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "recorder/jtree.h"
#include "recorder/offer.h"

static json_t *trial(const struct offer_try *t, int *err)
{
	json_t *o = json_object();
	const char *name = t->err ? strerrorname_np(-t->err) : NULL;

	jtree_set(o, "ok", json_boolean(!t->err), err);
	if (t->err) {
		jtree_set(o, "errno", json_string(name ? name : "?"), err);
		jtree_set(o, "call", json_string(t->call), err);
	}
	return o;
}

/* No limit is null; so is what is too large for a signed integer. */
static json_t *number(uint64_t v)
{
	return v > INT64_MAX ? json_null() : json_integer((json_int_t)v);
}

static json_t *known(int v, int unknown)
{
	return v == unknown ? json_null() : json_integer(v);
}

static json_t *terms(const struct pio_pmu *p, int *err)
{
	static const char *const word[] = { "config", "config1", "config2" };
	json_t *o = json_object();
	char mask[24];

	for (size_t i = 0; i < p->nr_terms; i++) {
		json_t *t = json_object();

		snprintf(mask, sizeof(mask), "0x%" PRIx64, p->terms[i].mask);
		jtree_set(t, "word", json_string(word[p->terms[i].word]), err);
		jtree_set(t, "mask", json_string(mask), err);
		jtree_set(o, p->terms[i].name, t, err);
	}
	return o;
}

static json_t *caps(const struct pio_pmu *p, int *err)
{
	json_t *o = json_object();

	for (size_t i = 0; i < p->nr_caps; i++)
		jtree_set(o, p->caps[i].name, json_string(p->caps[i].value), err);
	return o;
}

static json_t *valid(const struct pio_pmu *p, int *err)
{
	json_t *o = json_object();

	for (const struct offer_valid *w = offer_valid; w->term; w++) {
		json_t *a;
		uint64_t v;

		if (!pio_pmu_cap(p, w->cap, &v))
			continue;
		a = json_array();
		for (unsigned i = 0; i < 64; i++)
			if (v >> i & 1)
				jtree_append(a, json_integer(i), err);
		jtree_set(o, w->term, a, err);
	}
	return o;
}

static json_t *pmus(const struct offer *o, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < o->nr_pmu; i++) {
		const struct offer_pmu *p = &o->pmu[i];
		json_t *v = json_object();

		jtree_set(v, "name", json_string(p->pmu.name), err);
		jtree_set(v, "type", json_integer(p->pmu.type), err);
		jtree_set(v, "all_tasks", trial(&p->all, err), err);
		jtree_set(v, "own_tasks", trial(&p->own, err), err);
		jtree_set(v, "kernel_code", trial(&p->kernel, err), err);
		jtree_set(v, "terms", terms(&p->pmu, err), err);
		jtree_set(v, "caps", caps(&p->pmu, err), err);
		jtree_set(v, "valid", valid(&p->pmu, err), err);
		jtree_append(a, v, err);
	}
	return a;
}

static json_t *software(const struct offer *o, int *err)
{
	json_t *v = json_object();

	jtree_set(v, "ok", json_boolean(o->x86_64 && !o->ptrace.err), err);
	jtree_set(v, "x86_64", json_boolean(o->x86_64), err);
	jtree_set(v, "ptrace", trial(&o->ptrace, err), err);
	return v;
}

static json_t *switches(const struct offer *o, int *err)
{
	json_t *v = json_object();

	jtree_set(v, "all_tasks", trial(&o->switches_all, err), err);
	jtree_set(v, "own_tasks", trial(&o->switches_own, err), err);
	return v;
}

static json_t *defaults(const struct offer *o, int *err)
{
	json_t *v = json_object();

	jtree_set(v, "command", json_string(offer_auto_command(o)), err);
	jtree_set(v, "all_tasks", json_string(offer_auto_all(o)), err);
	return v;
}

static json_t *capabilities(const struct pio_limits *l, int *err)
{
	json_t *v = json_object();

	jtree_set(v, "sys_admin", json_boolean(l->cap_sys_admin), err);
	jtree_set(v, "perfmon", json_boolean(l->cap_perfmon), err);
	jtree_set(v, "ipc_lock", json_boolean(l->cap_ipc_lock), err);
	jtree_set(v, "sys_ptrace", json_boolean(l->cap_sys_ptrace), err);
	return v;
}

static json_t *limits(const struct offer *o, int *err)
{
	const struct pio_limits *l = &o->limits;
	json_t *v = json_object();

	jtree_set(v, "uid", json_integer(l->euid), err);
	jtree_set(v, "capabilities", capabilities(l, err), err);
	jtree_set(v, "user_namespace", json_boolean(l->userns), err);
	jtree_set(v, "cpus_online", number(l->online), err);
	jtree_set(v, "perf_event_paranoid", known(l->paranoid, INT32_MAX), err);
	jtree_set(v, "perf_event_mlock_kb", number(l->mlock_kb), err);
	jtree_set(v, "memlock_soft", number(l->memlock_soft), err);
	jtree_set(v, "memlock_hard", number(l->memlock_hard), err);
	jtree_set(v, "ring_bytes_allowed", number(o->mlock_budget), err);
	jtree_set(v, "ring_bytes_wanted", number(o->mlock_wanted), err);
	jtree_set(v, "nofile_soft", number(l->nofile_soft), err);
	jtree_set(v, "nofile_hard", number(l->nofile_hard), err);
	jtree_set(v, "nofile_wanted", number(o->fds_wanted), err);
	jtree_set(v, "kptr_restrict", known(l->kptr_restrict, -1), err);
	jtree_set(v, "ptrace_scope", json_integer(l->yama), err);
	jtree_set(v, "seccomp", known(l->seccomp, -1), err);
	jtree_set(v, "lockdown", json_boolean(l->lockdown), err);
	return v;
}

static json_t *fixes(const struct offer *o, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < o->nr_fix; i++) {
		json_t *v = json_object();

		jtree_set(v, "need", json_string(o->fix[i].need), err);
		jtree_set(v, "why", json_string(o->fix[i].why), err);
		jtree_set(v, "command", json_string(o->fix[i].command), err);
		jtree_append(a, v, err);
	}
	return a;
}

int list_json(const struct offer *o)
{
	json_t *v = json_object();
	int err = 0;

	jtree_set(v, "pmus", pmus(o, &err), &err);
	jtree_set(v, "software", software(o, &err), &err);
	jtree_set(v, "context_switches", switches(o, &err), &err);
	jtree_set(v, "tracepoints", trial(&o->tracepoints, &err), &err);
	jtree_set(v, "kernel_addresses", trial(&o->kallsyms, &err), &err);
	jtree_set(v, "default_source", defaults(o, &err), &err);
	jtree_set(v, "limits", limits(o, &err), &err);
	jtree_set(v, "fixes", fixes(o, &err), &err);
	return jtree_print(v, err);
}
