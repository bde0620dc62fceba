/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/tracefs.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_TEXT (64 << 20)

static int try_root(char root[PATH_MAX], const char *base, const char *sub)
{
	char events[PATH_MAX + 8];
	struct stat st;

	if (snprintf(root, PATH_MAX, "%s%s", base, sub) >= PATH_MAX)
		return -ENAMETOOLONG;
	snprintf(events, sizeof(events), "%s/events", root);
	return stat(events, &st) ? -errno : 0;
}

/* An empty mount point has no events folder. One that we may not look into is mounted: a
 * bare mount point keeps nobody out. */
static int find_root(char root[PATH_MAX], const struct pio_sys *sys)
{
	int err = try_root(root, sys->tracefs, "");

	if (err == -ENOENT)
		err = try_root(root, sys->sysfs, "/kernel/debug/tracing");
	return err == -ENOENT || err == -ENOTDIR ? -ENODEV : err;
}

static bool plain(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

static int load(struct pio_tracepoint *t, const char *root, const char *system,
		const char *name)
{
	int err = pio_read_u64(&t->id, "%s/events/%s/%s/id", root, system, name);

	if (err)
		return err;
	err = pio_read_file(&t->format, &t->format_len, MAX_TEXT,
			    "%s/events/%s/%s/format", root, system, name);
	if (err)
		return err;
	t->system = strdup(system);
	t->name = strdup(name);
	return t->system && t->name ? 0 : -ENOMEM;
}

int pio_tracepoint_load(struct pio_tracepoint *ret, const struct pio_sys *sys,
			const char *system, const char *name)
{
	struct pio_tracepoint t = { 0 };
	char root[PATH_MAX];
	int err = find_root(root, sys);

	if (err)
		return err;
	if (!plain(system) || !plain(name))
		return -ENOENT;
	err = load(&t, root, system, name);
	if (err) {
		pio_tracepoint_done(&t);
		return err;
	}
	*ret = t;
	return 0;
}

void pio_tracepoint_done(struct pio_tracepoint *t)
{
	free(t->system);
	free(t->name);
	free(t->format);
	*t = (struct pio_tracepoint){ 0 };
}

static int read_or_empty(char **ret, size_t *ret_len, const char *root, const char *name)
{
	int err = pio_read_file(ret, ret_len, MAX_TEXT, "%s/%s", root, name);

	if (err != -ENOENT)
		return err;
	*ret = calloc(1, 1);
	*ret_len = 0;
	return *ret ? 0 : -ENOMEM;
}

int pio_tracing_files_load(struct pio_tracing_files *ret, const struct pio_sys *sys)
{
	struct pio_tracing_files f = { 0 };
	char root[PATH_MAX];
	int err = find_root(root, sys);

	if (err)
		return err;
	err = read_or_empty(&f.header_page, &f.header_page_len, root,
			    "events/header_page");
	if (!err)
		err = read_or_empty(&f.header_event, &f.header_event_len, root,
				    "events/header_event");
	if (!err)
		err = read_or_empty(&f.printk_formats, &f.printk_len, root,
				    "printk_formats");
	if (!err)
		err = read_or_empty(&f.cmdlines, &f.cmdlines_len, root, "saved_cmdlines");
	if (err) {
		pio_tracing_files_done(&f);
		return err;
	}
	*ret = f;
	return 0;
}

void pio_tracing_files_done(struct pio_tracing_files *f)
{
	free(f->header_page);
	free(f->header_event);
	free(f->printk_formats);
	free(f->cmdlines);
	*f = (struct pio_tracing_files){ 0 };
}
