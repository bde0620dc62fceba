/* SPDX-License-Identifier: Apache-2.0 */
#include "format/event.h"

#include "format/abi.h"
#include "format/le.h"

static uint64_t field(const uint8_t *attr, size_t size, size_t at, unsigned n)
{
	return size >= at + n ? le_get(attr + at, n) : 0;
}

uint32_t fmt_attr_type(const uint8_t *attr, size_t size)
{
	return (uint32_t)field(attr, size, FMT_ATTR_AT_TYPE, 4);
}

uint64_t fmt_attr_config(const uint8_t *attr, size_t size)
{
	return field(attr, size, FMT_ATTR_AT_CONFIG, 8);
}

uint64_t fmt_attr_sample_type(const uint8_t *attr, size_t size)
{
	return field(attr, size, FMT_ATTR_AT_SAMPLE_TYPE, 8);
}

uint64_t fmt_attr_read_format(const uint8_t *attr, size_t size)
{
	return field(attr, size, FMT_ATTR_AT_READ_FORMAT, 8);
}

uint64_t fmt_attr_flags(const uint8_t *attr, size_t size)
{
	return field(attr, size, FMT_ATTR_AT_FLAGS, 8);
}

int32_t fmt_attr_clockid(const uint8_t *attr, size_t size)
{
	return (int32_t)(uint32_t)field(attr, size, FMT_ATTR_AT_CLOCKID, 4);
}

size_t fmt_trailer_size(uint64_t sample_type)
{
	/* Each of these parts is 8 bytes: struct sample_id, perf_event_open(2). */
	const uint64_t parts = FMT_SAMPLE_TID | FMT_SAMPLE_TIME | FMT_SAMPLE_ID |
			       FMT_SAMPLE_STREAM_ID | FMT_SAMPLE_CPU |
			       FMT_SAMPLE_IDENTIFIER;

	return 8 * (size_t)__builtin_popcountll(sample_type & parts);
}
