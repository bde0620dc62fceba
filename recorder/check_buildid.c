/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build ids of the feature against those in MMAP2 records. A name with another id is no
 * damage (a file may be replaced while it is recorded), but readers take one id for both.
 */
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/check_priv.h"
#include "recorder/hash.h"

enum { ID_MAX = 20 };

static void take(struct check *c, const uint8_t *p, size_t size)
{
	const char *name = (const char *)p + FMT_BUILD_ID_AT_NAME;
	size_t len = strnlen(name, size - FMT_BUILD_ID_AT_NAME);
	struct check_name *row =
		check_row(c, &c->names, hash_bytes(HASH_INIT, name, len));
	uint8_t id_size = ID_MAX;

	if (!row)
		return;
	if (le_get16(p + FMT_REC_AT_MISC) & FMT_MISC_BUILD_ID_SIZE)
		id_size = p[FMT_BUILD_ID_AT_SIZE];
	if (id_size > ID_MAX)
		id_size = ID_MAX;
	if (row->id && (row->id_size != id_size ||
			memcmp(row->id, p + FMT_BUILD_ID_AT_ID, id_size)))
		row->twice = true;
	row->id = p + FMT_BUILD_ID_AT_ID;
	row->id_size = id_size;
}

void check_build_ids_begin(struct check *c)
{
	const uint8_t *p;
	uint64_t len;
	size_t size;

	if (c->r->pipe || fmt_reader_feature(c->r, FMT_FEAT_BUILD_ID, &p, &len))
		return;
	while (len > FMT_BUILD_ID_AT_NAME && !c->err) {
		size = le_get16(p + FMT_REC_AT_SIZE);
		if (size <= FMT_BUILD_ID_AT_NAME || size > len)
			return; /* check_feature() says so */
		take(c, p, size);
		p += size;
		len -= size;
	}
}

/* Zeros at the end of an id are padding: the one has 20 bytes always, the other its own.
 */
static bool same(const uint8_t *a, size_t n, const uint8_t *b, size_t m)
{
	size_t k = n < m ? n : m;

	for (size_t i = k; i < n; i++)
		if (a[i])
			return false;
	for (size_t i = k; i < m; i++)
		if (b[i])
			return false;
	return !memcmp(a, b, k);
}

void check_mmap2(struct check *c, const struct check_rec *cr)
{
	const struct fmt_rec *rec = cr->rec;
	const char *name = (const char *)rec->p + FMT_MMAP2_AT_NAME;
	const struct check_name *row;
	size_t len, size;

	if (!(rec->misc & FMT_MISC_MMAP_BUILD_ID) || rec->size <= FMT_MMAP2_AT_NAME)
		return;
	len = strnlen(name, rec->size - (size_t)FMT_MMAP2_AT_NAME);
	row = check_map_find(&c->names, hash_bytes(HASH_INIT, name, len));
	size = rec->p[FMT_MMAP2_AT_ID_SIZE];
	if (!row || row->twice || size > ID_MAX ||
	    same(row->id, row->id_size, rec->p + FMT_MMAP2_AT_ID, size))
		return;
	check_find(c, CHECK_BUILD_ID, rec->at, "the one of the feature 'build id'",
		   "another build id of '%.*s'", len > 100 ? 100 : (int)len, name);
}
