/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The payload of a feature, piece by piece, for those whose parts are held against
 * something else. The first piece that is not whole sticks; nothing is allocated.
 */
#ifndef RECORDER_CHECK_SECTION_H
#define RECORDER_CHECK_SECTION_H

#include <stdint.h>

struct check_section {
	const uint8_t *p;
	uint64_t len, at; /* at: what was taken */
	const char *bad;  /* what was expected at `at`, or NULL */
};

/* A number of so many bytes; 0 when it is not there. */
uint64_t check_take(struct check_section *s, unsigned bytes, const char *what);
void check_skip(struct check_section *s, uint64_t bytes, const char *what);
/* A u32 length and that many bytes, with a NUL among them. */
void check_text(struct check_section *s);
/* n entries of `each` bytes. */
void check_entries(struct check_section *s, uint64_t n, uint64_t each, const char *what);

/* CPU_TOPOLOGY: do its lists have all nr_cpus? */
void check_topology(struct check_section *s, uint64_t nr_cpus);
/* TRACING_DATA, to its end. */
void check_tracing(struct check_section *s);

#endif
