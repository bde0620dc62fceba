/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a recording that writes all the time: going on in a new file, and ending at a
 * limit.
 *
 * Between two rounds everything that the rings gave is in the old file; it gets its features
 * and is closed. The new one begins as the first did, with the tasks as they are by then, out
 * of a table that every round feeds (recorder/tasktable.h), and with who runs on each cpu. The
 * rings fill meanwhile as they do between any two rounds. So each record and each byte of trace
 * is in one file only, and each file is readable alone.
 *
 * A PMU keeps trace to itself until there is much of it. So each event that traces is halted
 * for the moment at which it is settled what of its ring belongs into the old file: trace and
 * records are divided there, and the new file's trace begins with a PSB. Who runs is told
 * meanwhile. The software source divides its trace so, too.
 */
#ifndef RECORDER_ROTATION_H
#define RECORDER_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/oncpu.h"
#include "recorder/tasktable.h"

struct session;

struct rotation {
	struct tasktable *table; /* NULL: all goes into one file */
	uint64_t began_ns;	 /* CLOCK_MONOTONIC: the file at hand got its name, */
	uint64_t head;		 /* with so many bytes */
	uint64_t longest_ns;	 /* that the rings had to wait for a new file, */
	uint64_t pause_ns;	 /* and that one trace was halted */
	uint64_t halted_ns;	 /* CLOCK_MONOTONIC when the one at hand was */
	bool dividing;		 /* the round at hand is the last of its file */
	uint64_t records, aux_bytes; /* in the files before this one */
	bool ended;		 /* a limit was reached */
};

/* Before the first file is opened. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int rotation_setup(struct session *s);
void rotation_done(struct session *s);

/* The file at hand has its name. */
void rotation_begun(struct session *s);
/* It is complete. */
void rotation_finished(struct session *s);
/* Go on in a new file if it is time to, or somebody wants it (control.rotate_wanted). After a
 * message, write_err is set. */
void rotation_turn(struct session *s);
/* Around the moment at which drain.c looks what a place gives to such a round. Of a place that
 * does not go on after a message, run_err is set. */
void rotation_halt(struct session *s, size_t place);
void rotation_go_on(struct session *s, size_t place);
/* Is a limit of the recording (size, time) reached? It says so once. */
bool rotation_over(struct session *s);
/* How long the loop may wait, in ms, when it would wait so long otherwise (-1: for ever). */
int rotation_wait(const struct session *s, int ms);

#endif
