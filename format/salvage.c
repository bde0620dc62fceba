/* SPDX-License-Identifier: Apache-2.0 */
#include "format/salvage.h"

#include <string.h>

#include "format/abi.h"
#include "format/judge.h"
#include "format/le.h"

/* Does the data end at `at`, a place where a record ends? */
static bool ends_here(const struct fmt_salvage *s, uint64_t at)
{
	const struct fmt_reader *r = s->r;

	if (at == r->len)
		return true;
	if (r->pipe)
		return false;
	if (fmt_judge_table(r, at, false))
		return true;
	/* Bytes may have got in before. */
	if (s->damaged && fmt_judge_table_size(r))
		return false;
	/* Whatever follows the last section is nobody's business, unless it is records:
	 * those of a round that was never completed. */
	return at == s->declared && !fmt_judge_chain(r, at);
}

/* Do records stand one behind the other up to the end? */
static bool walk_plainly(struct fmt_salvage *s)
{
	const struct fmt_reader *r = s->r;
	uint64_t at = r->data_offset, end = s->declared ? s->declared : r->len;
	struct fmt_rec rec;

	if (s->missing)
		return false;
	while (at < end) {
		if (fmt_head_at(r, at, &rec) != FMT_HEAD_WHOLE)
			break;
		at += rec.size + rec.payload_len;
	}
	s->stop = at;
	if (at > end || (s->declared && at != end) || !ends_here(s, at))
		return false;
	return at == end || !s->declared;
}

static void begin(struct fmt_salvage *s)
{
	struct fmt_reader *r = s->r;

	s->over = s->ended = false;
	s->taken = 0;
	s->table = false;
	s->held = (struct fmt_gap){ 0 };
	fmt_reader_rewind(r);
	s->nr_odd = r->nr_odd;
	r->data_end = s->trusted ? s->stop : r->len;
}

/* A damaged pipe is judged by the events and features in it: it is walked once for these, so
 * that all walks that follow see the same. No memory: they say so. */
static void learn(struct fmt_salvage *s)
{
	struct fmt_rec rec;
	struct fmt_gap gap;

	while (fmt_salvage_next(s, &rec, &gap) > 0)
		;
	begin(s);
}

void fmt_salvage_begin(struct fmt_salvage *ret, struct fmt_reader *r)
{
	struct fmt_salvage s = {
		.r = r, .killed = !r->pipe && r->killed, .missing = r->missing,
	};

	if (!fmt_can_hold(r->data_end, r->missing)) {
		s.impossible = true;
		s.missing = 0;
	} else if (!r->pipe && !r->killed) {
		s.declared = r->data_end + r->missing;
	}
	fmt_reader_all_data(r);
	s.trusted = walk_plainly(&s);
	s.damaged = !s.trusted;
	begin(&s);
	*ret = s;
	if (r->pipe && !s.trusted)
		learn(ret);
}

void fmt_salvage_rewind(struct fmt_salvage *s)
{
	begin(s);
}

static int gap(struct fmt_gap *ret, uint64_t at, uint64_t len, const char *expected)
{
	*ret = (struct fmt_gap){ .at = at, .len = len, .expected = expected };
	return FMT_SALVAGE_GAP;
}

/* What the reader stepped over becomes the next gap. */
static void hold_odd(struct fmt_salvage *s)
{
	struct fmt_reader *r = s->r;
	uint64_t len;

	if (r->nr_odd == s->nr_odd)
		return;
	s->nr_odd = r->nr_odd;
	len = le_get16(r->p + r->odd_at + FMT_REC_AT_SIZE);
	gap(&s->held, r->odd_at, len, r->odd_what);
	r->odd_what = NULL;
}

static int from_reader(struct fmt_salvage *s, struct fmt_rec *rec)
{
	int got = fmt_reader_next(s->r, rec);

	hold_odd(s);
	return got;
}

/* Is what lies behind the data unaccounted for? Attrs and ids may well lie there. */
static bool has_rest(const struct fmt_salvage *s)
{
	const struct fmt_reader *r = s->r;

	return r->version && !s->table && !s->ended && s->end < r->len &&
	       le_get64(r->p + FMT_HDR_ATTRS) < s->end;
}

static void end_at_table(struct fmt_salvage *s, uint64_t at)
{
	uint64_t shift = fmt_judge_shift(s->r, at);

	/* It knows better than data.size: did its sections stand further back? */
	s->missing = shift > INT64_MAX ? -shift : 0;
	fmt_reader_end_data(s->r, at, shift);
}

static int finish(struct fmt_salvage *s)
{
	struct fmt_reader *r = s->r;
	struct fmt_rec none;
	int err;

	s->over = true;
	s->end = r->at;
	r->data_end = r->at;
	s->table = !r->pipe && fmt_judge_table(r, r->at, false);
	if (s->table)
		end_at_table(s, r->at);
	err = from_reader(s, &none); /* a record begun in a zstd stream */
	if (!err && !s->held.expected && has_rest(s))
		gap(&s->held, s->end, r->len - s->end, "the end of the file");
	return err;
}

/* No record begins before the place returned: all types are small numbers. */
static uint64_t skip(const uint8_t *p, uint64_t at)
{
	if (p[at + 3])
		return at + 3;
	return p[at + 2] ? at + 2 : at + 1;
}

/* The next place between `at` and `end` where records go on or the feature table is; `end`
 * when there is none. */
static uint64_t look_ahead(const struct fmt_reader *r, uint64_t at, uint64_t end)
{
	uint64_t table = fmt_judge_table_size(r);

	while (at < end && r->len - at >= FMT_REC_HEADER_SIZE) {
		if (fmt_record_name(le_get32(r->p + at)) && fmt_judge_chain(r, at))
			return at;
		if (table && le_get64(r->p + at) - at - table <= FMT_JUDGE_TABLE_GAP &&
		    fmt_judge_table(r, at, true))
			return at;
		at = table ? at + 1 : skip(r->p, at);
	}
	return end;
}

static bool all(const uint8_t *p, uint64_t n, bool (*is)(uint8_t))
{
	for (uint64_t i = 0; i < n; i++)
		if (!is(p[i]))
			return false;
	return n > 0;
}

static bool is_zero(uint8_t c)
{
	return !c;
}

static bool is_text(uint8_t c)
{
	return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t';
}

static const char *words(const struct fmt_reader *r, enum fmt_head head, uint64_t at,
			 uint64_t len)
{
	if (all(r->p + at, len < 8 ? len : 8, is_zero))
		return "a record, not zeros";
	if (all(r->p + at, len, is_text))
		return "a record, not text";
	switch (head) {
	case FMT_HEAD_NONE:
		return "a whole record header";
	case FMT_HEAD_SMALL:
		return "a record size of 8 or more";
	case FMT_HEAD_TYPE:
		return "a record type that recorders use";
	case FMT_HEAD_CUT:
		return "a record that ends within the file";
	case FMT_HEAD_PAYLOAD:
		return "a record whose payload ends within the file";
	default:
		return "a record of this file";
	}
}

/* Nothing is whole from `at` to `to`, where something was found unless the file ends. */
static void go_on(struct fmt_salvage *s, uint64_t at, uint64_t to)
{
	s->ended = to == s->r->len;
	s->taken = to;
	fmt_reader_seek(s->r, s->ended ? at : to);
}

/* Nothing at r->at is a record. */
static int pass_over(struct fmt_salvage *s, enum fmt_head head, struct fmt_gap *ret)
{
	struct fmt_reader *r = s->r;
	uint64_t at = r->at, to = look_ahead(r, at + 1, r->len);

	go_on(s, at, to);
	return gap(ret, at, to - at, words(r, head, at, to - at));
}

/* An AUXTRACE. Where its size is not borne out by what follows it, what is there of the
 * trace is kept: decoders find their way by themselves. */
static int take_trace(struct fmt_salvage *s, struct fmt_rec *rec, struct fmt_gap *ret,
		      enum fmt_head head)
{
	struct fmt_reader *r = s->r;
	uint64_t body = rec->at + rec->size, said = rec->payload_len, to, have, keep;

	if (head == FMT_HEAD_WHOLE &&
	    (body + said == s->declared || fmt_judge_follows(r, body + said)))
		return from_reader(s, rec);
	to = look_ahead(r, body, r->len);
	have = to - body;
	if (have == said || (have > said && said % 8 == 0))
		return from_reader(s, rec);
	keep = (have < said ? have : said) & ~UINT64_C(7);
	go_on(s, keep ? body + keep : rec->at, to);
	if (!keep)
		return gap(ret, rec->at, to - rec->at, "trace behind this record");
	rec->payload_len = keep;
	gap(&s->held, body + keep, have - keep, "all of the trace");
	if (!fmt_can_hold(body, said))
		s->held.expected = "a size of trace that a file can hold";
	else if (said > have)
		s->held.missing = said - have;
	return FMT_SALVAGE_REC;
}

/* Has something got in at `at` that shows where it begins? */
static bool is_alien(const struct fmt_reader *r, uint64_t at)
{
	enum { ENOUGH = 8 };

	return r->len - at >= ENOUGH &&
	       (all(r->p + at, ENOUGH, is_zero) || all(r->p + at, ENOUGH, is_text));
}

/* Is the record all its own, up to its end? When bytes of it are missing it ends somewhere
 * in the next one, or beyond the start of that. */
static bool is_itself(const struct fmt_salvage *s, const struct fmt_rec *rec, int weight)
{
	const struct fmt_reader *r = s->r;
	uint64_t end = rec->at + rec->size + rec->payload_len;

	if (weight == FMT_WEIGHT_ALIEN ||
	    (fmt_record_name(rec->type) && !fmt_judge_possible(r, rec)))
		return false;
	if (end == s->declared || (weight > FMT_WEIGHT_NONE && fmt_judge_ends(r, rec)) ||
	    fmt_judge_follows(r, end))
		return true;
	/* perf's own records stand alone, and no trace is decoded without them. */
	return weight > FMT_WEIGHT_NONE &&
	       (is_alien(r, end) || rec->type >= FMT_REC_USER_START) &&
	       look_ahead(r, rec->at + FMT_REC_HEADER_SIZE, end) == end;
}

/* The record at r->at, if it is one. */
static int next_outer(struct fmt_salvage *s, struct fmt_rec *rec, struct fmt_gap *ret)
{
	struct fmt_reader *r = s->r;
	uint64_t at = r->at;
	enum fmt_head head;
	int weight = FMT_WEIGHT_NONE;

	if (s->ended || at == r->len || (at != s->taken && at == s->declared && ends_here(s, at)))
		return finish(s);
	head = fmt_head_at(r, at, rec);
	if (head == FMT_HEAD_WHOLE || head == FMT_HEAD_PAYLOAD)
		weight = fmt_judge_weight(r, rec);
	if (weight > FMT_WEIGHT_NONE && rec->type == FMT_REC_AUXTRACE)
		return take_trace(s, rec, ret, head);
	if (head == FMT_HEAD_WHOLE && is_itself(s, rec, weight))
		return from_reader(s, rec);
	if (!r->pipe && fmt_judge_table(r, at, false))
		return finish(s);
	return pass_over(s, head, ret);
}

/* What comes out of a zstd stream that has no checksum need not be what went in. */
static int next_inflated(struct fmt_salvage *s, struct fmt_rec *rec, struct fmt_gap *ret)
{
	int got = fmt_reader_next_inflated(s->r, rec);

	hold_odd(s);
	if (got <= 0)
		return got;
	if (rec->type == FMT_REC_AUXTRACE || rec->type == FMT_REC_HEADER_TRACING_DATA) {
		s->held.expected = NULL;
		return gap(ret, rec->at, 0, "trace outside of COMPRESSED records");
	}
	if (!fmt_judge_possible(s->r, rec))
		return gap(ret, rec->at, 0, "inflated records of this file");
	return FMT_SALVAGE_REC;
}

int fmt_salvage_next(struct fmt_salvage *s, struct fmt_rec *rec, struct fmt_gap *ret)
{
	int got = 0;

	if (!s->held.expected)
		got = next_inflated(s, rec, ret);
	if (got)
		return got;
	if (s->held.expected) {
		*ret = s->held;
		s->held.expected = NULL;
		return FMT_SALVAGE_GAP;
	}
	if (s->over)
		return FMT_SALVAGE_END;
	if (s->trusted && s->r->at < s->stop)
		return from_reader(s, rec);
	got = s->trusted ? finish(s) : next_outer(s, rec, ret);
	return got || !s->held.expected ? got : fmt_salvage_next(s, rec, ret);
}
