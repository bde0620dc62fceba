/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event as a perf.data file describes it: its perf_event_attr bytes, its kernel ids and
 * its name. Used for the attrs section, HEADER_ATTR records, EVENT_DESC and EVENT_UPDATE.
 */
#ifndef FORMAT_EVENT_H
#define FORMAT_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "format/buf.h"

/* attr.size as stored: PERF_ATTR_SIZE_VER7 (Linux 5.13); perf 6.1 refuses anything
 * larger, whatever the extra bytes say. */
#define FMT_ATTR_SIZE 128u
/* The largest there is: PERF_ATTR_SIZE_VER9 (Linux 6.18). */
#define FMT_ATTR_SIZE_MAX 144u

struct fmt_event {
	uint8_t attr[FMT_ATTR_SIZE_MAX]; /* struct perf_event_attr, little-endian */
	uint32_t attr_size; /* as stored, and in its size word; 0 means FMT_ATTR_SIZE */
	const uint64_t *ids;	     /* borrowed; one per opened descriptor, unique, not 0 */
	size_t nr_ids;
	size_t room; /* ids that a file shall have place for beside these: fmt_writer_add_id() */
	const char *name; /* borrowed; as `perf evlist` shows it. NULL: not known, and then
			   * there is no EVENT_DESC */
};

/* Bytes of e->attr that are stored. */
static inline uint32_t fmt_event_attr_size(const struct fmt_event *e)
{
	return e->attr_size ? e->attr_size : FMT_ATTR_SIZE;
}

/* Fields of a stored attr. `attr` points at attr bytes, `size` is how many there are
 * (64 to 144): fields beyond it read as 0. */
uint32_t fmt_attr_type(const uint8_t *attr, size_t size);
uint64_t fmt_attr_config(const uint8_t *attr, size_t size);
uint64_t fmt_attr_sample_type(const uint8_t *attr, size_t size);
uint64_t fmt_attr_read_format(const uint8_t *attr, size_t size);
uint64_t fmt_attr_flags(const uint8_t *attr, size_t size);
int32_t fmt_attr_clockid(const uint8_t *attr, size_t size);

/* Length of the sample_id trailer of non-sample records for this sample_type (0..48). */
size_t fmt_trailer_size(uint64_t sample_type);

#endif
