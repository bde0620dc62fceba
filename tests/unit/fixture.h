/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder that stands for a machine: /proc, /sys and tracefs as a test wants them. Made
 * with mkdtemp(3) below /tmp, removed by fixture_done(). Both fit cmocka's setup and
 * teardown; *state is the struct.
 */
#ifndef TESTS_UNIT_FIXTURE_H
#define TESTS_UNIT_FIXTURE_H

#include <limits.h>
#include <stdbool.h>

#include "perfio/sys.h"

struct fixture {
	char root[64];
	char proc[80], sysfs[80], tracefs[80]; /* ROOT/proc, ROOT/sys, ROOT/tracing */
	struct pio_sys sys; /* the real kernel's calls, these roots */
};

int fixture_new(void **state);
int fixture_done(void **state);
/* ROOT/path with that text, and the folders on the way; the test fails if that fails. */
void fixture_file(struct fixture *f, const char *path, const char *text);
void fixture_dir(struct fixture *f, const char *path);

#endif
