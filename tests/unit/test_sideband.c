/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/le.h"
#include "perfio/buildid.h"
#include "recorder/sideband.h"
#include "tests/unit/fixture.h"
#include "tests/unit/smallelf.h"

static const uint8_t id_a[20] = { 0xaa, 1 }, id_b[16] = { 0xbb, 2 };

/* The records, one line each, as they came. */
struct got {
	char text[1u << 20];
	size_t len, flushes, bytes, biggest;
	int fail_with;
};

static struct got got;
static struct fileids *fileids;
static struct dsos *dsos;

static int setup(void **state)
{
	got = (struct got){ 0 };
	return fixture_new(state) || fileids_new(&fileids) || dsos_new(&dsos);
}

static int teardown(void **state)
{
	fileids_free(fileids);
	dsos_free(dsos);
	dsos = NULL;
	return fixture_done(state);
}

__attribute__((format(printf, 1, 2)))
static void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	got.len += (size_t)vsnprintf(got.text + got.len, sizeof(got.text) - got.len, fmt,
				     ap);
	va_end(ap);
	assert_true(got.len < sizeof(got.text));
}

static unsigned w32(const uint8_t *p)
{
	return le_get32(p);
}

static unsigned long long w64(const uint8_t *p)
{
	return le_get(p, 8);
}

static void say_mmap2(const uint8_t *p, unsigned misc)
{
	say("MMAP2 %u/%u %llx+%llx @%llx ", w32(p + 8), w32(p + 12), w64(p + 16),
	    w64(p + 24), w64(p + 32));
	if (misc & FMT_MISC_MMAP_BUILD_ID)
		say("id%u:%02x%02x", p[40], p[44], p[45]);
	else
		say("%x:%x %llu %llu", w32(p + 40), w32(p + 44), w64(p + 48),
		    w64(p + 56));
	say(" %u %u %s", w32(p + 64), w32(p + 68), (const char *)p + 72);
}

static void say_record(const uint8_t *p, unsigned type, unsigned misc)
{
	switch (type) {
	case FMT_REC_MMAP:
		say("MMAP %d/%u %llx+%llx @%llx %s", (int)w32(p + 8), w32(p + 12),
		    w64(p + 16), w64(p + 24), w64(p + 32), (const char *)p + 40);
		break;
	case FMT_REC_MMAP2:
		say_mmap2(p, misc);
		break;
	case FMT_REC_FORK:
		say("FORK %u/%u<%u/%u %llu", w32(p + 8), w32(p + 16), w32(p + 12),
		    w32(p + 20), w64(p + 24));
		break;
	case FMT_REC_COMM:
		say("COMM %u/%u %s", w32(p + 8), w32(p + 12), (const char *)p + 16);
		break;
	case FMT_REC_NAMESPACES:
		say("NS %u/%u %llu %llu", w32(p + 8), w32(p + 12), w64(p + 16),
		    w64(p + 32));
		break;
	default:
		say("? %u", type);
	}
	say(" .%x\n", misc);
}

static int flush(void *ctx, struct fmt_buf *b)
{
	static const uint8_t zero[32];
	size_t at = 0, size;

	assert_ptr_equal(ctx, &got);
	got.flushes++;
	got.bytes += b->len;
	got.biggest = b->len > got.biggest ? b->len : got.biggest;
	for (; at < b->len; at += size) {
		const uint8_t *p = b->data + at;

		assert_true(b->len - at >= 8);
		size = le_get16(p + 6);
		assert_true(size >= 40 && size <= b->len - at && size % 8 == 0);
		assert_memory_equal(p + size - 32, zero, 32);
		/* BPF programs are those of this machine, whatever the fixture says */
		if (w32(p) != FMT_REC_KSYMBOL && w32(p) != FMT_REC_BPF_EVENT)
			say_record(p, w32(p), le_get16(p + 4));
	}
	assert_int_equal(at, b->len);
	return got.fail_with;
}

static int synth(struct fixture *f, struct sideband_want w, struct sideband_result *r)
{
	w.flush = flush;
	w.ctx = &got;
	w.fileids = fileids;
	w.dsos = dsos;
	return sideband_synth(&f->sys, &w, r);
}

static void put_task(struct fixture *f, int pid, int tid, const char *comm, int ppid,
		     unsigned flags, int threads)
{
	char path[64], text[256];

	snprintf(text, sizeof(text),
		 "%d (%s) S %d 1 1 0 -1 %u 1 2 3 4 5 6 7 8 20 0 %d 0 9\n", tid, comm,
		 ppid, flags, threads);
	snprintf(path, sizeof(path), "proc/%d/task/%d/stat", pid, tid);
	fixture_file(f, path, text);
	/* Threads are reachable below /proc, too, but not listed there: one that is asked
	 * for by its id is put there by the test that asks. */
	snprintf(path, sizeof(path), "proc/%d/stat", pid);
	if (pid == tid)
		fixture_file(f, path, text);
}

static void put_status(struct fixture *f, int pid, int tid)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "proc/%d/status", tid);
	snprintf(text, sizeof(text), "Name:\tx\nTgid:\t%d\nPid:\t%d\n", pid, tid);
	fixture_file(f, path, text);
}

static void put_elf(struct fixture *f, const char *dir, const char *name,
		    const uint8_t *id, size_t size)
{
	char path[PATH_MAX];

	fixture_dir(f, dir);
	snprintf(path, sizeof(path), "%s/%s/%s", f->root, dir, name);
	small_elf_file(path, id, size, 0);
}

/* Device and inode as maps has them. Good for the next three calls. */
static const char *file(const struct fixture *f, const char *name)
{
	static char text[4][64];
	static unsigned n;
	char path[PATH_MAX], *s = text[n++ % 4];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", f->root, name);
	assert_int_equal(stat(path, &st), 0);
	snprintf(s, sizeof(text[0]), "%02x:%02x %llu", major(st.st_dev),
		 minor(st.st_dev), (unsigned long long)st.st_ino);
	return s;
}

/* A process with two threads, a kernel thread, one whose maps are empty. */
static void put_machine(struct fixture *f)
{
	char text[1024];

	put_task(f, 2, 2, "kthreadd", 0, 0x200000, 1);
	put_task(f, 100, 100, "a) b (c", 1, 0, 2);
	put_task(f, 100, 101, "thread", 1, 0, 2);
	put_task(f, 200, 200, "sh", 100, 0, 1);
	fixture_file(f, "proc/2/maps", "1000-2000 r-xp 00000000 00:00 0  /never/read\n");
	fixture_file(f, "proc/200/maps", "");
	put_elf(f, "proc/100/root/bin", "a b", id_a, 20);
	put_elf(f, "proc/100/root/lib", "none", NULL, 0);
	put_elf(f, "proc/100/map_files", "7f0000003000-7f0000004000", id_b, 16);
	snprintf(text, sizeof(text),
		 "400000-401000 r-xp 00001000 %s            /bin/a b\n"
		 "600000-601000 rw-p 00002000 %s            /bin/a b\n"
		 "7f0000000000-7f0000001000 r-xs 00000000 %s   /lib/none\n"
		 "7f0000001000-7f0000002000 rwxp 00000000 00:00 0 \n"
		 "7f0000002000-7f0000003000 r-xp 00000000 00:01 5    /memfd:j (deleted)\n"
		 "7f0000003000-7f0000004000 r-xp 00000000 %s    /gone (deleted)\n",
		 file(f, "proc/100/root/bin/a b"), file(f, "proc/100/root/bin/a b"),
		 file(f, "proc/100/root/lib/none"),
		 file(f, "proc/100/map_files/7f0000003000-7f0000004000"));
	fixture_file(f, "proc/100/maps", text);
}

static void processes_come_in_the_order_of_perf(void **state)
{
	struct fixture *f = *state;
	struct sideband_result r = { 0 };
	char want[2048];
	struct stat st;

	put_machine(f);
	snprintf(want, sizeof(want), "%s/proc/100/root/lib/none", f->root);
	assert_int_equal(stat(want, &st), 0);
	assert_int_equal(synth(f, (struct sideband_want){ .all = true }, &r), 0);
	snprintf(
		want, sizeof(want),
		"FORK 2/2<0/0 0 .2000\n"
		"NS 2/2 7 0 .0\n"
		"COMM 2/2 kthreadd .0\n"
		"FORK 100/100<1/1 0 .2000\n"
		"NS 100/100 7 0 .0\n"
		"COMM 100/100 a) b (c .0\n"
		"MMAP2 100/100 400000+1000 @1000 id20:aa01 5 2 /bin/a b .4002\n"
		"MMAP2 100/100 7f0000000000+1000 @0 %x:%x %llu 0 5 1 /lib/none .2\n"
		"MMAP2 100/100 7f0000001000+1000 @0 0:0 0 0 7 2 //anon .2\n"
		"MMAP2 100/100 7f0000002000+1000 @0 0:1 5 0 5 2 /memfd:j (deleted) .2\n"
		"MMAP2 100/100 7f0000003000+1000 @0 id16:bb02 5 2 /gone (deleted) .4002\n"
		"FORK 100/101<100/100 0 .2000\n"
		"NS 100/101 7 0 .0\n"
		"COMM 100/101 thread .0\n"
		"FORK 200/200<100/100 0 .2000\n"
		"NS 200/200 7 0 .0\n"
		"COMM 200/200 sh .0\n",
		major(st.st_dev), minor(st.st_dev), (unsigned long long)st.st_ino);
	assert_string_equal(got.text, want);
	assert_int_equal(r.processes, 3);
	assert_int_equal(r.threads, 4);
	assert_int_equal(r.maps, 5);
	assert_int_equal(r.skipped, 0);
	assert_int_equal(r.unreadable, 0);
	assert_int_equal(r.modules, 0);
	assert_false(r.kernel_hidden);
	assert_int_equal(got.flushes, 1);
}

static void mapped_files_are_learnt(void **state)
{
	struct fixture *f = *state;
	const struct fmt_build_id *rows;
	struct sideband_result r;
	size_t n;

	put_machine(f);
	assert_int_equal(synth(f, (struct sideband_want){ .all = true }, &r), 0);
	assert_int_equal(dsos_rows(dsos, &f->sys, &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(rows[0].name, "/bin/a b");
	assert_memory_equal(rows[0].id, id_a, 20);
	assert_string_equal(rows[1].name, "/gone (deleted)");
	assert_int_equal(rows[1].id_size, 16);
	dsos_free(dsos);
	dsos = NULL;
	assert_int_equal(synth(f, (struct sideband_want){ .all = true }, &r), 0);
}

/* The second process has it no more, the third has another one of that name. */
static void a_file_is_read_once(void **state)
{
	struct fixture *f = *state;
	struct sideband_result r;
	char text[128];

	put_elf(f, "proc/1/root/bin", "x", id_a, 16);
	put_elf(f, "proc/3/root/bin", "x", id_b, 16);
	for (int pid = 1; pid <= 3; pid++) {
		char path[64];

		put_task(f, pid, pid, "x", 0, 0, 1);
		snprintf(path, sizeof(path), "proc/%d/maps", pid);
		snprintf(text, sizeof(text), "400000-401000 r-xp 00000000 %s /bin/x\n",
			 file(f, pid == 3 ? "proc/3/root/bin/x" : "proc/1/root/bin/x"));
		fixture_file(f, path, text);
	}
	assert_int_equal(synth(f, (struct sideband_want){ .all = true }, &r), 0);
	assert_non_null(strstr(got.text, "MMAP2 1/1 400000+1000 @0 id16:aa01"));
	assert_non_null(strstr(got.text, "MMAP2 2/2 400000+1000 @0 id16:aa01"));
	assert_non_null(strstr(got.text, "MMAP2 3/3 400000+1000 @0 id16:bb02"));
}

static void the_vdso_has_its_id_where_it_is_ours(void **state)
{
	struct fixture *f = *state;
	struct sideband_result r;
	uint8_t id[20];
	char want[64];

	if (pio_build_id_vdso(id) <= 0)
		skip();
	put_task(f, 1, 1, "x", 0, 0, 1);
	fixture_file(f, "proc/1/maps",
		     "f7f00000-f7f01000 r-xp 00000000 00:00 0     [vdso]\n"
		     "7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0     [vdso]\n");
	assert_int_equal(synth(f, (struct sideband_want){ .all = true }, &r), 0);
	snprintf(want, sizeof(want),
		 "7ffd00000000+2000 @0 id20:%02x%02x 5 2 [vdso] .4002\n", id[0], id[1]);
	assert_non_null(strstr(got.text, want));
	assert_non_null(strstr(got.text, "f7f00000+1000 @0 0:0 0 0 5 2 [vdso] .2\n"));
}

static void the_kernel_comes_first(void **state)
{
	struct fixture *f = *state;
	struct sideband_result r;

	fixture_file(f, "proc/kallsyms", "ffffffff81000000 T _stext\n"
					 "ffffffff81000000 T _text\n"
					 "ffffffff82276f48 T _etext\n");
	fixture_file(f, "proc/modules", "b 8192 0 - Live 0xffffffffc0100000\n"
					"a 4096 1 b, Live 0xffffffffc0000000\n");
	put_task(f, 1, 1, "x", 0, 0, 1);
	fixture_file(f, "proc/1/maps", "");
	assert_int_equal(
		synth(f, (struct sideband_want){ .all = true, .kernel = true }, &r), 0);
	assert_string_equal(got.text,
			    "MMAP -1/0 ffffffff81000000+1276f48 @ffffffff81000000 "
			    "[kernel.kallsyms]_text .1\n"
			    "MMAP -1/0 ffffffffc0000000+1000 @0 [a] .1\n"
			    "MMAP -1/0 ffffffffc0100000+2000 @0 [b] .1\n"
			    "FORK 1/1<0/0 0 .2000\n"
			    "NS 1/1 7 0 .0\n"
			    "COMM 1/1 x .0\n");
	assert_int_equal(r.modules, 2);
	assert_false(r.kernel_hidden);
}

static void hidden_addresses_are_reported(void **state)
{
	struct fixture *f = *state;
	struct sideband_result r;

	fixture_file(f, "proc/kallsyms", "0000000000000000 T _stext\n"
					 "0000000000000000 T _text\n");
	fixture_file(f, "proc/modules", "b 8192 0 - Live 0x0000000000000000\n");
	assert_int_equal(
		synth(f, (struct sideband_want){ .all = true, .kernel = true }, &r), 0);
	assert_string_equal(got.text, "");
	assert_true(r.kernel_hidden);
	assert_int_equal(r.modules, 0);
}

/* A thread is asked for through /proc/TID, which listings of /proc do not show. */
static void threads_bring_their_process(void **state)
{
	static const pid_t tids[] = { 101, 200, 999, 100 };
	struct fixture *f = *state;
	struct sideband_result r = { 0 };

	put_machine(f);
	put_task(f, 101, 101, "thread", 1, 0, 2);
	put_status(f, 100, 100);
	put_status(f, 100, 101);
	put_status(f, 200, 200);
	fixture_file(f, "proc/100/maps", "");
	assert_int_equal(
		synth(f, (struct sideband_want){ .tids = tids, .nr_tids = 4 }, &r), 0);
	assert_string_equal(got.text, "FORK 100/100<1/1 0 .2000\n"
				      "NS 100/100 7 0 .0\n"
				      "COMM 100/100 a) b (c .0\n"
				      "FORK 100/101<100/100 0 .2000\n"
				      "NS 100/101 7 0 .0\n"
				      "COMM 100/101 thread .0\n"
				      "FORK 200/200<100/100 0 .2000\n"
				      "NS 200/200 7 0 .0\n"
				      "COMM 200/200 sh .0\n");
	assert_int_equal(r.skipped, 1);
	assert_int_equal(r.processes, 2);
	assert_int_equal(r.threads, 3);
}

static void nobody_there_is_an_error(void **state)
{
	static const pid_t tids[] = { 998, 999 };
	struct sideband_result r = { .maps = 5 };

	assert_int_equal(
		synth(*state, (struct sideband_want){ .tids = tids, .nr_tids = 2 }, &r),
		-ESRCH);
	assert_int_equal(r.maps, 5);
	assert_int_equal(got.flushes, 0);
}

static void unreadable_and_vanished_are_counted(void **state)
{
	struct fixture *f = *state;
	struct sideband_result r;
	char path[PATH_MAX];

	put_machine(f);
	fixture_dir(f, "proc/300");
	snprintf(path, sizeof(path), "%s/200/maps", f->proc);
	assert_int_equal(unlink(path), 0);
	if (geteuid()) {
		fixture_file(f, "proc/200/maps", "");
		assert_int_equal(chmod(path, 0), 0);
	} else {
		/* root may read everything, and nobody this */
		assert_int_equal(symlink("maps", path), 0);
	}
	assert_int_equal(synth(f, (struct sideband_want){ .all = true }, &r), 0);
	assert_int_equal(r.unreadable, 1);
	assert_int_equal(r.refused, geteuid() ? 1 : 0);
	assert_int_equal(r.hidden[0].pid, 200);
	assert_string_equal(r.hidden[0].comm, "sh");
	assert_int_equal(r.hidden[0].err, geteuid() ? -EACCES : -ELOOP);
	assert_int_equal(r.skipped, 1);
	assert_int_equal(r.processes, 3);
}

static void much_is_flushed_in_pieces(void **state)
{
	struct fixture *f = *state;
	struct sideband_result r;
	char *text = malloc(4000 * 64), *p = text;

	assert_non_null(text);
	for (unsigned i = 0; i < 4000; i++)
		p += sprintf(p, "%08x-%08x r-xp 00000000 00:00 0\n", i * 4096,
			     (i + 1) * 4096);
	put_task(f, 1, 1, "x", 0, 0, 1);
	fixture_file(f, "proc/1/maps", text);
	free(text);
	assert_int_equal(synth(f, (struct sideband_want){ .all = true }, &r), 0);
	assert_int_equal(r.maps, 4000);
	assert_true(got.flushes > 4000 * 112 / 65536);
	assert_true(got.biggest > 65536 && got.biggest < 65536 + 4096);
	got = (struct got){ .fail_with = -EACCES };
	assert_int_equal(synth(f, (struct sideband_want){ .all = true }, &r), -EACCES);
	assert_int_equal(got.flushes, 1);
}

static void this_machine_can_be_told(void **state)
{
	struct sideband_want w = {
		.kernel = true, .all = true, .flush = flush, .ctx = &got
	};
	struct sideband_result r;
	char want[64];

	(void)state;
	w.fileids = fileids;
	w.dsos = dsos;
	assert_int_equal(sideband_synth(&pio_kernel, &w, &r), 0);
	snprintf(want, sizeof(want), "FORK %d/%d<%d/%d", getpid(), getpid(), getppid(),
		 getppid());
	assert_non_null(strstr(got.text, want));
	snprintf(want, sizeof(want), "COMM %d/%d test_sideband .0\n", getpid(), getpid());
	assert_non_null(strstr(got.text, want));
	snprintf(want, sizeof(want), "MMAP2 %d/%d ", getpid(), getpid());
	assert_non_null(strstr(got.text, want));
	assert_true(r.processes >= 1 && r.maps >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(processes_come_in_the_order_of_perf),
		T(mapped_files_are_learnt),
		T(a_file_is_read_once),
		T(the_vdso_has_its_id_where_it_is_ours),
		T(the_kernel_comes_first),
		T(hidden_addresses_are_reported),
		T(threads_bring_their_process),
		T(nobody_there_is_an_error),
		T(unreadable_and_vanished_are_counted),
		T(much_is_flushed_in_pieces),
		T(this_machine_can_be_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
