/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perfio/lines.h"
#include "perfio/proc.h"
#include "tests/unit/fixture.h"

#define PF_KTHREAD 0x200000u

/* What the callbacks were told, one line each. */
struct heard {
	char text[16384];
	size_t len, n;
	int stop_with;
};

static struct heard heard;

static int setup(void **state)
{
	heard = (struct heard){ 0 };
	return fixture_new(state);
}

__attribute__((format(printf, 1, 2)))
static int hear(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	heard.len += (size_t)vsnprintf(heard.text + heard.len,
				       sizeof(heard.text) - heard.len, fmt, ap);
	va_end(ap);
	heard.n++;
	return heard.stop_with;
}

static int on_task(void *ctx, const struct pio_task *t)
{
	assert_ptr_equal(ctx, &heard);
	return hear("%d/%d<%d %s%s\n", t->pid, t->tid, t->ppid, t->comm,
		    t->kernel ? " k" : "");
}

static int on_map(void *ctx, const struct pio_map *m)
{
	assert_ptr_equal(ctx, &heard);
	return hear("%llx+%llx %u%u @%llx %x:%x %llu %s\n", (unsigned long long)m->start,
		    (unsigned long long)m->len, m->prot, m->flags,
		    (unsigned long long)m->pgoff, m->maj, m->min,
		    (unsigned long long)m->ino, m->name);
}

static void put_stat(struct fixture *f, const char *where, int id, const char *comm,
		     const char *state, int ppid, unsigned flags, int threads)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "proc/%s/stat", where);
	snprintf(text, sizeof(text),
		 "%d (%s) %s %d 1 1 0 -1 %u 1 2 3 4 5 6 7 8 20 0 %d 0 99 1 2\n", id, comm,
		 state, ppid, flags, threads);
	fixture_file(f, path, text);
}

static void tasks_come_sorted_and_leaders_first(void **state)
{
	struct fixture *f = *state;
	size_t skipped = 9;

	put_stat(f, "100", 100, "b", "S", 1, 0, 3);
	put_stat(f, "100/task/100", 100, "b", "S", 1, 0, 3);
	put_stat(f, "100/task/300", 300, "b-late", "S", 1, 0, 3);
	put_stat(f, "100/task/20", 20, "b-wrapped", "R", 1, 0, 3);
	put_stat(f, "9", 9, "a", "S", 0, 0, 1);
	put_stat(f, "2", 2, "kthreadd", "S", 0, PF_KTHREAD, 1);
	fixture_file(f, "proc/cpuinfo", "x\n");
	fixture_dir(f, "proc/12x");
	assert_int_equal(pio_proc_tasks(&f->sys, -1, on_task, &heard, &skipped), 0);
	assert_string_equal(heard.text, "2/2<0 kthreadd k\n"
					"9/9<0 a\n"
					"100/100<1 b\n"
					"100/20<1 b-wrapped\n"
					"100/300<1 b-late\n");
	assert_int_equal(skipped, 0);
}

static void one_process_is_walked_alone(void **state)
{
	struct fixture *f = *state;

	put_stat(f, "9", 9, "a", "S", 1, 0, 2);
	put_stat(f, "9/task/10", 10, "a2", "S", 1, 0, 2);
	put_stat(f, "11", 11, "other", "S", 1, 0, 1);
	assert_int_equal(pio_proc_tasks(&f->sys, 9, on_task, &heard, NULL), 0);
	assert_string_equal(heard.text, "9/9<1 a\n9/10<1 a2\n");
	assert_int_equal(pio_proc_tasks(&f->sys, 12, on_task, &heard, NULL), -ESRCH);
	/* any of its threads stands for it */
	heard = (struct heard){ 0 };
	put_stat(f, "10", 10, "a2", "S", 1, 0, 2);
	fixture_file(f, "proc/10/status", "Name:\ta2\nTgid:\t9\nPid:\t10\n");
	assert_int_equal(pio_proc_tasks(&f->sys, 10, on_task, &heard, NULL), 0);
	assert_string_equal(heard.text, "9/9<1 a\n9/10<1 a2\n");
}

static void names_may_hold_anything(void **state)
{
	struct fixture *f = *state;

	put_stat(f, "1", 1, "a) b (c", "S", 7, 0, 1);
	put_stat(f, "2", 2, "x) S 9 (", "S", 8, 0, 1);
	put_stat(f, "3", 3, "new\nline", "S", 9, 0, 1);
	put_stat(f, "4", 4, "", "S", 10, 0, 1);
	put_stat(f, "5", 5, "kworker/u16:1-events", "I", 11, PF_KTHREAD, 1);
	put_stat(f, "6", 6, "16 characters ex", "S", 12, 0, 1);
	assert_int_equal(pio_proc_tasks(&f->sys, -1, on_task, &heard, NULL), 0);
	assert_string_equal(heard.text, "1/1<7 a) b (c\n"
					"2/2<8 x) S 9 (\n"
					"3/3<9 new\nline\n"
					"4/4<10 \n"
					"5/5<11 kworker/u16:1-e k\n"
					"6/6<12 16 characters e\n");
}

static void tasks_that_vanish_are_counted(void **state)
{
	struct fixture *f = *state;
	size_t skipped = 0;

	fixture_dir(f, "proc/50");
	fixture_file(f, "proc/51/stat", "");
	fixture_file(f, "proc/52/stat", "52 (cut");
	put_stat(f, "53", 53, "left", "S", 1, 0, 2);
	fixture_dir(f, "proc/53/task/54");
	put_stat(f, "60", 60, "no task folder", "S", 1, 0, 2);
	put_stat(f, "70", 70, "zombie", "Z", 1, 0, 1);
	assert_int_equal(pio_proc_tasks(&f->sys, -1, on_task, &heard, &skipped), 0);
	assert_string_equal(heard.text,
			    "53/53<1 left\n60/60<1 no task folder\n70/70<1 zombie\n");
	assert_int_equal(skipped, 5);
}

static void a_callback_ends_the_walk(void **state)
{
	struct fixture *f = *state;

	put_stat(f, "1", 1, "a", "S", 0, 0, 2);
	put_stat(f, "1/task/2", 2, "b", "S", 0, 0, 2);
	heard.stop_with = 77;
	assert_int_equal(pio_proc_tasks(&f->sys, -1, on_task, &heard, NULL), 77);
	assert_int_equal(heard.n, 1);
}

static void a_thread_is_found_by_its_id(void **state)
{
	struct fixture *f = *state;
	struct pio_task t = { .pid = 5 };

	fixture_file(
		f, "proc/10/status",
		"Name:\ta\\nTgid:\t3\nUmask:\t0022\nState:\tS\nTgid:\t9\nPid:\t10\n");
	put_stat(f, "10", 10, "a2", "S", 1, 0, 2);
	assert_int_equal(pio_proc_task(&f->sys, 10, &t), 0);
	assert_int_equal(t.pid, 9);
	assert_int_equal(t.tid, 10);
	assert_int_equal(t.ppid, 1);
	assert_string_equal(t.comm, "a2");
	assert_int_equal(pio_proc_task(&f->sys, 11, &t), -ESRCH);
	assert_int_equal(t.pid, 9);
}

static const char maps[] =
	"00400000-0040c000 r-xp 00001000 fe:01 41038                      /bin/cat\n"
	"0060b000-0060c000 rw-p 0000b000 fe:01 41038                      /bin/cat\n"
	"7f0000000000-7f0000001000 r-xs 00000000 103:0a 9999999999        /a b  c \n"
	"7f0000001000-7f0000002000 rwxp 00000000 00:00 0 \n"
	"7f0000002000-7f0000003000 --xp 00000000 00:00 0                  [vdso]\n"
	"7f0000003000-7f0000004000 r-xp 00000000 00:01 77      /memfd:x (deleted)\n"
	"7f0000004000-7f0000005000 r-xp 00000000 fe:01 5 /n\\012l\\0121 (deleted)\n"
	"not a line of maps\n"
	"7f0000005000 r-xp 00000000 fe:01 5                  /no/end\n"
	"7f0000006000-7f0000007000 r-xp 00000000 00:0f 8       anon_inode:[x]\n";

static void executable_mappings_are_told(void **state)
{
	struct fixture *f = *state;

	fixture_file(f, "proc/7/maps", maps);
	assert_int_equal(pio_proc_maps(&f->sys, 7, false, on_map, &heard), 0);
	assert_string_equal(heard.text,
			    "400000+c000 52 @1000 fe:1 41038 /bin/cat\n"
			    "7f0000000000+1000 51 @0 103:a 9999999999 /a b  c \n"
			    "7f0000001000+1000 72 @0 0:0 0 //anon\n"
			    "7f0000002000+1000 42 @0 0:0 0 [vdso]\n"
			    "7f0000003000+1000 52 @0 0:1 77 /memfd:x (deleted)\n"
			    "7f0000004000+1000 52 @0 fe:1 5 /n\nl\n1 (deleted)\n"
			    "7f0000006000+1000 52 @0 0:f 8 anon_inode:[x]\n");
}

static void data_mappings_come_when_asked_for(void **state)
{
	struct fixture *f = *state;

	fixture_file(f, "proc/7/maps", maps);
	assert_int_equal(pio_proc_maps(&f->sys, 7, true, on_map, &heard), 0);
	assert_int_equal(heard.n, 8);
	assert_non_null(strstr(heard.text, "60b000+1000 32 @b000 fe:1 41038 /bin/cat\n"));
}

static size_t longest, nr_long;

static int on_long_map(void *ctx, const struct pio_map *m)
{
	(void)ctx;
	nr_long++;
	longest = strlen(m->name) > longest ? strlen(m->name) : longest;
	return 0;
}

/* 1000 mappings are more than one read, and a name may be as long as four pages of
 * escapes. */
static void long_tables_and_long_names_fit(void **state)
{
	struct fixture *f = *state;
	char *text = calloc(1, 1000 * 128 + 32768), *p = text;

	assert_non_null(text);
	for (unsigned i = 0; i < 1000; i++)
		p += sprintf(p, "%08x-%08x r-xp 00000000 fe:01 %u /usr/lib/lib%u.so\n",
			     i * 4096, (i + 1) * 4096, i, i);
	p += sprintf(p, "3e8000-3e9000 r-xp 00000000 fe:01 1 /");
	for (int i = 0; i < 4200; i++)
		p = stpcpy(p, "\\012");
	strcpy(p, "\n");
	fixture_file(f, "proc/7/maps", text);
	free(text);
	longest = nr_long = 0;
	assert_int_equal(pio_proc_maps(&f->sys, 7, false, on_long_map, NULL), 0);
	assert_int_equal(longest, 4095);
	assert_int_equal(nr_long, 1001);
}

static void processes_without_maps_have_an_error_of_their_own(void **state)
{
	struct fixture *f = *state;

	fixture_file(f, "proc/7/maps", "");
	assert_int_equal(pio_proc_maps(&f->sys, 7, false, on_map, &heard), 0);
	assert_int_equal(pio_proc_maps(&f->sys, 8, false, on_map, &heard), -ESRCH);
	assert_int_equal(heard.n, 0);
	fixture_file(f, "proc/7/maps", maps);
	heard.stop_with = 1;
	assert_int_equal(pio_proc_maps(&f->sys, 7, false, on_map, &heard), 1);
	assert_int_equal(heard.n, 1);
}

/* What the kernel's two ways tell of ourselves must be one. */
static void questions_and_text_agree(void **state)
{
	struct fixture *f = *state;
	char *text, path[PATH_MAX];
	size_t len;
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);
	int memfd = (int)syscall(SYS_memfd_create, "a\nb c", 0);
	void *q = mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE, memfd, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(pio_proc_maps(&pio_kernel, getpid(), false, on_map, &heard), 0);
	assert_true(heard.n >= 5);
	assert_int_equal(pio_read_file(&text, &len, 1u << 20, "/proc/self/maps"), 0);
	snprintf(path, sizeof(path), "proc/%d/maps", getpid());
	fixture_file(f, path, text);
	free(text);
	text = strdup(heard.text);
	heard = (struct heard){ 0 };
	assert_int_equal(pio_proc_maps(&f->sys, getpid(), false, on_map, &heard), 0);
	assert_string_equal(heard.text, text);
	free(text);
	munmap(p, 4096);
	if (q != MAP_FAILED)
		munmap(q, 4096);
	close(memfd);
}

static const char deep_dir[] =
	"a-folder-with-a-long-name-so-that-few-are-enough-to-make-a-path-"
	"that-no-buffer-of-PATH_MAX-bytes-can-hold-not-even-the-kernel";
static const char deep_file[] = "code";

/* Maps an executable page of a file whose path has more than PATH_MAX bytes. */
static void *map_deep_file(const struct fixture *f, int *ret_depth)
{
	void *p;
	int fd;

	assert_int_equal(chdir(f->root), 0);
	for (*ret_depth = 0; *ret_depth < 40; ++*ret_depth) {
		assert_int_equal(mkdir(deep_dir, 0700), 0);
		assert_int_equal(chdir(deep_dir), 0);
	}
	fd = open(deep_file, O_RDWR | O_CREAT, 0700);
	assert_int_equal(ftruncate(fd, 4096), 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return p;
}

static void remove_deep_file(int depth)
{
	unlink(deep_file);
	while (depth--) {
		assert_int_equal(chdir(".."), 0);
		assert_int_equal(rmdir(deep_dir), 0);
	}
	assert_int_equal(chdir("/"), 0);
}

/* Questions have no room for such a name; the text goes on where they end. */
static void a_path_beyond_path_max_ends_no_walk(void **state)
{
	int cwd = open(".", O_PATH | O_DIRECTORY), depth, twice = 0;
	void *p = map_deep_file(*state, &depth);
	char *save, *line, seen[64][32];
	size_t n = 0;
	char want[32];

	assert_int_equal(pio_proc_maps(&pio_kernel, getpid(), false, on_map, &heard), 0);
	remove_deep_file(depth);
	assert_int_equal(fchdir(cwd), 0);
	close(cwd);
	snprintf(want, sizeof(want), "%llx+1000 ", (unsigned long long)(uintptr_t)p);
	assert_non_null(strstr(heard.text, want));
	assert_non_null(strstr(heard.text, "test_proc\n"));
	for (line = strtok_r(heard.text, "\n", &save); line && n < 64;
	     line = strtok_r(NULL, "\n", &save)) {
		snprintf(seen[n], sizeof(*seen), "%.*s", (int)strcspn(line, " "), line);
		for (size_t i = 0; i < n; i++)
			twice += !strcmp(seen[i], seen[n]);
		n++;
	}
	assert_int_equal(twice, 0);
	assert_int_equal(n, heard.n);
	munmap(p, 4096);
}

static void namespaces_are_links_files_or_zero(void **state)
{
	struct fixture *f = *state;
	struct pio_ns_id ns[PIO_NR_NS];
	char path[PATH_MAX];
	struct stat st;

	assert_int_equal(pio_proc_namespaces(&f->sys, 7, ns), 0);
	assert_int_equal(ns[6].ino, 0);
	fixture_file(f, "proc/7/ns/net", "");
	fixture_file(f, "proc/7/ns/mnt", "");
	snprintf(path, sizeof(path), "%s/7/ns/ipc", f->proc);
	assert_int_equal(symlink("ipc:[4026531839]", path), 0);
	assert_int_equal(pio_proc_namespaces(&f->sys, 7, ns), 3);
	snprintf(path, sizeof(path), "%s/7/ns/net", f->proc);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(ns[0].dev, st.st_dev);
	assert_int_equal(ns[0].ino, st.st_ino);
	assert_int_equal(ns[1].ino, 0);
	assert_int_equal(ns[1].dev, 0);
	assert_int_equal(ns[2].ino, 4026531839u);
	assert_int_equal(ns[2].dev, st.st_dev);
	assert_true(ns[5].ino != 0 && ns[5].ino != st.st_ino);
}

static void our_own_namespaces_are_what_stat_says(void **state)
{
	static const char *const names[] = { "net",  "uts", "ipc",   "pid",
					     "user", "mnt", "cgroup" };
	struct pio_ns_id ns[PIO_NR_NS];
	char path[64];
	struct stat st;

	(void)state;
	assert_true(pio_proc_namespaces(&pio_kernel, getpid(), ns) > 0);
	for (int i = 0; i < PIO_NR_NS; i++) {
		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		if (stat(path, &st))
			continue;
		assert_int_equal(ns[i].dev, st.st_dev);
		assert_int_equal(ns[i].ino, st.st_ino);
	}
}

static int wait_pipe[2];

static void *thread_main(void *ctx)
{
	prctl(PR_SET_NAME, "a) R 1 (b");
	*(pid_t *)ctx = (pid_t)syscall(SYS_gettid);
	while (write(wait_pipe[1], "", 1) == 1)
		pause();
	return NULL;
}

static void threads_of_the_running_kernel_are_found(void **state)
{
	struct pio_task t;
	char want[64];
	pthread_t th;
	pid_t tid = 0;
	char c;

	(void)state;
	assert_int_equal(pipe(wait_pipe), 0);
	assert_int_equal(pthread_create(&th, NULL, thread_main, &tid), 0);
	assert_int_equal(read(wait_pipe[0], &c, 1), 1);
	assert_int_equal(pio_proc_tasks(&pio_kernel, getpid(), on_task, &heard, NULL), 0);
	assert_int_equal(pio_proc_task(&pio_kernel, tid, &t), 0);
	pthread_cancel(th);
	pthread_join(th, NULL);
	close(wait_pipe[0]);
	close(wait_pipe[1]);
	snprintf(want, sizeof(want), "%d/%d<%d a) R 1 (b\n", getpid(), tid, getppid());
	assert_non_null(strstr(heard.text, want));
	assert_int_equal(heard.n, 2);
	assert_int_equal(t.pid, getpid());
	assert_string_equal(t.comm, "a) R 1 (b");
}

static void zombies_have_a_name_and_no_maps(void **state)
{
	pid_t pid = fork();
	siginfo_t si;

	(void)state;
	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), 0);
	assert_int_equal(pio_proc_tasks(&pio_kernel, pid, on_task, &heard, NULL), 0);
	assert_int_equal(heard.n, 1);
	/* an empty table, or no right to see that it is empty */
	heard.n = 0;
	pio_proc_maps(&pio_kernel, pid, false, on_map, &heard);
	assert_int_equal(heard.n, 0);
	waitpid(pid, NULL, 0);
	assert_int_equal(pio_proc_tasks(&pio_kernel, pid, on_task, &heard, NULL), -ESRCH);
}

static void lines_longer_than_the_buffer_are_left_out(void **state)
{
	static const char text[] = "short\n0123456789abcdef\nnext\n\nlast";
	char buf[8], got[64] = "", *line;
	struct pio_lines l = PIO_LINES(-1, buf);
	size_t len;
	int p[2], rc;

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], text, strlen(text)), strlen(text));
	close(p[1]);
	l.fd = p[0];
	while ((rc = pio_lines_next(&l, &line, &len)) > 0) {
		assert_int_equal(strlen(line), len);
		strcat(strcat(got, line), "|");
	}
	close(p[0]);
	assert_int_equal(rc, 0);
	assert_string_equal(got, "short|next||last|");
	assert_int_equal(pio_lines_next(&l, &line, &len), 0);
	l = (struct pio_lines)PIO_LINES(-1, buf);
	assert_int_equal(pio_lines_next(&l, &line, &len), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, fixture_done)
		T(tasks_come_sorted_and_leaders_first),
		T(one_process_is_walked_alone),
		T(names_may_hold_anything),
		T(tasks_that_vanish_are_counted),
		T(a_callback_ends_the_walk),
		T(a_thread_is_found_by_its_id),
		T(executable_mappings_are_told),
		T(data_mappings_come_when_asked_for),
		T(long_tables_and_long_names_fit),
		T(processes_without_maps_have_an_error_of_their_own),
		T(questions_and_text_agree),
		T(a_path_beyond_path_max_ends_no_walk),
		T(namespaces_are_links_files_or_zero),
		T(our_own_namespaces_are_what_stat_says),
		T(threads_of_the_running_kernel_are_found),
		T(zombies_have_a_name_and_no_maps),
		T(lines_longer_than_the_buffer_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
