/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/check_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BITS = 5 };

void *check_map_at(const struct check_map *m, size_t i)
{
	return m->rows + i * m->size;
}

static uint64_t key_at(const struct check_map *m, size_t i)
{
	uint64_t key;

	memcpy(&key, check_map_at(m, i), sizeof(key));
	return key;
}

/* The slot of key, or the free one where it belongs. Multiplication by the golden ratio
 * spreads keys that count up (Knuth, TAOCP vol. 3, 6.4). */
static uint32_t *slot_of(const struct check_map *m, uint64_t key)
{
	size_t mask = ((size_t)1 << m->bits) - 1;
	size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - m->bits));

	while (m->slot[at] && key_at(m, m->slot[at] - 1) != key)
		at = (at + 1) & mask;
	return &m->slot[at];
}

void *check_map_search(struct check_map *m, uint64_t key)
{
	uint32_t i = m->n ? *slot_of(m, key) : 0;

	if (!i)
		return NULL;
	m->last = check_map_at(m, i - 1);
	m->last_key = key;
	return m->last;
}

/* Twice the slots, and rows for half of them. */
static int grow(struct check_map *m)
{
	unsigned bits = m->bits ? m->bits + 1 : FIRST_BITS;
	char *rows = realloc(m->rows, ((size_t)1 << bits) / 2 * m->size);
	uint32_t *slot;

	if (!rows)
		return -ENOMEM;
	m->rows = rows;
	m->last = NULL;
	slot = calloc((size_t)1 << bits, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(m->slot);
	m->slot = slot;
	m->bits = bits;
	for (size_t i = 0; i < m->n; i++)
		*slot_of(m, key_at(m, i)) = (uint32_t)i + 1;
	return 0;
}

int check_map_row(struct check_map *m, uint64_t key, size_t max, void **ret)
{
	char *row = check_map_find(m, key);

	if (row) {
		*ret = row;
		return 0;
	}
	if (m->n >= max)
		return -ENOSPC;
	if ((!m->bits || m->n == ((size_t)1 << m->bits) / 2) && grow(m))
		return -ENOMEM;
	row = check_map_at(m, m->n);
	memset(row, 0, m->size);
	memcpy(row, &key, sizeof(key));
	m->last = row;
	m->last_key = key;
	*slot_of(m, key) = (uint32_t)++m->n;
	*ret = row;
	return 1;
}

void check_map_done(struct check_map *m)
{
	free(m->rows);
	free(m->slot);
	*m = (struct check_map){ .size = m->size };
}
