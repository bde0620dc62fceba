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
#define TSC_BIT	       UINT64_C(0x400)
#define NORETCOMP_BIT  UINT64_C(0x800)
#define BRANCH_BIT     UINT64_C(0x2000)
#define PSB_BITS       UINT64_C(0xf000000)
#define PSB_SHIFT      24
#define PSB_DEFAULT    UINT64_C(3)
#define PSB_UNIT       2048u /* bytes between PSBs for period 0 */

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
	/* Sorted by name, as pio_pmu promises. */
	static const struct pio_term terms[] = {
		{ (char *)"noretcomp", 0, NORETCOMP_BIT },
		{ (char *)"psb_period", 0, PSB_BITS },
		{ (char *)"tsc", 0, TSC_BIT },
	};
	static const struct pio_cap caps[] = {
		{ (char *)"psb_cyc", (char *)"1" },
		{ (char *)"psb_periods", (char *)"3f" },
	};
	struct pio_pmu p = { .has_aux = true };
	int err = free_type(sys, &p.type);

	if (err)
		return err;
	p.name = strdup("intel_pt");
	p.terms = calloc(3, sizeof(*p.terms));
	p.caps = calloc(2, sizeof(*p.caps));
	if (!p.name || !p.terms || !p.caps)
		goto nomem;
	for (; p.nr_terms < 3; p.nr_terms++) {
		p.terms[p.nr_terms] = terms[p.nr_terms];
		p.terms[p.nr_terms].name = strdup(terms[p.nr_terms].name);
		if (!p.terms[p.nr_terms].name)
			goto nomem;
	}
	for (; p.nr_caps < 2; p.nr_caps++) {
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
		.config = { PT_BIT | BRANCH_BIT | TSC_BIT | PSB_DEFAULT << PSB_SHIFT },
	};
}

uint32_t softpmu_psb_bytes(const struct pio_config *c)
{
	return PSB_UNIT << ((c->config[0] & PSB_BITS) >> PSB_SHIFT);
}

bool softpmu_noretcomp(const struct pio_config *c)
{
	return c->config[0] & NORETCOMP_BIT;
}

bool softpmu_tsc(const struct pio_config *c)
{
	return c->config[0] & TSC_BIT;
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
