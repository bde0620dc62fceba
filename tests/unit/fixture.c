/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Not cmocka's asserts: this file serves every test program, whatever it links. */
static void need(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

int fixture_new(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	need(f != NULL, "calloc");
	strcpy(f->root, "/tmp/auxrec-test-XXXXXX");
	need(mkdtemp(f->root) != NULL, f->root);
	snprintf(f->proc, sizeof(f->proc), "%s/proc", f->root);
	snprintf(f->sysfs, sizeof(f->sysfs), "%s/sys", f->root);
	snprintf(f->tracefs, sizeof(f->tracefs), "%s/tracing", f->root);
	f->sys = pio_kernel;
	f->sys.proc = f->proc;
	f->sys.sysfs = f->sysfs;
	f->sys.tracefs = f->tracefs;
	*state = f;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

int fixture_done(void **state)
{
	struct fixture *f = *state;

	nftw(f->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

void fixture_dir(struct fixture *f, const char *path)
{
	char full[PATH_MAX];
	size_t at;

	need(snprintf(full, sizeof(full), "%s/%s/", f->root, path) < PATH_MAX, path);
	for (at = strlen(f->root) + 1; full[at]; at++) {
		if (full[at] != '/')
			continue;
		full[at] = '\0';
		need(!mkdir(full, 0755) || errno == EEXIST, full);
		full[at] = '/';
	}
}

void fixture_file(struct fixture *f, const char *path, const char *text)
{
	const char *slash = strrchr(path, '/');
	char full[PATH_MAX];
	FILE *out;

	if (slash) {
		snprintf(full, sizeof(full), "%.*s", (int)(slash - path), path);
		fixture_dir(f, full);
	}
	need(snprintf(full, sizeof(full), "%s/%s", f->root, path) < PATH_MAX, path);
	out = fopen(full, "w");
	need(out && fputs(text, out) >= 0 && !fclose(out), full);
}
