/* SPDX-License-Identifier: Apache-2.0 */
/* What plants.c (breakpoints) and entries.c (many of them at once) share. */
#ifndef PERFIO_SOFT_PLANTS_PRIV_H
#define PERFIO_SOFT_PLANTS_PRIV_H

#include "perfio/soft/plants.h"

enum { PAGE = 4096, INT3 = 0xcc, SET = PAGE / 64 };

/* A set is one of bytes of the page. */
struct soft_page {
	uint64_t addr;
	unsigned planted;    /* how many are */
	bool armed;	     /* `plant` is `entry` and `own` */
	bool has_entries;
	uint8_t was[PAGE];   /* without what is planted */
	uint64_t plant[SET]; /* what is */
	uint64_t tail[SET];  /* no first bytes of instructions */
	uint64_t entry[SET]; /* entries */
	uint64_t own[SET];   /* of an armed page: what stays when it is opened */
};

static inline bool soft_set_has(const uint64_t *set, size_t i)
{
	return set[i / 64] >> (i % 64) & 1;
}

static inline void soft_set_add(uint64_t *set, size_t i)
{
	set[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline void soft_set_drop(uint64_t *set, size_t i)
{
	set[i / 64] &= ~((uint64_t)1 << (i % 64));
}

struct soft_page *soft_page_find(const struct soft_plants *p, uint64_t addr);
/* With the page's bytes, or NULL: no memory, no such page. */
struct soft_page *soft_page_get(struct soft_plants *p, uint64_t addr);
/* The page as it is with what is planted. */
void soft_page_bytes(const struct soft_page *g, uint8_t to[PAGE]);

#endif
