/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that run without their rights because they are traced (perfio/soft/setid.h), in words:
 * the command itself is refused before anything is done; of what it executes, each is told once.
 */
#ifndef RECORDER_SETID_H
#define RECORDER_SETID_H

#include <stddef.h>
#include <sys/types.h>

#include "perfio/soft/setid.h"

struct rec_config;

enum { SETID_TOLD_MAX = 32 }; /* the summary counts what is beyond */

/* Zeroed: nothing was told. */
struct setid {
	size_t nr;
	struct setid_file {
		dev_t dev;
		ino_t ino;
	} told[SETID_TOLD_MAX];
};

/* May the software source trace the command? 0 or an exit status after a message. */
int setid_check(const struct rec_config *cfg);
/* A soft_withheld_fn; arg: a struct setid. */
void setid_tell(void *arg, const struct soft_withheld *w);

#endif
