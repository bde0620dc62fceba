/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/jitdir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* code-PID, or jit-PID.dump. */
static bool is_ours(const char *name)
{
	int pid, end = 0;

	if (sscanf(name, "code-%d%n", &pid, &end) == 1 && !name[end])
		return true;
	return sscanf(name, "jit-%d.dump%n", &pid, &end) == 1 && end && !name[end];
}

static void empty(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_ours(e->d_name))
			(void)unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		(void)closedir(d);
}

void jitdir_keep_old(const char *name)
{
	char *now, *old = NULL;

	if (asprintf(&now, "%s.jit", name) < 0)
		return;
	if (asprintf(&old, "%s.old.jit", name) < 0)
		old = NULL;
	if (old) {
		empty(old);
		(void)rmdir(old);
		(void)renameat2(AT_FDCWD, now, AT_FDCWD, old, RENAME_NOREPLACE);
	}
	free(old);
	free(now);
}
