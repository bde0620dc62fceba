/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/recover.h"

#include <errno.h>

#include "format/le.h"
#include "recorder/dsos.h"
#include "recorder/hash.h"
#include "recorder/recover_priv.h"

enum {
	CPU_MAX = 65536,	   /* a higher number is damage: NR_CPUS is 8192 at most */
	BUILD_IDS_MAX = 64 << 20,  /* bytes of HEADER_BUILD_ID records that are kept */
	DSO_RECORDS_MAX = 1 << 20, /* MMAP2 records looked at for build ids */
};

static void note_cpu(struct recover_facts *f, uint32_t cpu)
{
	if (cpu < CPU_MAX && cpu >= f->nr_cpus)
		f->nr_cpus = cpu + 1;
}

static int note_build_id(struct recover_facts *f, const struct fmt_rec *rec)
{
	if (rec->type != FMT_REC_MMAP2 || !(rec->misc & FMT_MISC_MMAP_BUILD_ID) ||
	    rec->size <= FMT_MMAP2_AT_NAME || !rec->p[FMT_MMAP2_AT_ID_SIZE] ||
	    f->nr_dso_records++ >= DSO_RECORDS_MAX)
		return 0;
	return dsos_add_record(f->dsos, rec->p, rec->size);
}

static int note_kernel(struct recover *c, const struct fmt_rec *rec)
{
	struct recover_facts *f = &c->facts;
	struct fmt_when w;

	if (!fmt_reader_when(&c->r, rec, &w) && w.has_time && w.time) {
		/* Time 0 marks what the recorder made up: its cpu says nothing. */
		if (w.has_cpu)
			note_cpu(f, w.cpu);
		if (!f->last_ns || w.time < f->first_ns)
			f->first_ns = w.time;
		if (w.time > f->last_ns)
			f->last_ns = w.time;
	}
	return note_build_id(f, rec);
}

static void note_trace(struct recover *c, const struct fmt_rec *rec)
{
	struct recover_facts *f = &c->facts;
	unsigned blank;

	f->has_trace = true;
	f->nr_index++;
	f->index = hash_bytes(f->index, &rec->at, sizeof(rec->at));
	c->trace_records++;
	c->trace_bytes += rec->payload_len;
	note_cpu(f, le_get32(rec->p + FMT_AUXTRACE_AT_CPU));
	blank = recover_cut_packet(c, rec);
	if (rec->payload_len < le_get64(rec->p + FMT_AUXTRACE_AT_SIZE)) {
		c->torn = *rec;
		c->torn_blank = blank;
		c->nr_torn++;
	}
}

static int note_record(struct recover *c, const struct fmt_rec *rec)
{
	struct recover_facts *f = &c->facts;

	if (rec->inflated)
		c->inflated++;
	else
		c->whole++;
	c->nr_data += recover_is_data(c, rec);
	if (rec->type < FMT_REC_USER_START)
		return note_kernel(c, rec);
	switch (rec->type) {
	case FMT_REC_AUXTRACE:
		note_trace(c, rec);
		break;
	case FMT_REC_AUXTRACE_INFO:
		f->has_trace = true;
		if (rec->size >= FMT_AUXTRACE_INFO_AT_TYPE + 4)
			f->trace_kind = le_get32(rec->p + FMT_AUXTRACE_INFO_AT_TYPE);
		break;
	case FMT_REC_COMPRESSED:
	case FMT_REC_COMPRESSED2:
		f->zipped = true;
		break;
	case FMT_REC_HEADER_BUILD_ID:
		if (c->r.pipe && !rec->inflated && f->build_ids.len < BUILD_IDS_MAX)
			fmt_put(&f->build_ids, rec->p, rec->size);
		break;
	default:
		recover_take_feature(c, rec);
	}
	return f->build_ids.err;
}

static void note_gap(struct recover *c, const struct fmt_gap *g)
{
	if (c->nr_gaps < RECOVER_GAPS_MAX)
		c->gaps[c->nr_gaps] = *g;
	c->nr_gaps++;
	c->gap_bytes += g->len;
	c->gap_missing += g->missing;
}

static int walk(struct recover *c)
{
	struct fmt_rec rec;
	struct fmt_gap gap;
	int got, err = 0;

	while (!err && (got = fmt_salvage_next(&c->s, &rec, &gap)) > 0) {
		if (got == FMT_SALVAGE_GAP)
			note_gap(c, &gap);
		else
			err = note_record(c, &rec);
		if (c->passed && got == FMT_SALVAGE_REC)
			c->passed(c->ctx, rec.at);
	}
	return err ? err : got;
}

/* What the records of a part tell, features of its head say. */
static void join_facts(struct recover_facts *f, const struct recover_facts *part)
{
	if (part->last_ns && (!f->last_ns || part->first_ns < f->first_ns))
		f->first_ns = part->first_ns;
	if (part->last_ns > f->last_ns)
		f->last_ns = part->last_ns;
	if (part->nr_cpus > f->nr_cpus)
		f->nr_cpus = part->nr_cpus;
	f->zipped = f->zipped || part->zipped;
}

int recover_scan_part(struct recover *ret, struct recover *head, const void *p, uint64_t len,
		      void (*passed)(void *ctx, uint64_t at), void *ctx)
{
	int err;

	*ret = (struct recover){ .p = p, .len = len, .passed = passed, .ctx = ctx, .head = head };
	ret->facts.dsos = head->facts.dsos;
	(void)fmt_reader_open_part(&ret->r, &head->r, p, len);
	fmt_salvage_begin(&ret->s, &ret->r);
	err = walk(ret);
	if (err)
		return err;
	head->nr_parts++;
	join_facts(&head->facts, &ret->facts);
	return recover_judge_features(head);
}

bool recover_has_parts(const struct recover *c)
{
	return c->features[FMT_FEAT_DIR_FORMAT].fate != RECOVER_ABSENT || !c->s.table;
}

int recover_scan(struct recover *ret, const void *p, uint64_t len,
		 void (*passed)(void *ctx, uint64_t at), void *ctx)
{
	int err;

	*ret = (struct recover){ .p = p, .len = len, .passed = passed, .ctx = ctx };
	ret->facts.index = HASH_INIT;
	err = dsos_new(&ret->facts.dsos);
	if (!err)
		err = fmt_reader_open(&ret->r, p, len);
	if (err)
		return err;
	fmt_salvage_begin(&ret->s, &ret->r);
	err = walk(ret);
	return err ? err : recover_judge_features(ret);
}

void recover_done(struct recover *c)
{
	if (!c->head)
		dsos_free(c->facts.dsos);
	fmt_buf_done(&c->facts.build_ids);
	fmt_reader_done(&c->r);
	*c = (struct recover){ 0 };
}

bool recover_lost(const struct recover *c)
{
	if (c->nr_gaps || c->s.missing || c->table_lost)
		return true;
	for (size_t i = 0; i < RECOVER_FEATURES; i++)
		if (c->features[i].fate == RECOVER_DROPPED)
			return true;
	return false;
}

/* Does the header speak of a feature table? */
static bool announces(const struct recover *c)
{
	uint64_t bits = 0;

	if (c->r.version != 2 || le_get64(c->p + FMT_HDR_SIZE) != FMT_HEADER_SIZE)
		return false;
	for (unsigned i = 0; i < FMT_HDR_FEATURE_WORDS; i++)
		bits |= le_get64(c->p + FMT_HDR_FEATURES + 8 * i);
	return bits;
}

bool recover_sound(const struct recover *c)
{
	const struct fmt_salvage *s = &c->s;

	if (recover_lost(c) || s->killed || s->impossible)
		return false;
	if (c->r.pipe)
		return true;
	for (size_t i = 0; i < RECOVER_FEATURES; i++)
		if (c->features[i].fate == RECOVER_REBUILT)
			return false;
	return s->end == s->declared && (s->table || !announces(c));
}

const char *recover_state(const struct recover *c)
{
	if (recover_sound(c))
		return "sound";
	return recover_lost(c) ? "damaged" : "incomplete";
}
