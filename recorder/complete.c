/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/complete.h"

#include <stdbool.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"

/* Offsets in PERF_RECORD_MMAP2, perf_event_open(2). */
enum {
	MISC = 4,
	PID = 8,
	ADDR = 16,
	LEN = 24,
	MAJ = 40, /* the 24 bytes that say which file, in this form ... */
	MIN = 44,
	INO = 48,
	INO_GENERATION = 56,
	ID_SIZE = 40, /* ... or in that one */
	ID = 44,
	PROT = 64,
	NAME = 72,
};

static bool whole_mmap2(const uint8_t *rec, size_t size)
{
	return le_get32(rec) == FMT_REC_MMAP2 && size > NAME &&
	       memchr(rec + NAME, '\0', size - NAME);
}

/* Our event did not ask for build ids: the bit is another recorder's (perfio/attrs.h), and
 * the record holds device and inode nevertheless. */
static bool take_foreign_bit(uint8_t *rec)
{
	uint16_t misc = le_get16(rec + MISC);

	le_put(rec + MISC, misc & ~FMT_MISC_MMAP_BUILD_ID, 2);
	return misc & FMT_MISC_MMAP_BUILD_ID;
}

static bool put_id(const struct complete *c, uint8_t *rec)
{
	const struct fileids_key k = {
		.start = le_get(rec + ADDR, 8),
		.len = le_get(rec + LEN, 8),
		.ino = le_get(rec + INO, 8),
		.ino_generation = le_get(rec + INO_GENERATION, 8),
		.maj = le_get32(rec + MAJ),
		.min = le_get32(rec + MIN),
		.name = (const char *)rec + NAME,
	};
	uint8_t id[PIO_BUILD_ID_MAX];
	size_t size = fileids_get(c->fileids, c->sys, (pid_t)le_get32(rec + PID), &k, id);

	if (!size)
		return false;
	memset(rec + MAJ, 0, PROT - MAJ);
	rec[ID_SIZE] = (uint8_t)size;
	memcpy(rec + ID, id, size);
	le_put(rec + MISC, le_get16(rec + MISC) | FMT_MISC_MMAP_BUILD_ID, 2);
	return true;
}

int complete_record(void *ctx, const uint8_t *rec, size_t size, size_t pos)
{
	static uint8_t copy[UINT16_MAX]; /* there is one drain */
	const struct complete *c = ctx;
	bool changed;
	int err;

	if (!whole_mmap2(rec, size))
		return 0;
	memcpy(copy, rec, size);
	changed = take_foreign_bit(copy);
	changed |= put_id(c, copy);
	err = dsos_add_record(c->dsos, copy, size);
	if (err || !changed)
		return err;
	return spans_replace(c->spans, pos, copy, PROT);
}
