/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/mem_sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"

unsigned mem_traces;

/* True when this call is to fail. */
static bool note(struct mem_sink *m, char what)
{
	if (m->calls < sizeof(m->log) - 1)
		m->log[m->calls] = what;
	return ++m->calls == m->fail_at;
}

static int leave(const struct mem_sink *m, bool fails)
{
	if (m->check_each)
		mem_check_file(m);
	return fails ? m->err : 0;
}

static int append(void *ctx, struct iovec *v, int n)
{
	struct mem_sink *m = ctx;
	bool fails = note(m, 'a');
	size_t from = m->len;

	m->nr_seen = 0;
	if (m->on_append)
		m->on_append(m);
	for (int i = 0; i < n; i++) {
		assert_true(v[i].iov_len <= sizeof(m->bytes) - m->len);
		if (v[i].iov_len)
			memcpy(m->bytes + m->len, v[i].iov_base, v[i].iov_len);
		m->len += v[i].iov_len;
		if (m->nr_seen < MEM_SEEN_MAX)
			m->seen[m->nr_seen++] = v[i].iov_base;
		v[i].iov_len = 0; /* a sink may use up what it is given */
	}
	if (fails)
		m->len = m->fault == MEM_FAULT_TORN ? from + (m->len - from) / 2 : from;
	return leave(m, fails);
}

static int patch(void *ctx, uint64_t at, const void *p, size_t n)
{
	struct mem_sink *m = ctx;
	char what = at == FMT_HDR_DATA_SIZE ? 's' : at == FMT_HDR_FEATURES ? 'b' : 'p';
	bool fails = note(m, what);

	assert_true(at + n <= m->len);
	if (!fails || m->fault == MEM_FAULT_TORN)
		memcpy(m->bytes + at, p, n);
	return leave(m, fails);
}

static int cut(void *ctx, uint64_t size)
{
	struct mem_sink *m = ctx;
	bool fails = note(m, 'c');

	assert_true(size <= m->len);
	if (!fails || m->fault == MEM_FAULT_TORN)
		m->len = size;
	return leave(m, fails);
}

static int sync_all(void *ctx)
{
	struct mem_sink *m = ctx;

	return note(m, 'y') ? m->err : 0;
}

struct fmt_sink mem_sink(struct mem_sink *m)
{
	memset(m, 0, sizeof(*m));
	return mem_sink_again(m);
}

struct fmt_sink mem_sink_again(struct mem_sink *m)
{
	m->len = 0;
	m->calls = 0;
	return (struct fmt_sink){ append, patch, cut, sync_all, m };
}

static uint64_t u64(const struct mem_sink *m, uint64_t at)
{
	assert_true(at + 8 <= m->len);
	return le_get(m->bytes + at, 8);
}

static unsigned check_records(const struct mem_sink *m, uint64_t at, uint64_t end)
{
	unsigned n = 0;

	mem_traces = 0;
	for (; at < end; n++) {
		uint16_t size = le_get16(m->bytes + at + 6);

		assert_true(size >= 8 && size % 8 == 0 && size <= end - at);
		if (le_get32(m->bytes + at) == FMT_REC_AUXTRACE) {
			assert_true(u64(m, at + 8) <= end - at - size);
			assert_true(u64(m, at + 8) % 8 == 0);
			at += u64(m, at + 8);
			mem_traces++;
		}
		at += size;
	}
	assert_true(at == end);
	return n;
}

static void check_index(const struct mem_sink *m, uint64_t at, uint64_t size)
{
	uint64_t nr = u64(m, at);

	assert_true(size == 8 + 16 * nr);
	assert_true(nr == mem_traces);
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t target = u64(m, at + 8 + 16 * i);

		assert_true(u64(m, at + 16 + 16 * i) == 48);
		assert_true(target + 48 <= m->len);
		assert_int_equal(le_get32(m->bytes + target), FMT_REC_AUXTRACE);
	}
}

static void check_features(const struct mem_sink *m, uint64_t table)
{
	uint64_t end = table;

	for (unsigned i = 0; i < FMT_HDR_FEATURE_WORDS; i++)
		end += 16 * (uint64_t)__builtin_popcountll(u64(m, FMT_HDR_FEATURES + 8 * i));
	for (unsigned bit = 0; bit < 256; bit++) {
		if (!(u64(m, FMT_HDR_FEATURES + bit / 64 * 8) >> bit % 64 & 1))
			continue;
		assert_true(u64(m, table) == end); /* back to back, by bit */
		end += u64(m, table + 8);
		assert_true(end <= m->len);
		if (bit == FMT_FEAT_AUXTRACE)
			check_index(m, u64(m, table), u64(m, table + 8));
		table += 16;
	}
}

/* perf does not open a file with a tracepoint event and no TRACING_DATA (header.c). */
static void check_tracepoints(const struct mem_sink *m)
{
	uint64_t at = u64(m, FMT_HDR_ATTRS), end = at + u64(m, FMT_HDR_ATTRS + 8);

	if (u64(m, FMT_HDR_FEATURES) >> FMT_FEAT_TRACING_DATA & 1)
		return;
	for (; at < end; at += u64(m, FMT_HDR_ATTR_SIZE))
		assert_int_not_equal(le_get32(m->bytes + at), FMT_TYPE_TRACEPOINT);
}

unsigned mem_check_file(const struct mem_sink *m)
{
	uint64_t data, size;
	unsigned n;

	mem_traces = 0;
	if (m->len < FMT_HEADER_SIZE)
		return 0;
	data = u64(m, FMT_HDR_DATA);
	size = u64(m, FMT_HDR_DATA_SIZE);
	assert_true(u64(m, FMT_HDR_MAGIC) == FMT_MAGIC);
	if (size == 0 && m->len < data)
		return 0; /* torn within the head */
	assert_true(data % 8 == 0 && data <= m->len && size <= m->len - data);
	check_tracepoints(m);
	n = check_records(m, data, data + size);
	check_features(m, data + size);
	return n;
}
