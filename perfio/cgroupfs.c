/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/cgroupfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOUNTS_MAX (16u << 20) /* a sanity bound */

/* Is `word` one of the comma-separated options? */
static bool has_option(const char *options, const char *word)
{
	size_t len = strlen(word);

	for (const char *s = options; *s; s += strcspn(s, ",")) {
		s += *s == ',';
		if (!strncmp(s, word, len) && (!s[len] || s[len] == ','))
			return true;
	}
	return false;
}

/* Blanks and backslashes in paths are written as \040 (proc(5), seq_path()). */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++)
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	*to = '\0';
}

/* "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0". 2: cgroup v1 with perf_event, 1: v2. */
static int rank_of(char *line, char **ret_path)
{
	char *save = NULL, *path, *type, *options;

	if (!strtok_r(line, " ", &save))
		return 0;
	path = strtok_r(NULL, " ", &save);
	type = strtok_r(NULL, " ", &save);
	options = strtok_r(NULL, " ", &save);
	if (!options)
		return 0;
	*ret_path = path;
	if (!strcmp(type, "cgroup"))
		return has_option(options, "perf_event") ? 2 : 0;
	return !strcmp(type, "cgroup2");
}

int pio_cgroup_mount(char *buf, size_t size, const struct pio_sys *sys)
{
	char *text, *save = NULL, *path, *best = NULL;
	int err, rank, best_rank = 0;
	size_t len;

	err = pio_read_file(&text, &len, MOUNTS_MAX, "%s/mounts", sys->proc);
	if (err)
		return err;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		rank = rank_of(line, &path);
		if (rank > best_rank) {
			best_rank = rank;
			best = path;
		}
	}
	err = best ? 0 : -ENOENT;
	if (best)
		unescape(best);
	if (best && strlen(best) >= size)
		err = -ENAMETOOLONG;
	if (!err)
		strcpy(buf, best);
	free(text);
	return err;
}

int pio_cgroup_open(struct pio_cgroup *ret, const char *root, const char *name)
{
	struct pio_cgroup c = PIO_CGROUP_INIT;
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", root, name);

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	c.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c.fd < 0)
		return -errno;
	c.name = strdup(name);
	if (!c.name) {
		pio_cgroup_done(&c);
		return -ENOMEM;
	}
	*ret = c;
	return 0;
}

void pio_cgroup_done(struct pio_cgroup *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->name);
	*c = PIO_CGROUP_INIT;
}
