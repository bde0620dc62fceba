/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/complete.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"

static bool whole_mmap2(const uint8_t *rec, size_t size)
{
	return le_get32(rec) == FMT_REC_MMAP2 && size > FMT_MMAP2_AT_NAME &&
	       memchr(rec + FMT_MMAP2_AT_NAME, '\0', size - FMT_MMAP2_AT_NAME);
}

/* Our event did not ask for build ids: the bit is another recorder's (perfio/attrs.h), and
 * the record holds device and inode nevertheless. */
static bool take_foreign_bit(uint8_t *rec)
{
	uint16_t misc = le_get16(rec + FMT_REC_AT_MISC);

	le_put(rec + FMT_REC_AT_MISC, misc & ~FMT_MISC_MMAP_BUILD_ID, 2);
	return misc & FMT_MISC_MMAP_BUILD_ID;
}

static bool put_id(const struct complete *c, uint8_t *rec)
{
	const struct fileids_key k = {
		.start = le_get(rec + FMT_MMAP_AT_ADDR, 8),
		.len = le_get(rec + FMT_MMAP_AT_LEN, 8),
		.ino = le_get(rec + FMT_MMAP2_AT_INO, 8),
		.ino_generation = le_get(rec + FMT_MMAP2_AT_INO_GENERATION, 8),
		.maj = le_get32(rec + FMT_MMAP2_AT_MAJ),
		.min = le_get32(rec + FMT_MMAP2_AT_MIN),
		.name = (const char *)rec + FMT_MMAP2_AT_NAME,
	};
	uint8_t id[PIO_BUILD_ID_MAX];
	pid_t pid = (pid_t)le_get32(rec + FMT_MMAP_AT_PID);
	size_t size = fileids_get(c->fileids, c->sys, pid, &k, id);

	if (!size)
		return false;
	memset(rec + FMT_MMAP2_AT_MAJ, 0, FMT_MMAP2_AT_PROT - FMT_MMAP2_AT_MAJ);
	rec[FMT_MMAP2_AT_ID_SIZE] = (uint8_t)size;
	memcpy(rec + FMT_MMAP2_AT_ID, id, size);
	le_put(rec + FMT_REC_AT_MISC,
	       le_get16(rec + FMT_REC_AT_MISC) | FMT_MISC_MMAP_BUILD_ID, 2);
	return true;
}

static int move_aux(const struct complete *c, const uint8_t *rec, size_t size, size_t pos)
{
	uint8_t head[FMT_AUX_AT_OFFSET + 8];

	if (!c->aux_base || size < FMT_AUX_AT_FLAGS + 8)
		return 0;
	memcpy(head, rec, sizeof(head));
	le_put(head + FMT_AUX_AT_OFFSET, le_get(rec + FMT_AUX_AT_OFFSET, 8) + c->aux_base, 8);
	return spans_replace(c->spans, pos, head, sizeof(head));
}

static int learn(const struct complete *c, const uint8_t *rec, size_t size)
{
	return c->table ? tasktable_add(c->table, rec, size) : 0;
}

static int put_mmap2(const struct complete *c, const uint8_t *rec, size_t size, size_t pos)
{
	static uint8_t copy[UINT16_MAX]; /* there is one drain */
	bool changed;
	int err;

	if (!whole_mmap2(rec, size))
		return 0;
	memcpy(copy, rec, size);
	changed = take_foreign_bit(copy);
	changed |= put_id(c, copy);
	err = dsos_add_record(c->dsos, copy, size);
	if (!err)
		err = learn(c, copy, size);
	if (err || !changed)
		return err;
	return spans_replace(c->spans, pos, copy, FMT_MMAP2_AT_PROT);
}

static int take_out(const struct complete *c, const uint8_t *rec, size_t size, size_t pos)
{
	int err = fold_add(c->fold, rec, size);

	if (err)
		return err == -EINVAL ? 0 : err;
	++*c->folded;
	return spans_skip(c->spans, pos, size);
}

static int see(void *ctx, const uint8_t *rec, size_t size, size_t pos)
{
	const struct complete *c = ctx;

	switch (le_get32(rec)) {
	case FMT_REC_AUX:
		return move_aux(c, rec, size, pos);
	case FMT_REC_MMAP2:
		return put_mmap2(c, rec, size, pos);
	case FMT_REC_SWITCH:
		if (c->fold)
			return take_out(c, rec, size, pos);
		/* fall through */
	case FMT_REC_SWITCH_CPU_WIDE:
		oncpu_see(c->on, rec, size);
		return 0;
	}
	return learn(c, rec, size);
}

struct ledger_visit complete_visit(struct complete *c)
{
	uint64_t types = UINT64_C(1) << FMT_REC_AUX | UINT64_C(1) << FMT_REC_MMAP2;

	if (c->table)
		types |= TASKTABLE_TYPES;
	if (c->on)
		types |= ONCPU_TYPES;
	if (c->fold)
		types |= UINT64_C(1) << FMT_REC_SWITCH;
	return (struct ledger_visit){ types, see, c };
}

bool complete_copy(const struct complete *c, const uint8_t *rec, size_t size, uint8_t *copy)
{
	if (!whole_mmap2(rec, size))
		return false;
	memcpy(copy, rec, size);
	take_foreign_bit(copy);
	put_id(c, copy);
	return true;
}
