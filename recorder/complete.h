/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's MMAP2 records name a file by device and inode; on their way into the recording
 * they get its build id instead, where one is to be had. The kernel could have done so itself:
 * perfio/attrs.h tells why it is not asked to. AUX records of a cpu that had been away get
 * their place in the stream of its queue. Switches of a program that is traced by software are
 * taken out: most of them are its tracer's (recorder/fold.h).
 */
#ifndef RECORDER_COMPLETE_H
#define RECORDER_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfio/sys.h"
#include "recorder/dsos.h"
#include "recorder/fileids.h"
#include "recorder/fold.h"
#include "recorder/ledger.h"
#include "recorder/oncpu.h"
#include "recorder/spans.h"
#include "recorder/tasktable.h"

struct complete {
	const struct pio_sys *sys;
	struct fileids *fileids;
	struct dsos *dsos;   /* learns names and ids */
	struct spans *spans; /* at the ring that is walked: gets what is new */
	uint64_t aux_base;   /* of its place (perfio/evset.h): AUX records count from there */
	struct tasktable *table; /* learns of the tasks, or NULL */
	struct oncpu *on;	 /* follows the switches of that ring, or NULL */
	struct fold *fold;	 /* takes them out, to be sorted, or NULL */
	uint64_t *folded;	 /* how many */
};

/* Who does that while a ring is walked; c must stay. The records keep their sizes, and what is
 * malformed is left alone. The walk ends with -ENOMEM. */
struct ledger_visit complete_visit(struct complete *c);

/* The same for one MMAP2 record that goes nowhere yet: copied, and completed there. False, and
 * nothing is copied: it is no whole MMAP2 record. spans and dsos are not used. */
bool complete_copy(const struct complete *c, const uint8_t *rec, size_t size, uint8_t *copy);

#endif
