/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jansson's "_new" calls take over the value they are given, also when they fail, and
 * take NULL for a failure: a whole tree is built first, and looked at once.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "recorder/offer.h"

static void set(json_t *o, const char *key, json_t *v, int *err)
{
	if (json_object_set_new(o, key, v))
		*err = -ENOMEM;
}

static void append(json_t *a, json_t *v, int *err)
{
	if (json_array_append_new(a, v))
		*err = -ENOMEM;
}

static json_t *trial(const struct offer_try *t, int *err)
{
	json_t *o = json_object();
	const char *name = t->err ? strerrorname_np(-t->err) : NULL;

	set(o, "ok", json_boolean(!t->err), err);
	if (t->err) {
		set(o, "errno", json_string(name ? name : "?"), err);
		set(o, "call", json_string(t->call), err);
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
		set(t, "word", json_string(word[p->terms[i].word]), err);
		set(t, "mask", json_string(mask), err);
		set(o, p->terms[i].name, t, err);
	}
	return o;
}

static json_t *caps(const struct pio_pmu *p, int *err)
{
	json_t *o = json_object();

	for (size_t i = 0; i < p->nr_caps; i++)
		set(o, p->caps[i].name, json_string(p->caps[i].value), err);
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
				append(a, json_integer(i), err);
		set(o, w->term, a, err);
	}
	return o;
}

static json_t *pmus(const struct offer *o, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < o->nr_pmu; i++) {
		const struct offer_pmu *p = &o->pmu[i];
		json_t *v = json_object();

		set(v, "name", json_string(p->pmu.name), err);
		set(v, "type", json_integer(p->pmu.type), err);
		set(v, "all_tasks", trial(&p->all, err), err);
		set(v, "own_tasks", trial(&p->own, err), err);
		set(v, "kernel_code", trial(&p->kernel, err), err);
		set(v, "terms", terms(&p->pmu, err), err);
		set(v, "caps", caps(&p->pmu, err), err);
		set(v, "valid", valid(&p->pmu, err), err);
		append(a, v, err);
	}
	return a;
}

static json_t *software(const struct offer *o, int *err)
{
	json_t *v = json_object();

	set(v, "ok", json_boolean(o->x86_64 && !o->ptrace.err), err);
	set(v, "x86_64", json_boolean(o->x86_64), err);
	set(v, "ptrace", trial(&o->ptrace, err), err);
	return v;
}

static json_t *switches(const struct offer *o, int *err)
{
	json_t *v = json_object();

	set(v, "all_tasks", trial(&o->switches_all, err), err);
	set(v, "own_tasks", trial(&o->switches_own, err), err);
	return v;
}

static json_t *defaults(const struct offer *o, int *err)
{
	json_t *v = json_object();

	set(v, "command", json_string(offer_auto_command(o)), err);
	set(v, "all_tasks", json_string(offer_auto_all(o)), err);
	return v;
}

static json_t *capabilities(const struct pio_limits *l, int *err)
{
	json_t *v = json_object();

	set(v, "sys_admin", json_boolean(l->cap_sys_admin), err);
	set(v, "perfmon", json_boolean(l->cap_perfmon), err);
	set(v, "ipc_lock", json_boolean(l->cap_ipc_lock), err);
	set(v, "sys_ptrace", json_boolean(l->cap_sys_ptrace), err);
	return v;
}

static json_t *limits(const struct offer *o, int *err)
{
	const struct pio_limits *l = &o->limits;
	json_t *v = json_object();

	set(v, "uid", json_integer(l->euid), err);
	set(v, "capabilities", capabilities(l, err), err);
	set(v, "user_namespace", json_boolean(l->userns), err);
	set(v, "cpus_online", number(l->online), err);
	set(v, "perf_event_paranoid", known(l->paranoid, INT32_MAX), err);
	set(v, "perf_event_mlock_kb", number(l->mlock_kb), err);
	set(v, "memlock_soft", number(l->memlock_soft), err);
	set(v, "memlock_hard", number(l->memlock_hard), err);
	set(v, "ring_bytes_allowed", number(o->mlock_budget), err);
	set(v, "ring_bytes_wanted", number(o->mlock_wanted), err);
	set(v, "nofile_soft", number(l->nofile_soft), err);
	set(v, "nofile_hard", number(l->nofile_hard), err);
	set(v, "nofile_wanted", number(o->fds_wanted), err);
	set(v, "kptr_restrict", known(l->kptr_restrict, -1), err);
	set(v, "ptrace_scope", json_integer(l->yama), err);
	set(v, "seccomp", known(l->seccomp, -1), err);
	set(v, "lockdown", json_boolean(l->lockdown), err);
	return v;
}

static json_t *fixes(const struct offer *o, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < o->nr_fix; i++) {
		json_t *v = json_object();

		set(v, "need", json_string(o->fix[i].need), err);
		set(v, "why", json_string(o->fix[i].why), err);
		set(v, "command", json_string(o->fix[i].command), err);
		append(a, v, err);
	}
	return a;
}

int list_json(const struct offer *o)
{
	json_t *v = json_object();
	int err = 0;

	set(v, "pmus", pmus(o, &err), &err);
	set(v, "software", software(o, &err), &err);
	set(v, "context_switches", switches(o, &err), &err);
	set(v, "tracepoints", trial(&o->tracepoints, &err), &err);
	set(v, "kernel_addresses", trial(&o->kallsyms, &err), &err);
	set(v, "default_source", defaults(o, &err), &err);
	set(v, "limits", limits(o, &err), &err);
	set(v, "fixes", fixes(o, &err), &err);
	/* A failed write sticks to the stream, and main() looks at that. */
	if (!err && !json_dumpf(v, stdout, JSON_INDENT(2)))
		putchar('\n');
	json_decref(v);
	return err;
}
