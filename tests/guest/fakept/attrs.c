/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The names and bits of arch/x86/events/intel/pt.c; the capabilities are those of a Skylake
 * with every option that a recorder may ask for. */
#include "fakept.h"

PMU_FORMAT_ATTR(pt, "config:0");
PMU_FORMAT_ATTR(cyc, "config:1");
PMU_FORMAT_ATTR(pwr_evt, "config:4");
PMU_FORMAT_ATTR(fup_on_ptw, "config:5");
PMU_FORMAT_ATTR(mtc, "config:9");
PMU_FORMAT_ATTR(tsc, "config:10");
PMU_FORMAT_ATTR(noretcomp, "config:11");
PMU_FORMAT_ATTR(ptw, "config:12");
PMU_FORMAT_ATTR(branch, "config:13");
PMU_FORMAT_ATTR(mtc_period, "config:14-17");
PMU_FORMAT_ATTR(cyc_thresh, "config:19-22");
PMU_FORMAT_ATTR(psb_period, "config:24-27");

static struct attribute *format_attrs[] = {
	&format_attr_pt.attr,
	&format_attr_cyc.attr,
	&format_attr_pwr_evt.attr,
	&format_attr_fup_on_ptw.attr,
	&format_attr_mtc.attr,
	&format_attr_tsc.attr,
	&format_attr_noretcomp.attr,
	&format_attr_ptw.attr,
	&format_attr_branch.attr,
	&format_attr_mtc_period.attr,
	&format_attr_cyc_thresh.attr,
	&format_attr_psb_period.attr,
	NULL,
};

static const struct attribute_group format_group = {
	.name = "format",
	.attrs = format_attrs,
};

/* Hexadecimal, as pt.c prints them. */
#define CAPS(X)				\
	X(max_subleaf, "1")		\
	X(cr3_filtering, "1")		\
	X(psb_cyc, "1")			\
	X(ip_filtering, "1")		\
	X(mtc, "1")			\
	X(ptwrite, "1")			\
	X(power_event_trace, "1")	\
	X(event_trace, "0")		\
	X(tnt_disable, "0")		\
	X(topa_output, "1")		\
	X(topa_multiple_entries, "1")	\
	X(single_range_output, "1")	\
	X(output_subsys, "0")		\
	X(payloads_lip, "0")		\
	X(num_address_ranges, "2")	\
	X(mtc_periods, "249")		\
	X(cycle_thresholds, "3fff")	\
	X(psb_periods, "3f")

#define CAP_DEFINE(name, value) PMU_EVENT_ATTR_STRING(name, cap_##name, value "\n");
#define CAP_LIST(name, value) &cap_##name.attr.attr,

CAPS(CAP_DEFINE)

static struct attribute *cap_attrs[] = { CAPS(CAP_LIST) NULL };

static const struct attribute_group cap_group = {
	.name = "caps",
	.attrs = cap_attrs,
};

PMU_EVENT_ATTR_STRING(max_nonturbo_ratio, top_ratio, "24\n");
PMU_EVENT_ATTR_STRING(tsc_art_ratio, top_art, "200:2\n");

static struct attribute *top_attrs[] = {
	&top_ratio.attr.attr,
	&top_art.attr.attr,
	NULL,
};

static const struct attribute_group top_group = { .attrs = top_attrs };

const struct attribute_group *fake_attr_groups[] = {
	&cap_group,
	&format_group,
	&top_group,
	NULL,
};
