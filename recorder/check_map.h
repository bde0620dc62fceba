/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded table of rows, each under a 64-bit key: what `auxrec check` remembers of cpus,
 * queues, ids; and the ids of AUX samples (auxsample.h). A row is a struct whose first member
 * is its uint64_t key.
 */
#ifndef RECORDER_CHECK_MAP_H
#define RECORDER_CHECK_MAP_H

#include <stddef.h>
#include <stdint.h>

struct check_map {
	size_t size; /* of a row; set by whoever owns the map */
	size_t n;
	void *last;	   /* the row that was found last, or NULL ... */
	uint64_t last_key; /* ... and its key: most of the time it is asked for again */
	char *rows;	   /* in the order they came */
	uint32_t *slot;	   /* index + 1 of the row, 0: free */
	unsigned bits;	   /* 1 << bits slots */
};

/* Private: the same without looking at the last one. */
void *check_map_search(struct check_map *m, uint64_t key);

/* The row of key, or NULL. Good until the next row is made. */
static inline void *check_map_find(struct check_map *m, uint64_t key)
{
	return m->last && m->last_key == key ? m->last : check_map_search(m, key);
}

/* The same, made (all zeros but its key) when there is none: 1 made, 0 found; -ENOMEM, or
 * -ENOSPC when there are `max` already. */
__attribute__((warn_unused_result))
int check_map_row(struct check_map *m, uint64_t key, size_t max, void **ret);
void *check_map_at(const struct check_map *m, size_t i);
void check_map_done(struct check_map *m);

#endif
