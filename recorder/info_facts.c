/* SPDX-License-Identifier: Apache-2.0 */
/* What the events and features of a file say, for info's printers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "format/abi.h"
#include "format/event.h"
#include "recorder/eventterm.h"
#include "recorder/info.h"

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
	if (i->has_aux_info && i->aux_type == FMT_AUXTRACE_INTEL_PT && !named)
		return "unknown";
	if (i->has_aux_info)
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

	if (!i->has_aux_info || i->aux_type >= sizeof(names) / sizeof(*names))
		return NULL;
	return names[i->aux_type];
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

static const char *feature_name(unsigned feat, char buf[20])
{
	const char *name = feat < FMT_FEAT_LAST ? fmt_feature_name(feat) : NULL;

	if (name)
		return name;
	snprintf(buf, 20, "%u", feat);
	return buf;
}

static void check_text(struct info *i, const struct fmt_reader *r, enum fmt_feat feat)
{
	const uint8_t *p;
	uint64_t len;
	char buf[20];

	/* Recorders that found nothing to say left empty sections (perf 3.8). */
	if (fmt_reader_feature(r, feat, &p, &len) || !len)
		return;
	if (!fmt_reader_feature_str(r, feat))
		info_fault(i, (uint64_t)(p - r->p),
			   "a text that ends within feature '%s'",
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
	static const enum fmt_feat texts[] = {
		FMT_FEAT_HOSTNAME, FMT_FEAT_OSRELEASE, FMT_FEAT_VERSION,
		FMT_FEAT_ARCH,	   FMT_FEAT_CPUDESC,   FMT_FEAT_CPUID,
	};
	const uint8_t *p;
	uint64_t len;
	char buf[20];

	for (unsigned k = 0; k < 256; k++)
		if (fmt_reader_feature(r, (enum fmt_feat)k, &p, &len) == -EBADMSG)
			info_fault(i, r->data_end, "feature '%s' within the file",
				   feature_name(k, buf));
	for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++)
		check_text(i, r, texts[k]);
	check_event_desc(i, r);
}
