/* SPDX-License-Identifier: Apache-2.0 */
/* What filter.c (the text) and filter_names.c (the names in it) share. */
#ifndef RECORDER_FILTER_PRIV_H
#define RECORDER_FILTER_PRIV_H

#include "perfio/symtab.h"
#include "recorder/filter.h"

enum { ANY = -1, GLOBAL = 0 }; /* else the N of #N */

struct operand {
	char *name; /* NULL: a number */
	uint64_t number;
	long nth;
};

struct term {
	enum filter_action action;
	bool range; /* an action on ranges, or a size was given */
	bool sized;
	struct operand from, to;
	char *file; /* as typed */
};

/* The functions that were looked up last: of a file, or of the kernel. */
struct names {
	const struct pio_sys *sys;
	struct filter_why *why;
	struct pio_symtab tab;
	char *file; /* real path */
	bool loaded;
};

/* Replace the words in *why, or add a line to them. The first returns -EINVAL. */
__attribute__((format(printf, 2, 3)))
int filter_wrong(struct filter_why *why, const char *fmt, ...);
__attribute__((format(printf, 2, 3)))
void filter_more(struct filter_why *why, const char *fmt, ...);

/* The term in numbers: 0; -EINVAL with n->why filled in; -ENOMEM. */
int filter_resolve(struct names *n, const struct term *t, struct filter_item *ret);
void filter_names_done(struct names *n);

#endif
