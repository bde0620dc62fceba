/* SPDX-License-Identifier: Apache-2.0 */
#include "format/judge.h"

#include "format/abi.h"
#include "format/event.h"
#include "format/featcheck.h"
#include "format/fields.h"
#include "format/le.h"

enum {
	CPU_MAX = 1 << 16,   /* NR_CPUS is 8192 at most */
	IDX_MAX = 1 << 22,   /* PID_MAX_LIMIT: a queue for each thread */
	CHAIN_MAX = 8,	     /* records looked at before a row is given up */
	TRAILER_MAX = 48,    /* bytes of a trailer whose event is not known */
	MORE_MAX = 16,	     /* bytes that a later kernel may add to a record */
	STRANGE_KERNEL = 23, /* types below 64 that no kernel has yet begin here */
	STRANGE_MAX = 128,   /* and those of perf end here */
	ANDROID = 32768,     /* the types of simpleperf: record.h, SIMPLE_PERF_RECORD_ */
	ANDROID_MAX = ANDROID + 256,
	TYPE_MAX = 65535,
};

enum fmt_head fmt_head_at(const struct fmt_reader *r, uint64_t at, struct fmt_rec *ret)
{
	uint64_t left = r->len - at;

	if (left < FMT_REC_HEADER_SIZE)
		return FMT_HEAD_NONE;
	*ret = (struct fmt_rec){ .at = at, .p = r->p + at };
	ret->type = le_get32(ret->p);
	ret->misc = le_get16(ret->p + FMT_REC_AT_MISC);
	ret->size = le_get16(ret->p + FMT_REC_AT_SIZE);
	if (ret->size < FMT_REC_HEADER_SIZE)
		return FMT_HEAD_SMALL;
	if (!ret->type || ret->type > TYPE_MAX)
		return FMT_HEAD_TYPE;
	if (ret->size > left)
		return FMT_HEAD_CUT;
	if (fmt_rec_payload(ret, &ret->payload_len))
		return FMT_HEAD_SMALL;
	ret->payload = ret->payload_len ? ret->p + ret->size : NULL;
	return ret->payload_len > left - ret->size ? FMT_HEAD_PAYLOAD : FMT_HEAD_WHOLE;
}

static void ignore(void *ctx, const struct fmt_field *f)
{
	(void)ctx;
	(void)f;
}

/* Recorders leave these unpadded. */
static bool odd_size_allowed(uint32_t type)
{
	return type == FMT_REC_COMPRESSED || type == FMT_REC_HEADER_FEATURE ||
	       type == FMT_REC_HEADER_TRACING_DATA || type == FMT_REC_HEADER_BUILD_ID;
}

/* Can the event of this record be told from its id? */
static bool has_id(const struct fmt_reader *r, bool sample)
{
	const struct fmt_reader_event *e = r->events;
	uint64_t st = fmt_attr_sample_type(e->attr, e->attr_size);

	return r->same_id_place && st & (FMT_SAMPLE_IDENTIFIER | FMT_SAMPLE_ID) &&
	       (sample || fmt_attr_flags(e->attr, e->attr_size) & FMT_ATTR_F_SAMPLE_ID_ALL);
}

static int weigh_kernel(const struct fmt_reader *r, const struct fmt_rec *rec)
{
	struct fmt_when w = { 0 };
	struct fmt_fit fit;
	int event;

	if (!r->nr_events || (rec->misc & FMT_MISC_CPUMODE_MASK) > FMT_MISC_GUEST_USER)
		return FMT_WEIGHT_NONE;
	event = fmt_reader_event_of(r, rec);
	if (event < 0 && has_id(r, rec->type == FMT_REC_SAMPLE))
		return FMT_WEIGHT_ALIEN;
	fit = fmt_fields(r, rec, event, ignore, NULL);
	if (fit.missing || !fit.known)
		return FMT_WEIGHT_NONE;
	if (event < 0)
		return fit.left <= TRAILER_MAX ? FMT_WEIGHT_LIGHT : FMT_WEIGHT_NONE;
	if (fit.left)
		return FMT_WEIGHT_NONE;
	if (fmt_reader_when(r, rec, &w))
		return FMT_WEIGHT_SOME;
	if (!w.id)
		return FMT_WEIGHT_SOME;
	if (fmt_reader_event_by_id(r, w.id) >= 0)
		return FMT_WEIGHT_ENOUGH;
	/* A recorder of one event need not say which ids it has. */
	return r->events[event].nr_ids ? FMT_WEIGHT_ALIEN : FMT_WEIGHT_SOME;
}

static int weigh_trace(const struct fmt_rec *rec)
{
	uint32_t cpu;

	if (rec->size != FMT_AUXTRACE_RECORD_SIZE || le_get32(rec->p + FMT_AUXTRACE_AT_CPU + 4))
		return FMT_WEIGHT_NONE;
	cpu = le_get32(rec->p + FMT_AUXTRACE_AT_CPU);
	if ((cpu >= CPU_MAX && cpu != UINT32_MAX) ||
	    le_get32(rec->p + FMT_AUXTRACE_AT_IDX) >= IDX_MAX)
		return FMT_WEIGHT_NONE;
	return FMT_WEIGHT_EXACT;
}

static int weigh_user(const struct fmt_reader *r, const struct fmt_rec *rec)
{
	struct fmt_fit fit;

	if (rec->misc && rec->type != FMT_REC_HEADER_BUILD_ID)
		return FMT_WEIGHT_NONE;
	switch (rec->type) {
	case FMT_REC_FINISHED_ROUND:
	case FMT_REC_FINISHED_INIT:
		return rec->size == FMT_REC_HEADER_SIZE ? FMT_WEIGHT_EXACT :
							  FMT_WEIGHT_NONE;
	case FMT_REC_AUXTRACE:
		return weigh_trace(rec);
	case FMT_REC_HEADER_ATTR:
	case FMT_REC_HEADER_EVENT_TYPE:
	case FMT_REC_HEADER_TRACING_DATA:
	case FMT_REC_HEADER_BUILD_ID:
	case FMT_REC_HEADER_FEATURE:
	case FMT_REC_COMPRESSED:
	case FMT_REC_COMPRESSED2:
		return FMT_WEIGHT_LIGHT;
	default:
		fit = fmt_fields(r, rec, -1, ignore, NULL);
		return fit.missing || !fit.known ? FMT_WEIGHT_NONE : FMT_WEIGHT_SOME;
	}
}

int fmt_judge_weight(const struct fmt_reader *r, const struct fmt_rec *rec)
{
	if (!fmt_record_name(rec->type) || (rec->size % 8 && !odd_size_allowed(rec->type)))
		return FMT_WEIGHT_NONE;
	return rec->type < FMT_REC_USER_START ? weigh_kernel(r, rec) : weigh_user(r, rec);
}

bool fmt_judge_ends(const struct fmt_reader *r, const struct fmt_rec *rec)
{
	struct fmt_when w = { 0 };
	uint64_t st, any = 0;
	size_t n;

	if (rec->type >= FMT_REC_USER_START)
		return rec->size == FMT_REC_HEADER_SIZE;
	if (rec->type == FMT_REC_SAMPLE || fmt_reader_when(r, rec, &w) || w.event < 0)
		return false;
	if (w.id)
		return fmt_reader_event_by_id(r, w.id) >= 0;
	/* Of a record that the recorder made up the trailer is zeros. */
	st = fmt_attr_sample_type(r->events[w.event].attr, r->events[w.event].attr_size);
	n = fmt_trailer_size(st);
	for (size_t i = 0; i < n; i += 8)
		any |= le_get64(rec->p + rec->size - n + i);
	return n && !any;
}

static bool strange_type(uint32_t type)
{
	return (type >= STRANGE_KERNEL && type < STRANGE_MAX) ||
	       (type >= ANDROID && type < ANDROID_MAX);
}

bool fmt_judge_possible(const struct fmt_reader *r, const struct fmt_rec *rec)
{
	struct fmt_fit fit;
	int event;

	if (!fmt_record_name(rec->type))
		return strange_type(rec->type);
	if (rec->size % 8 && !odd_size_allowed(rec->type))
		return false;
	event = fmt_reader_event_of(r, rec);
	fit = fmt_fields(r, rec, event, ignore, NULL);
	return !fit.missing && fit.left <= MORE_MAX + (event < 0 ? TRAILER_MAX : 0);
}

/* strict: behind a record of a type that is not known. */
static bool may_follow(const struct fmt_reader *r, const struct fmt_rec *rec, bool strict)
{
	int weight = fmt_judge_weight(r, rec);

	if (strict || weight == FMT_WEIGHT_ALIEN)
		return weight > FMT_WEIGHT_LIGHT;
	return weight > FMT_WEIGHT_NONE || fmt_judge_possible(r, rec);
}

bool fmt_judge_follows(const struct fmt_reader *r, uint64_t at)
{
	struct fmt_rec rec;
	enum fmt_head head;

	for (int i = 0; i < CHAIN_MAX; i++) {
		head = fmt_head_at(r, at, &rec);
		if (head == FMT_HEAD_NONE)
			return true;
		if (head == FMT_HEAD_SMALL || head == FMT_HEAD_TYPE)
			return fmt_judge_table(r, at, false);
		if (head == FMT_HEAD_CUT)
			return fmt_record_name(rec.type) || strange_type(rec.type);
		if (fmt_record_name(rec.type))
			return may_follow(r, &rec, i > 0);
		if (!strange_type(rec.type))
			return false;
		at += rec.size;
	}
	return true;
}

bool fmt_judge_chain(const struct fmt_reader *r, uint64_t at)
{
	int sum = 0, weight;
	struct fmt_rec rec;
	enum fmt_head head;

	for (int i = 0; i < CHAIN_MAX; i++) {
		head = fmt_head_at(r, at, &rec);
		if (head == FMT_HEAD_NONE || fmt_judge_table(r, at, false))
			return sum >= FMT_WEIGHT_EXACT;
		if (head != FMT_HEAD_WHOLE && head != FMT_HEAD_PAYLOAD)
			return false;
		weight = fmt_judge_weight(r, &rec);
		if (weight < FMT_WEIGHT_LIGHT)
			return false;
		sum += weight;
		if (sum >= FMT_WEIGHT_ENOUGH)
			return true;
		if (head == FMT_HEAD_PAYLOAD)
			return false;
		at += rec.size + rec.payload_len;
	}
	return false;
}

static uint64_t word_of(const struct fmt_reader *r, unsigned word)
{
	return le_get(r->p + FMT_HDR_FEATURES + 8 * word, 8);
}

uint64_t fmt_judge_table_size(const struct fmt_reader *r)
{
	uint64_t n = 0;

	if (r->pipe || !r->version || le_get(r->p + FMT_HDR_SIZE, 8) != FMT_HEADER_SIZE)
		return 0;
	for (unsigned i = 0; i < FMT_HDR_FEATURE_WORDS; i++)
		n += (unsigned)__builtin_popcountll(word_of(r, i));
	return n * FMT_SECTION_SIZE;
}

/* Where the first section begins and the last ends, by the table, when they stand one behind
 * the other and fit behind it. */
static bool one_row(const struct fmt_reader *r, uint64_t at, uint64_t table,
		    uint64_t *ret_first, uint64_t *ret_end)
{
	uint64_t left = r->len - at - table, offset, len, next = 0;

	if (table < 2 * FMT_SECTION_SIZE || !le_get64(r->p + at))
		return false;
	for (uint64_t i = 0; i < table; i += FMT_SECTION_SIZE) {
		offset = le_get64(r->p + at + i);
		len = le_get64(r->p + at + i + 8);
		if ((i && offset != next) || len > left)
			return false;
		next = offset + len;
		left -= len;
	}
	*ret_first = le_get64(r->p + at);
	*ret_end = next;
	return true;
}

/* Most entries of the last ones of a table can be read as most of a table. */
static bool row_is_near(const struct fmt_reader *r, uint64_t at, uint64_t table)
{
	uint64_t first, end;

	for (uint64_t i = 1; i <= table && r->len - at - table >= i; i++)
		if (one_row(r, at + i, table, &first, &end))
			return true;
	return false;
}

bool fmt_judge_table(const struct fmt_reader *r, uint64_t at, bool strict)
{
	uint64_t size = fmt_judge_table_size(r), end = at + size, from = at, good = 0;
	uint64_t offset, len;

	if (!size || at > r->len || size > r->len - at)
		return false;
	offset = le_get64(r->p + at);
	if (strict && (offset < end || offset - end > FMT_JUDGE_TABLE_GAP))
		return false;
	if (one_row(r, at, size, &offset, &len))
		return true;
	for (; from < end; from += FMT_SECTION_SIZE) {
		offset = le_get64(r->p + from);
		len = le_get64(r->p + from + 8);
		good += offset >= end && offset <= r->len && len <= r->len - offset;
	}
	return 2 * FMT_SECTION_SIZE * good > size && !row_is_near(r, at, size);
}

/* How many sections can be followed when all of them stand `shift` bytes further on? */
static unsigned sound_sections(const struct fmt_reader *r, uint64_t at, uint64_t shift)
{
	uint64_t from = at + fmt_judge_table_size(r), offset, len, where;
	const char *expected;
	unsigned n = 0;

	for (unsigned i = 0; i < 64 * FMT_HDR_FEATURE_WORDS; i++) {
		if (!(word_of(r, i / 64) >> (i % 64) & 1))
			continue;
		offset = le_get64(r->p + at) + shift;
		len = le_get64(r->p + at + 8);
		at += FMT_SECTION_SIZE;
		if (len && offset >= from && offset <= r->len && len <= r->len - offset)
			n += !fmt_feature_check(i, r->p + offset, len, &where, &expected);
	}
	return n;
}

uint64_t fmt_judge_shift(const struct fmt_reader *r, uint64_t at)
{
	uint64_t size = fmt_judge_table_size(r), first, end, best = 0, shifts[2];
	unsigned most, n;

	if (!one_row(r, at, size, &first, &end))
		return 0;
	shifts[0] = at + size - first;
	shifts[1] = r->len - end;
	most = sound_sections(r, at, 0);
	for (int i = 0; i < 2; i++) {
		n = sound_sections(r, at, shifts[i]);
		if (n > most) {
			best = shifts[i];
			most = n;
		}
	}
	return best;
}
