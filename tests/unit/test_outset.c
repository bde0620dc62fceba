/* SPDX-License-Identifier: Apache-2.0 */
/* The files of an export appear together or not at all. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/export/outset.h"

struct state {
	char dir[64], base[80];
	struct outset set;
};

static int set_up(void **state)
{
	struct state *s = calloc(1, sizeof(*s));

	strcpy(s->dir, "/tmp/test_outset.XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->base, sizeof(s->base), "%s/b", s->dir);
	s->set.dir = -1;
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct state *s = *state;
	char command[100];

	outset_done(&s->set);
	snprintf(command, sizeof(command), "rm -rf %s", s->dir);
	assert_int_equal(system(command), 0);
	free(s);
	return 0;
}

static int entries(const struct state *s)
{
	DIR *d = opendir(s->dir);
	int n = -2; /* . and .. */

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* What BASESUFFIX holds, or NULL. */
static const char *content(const struct state *s, const char *suffix)
{
	static char text[64];
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", s->base, suffix);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static void write_file(const struct state *s, const char *suffix, const char *text)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", s->base, suffix);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void begin(struct state *s, bool force)
{
	assert_int_equal(outset_open(&s->set, s->base, force), 0);
}

static struct outfile *add(struct state *s, const char *suffix, const char *text)
{
	struct outfile *f = NULL;

	assert_int_equal(outset_add(&s->set, &f, suffix), 0);
	assert_int_equal(outfile_write(f, text, strlen(text)), 0);
	return f;
}

static void nothing_is_there_before_the_commit_and_all_after(void **state)
{
	struct state *s = *state;

	begin(s, false);
	add(s, "-a", "one");
	add(s, "-tree/x/y", "two");
	assert_null(content(s, "-a"));
	assert_int_equal(entries(s), 1); /* the temporary directory */
	assert_int_equal(outset_commit(&s->set), 0);
	outset_done(&s->set);
	assert_string_equal(content(s, "-a"), "one");
	assert_string_equal(content(s, "-tree/x/y"), "two");
	assert_int_equal(entries(s), 2);
}

static void what_is_not_committed_leaves_nothing(void **state)
{
	struct state *s = *state;

	begin(s, false);
	add(s, "-a", "one");
	add(s, "-tree/x", "two");
	outset_done(&s->set);
	assert_int_equal(entries(s), 0);
}

static void a_file_in_the_way_stays_as_it_is(void **state)
{
	struct state *s = *state;
	struct outfile *f;

	write_file(s, "-b", "old");
	begin(s, false);
	assert_true(outset_taken(&s->set, "-b"));
	assert_int_equal(outset_add(&s->set, &f, "-b"), -EEXIST);
	assert_non_null(s->set.failed);
	outset_done(&s->set);
	assert_string_equal(content(s, "-b"), "old");
	assert_int_equal(entries(s), 1);
}

static void one_that_comes_in_the_meantime_undoes_the_rest(void **state)
{
	struct state *s = *state;

	begin(s, false);
	add(s, "-a", "one");
	add(s, "-tree/x", "two");
	add(s, "-c", "three");
	write_file(s, "-c", "somebody's");
	assert_int_equal(outset_commit(&s->set), -EEXIST);
	outset_done(&s->set);
	assert_string_equal(content(s, "-c"), "somebody's");
	assert_int_equal(entries(s), 1);
}

static void force_replaces(void **state)
{
	struct state *s = *state;

	write_file(s, "-b", "old");
	begin(s, true);
	assert_false(outset_taken(&s->set, "-b"));
	add(s, "-b", "new");
	assert_int_equal(outset_commit(&s->set), 0);
	outset_done(&s->set);
	assert_string_equal(content(s, "-b"), "new");
}

static void more_files_than_are_open_at_a_time(void **state)
{
	enum { N = 3 * OUTSET_OPEN_MAX };
	struct state *s = *state;
	struct outfile *f[N];
	char suffix[16], want[32];

	begin(s, false);
	for (int i = 0; i < N; i++) {
		snprintf(suffix, sizeof(suffix), "-%d", i);
		f[i] = add(s, suffix, "x");
	}
	for (int i = 0; i < N; i++)
		assert_int_equal(outfile_print(f[i], "%d", i), 0);
	assert_int_equal(outset_commit(&s->set), 0);
	for (int i = 0; i < N; i++) {
		snprintf(suffix, sizeof(suffix), "-%d", i);
		snprintf(want, sizeof(want), "x%d", i);
		assert_string_equal(content(s, suffix), want);
	}
}

static void a_copy_goes_behind_what_is_there(void **state)
{
	struct state *s = *state;
	struct outfile *f;
	char path[160];
	bool reading;
	int fd;

	write_file(s, "-from", "copied");
	snprintf(path, sizeof(path), "%s-from", s->base);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	begin(s, false);
	f = add(s, "-a", "before ");
	assert_int_equal(outfile_copy(f, fd, &reading), 0);
	assert_int_equal(outfile_print(f, " after"), 0);
	assert_int_equal(f->size, strlen("before copied after"));
	close(fd);
	fd = open(s->dir, O_RDONLY | O_CLOEXEC);
	assert_int_equal(outfile_copy(f, fd, &reading), -EISDIR);
	assert_true(reading);
	close(fd);
	assert_int_equal(outset_commit(&s->set), 0);
	assert_string_equal(content(s, "-a"), "before copied after");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		T(nothing_is_there_before_the_commit_and_all_after),
		T(what_is_not_committed_leaves_nothing),
		T(a_file_in_the_way_stays_as_it_is),
		T(one_that_comes_in_the_meantime_undoes_the_rest),
		T(force_replaces),
		T(more_files_than_are_open_at_a_time),
		T(a_copy_goes_behind_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
