/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people write between the slashes, against what the PMU can do. The kernel answers
 * a wrong config with a bare EINVAL; here the word that is wrong is found.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfio/attrs.h"
#include "perfio/pmu.h"

struct parser {
	struct pio_config c;
	const struct pio_pmu *p;
	struct pio_spec_error *why;
};

static int wrong(struct parser *ps, const char *word, size_t len, const char *what)
{
	if (len >= sizeof(ps->why->word))
		len = sizeof(ps->why->word) - 1;
	memcpy(ps->why->word, word, len);
	ps->why->word[len] = '\0';
	ps->why->what = what;
	return -EINVAL;
}

static const struct pio_term *find(const struct pio_pmu *p, const char *name, size_t len)
{
	for (size_t i = 0; i < p->nr_terms; i++)
		if (!strncmp(p->terms[i].name, name, len) && !p->terms[i].name[len])
			return &p->terms[i];
	return NULL;
}

static uint64_t max_value(uint64_t mask)
{
	int bits = __builtin_popcountll(mask);

	return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* The value's bits go into the mask's bits, lowest first; the mask may have holes. */
static uint64_t scatter(uint64_t v, uint64_t mask)
{
	uint64_t ret = 0;

	for (; mask; mask &= mask - 1, v >>= 1)
		if (v & 1)
			ret |= mask & -mask;
	return ret;
}

static uint64_t gather(uint64_t config, uint64_t mask)
{
	uint64_t ret = 0, bit = 1;

	for (; mask; mask &= mask - 1, bit <<= 1)
		if (config & mask & -mask)
			ret |= bit;
	return ret;
}

static void set(struct pio_config *c, const struct pio_term *t, uint64_t v)
{
	c->config[t->word] = (c->config[t->word] & ~t->mask) | scatter(v, t->mask);
}

static uint64_t get(const struct parser *ps, const char *term)
{
	return gather(ps->c.config[0], pio_pmu_mask(ps->p, term));
}

/* "config=0x301" sets a whole word, where the PMU has no term of that name. */
static bool raw_word(struct pio_term *ret, const char *name, size_t len)
{
	static const char *const words[] = { "config", "config1", "config2" };

	for (unsigned i = 0; i < 3; i++)
		if (strlen(words[i]) == len && !strncmp(name, words[i], len)) {
			*ret = (struct pio_term){ .word = i, .mask = UINT64_MAX };
			return true;
		}
	return false;
}

static int parse_value(struct parser *ps, const char *at, const char *end, uint64_t *ret)
{
	const bool hex = end - at > 2 && at[0] == '0' && (at[1] | 32) == 'x';
	char *stop;

	if (!isdigit((unsigned char)*at))
		return wrong(ps, at, (size_t)(end - at), "not a number");
	errno = 0;
	*ret = strtoull(at, &stop, hex ? 16 : 10);
	if (stop != end)
		return wrong(ps, at, (size_t)(end - at), "not a number");
	if (errno)
		return wrong(ps, at, (size_t)(end - at), "value out of range");
	return 0;
}

/* A term of perf's own, which no PMU describes. */
static bool is_aux_action(const char *at, size_t len)
{
	static const char name[] = "aux-action";

	return len == strlen(name) && !strncmp(at, name, len);
}

static int parse_aux_action(struct parser *ps, const char *at, const char *end)
{
	uint32_t action = pio_aux_action(at, (size_t)(end - at));

	if (!action)
		return wrong(ps, at, (size_t)(end - at), "aux-action is none of "
			     "start-paused, pause, resume");
	if (action != PIO_AUX_START_PAUSED)
		return wrong(ps, at, (size_t)(end - at), "an AUX event cannot pause or resume "
			     "itself: it takes aux-action=start-paused");
	ps->c.aux_action = action;
	return 0;
}

static int parse_term(struct parser *ps, const char *at, const char *end)
{
	const char *eq = memchr(at, '=', (size_t)(end - at));
	size_t len = (size_t)((eq ? eq : end) - at);
	const struct pio_term *t = find(ps->p, at, len);
	struct pio_term raw;
	uint64_t v = 1;
	int err = 0;

	if (!len)
		return wrong(ps, at, (size_t)(end - at), "empty term");
	if (is_aux_action(at, len))
		return parse_aux_action(ps, eq ? eq + 1 : end, end);
	if (!t && raw_word(&raw, at, len))
		t = &raw;
	if (!t)
		return wrong(ps, at, len, "unknown term");
	if (eq)
		err = parse_value(ps, eq + 1, end, &v);
	if (err)
		return err;
	if (v > max_value(t->mask))
		return wrong(ps, at, (size_t)(end - at), "value out of range");
	set(&ps->c, t, v);
	return 0;
}

static int parse_terms(struct parser *ps, const char *spec)
{
	while (*spec) {
		const char *end = spec + strcspn(spec, ",");
		int err = parse_term(ps, spec, end);

		if (err)
			return err;
		if (*end && !end[1])
			return wrong(ps, spec, strlen(spec), "empty term");
		spec = *end ? end + 1 : end;
	}
	return 0;
}

/* As in perf: naming a level excludes the others; G is guests only, H the host only. */
static int parse_modifiers(struct parser *ps, const char *m)
{
	bool u = false, k = false, h = false, guest = false, host = false;

	for (const char *s = m; *s; s++)
		switch (*s) {
		case 'u': u = true; break;
		case 'k': k = true; break;
		case 'h': h = true; break;
		case 'G': guest = true; break;
		case 'H': host = true; break;
		default: return wrong(ps, s, 1, "unknown modifier");
		}
	if (u || k || h) {
		ps->c.exclude_user = !u;
		ps->c.exclude_kernel = !k;
		ps->c.exclude_hv = !h;
	}
	if (guest || host) {
		ps->c.exclude_guest = !guest;
		ps->c.exclude_host = !host;
	}
	return 0;
}

/* Terms that need a capability, and those whose value is a bit number in another one. A
 * value of 0 asks for nothing, but see mtc_period below. */
static const struct rule {
	const char *term, *cap, *values;
} rules[] = {
	{ "psb_period", "psb_cyc", "psb_periods" },
	{ "cyc_thresh", "psb_cyc", "cycle_thresholds" },
	{ "cyc", "psb_cyc", NULL },
	{ "mtc", "mtc", NULL },
	{ "mtc_period", "mtc", "mtc_periods" },
	{ "ptw", "ptwrite", NULL },
	{ "fup_on_ptw", "ptwrite", NULL },
	{ "pwr_evt", "power_event_trace", NULL },
	{ "event", "event_trace", NULL },
	{ "notnt", "tnt_disable", NULL },
};

static bool has_bit(const struct pio_pmu *p, const char *cap, uint64_t bit)
{
	uint64_t v;

	return pio_pmu_cap(p, cap, &v) && bit < 64 && v >> bit & 1;
}

static int check_rule(struct parser *ps, const struct rule *r)
{
	const char *what = NULL;
	uint64_t v = get(ps, r->term), can = 0;

	if (!v)
		return 0;
	if (!pio_pmu_cap(ps->p, r->cap, &can) || !can)
		what = "not supported by this PMU";
	else if (r->values && !has_bit(ps->p, r->values, v))
		what = "value not supported by this PMU";
	return what ? wrong(ps, r->term, strlen(r->term), what) : 0;
}

/* arch/x86/events/intel/pt.c, pt_event_valid(), Linux 6.1. */
static int check_intel_pt(struct parser *ps)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		int err = check_rule(ps, &rules[i]);

		if (err)
			return err;
	}
	/* 0 is a period like any other once MTC is on. */
	if (get(ps, "mtc") && !has_bit(ps->p, "mtc_periods", get(ps, "mtc_period")))
		return wrong(ps, "mtc_period", 10, "value not supported by this PMU");
	if (get(ps, "fup_on_ptw") && !get(ps, "ptw"))
		return wrong(ps, "fup_on_ptw", 10, "needs the term ptw");
	if (get(ps, "branch") && !get(ps, "pt"))
		return wrong(ps, "branch", 6, "needs the term pt");
	return 0;
}

int pio_pmu_parse(struct pio_config *ret, const struct pio_pmu *p, const char *spec,
		  const char *modifiers, struct pio_spec_error *why)
{
	struct parser ps = { .c = *ret, .p = p, .why = why };
	int err = parse_terms(&ps, spec);

	if (!err)
		err = parse_modifiers(&ps, modifiers);
	if (!err && !strcmp(p->name, "intel_pt"))
		err = check_intel_pt(&ps);
	if (!err)
		*ret = ps.c;
	return err;
}

/* The highest bit up to 3, else the lowest one above: what perf calls nearest. */
static uint64_t near_3(uint64_t bits)
{
	uint64_t below = bits & 0xf;

	return (uint64_t)(below ? 63 - __builtin_clzll(below) : __builtin_ctzll(bits));
}

static void set_named(struct pio_config *c, const struct pio_pmu *p, const char *term,
		      uint64_t v)
{
	const struct pio_term *t = find(p, term, strlen(term));

	if (t)
		set(c, t, v);
}

static uint64_t cap_or(const struct pio_pmu *p, const char *cap, uint64_t dflt)
{
	uint64_t v = dflt;

	return pio_pmu_cap(p, cap, &v) ? v : dflt;
}

void pio_pmu_pt_defaults(struct pio_config *ret, const struct pio_pmu *p)
{
	struct pio_config c = { 0 };
	uint64_t mtc = cap_or(p, "mtc", 1) ? cap_or(p, "mtc_periods", 0) : 0;
	uint64_t psb = cap_or(p, "psb_cyc", 1) ? cap_or(p, "psb_periods", 0) : 0;

	set_named(&c, p, "tsc", 1);
	if (mtc) {
		set_named(&c, p, "mtc", 1);
		set_named(&c, p, "mtc_period", near_3(mtc));
	}
	/* perf asks for a psb_period only where it has MTC periods too. */
	if (mtc && psb)
		set_named(&c, p, "psb_period", near_3(psb));
	if (pio_pmu_mask(p, "pt") && pio_pmu_mask(p, "branch")) {
		set_named(&c, p, "pt", 1);
		set_named(&c, p, "branch", 1);
	}
	*ret = c;
}
