/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/rescue.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfio/soft/cleanse.h"
#include "perfio/soft/revive.h"
#include "perfio/sys.h"
#include "recorder/config.h"
#include "recorder/log.h"

/* Deeper than any tree of processes that is not made to be deep. */
enum { DEPTH_MAX = 64, CHILDREN_MAX = 1 << 20 };

static long cleanse_tree(pid_t pid, int depth);

/* proc(5): /proc/PID/task/TID/children. */
static long cleanse_children(pid_t pid, pid_t tid, int depth)
{
	char *list = NULL, *at, *end;
	long child, n = 0;
	size_t len;

	if (pio_read_file(&list, &len, CHILDREN_MAX, "/proc/%d/task/%d/children", (int)pid,
			  (int)tid) < 0)
		return 0;
	for (at = list; (child = strtol(at, &end, 10)) > 0 && end != at; at = end)
		n += cleanse_tree((pid_t)child, depth + 1);
	free(list);
	return n;
}

static long cleanse_tree(pid_t pid, int depth)
{
	long n = soft_cleanse(pid);
	struct dirent *e;
	char path[64];
	DIR *d;

	if (n < 0)
		n = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = depth < DEPTH_MAX ? opendir(path) : NULL;
	while (d && (e = readdir(d)))
		if (atoi(e->d_name) > 0)
			n += cleanse_children(pid, atoi(e->d_name), depth);
	if (d)
		(void)closedir(d);
	return n;
}

static void revive(struct soft_lifeline *l)
{
	struct soft_revived r;

	while (soft_revive(l, &r))
		if (r.torn)
			log_warn("process %d is killed: the tracer has not finished what it did in "
				 "place of a thread", (int)r.pid);
		else if (r.mended > 0)
			log_warn("took %ld breakpoints out of process %d%s", r.mended, (int)r.pid,
				 r.stopped ? ", which goes on where it was" : "");
}

void rescue(const struct rec_config *c)
{
	if (c->lifeline)
		revive(c->lifeline);
	for (size_t i = 0; i < c->nr_pids; i++) {
		long mended = cleanse_tree(c->pids[i], 0);

		if (mended)
			log_warn("took %ld breakpoints out of process %d and its children, which "
				 "may have met one", mended, (int)c->pids[i]);
	}
}
