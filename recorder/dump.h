/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `auxrec dump`: every record of a file as a line (dump.c), or the packets of its trace
 * (dump_packets.c). Lines: dump_line.h; which: dump_filter.h; tracepoints: tepfields.h.
 */
#ifndef RECORDER_DUMP_H
#define RECORDER_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/dump_filter.h"
#include "recorder/dump_line.h"
#include "recorder/input.h"

struct tepfields;

struct dump {
	struct input *in;
	struct out out;
	struct dline line;
	struct dump_filter filter;
	bool hex;     /* bytes whole, AUX trace as well */
	bool last_ip; /* packets: the address that a compressed one stands for */

	struct tepfields *tep; /* NULL: no formats of tracepoints */
	bool tep_known;	       /* looked for them */
	/* Records that are not what their type says: how many, and the first. */
	uint64_t nr_odd, odd_at;
	const char *odd_path; /* of the file or part */
	const char *odd_field;
	uint64_t nr_damaged; /* places where the walk stopped, or that it stepped over */
};

/* All records. 0, -EBADMSG: damaged, words were said; -ENOENT: no event has the name in the
 * filter, words were said; -EPIPE: nobody reads on; -ENOMEM or what write(2) gave. */
int dump_records(struct dump *d);
/* All packets. The same, and -ENOTSUP: trace of another kind, words were said. */
int dump_packets(struct dump *d);

/* Why input_next failed, once the lines before are out. */
void dump_say_damage(struct dump *d, const struct fmt_reader *r, int err);
/* The field `part`, of a line that is not of the file itself. from: the reader, or NULL. */
void dump_show_part(struct dump *d, const struct fmt_reader *from);
/* Says what was odd on the way. 0, -EBADMSG, or what writing gave. */
int dump_finish(struct dump *d);

#endif
