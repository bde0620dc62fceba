/* SPDX-License-Identifier: Apache-2.0 */
/* What the events and features of a file say, for info's printers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/featcheck.h"
#include "format/fields.h"
#include "format/le.h"
#include "recorder/eventterm.h"
#include "recorder/info_priv.h"

static bool is_pt(const struct fmt_reader_event *e)
{
	return e->name && !strncmp(e->name, "intel_pt/", 9);
}

const char *info_source(const struct info *i, const struct fmt_reader *r)
{
	bool named = false;

	for (size_t k = 0; k < r->nr_events; k++) {
		if (!is_pt(&r->events[k]))
			continue;
		if (eventterm_in(r->events[k].name, "soft"))
			return "soft";
		named = true;
	}
	/* Names come with the features, at the end: without them trace written by
	 * software must not pass for the processor's. */
	if (i->aux.has_info && i->aux.type == FMT_AUXTRACE_INTEL_PT && !named)
		return "unknown";
	if (i->aux.has_info)
		return "kernel";
	return i->nr_faults ? "unknown" : "none";
}

const char *info_aux_name(const struct info *i)
{
	static const char *const names[] = {
		[FMT_AUXTRACE_INTEL_PT] = "intel_pt",
		[FMT_AUXTRACE_INTEL_BTS] = "intel_bts",
		[FMT_AUXTRACE_CS_ETM] = "cs_etm",
		[FMT_AUXTRACE_ARM_SPE] = "arm_spe",
		[FMT_AUXTRACE_S390_CPUMSF] = "s390_cpumsf",
		[FMT_AUXTRACE_HISI_PTT] = "hisi_ptt",
	};

	if (!i->aux.has_info || i->aux.type >= sizeof(names) / sizeof(*names))
		return NULL;
	return names[i->aux.type];
}

const char *info_clock(const struct fmt_reader *r)
{
	static const char *const names[] = {
		[CLOCK_REALTIME] = "realtime",
		[CLOCK_MONOTONIC] = "monotonic",
		[CLOCK_MONOTONIC_RAW] = "monotonic_raw",
		[CLOCK_BOOTTIME] = "boottime",
		[CLOCK_TAI] = "tai",
	};
	const struct fmt_reader_event *e = r->events;
	uint32_t id;

	if (!r->nr_events)
		return NULL;
	if (!(fmt_attr_flags(e->attr, e->attr_size) & FMT_ATTR_F_USE_CLOCKID))
		return "perf";
	id = (uint32_t)fmt_attr_clockid(e->attr, e->attr_size);
	return id < sizeof(names) / sizeof(*names) && names[id] ? names[id] : "unknown";
}

const char *info_type_name(uint32_t type, char buf[20])
{
	const char *name = fmt_record_name(type);

	if (name)
		return name;
	snprintf(buf, 20, "type%u", type);
	return buf;
}

const char *info_form(const struct info_file *f)
{
	if (f->in->as.kind == INPUT_PT)
		return "pt";
	if (f->in->as.kind == INPUT_RECORDS)
		return "records";
	return f->r->pipe ? "pipe" : "file";
}

int info_clock_data(const struct fmt_reader *r, struct info_clock_data *ret)
{
	struct info_clock_data d = { 0 };
	const uint8_t *p;
	uint64_t len;

	*ret = d;
	if (fmt_reader_feature(r, FMT_FEAT_CLOCK_DATA, &p, &len))
		return -ENOENT;
	if (len < 4)
		return -EBADMSG;
	ret->version = le_get32(p);
	if (ret->version != 1)
		return -ENOTSUP;
	if (len < 24)
		return -EBADMSG;
	ret->clockid = le_get32(p + 4);
	ret->wall_ns = le_get64(p + 8);
	ret->clock_ns = le_get64(p + 16);
	return 0;
}

const char *info_aux_action(const struct fmt_reader_event *e, unsigned *at,
			    uint32_t *rest)
{
	static const char *const names[] = { "aux_start_paused", "aux_pause",
					     "aux_resume" };
	const unsigned known = sizeof(names) / sizeof(*names);
	uint32_t v = 0;

	if (e->attr_size >= FMT_ATTR_AT_AUX_ACTION + 4)
		v = le_get32(e->attr + FMT_ATTR_AT_AUX_ACTION);
	*rest = v & ~((1u << known) - 1);
	while (*at < known)
		if (v & 1u << (*at)++)
			return names[*at - 1];
	return NULL;
}

const char *info_flag_name(unsigned bit)
{
	static const char *const names[] = { "truncated", "overwrite", "partial",
					     "collision" };

	return bit < sizeof(names) / sizeof(*names) ? names[bit] : NULL;
}

/* Words without a meaning that is known are visited as a list called "words". */
static void count_unknown(void *ctx, const struct fmt_field *f)
{
	struct info_words *w = ctx;

	if (f->name && f->kind == FMT_AS_LIST)
		w->in_unknown = !strcmp(f->name, "words");
	else if (f->kind == FMT_AS_END)
		w->in_unknown = false;
	else
		w->unknown += w->in_unknown;
}

struct info_words info_aux_words(const struct info_file *f)
{
	const struct info_aux *a = &f->i->aux;
	struct fmt_rec rec = { .at = a->info_at, .type = FMT_REC_AUXTRACE_INFO,
			       .size = a->info_size, .p = a->info };
	struct info_words w = { 0 };
	struct fmt_fit fit = fmt_fields(f->r, &rec, -1, count_unknown, &w);

	if (a->info_size > FMT_AUXTRACE_INFO_AT_PRIV)
		w.nr = (a->info_size - FMT_AUXTRACE_INFO_AT_PRIV) / 8;
	w.missing = fit.missing;
	w.unknown += fit.left / 8;
	return w;
}

void info_take_features(struct info *i, const struct fmt_reader *r)
{
	for (unsigned k = 0; k < FMT_HDR_FEATURE_WORDS; k++)
		i->features[k] |= r->feat_bits[k];
}

/* A record without a payload is the mark at their end, whose number grows with perf. */
void info_take_feature(struct info *i, const struct fmt_rec *rec)
{
	uint64_t feat;

	if (rec->size <= FMT_REC_HEADER_SIZE + 8)
		return;
	feat = le_get64(rec->p + FMT_REC_HEADER_SIZE);
	if (feat < 64 * FMT_HDR_FEATURE_WORDS)
		i->features[feat / 64] |= UINT64_C(1) << feat % 64;
}

const char *info_feature_name(unsigned feat)
{
	return feat < FMT_FEAT_LAST ? fmt_feature_name((enum fmt_feat)feat) : NULL;
}

static const char *feature_name(unsigned feat, char buf[20])
{
	const char *name = info_feature_name(feat);

	if (name)
		return name;
	snprintf(buf, 20, "%u", feat);
	return buf;
}

static void check_shape(struct info *i, const struct fmt_reader *r, unsigned feat)
{
	const char *expected;
	const uint8_t *p;
	uint64_t len, at;
	char buf[20];
	int err = fmt_reader_feature(r, (enum fmt_feat)feat, &p, &len);

	if (err == -EBADMSG)
		info_fault(i, r->data_end, "feature '%s' within the file",
			   feature_name(feat, buf));
	else if (!err && fmt_feature_check(feat, p, len, &at, &expected))
		info_fault(i, (uint64_t)(p - r->p) + at, "%s in feature '%s'", expected,
			   feature_name(feat, buf));
}

static void check_event_desc(struct info *i, const struct fmt_reader *r)
{
	const uint8_t *p;
	uint64_t len;

	if (fmt_reader_feature(r, FMT_FEAT_EVENT_DESC, &p, &len))
		return;
	for (size_t k = 0; k < r->nr_events; k++)
		if (!r->events[k].name) {
			info_fault(i, (uint64_t)(p - r->p),
				   "a name for each event in feature '%s'",
				   fmt_feature_name(FMT_FEAT_EVENT_DESC));
			return;
		}
}

void info_check_features(struct info *i, const struct fmt_reader *r)
{
	for (unsigned k = 0; k < 256; k++)
		check_shape(i, r, k);
	check_event_desc(i, r);
}
