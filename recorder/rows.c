/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/rows.h"

#include <stdlib.h>
#include <string.h>

void rows_done(struct rows *t)
{
	free(t->p);
	free(t->slots);
	free(t->rest);
	*t = (struct rows){ .size = t->size, .max = t->max };
}

void *rows_at(const struct rows *t, size_t i)
{
	return t->p + i * t->size;
}

static uint64_t key_of(const void *row)
{
	uint64_t key;

	memcpy(&key, row, sizeof(key));
	return key;
}

/* The slot of key: empty, or its row's. */
static size_t slot_of(const struct rows *t, uint64_t key)
{
	size_t s = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (s &= t->nr_slots - 1; t->slots[s]; s = (s + 1) & (t->nr_slots - 1))
		if (key_of(rows_at(t, t->slots[s] - 1)) == key)
			break;
	return s;
}

static void enter_all(struct rows *t)
{
	memset(t->slots, 0, t->nr_slots * sizeof(*t->slots));
	for (size_t i = 0; i < t->nr; i++)
		t->slots[slot_of(t, key_of(rows_at(t, i)))] = (uint32_t)i + 1;
}

/* Twice as many rows, and twice as many slots as that. 0 or -1. */
static int grow(struct rows *t)
{
	size_t room = t->nr ? 2 * t->nr : 8;
	uint32_t *slots = calloc(2 * room, sizeof(*slots));
	uint8_t *p = slots ? realloc(t->p, room * t->size) : NULL;

	if (!p) {
		free(slots);
		return -1;
	}
	t->p = p;
	free(t->slots);
	t->slots = slots;
	t->nr_slots = 2 * room;
	enter_all(t);
	return 0;
}

static void *make(struct rows *t, uint64_t key)
{
	void *row;

	if (t->nr >= t->max) {
		if (!t->rest)
			t->rest = calloc(1, t->size);
		row = t->rest;
		key = ROWS_REST;
	} else {
		if (2 * t->nr >= t->nr_slots && grow(t))
			return NULL;
		t->last = t->nr++;
		t->slots[slot_of(t, key)] = (uint32_t)t->nr;
		row = memset(rows_at(t, t->last), 0, t->size);
	}
	return row ? memcpy(row, &key, sizeof(key)) : NULL;
}

void *rows_find(const struct rows *t, uint64_t key)
{
	size_t s;

	if (!t->nr)
		return NULL;
	s = slot_of(t, key);
	return t->slots[s] ? rows_at(t, t->slots[s] - 1) : NULL;
}

void *rows_get(struct rows *t, uint64_t key)
{
	void *row;

	if (t->last < t->nr && key_of(rows_at(t, t->last)) == key)
		return rows_at(t, t->last);
	row = rows_find(t, key);
	if (!row)
		return make(t, key);
	t->last = (size_t)((uint8_t *)row - t->p) / t->size;
	return row;
}

void *rows_rest(const struct rows *t)
{
	return t->rest;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = key_of(a), y = key_of(b);

	return x < y ? -1 : x > y;
}

void rows_sort(struct rows *t)
{
	if (!t->nr)
		return;
	qsort(t->p, t->nr, t->size, by_key);
	enter_all(t);
	t->last = 0;
}
