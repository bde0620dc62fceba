/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/softpmu.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfio/attrs.h"
#include "perfio/ring.h"

/* RTIT_CTL bits as config carries them: SDM vol. 3, table of IA32_RTIT_CTL. */
#define PT_BIT	       UINT64_C(0x1)
#define CYC_BIT	       UINT64_C(0x2)
#define PWR_EVT_BIT    UINT64_C(0x10)
#define FUP_ON_PTW_BIT UINT64_C(0x20)
#define MTC_BIT	       UINT64_C(0x200)
#define TSC_BIT	       UINT64_C(0x400)
#define NORETCOMP_BIT  UINT64_C(0x800)
#define PTW_BIT	       UINT64_C(0x1000)
#define BRANCH_BIT     UINT64_C(0x2000)
#define MTC_BITS       UINT64_C(0x3c000)
#define CYC_BITS       UINT64_C(0x780000)
#define PSB_BITS       UINT64_C(0xf000000)
#define PSB_DEFAULT    UINT64_C(3)
#define PSB_UNIT       2048u /* bytes between PSBs for period 0 */

/* Sorted by name, as pio_pmu promises. */
static const struct pio_term terms[] = {
	{ (char *)"branch", 0, BRANCH_BIT },
	{ (char *)"cyc", 0, CYC_BIT },
	{ (char *)"cyc_thresh", 0, CYC_BITS },
	{ (char *)"fup_on_ptw", 0, FUP_ON_PTW_BIT },
	{ (char *)"mtc", 0, MTC_BIT },
	{ (char *)"mtc_period", 0, MTC_BITS },
	{ (char *)"noretcomp", 0, NORETCOMP_BIT },
	{ (char *)"psb_period", 0, PSB_BITS },
	{ (char *)"pt", 0, PT_BIT },
	{ (char *)"ptw", 0, PTW_BIT },
	{ (char *)"pwr_evt", 0, PWR_EVT_BIT },
	{ (char *)"tsc", 0, TSC_BIT },
};
static const struct pio_cap caps[] = {
	{ (char *)"cycle_thresholds", (char *)"ffff" },
	{ (char *)"mtc", (char *)"1" },
	{ (char *)"mtc_periods", (char *)"ffff" },
	{ (char *)"power_event_trace", (char *)"0" },
	{ (char *)"psb_cyc", (char *)"1" },
	{ (char *)"psb_periods", (char *)"3f" },
	{ (char *)"ptwrite", (char *)"1" },
};
enum { NR_TERMS = sizeof(terms) / sizeof(*terms), NR_CAPS = sizeof(caps) / sizeof(*caps) };

/* The kernel numbers PMUs from PERF_TYPE_MAX on (6 in Linux 6.1, perf_pmu_register()): what
 * lies above it with room to spare is free on every machine of today. */
enum { FIRST_FREE_TYPE = 16 };

static int free_type(const struct pio_sys *sys, uint32_t *ret)
{
	struct pio_pmu_list l;
	uint32_t type = FIRST_FREE_TYPE;
	int err = pio_pmu_list(&l, sys);

	if (err)
		return err;
	for (size_t i = 0; i < l.n; i++)
		if (l.pmu[i].type >= type)
			type = l.pmu[i].type + 1;
	pio_pmu_list_done(&l);
	*ret = type;
	return 0;
}

int softpmu_make(struct pio_pmu *ret, const struct pio_sys *sys)
{
	struct pio_pmu p = { .has_aux = true, .tsc_art_n = SOFT_PT_CTC, .tsc_art_d = 1,
			     .max_nonturbo_ratio = SOFT_PT_RATIO };
	int err = free_type(sys, &p.type);

	if (err)
		return err;
	p.name = strdup("intel_pt");
	p.terms = calloc(NR_TERMS, sizeof(*p.terms));
	p.caps = calloc(NR_CAPS, sizeof(*p.caps));
	if (!p.name || !p.terms || !p.caps)
		goto nomem;
	for (; p.nr_terms < NR_TERMS; p.nr_terms++) {
		p.terms[p.nr_terms] = terms[p.nr_terms];
		p.terms[p.nr_terms].name = strdup(terms[p.nr_terms].name);
		if (!p.terms[p.nr_terms].name)
			goto nomem;
	}
	for (; p.nr_caps < NR_CAPS; p.nr_caps++) {
		p.caps[p.nr_caps].name = strdup(caps[p.nr_caps].name);
		p.caps[p.nr_caps].value = strdup(caps[p.nr_caps].value);
		if (!p.caps[p.nr_caps].name || !p.caps[p.nr_caps].value)
			goto nomem;
	}
	*ret = p;
	return 0;
nomem:
	pio_pmu_done(&p);
	return -ENOMEM;
}

void softpmu_defaults(struct pio_config *ret)
{
	*ret = (struct pio_config){
		.config = { PT_BIT | BRANCH_BIT | TSC_BIT | PSB_DEFAULT * (PSB_BITS & -PSB_BITS) },
	};
}

static uint64_t field(uint64_t config, uint64_t mask)
{
	return (config & mask) / (mask & -mask);
}

struct soft_pt_config softpmu_packets(const struct pio_config *c)
{
	const uint64_t v = c->config[0];

	return (struct soft_pt_config){
		.psb_bytes = PSB_UNIT << field(v, PSB_BITS),
		.tsc = v & TSC_BIT,
		.noretcomp = v & NORETCOMP_BIT,
		/* As before the kernel knew the bit: without `pt`, branches are traced. */
		.branch = v & BRANCH_BIT || !(v & PT_BIT),
		.ptw = v & PTW_BIT,
		.fup_on_ptw = v & FUP_ON_PTW_BIT,
		.cyc = v & CYC_BIT,
		.mtc = v & MTC_BIT,
		.cyc_thresh = (uint8_t)field(v, CYC_BITS),
		.mtc_period = (uint8_t)field(v, MTC_BITS),
	};
}

bool softpmu_tsc_usable(const struct pio_sys *sys)
{
	struct pio_attr_common c = { .read_format = PERF_FORMAT_ID, .clockid = -1 };
	struct perf_event_attr attr = pio_attr_switch(&c);
	struct pio_ring r = PIO_RING_INIT;
	struct pio_time_conv conv;
	bool usable = false;
	int fd;

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	fd = sys->open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return false;
	if (!pio_ring_map(&r, sys, fd, (size_t)sysconf(_SC_PAGESIZE)))
		usable = pio_ring_time_conv(&r, &conv);
	pio_ring_done(&r);
	(void)sys->close(fd);
	return usable;
}
