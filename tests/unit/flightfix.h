/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flight recording of two cpus that has begun, over a kernel made of memory (fake_sys.h), with
 * all that can be asked about it but an output.
 */
#ifndef TESTS_UNIT_FLIGHTFIX_H
#define TESTS_UNIT_FLIGHTFIX_H

#include "recorder/session.h"

enum {
	FLIGHTFIX_PAGE = 4096,
	FLIGHTFIX_AUX_LEN = 4 * FLIGHTFIX_PAGE,	   /* bytes of each area, */
	FLIGHTFIX_NEWEST_LEN = 4 * FLIGHTFIX_PAGE, /* and of each ring of switches */
	FLIGHTFIX_CPUS = 2,
};

/* Its events. */
enum { FLIGHTFIX_PT, FLIGHTFIX_SWITCHES, FLIGHTFIX_TRACKING, FLIGHTFIX_EVENTS };

struct flightfix {
	struct session s;
	struct rec_config cfg;
	struct pio_event ev[FLIGHTFIX_EVENTS];
	int cpu[FLIGHTFIX_CPUS]; /* 0 and 3 */
};

/* 0 or -errno. It must not be moved afterwards. */
__attribute__((warn_unused_result)) int flightfix_begin(struct flightfix *f);
/* 0, or -1 when not all that the kernel had lent was given back. */
__attribute__((warn_unused_result)) int flightfix_end(struct flightfix *f);

#endif
