/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel made of memory. It keeps the rules of perf_event_open(2) that a recorder can
 * break (order of mappings, sizes, redirections), remembers what it was asked, fails when
 * told to, and counts what it has lent out. Rings are filled by the test.
 *
 * There is one kernel, and it is global: call fake_reset() in setup and in teardown.
 * Descriptors are real ones (eventfd), so that poll(2) and epoll(7) take them;
 * fake_wake() makes one readable.
 */
#ifndef TESTS_UNIT_FAKE_SYS_H
#define TESTS_UNIT_FAKE_SYS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perfio/sys.h"

/* The table to hand to the code under test. Its roots are the real ones until a test sets
 * others; fake_reset() sets them back. */
extern struct pio_sys fake_sys;

enum fake_call {
	FAKE_OPEN,
	FAKE_IOCTL,
	FAKE_MMAP,
	FAKE_MUNMAP,
	FAKE_READ,
	FAKE_CLOSE,
	FAKE_ANY, /* any of those that acquire or ask: all but munmap and close */
};

/* Closes and unmaps all that is still lent, forgets all events and settings. */
void fake_reset(void);

/* The n-th call of that kind from now on (1: the next) returns -err, once. 0: none. */
void fake_fail(enum fake_call kind, unsigned n, int err);
/* Has the failure that was asked for happened? */
bool fake_failed(void);
unsigned fake_calls(enum fake_call kind); /* since fake_reset() */

/* Called before each open: 0, or the -errno that it returns. For threads that are gone,
 * kernels that are old, users who may not. NULL: none. */
extern int (*fake_refuse)(const struct perf_event_attr *attr, pid_t pid, int cpu);
/* attr.type of the PMU that has an AUX area; 8 after fake_reset(). */
extern uint32_t fake_aux_type;

unsigned fake_lent_fds(void);
unsigned fake_lent_maps(void);
/* Descriptors or mappings given back that were not lent: double closes and the like. */
unsigned fake_slips(void);

/* What was opened, in order; entries outlive their close. */
struct fake_event {
	struct perf_event_attr attr;
	pid_t pid;
	int cpu, group_fd, fd;
	unsigned long flags;
	uint64_t id;	 /* as PERF_EVENT_IOC_ID tells: 101, 102, ... */
	int output;	 /* the descriptor whose ring it writes into; -1: its own */
	bool open, enabled;
	bool stuck; /* enabled after its leader: no samples on newer kernels */
	unsigned enables, disables; /* ioctls */
	char filter[256];	    /* PERF_EVENT_IOC_SET_FILTER */
	uint64_t lost;		    /* what read(2) will say (PERF_FORMAT_LOST) */
	struct perf_event_mmap_page *meta; /* NULL: not mapped */
	size_t map_len;
	uint8_t *aux;
	size_t aux_len;
	bool overwrite;	  /* the AUX area was mapped read-only */
	bool withholds;	  /* set by a test: the unit keeps back what it traces until it stops */
	uint64_t aux_pos; /* either: where the unit writes; told as head when it stops */
};
size_t fake_nr_events(void);
struct fake_event *fake_event(size_t i);
/* The open event with that descriptor, or NULL. */
struct fake_event *fake_event_of(int fd);

/* Append a record, or AUX bytes, to the ring that fd writes into, wrapping at its end;
 * the head moves with release. false, and nothing written, when there is no room: an area
 * that is overwritten always has some, and its head, a position inside it, moves only when
 * the event is disabled. */
bool fake_put(int fd, const void *record, size_t len);
bool fake_put_aux(int fd, const void *bytes, size_t len);
/* The same for a head only: the bytes are whatever is there. */
bool fake_skip_aux(int fd, size_t len);
/* Where the reader says it is. */
uint64_t fake_tail(int fd);
uint64_t fake_aux_tail(int fd);
/* Whether poll(2) finds the descriptor readable. */
void fake_wake(int fd, bool readable);
/* Fills in the clock fields of fd's page. */
void fake_set_time(int fd, uint16_t shift, uint32_t mult, uint64_t zero);

#endif
