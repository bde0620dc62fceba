/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over files, and over mutations of them, without a fuzzer:
 *
 *	replay/bin/NAME [-f] [-n MUTATIONS] [-b BYTES] [-t SECONDS] FILE-OR-FOLDER...
 *	replay/bin/NAME [-f] -k K FILE	write mutation K of FILE to standard output
 *
 * Mutation 0 is the file itself. A mutation depends on the file's bytes and its number
 * alone, so what failed once fails again. -f: each changes one byte at a random place and
 * nothing else. -b: no more than BYTES of mutated input for one file, so that a few large
 * files do not take all the time. One input may take SECONDS (10).
 */
#include <errno.h>
#include <fts.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

/* A report ends in abort(), where the input can be named. */
const char *__asan_default_options(void)
{
	return "abort_on_error=1:allocator_may_return_null=1:detect_leaks=1";
}

const char *__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

struct bytes {
	uint8_t *p;
	size_t len, cap;
};

static char at[4200]; /* what runs now, for the handler */
static unsigned seconds = 10;
static bool flips;

static void told(int sig)
{
	static const char slow[] = "replay: too slow: ", bad[] = "replay: failed: ";
	const char *what = sig == SIGALRM ? slow : bad;

	if (write(2, what, strlen(what)) > 0 && write(2, at, strlen(at)) > 0)
		_exit(1);
	_exit(1);
}

/* xorshift64*, Vigna 2014 (doi 10.1145/2845077). */
static uint64_t draw(uint64_t *s)
{
	*s ^= *s >> 12;
	*s ^= *s << 25;
	*s ^= *s >> 27;
	return *s * UINT64_C(2685821657736338717);
}

/* ---- mutations ---- */

static void flip_bytes(struct bytes *b, uint64_t *s)
{
	for (uint64_t n = 1 + draw(s) % 8; n; n--)
		b->p[draw(s) % b->len] ^= (uint8_t)(1 + draw(s) % 255);
}

static void flip_bit(struct bytes *b, uint64_t *s)
{
	b->p[draw(s) % b->len] ^= (uint8_t)(1u << draw(s) % 8);
}

/* A number that parsers trip over, in place of one that is there. */
static void put_number(struct bytes *b, uint64_t *s)
{
	static const uint64_t odd[] = {
		0, 1, 7, 8, 15, 16, 47, 48, 0x7f, 0x80, 0xff, 0x7fff,
		0x8000, 0xfff8, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
		0xfffffff8, 0xffffffff, 0x100000000, INT64_MAX,
		(uint64_t)INT64_MAX + 1, UINT64_MAX - 7, UINT64_MAX,
	};
	size_t width = (size_t)1 << draw(s) % 4, place;
	uint64_t v = odd[draw(s) % (sizeof(odd) / sizeof(*odd))];

	if (draw(s) % 4 == 0)
		v = b->len + draw(s) % 33 - 16;
	if (width > b->len)
		return;
	place = draw(s) % (b->len - width + 1) & ~(width - 1);
	for (size_t i = 0; i < width; i++)
		b->p[place + i] = (uint8_t)(v >> 8 * i);
}

/* Most numbers that matter stand in the first bytes. */
static void put_number_early(struct bytes *b, uint64_t *s)
{
	struct bytes start = *b;

	start.len = b->len < 512 ? b->len : 512;
	put_number(&start, s);
}

static void cut(struct bytes *b, uint64_t *s)
{
	b->len = draw(s) % b->len;
}

static void take_out(struct bytes *b, uint64_t *s)
{
	size_t from = draw(s) % b->len, n = 1 + draw(s) % (b->len - from);

	if (n > 256)
		n = 256;
	memmove(b->p + from, b->p + from + n, b->len - from - n);
	b->len -= n;
}

/* Some bytes once more, somewhere else: over what is there. */
static void copy_some(struct bytes *b, uint64_t *s)
{
	size_t from = draw(s) % b->len, to = draw(s) % b->len, n = 1 + draw(s) % 256;

	if (n > b->len - from)
		n = b->len - from;
	if (n > b->len - to)
		n = b->len - to;
	memmove(b->p + to, b->p + from, n);
}

/* What lies in *b, changed: 1 to 4 changes. */
static void mutate(struct bytes *b, uint64_t k)
{
	static void (*const ways[])(struct bytes *, uint64_t *) = {
		flip_bytes, flip_bytes, flip_bit,  put_number, put_number,
		put_number_early, cut,  take_out, copy_some,
	};
	uint64_t s = fuzz_sum(k + 1, b->p, b->len < 4096 ? b->len : 4096) | 1;

	if (flips) {
		b->p[draw(&s) % b->len] ^= (uint8_t)(1 + draw(&s) % 255);
		return;
	}
	for (uint64_t n = 1 + draw(&s) % 4; n && b->len; n--)
		ways[draw(&s) % (sizeof(ways) / sizeof(*ways))](b, &s);
}

/* ---- files ---- */

static int load(struct bytes *b, const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;

	if (!f)
		return -errno;
	if (fstat(fileno(f), &st)) {
		fclose(f);
		return -errno;
	}
	b->cap = (size_t)st.st_size;
	b->p = malloc(b->cap + 1);
	b->len = b->p ? fread(b->p, 1, b->cap, f) : 0;
	fclose(f);
	return b->p && b->len == b->cap ? 0 : -EIO;
}

static uint64_t inputs;

static int replay(const char *path, uint64_t mutations, uint64_t bytes)
{
	struct bytes file = { 0 }, b;
	int err = load(&file, path);

	if (err) {
		fprintf(stderr, "replay: cannot read '%s': %s\n", path, strerror(-err));
		free(file.p);
		return err;
	}
	b.p = malloc(file.len + 1);
	expect(b.p);
	for (uint64_t k = 0; k <= mutations; k++) {
		if (k && (!file.len || k * file.len > bytes))
			break;
		memcpy(b.p, file.p, file.len);
		b.len = b.cap = file.len;
		if (k)
			mutate(&b, k);
		snprintf(at, sizeof(at), "-k %" PRIu64 " %.4096s\n", k, path);
		alarm(seconds);
		LLVMFuzzerTestOneInput(b.p, b.len);
		inputs++;
	}
	alarm(0);
	free(b.p);
	free(file.p);
	return 0;
}

static int write_one(const char *path, uint64_t k)
{
	struct bytes b = { 0 };
	int err = load(&b, path);

	if (!err && k && b.len)
		mutate(&b, k);
	if (!err && fwrite(b.p, 1, b.len, stdout) != b.len)
		err = -EIO;
	free(b.p);
	return err ? 1 : 0;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int replay_all(char **paths, uint64_t mutations, uint64_t bytes)
{
	FTS *t = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *e;
	int err = 0;

	while (t && !err && (e = fts_read(t)))
		if (e->fts_info == FTS_F)
			err = replay(e->fts_accpath, mutations, bytes);
	if (t)
		fts_close(t);
	return err;
}

int main(int argc, char **argv)
{
	uint64_t mutations = 0, bytes = UINT64_MAX;
	long one = -1;
	int c;

	while ((c = getopt(argc, argv, "fn:b:t:k:")) != -1) {
		if (c == 'n')
			mutations = strtoull(optarg, NULL, 10);
		else if (c == 'b')
			bytes = strtoull(optarg, NULL, 10);
		else if (c == 't')
			seconds = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'k')
			one = strtol(optarg, NULL, 10);
		else if (c == 'f')
			flips = true;
		else
			return 2;
	}
	if (one >= 0)
		return optind < argc ? write_one(argv[optind], (uint64_t)one) : 2;
	signal(SIGABRT, told);
	signal(SIGALRM, told);
	if (replay_all(argv + optind, mutations, bytes) || !inputs)
		return 1;
	printf("%" PRIu64 " inputs\n", inputs);
	return 0;
}
