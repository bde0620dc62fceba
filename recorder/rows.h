/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of one size, found by a number: what a command gathers about each cpu, thread or
 * queue of a file. There are at most `max`; what comes later shares one more, the rest, so
 * that memory does not grow with what a file makes up.
 */
#ifndef RECORDER_ROWS_H
#define RECORDER_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct rows {
	size_t size; /* of a row; its first member is a uint64_t, the key */
	size_t max;
	uint8_t *p;
	size_t nr;

	/* Private. */
	size_t last;
	uint32_t *slots; /* row + 1, or 0 */
	size_t nr_slots;
	uint8_t *rest;
};
#define ROWS_INIT(type, most) ((struct rows){ .size = sizeof(type), .max = (most) })
#define ROWS_REST	      UINT64_MAX /* key of the rest */

void rows_done(struct rows *t);

/* The row of key, all zeros but the key when it is new; or the rest. Good until the next call
 * for another key. NULL: no memory. */
void *rows_get(struct rows *t, uint64_t key);
/* The row of key, or NULL. */
void *rows_find(const struct rows *t, uint64_t key);
void *rows_at(const struct rows *t, size_t i);
/* The row that was given when there was no more room, or NULL. */
void *rows_rest(const struct rows *t);
/* Order them by key. */
void rows_sort(struct rows *t);

#endif
