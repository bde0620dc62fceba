/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracepoints as tracefs describes them (Documentation/trace/events.rst).
 */
#ifndef PERFIO_TRACEFS_H
#define PERFIO_TRACEFS_H

#include <stddef.h>
#include <stdint.h>

#include "perfio/sys.h"

struct pio_tracepoint {
	char *system, *name; /* "sched", "sched_switch" */
	uint64_t id;
	char *format; /* text of the format file */
	size_t format_len;
};

/* 0; -ENOENT no such tracepoint; -EACCES; -ENODEV tracefs is not mounted at sys->tracefs
 * (nor at its old place below debugfs). */
__attribute__((warn_unused_result))
int pio_tracepoint_load(struct pio_tracepoint *ret, const struct pio_sys *sys,
			const char *system, const char *name);
void pio_tracepoint_done(struct pio_tracepoint *t);

/* The files that a TRACING_DATA section repeats. Missing ones are empty. */
struct pio_tracing_files {
	char *header_page, *header_event, *printk_formats, *cmdlines;
	size_t header_page_len, header_event_len, printk_len, cmdlines_len;
};
__attribute__((warn_unused_result))
int pio_tracing_files_load(struct pio_tracing_files *ret, const struct pio_sys *sys);
void pio_tracing_files_done(struct pio_tracing_files *f);

#endif
