/* SPDX-License-Identifier: Apache-2.0 */
#include "format/fields.h"

#include "format/abi.h"
#include "format/event.h"
#include "format/fields_priv.h"

enum { RESERVED = 255 }; /* a kind of row: fmt_visit_reserved() */

uint64_t fmt_visit_item(struct fmt_visit *v, const char *of, enum fmt_kind kind, unsigned n)
{
	const uint8_t *p = fmt_take(v, of, n);
	struct fmt_field f = { .kind = kind };

	if (!p)
		return 0;
	f.v = fmt_load(p, n);
	if (kind == FMT_AS_INT && n == 4)
		f.v = (uint64_t)(int64_t)(int32_t)f.v;
	fmt_give(v, &f);
	return f.v;
}

uint64_t fmt_visit_num(struct fmt_visit *v, const char *name, enum fmt_kind kind, unsigned n)
{
	const uint8_t *p = fmt_take(v, name, n);
	struct fmt_field f = { .name = name, .kind = kind };

	if (!p)
		return 0;
	f.v = fmt_load(p, n);
	if (kind == FMT_AS_INT && n == 4)
		f.v = (uint64_t)(int64_t)(int32_t)f.v;
	fmt_give(v, &f);
	return f.v;
}

uint64_t fmt_visit_flags(struct fmt_visit *v, const char *name, const struct fmt_flag *flags,
			 unsigned n)
{
	const uint8_t *p = fmt_take(v, name, n);
	struct fmt_field f = { .name = name, .kind = FMT_AS_FLAGS, .flags = flags };

	if (!p)
		return 0;
	f.v = fmt_load(p, n);
	fmt_give(v, &f);
	return f.v;
}

uint64_t fmt_visit_word(struct fmt_visit *v, const char *name, const char *const *words,
			size_t nr, unsigned n)
{
	const uint8_t *p = fmt_take(v, name, n);
	struct fmt_field f = { .name = name, .kind = FMT_AS_WORD };

	if (!p)
		return 0;
	f.v = fmt_load(p, n);
	f.word = f.v < nr ? words[f.v] : NULL;
	fmt_give(v, &f);
	return f.v;
}

void fmt_give_num(struct fmt_visit *v, const char *name, enum fmt_kind kind, uint64_t n)
{
	if (!v->missing)
		fmt_give(v, &(struct fmt_field){ .name = name, .kind = kind, .v = n });
}

void fmt_visit_reserved(struct fmt_visit *v, unsigned n)
{
	uint64_t got = fmt_take_num(v, "reserved", n);

	if (got)
		fmt_give_num(v, "reserved", FMT_AS_HEX, got);
}

static void give_text(struct fmt_visit *v, const char *name, const uint8_t *p, size_t len)
{
	fmt_give(v, &(struct fmt_field){
			    .name = name, .kind = FMT_AS_TEXT, .p = p, .len = len });
}

void fmt_visit_text(struct fmt_visit *v, const char *name, size_t n)
{
	const uint8_t *p = fmt_take(v, name, n), *end = p && n ? memchr(p, 0, n) : NULL;

	if (!p)
		return;
	give_text(v, name, p, end ? (size_t)(end - p) : n);
	if (!end)
		v->missing = name;
}

void fmt_visit_chars(struct fmt_visit *v, const char *name, size_t n)
{
	const uint8_t *p = fmt_take(v, name, n), *end = p ? memchr(p, 0, n) : NULL;

	if (p)
		give_text(v, name, p, end ? (size_t)(end - p) : n);
}

void fmt_visit_bytes(struct fmt_visit *v, const char *name, size_t n)
{
	const uint8_t *p = fmt_take(v, name, n);

	if (p)
		fmt_give(v, &(struct fmt_field){
				    .name = name, .kind = FMT_AS_BYTES, .p = p, .len = n });
}

void fmt_visit_open(struct fmt_visit *v, const char *name, enum fmt_kind kind)
{
	fmt_give(v, &(struct fmt_field){ .name = name, .kind = kind });
}

void fmt_visit_close(struct fmt_visit *v)
{
	fmt_give(v, &(struct fmt_field){ .kind = FMT_AS_END });
}

bool fmt_visit_list(struct fmt_visit *v, const char *name, uint64_t nr, size_t each)
{
	if (!v->missing && nr > v->left / each)
		v->missing = name;
	if (v->missing)
		return false;
	fmt_visit_open(v, name, FMT_AS_LIST);
	return true;
}

void fmt_visit_nums(struct fmt_visit *v, const char *name, enum fmt_kind kind, uint64_t nr,
		    unsigned n)
{
	if (!fmt_visit_list(v, name, nr, n))
		return;
	for (; nr; nr--)
		fmt_visit_item(v, name, kind, n);
	fmt_visit_close(v);
}

/* Records whose fields stand in one fixed order. bytes: of a number; 0: a text that fills
 * the rest. */
struct row {
	const char *name;
	uint8_t kind, bytes;
};
#define PID_TID { "pid", FMT_AS_INT, 4 }, { "tid", FMT_AS_INT, 4 }
#define MAPPING                                                                \
	PID_TID, { "addr", FMT_AS_HEX, 8 }, { "len", FMT_AS_HEX, 8 },          \
		{ "pgoff", FMT_AS_HEX, 8 }

static const struct row mmap_rows[] = { MAPPING, { "filename", FMT_AS_TEXT, 0 }, { 0 } };
static const struct row lost_rows[] = {
	{ "id", FMT_AS_DEC, 8 }, { "lost", FMT_AS_DEC, 8 }, { 0 }
};
static const struct row comm_rows[] = { PID_TID, { "comm", FMT_AS_TEXT, 0 }, { 0 } };
static const struct row task_rows[] = {
	{ "pid", FMT_AS_INT, 4 },   { "ppid", FMT_AS_INT, 4 },	{ "tid", FMT_AS_INT, 4 },
	{ "ptid", FMT_AS_INT, 4 }, { "time", FMT_AS_TIME, 8 }, { 0 }
};
static const struct row throttle_rows[] = {
	{ "time", FMT_AS_TIME, 8 }, { "id", FMT_AS_DEC, 8 }, { "stream_id", FMT_AS_DEC, 8 }, { 0 }
};
static const struct row mapping_rows[] = { MAPPING, { 0 } };
static const struct row pid_tid_rows[] = { PID_TID, { 0 } };
static const struct row lost_samples_rows[] = { { "lost", FMT_AS_DEC, 8 }, { 0 } };
static const struct row no_rows[] = { { 0 } };
static const struct row switch_wide_rows[] = {
	{ "next_prev_pid", FMT_AS_INT, 4 }, { "next_prev_tid", FMT_AS_INT, 4 }, { 0 }
};
static const struct row cgroup_rows[] = {
	{ "id", FMT_AS_DEC, 8 }, { "path", FMT_AS_TEXT, 0 }, { 0 }
};
static const struct row hw_id_rows[] = { { "hw_id", FMT_AS_HEX, 8 }, { 0 } };
static const struct row event_type_rows[] = {
	{ "event_id", FMT_AS_DEC, 8 }, { "name", FMT_AS_TEXT, 0 }, { 0 }
};
static const struct row auxtrace_rows[] = {
	{ "size", FMT_AS_DEC, 8 }, { "offset", FMT_AS_HEX, 8 },
	{ "reference", FMT_AS_HEX, 8 }, { "idx", FMT_AS_DEC, 4 }, { "tid", FMT_AS_INT, 4 },
	{ "cpu", FMT_AS_INT, 4 }, { "reserved", RESERVED, 4 }, { 0 }
};
static const struct row stat_rows[] = {
	{ "id", FMT_AS_DEC, 8 },  { "cpu", FMT_AS_INT, 4 }, { "thread", FMT_AS_INT, 4 },
	{ "val", FMT_AS_DEC, 8 }, { "ena", FMT_AS_DEC, 8 }, { "run", FMT_AS_DEC, 8 }, { 0 }
};

static const struct row *const rows_of[] = {
	[FMT_REC_MMAP] = mmap_rows,
	[FMT_REC_LOST] = lost_rows,
	[FMT_REC_COMM] = comm_rows,
	[FMT_REC_EXIT] = task_rows,
	[FMT_REC_THROTTLE] = throttle_rows,
	[FMT_REC_UNTHROTTLE] = throttle_rows,
	[FMT_REC_FORK] = task_rows,
	[FMT_REC_ITRACE_START] = pid_tid_rows,
	[FMT_REC_LOST_SAMPLES] = lost_samples_rows,
	[FMT_REC_SWITCH] = no_rows,
	[FMT_REC_SWITCH_CPU_WIDE] = switch_wide_rows,
	[FMT_REC_CGROUP] = cgroup_rows,
	[FMT_REC_AUX_OUTPUT_HW_ID] = hw_id_rows,
	[FMT_REC_HEADER_EVENT_TYPE] = event_type_rows,
	[FMT_REC_FINISHED_ROUND] = no_rows,
	[FMT_REC_AUXTRACE] = auxtrace_rows,
	[FMT_REC_STAT] = stat_rows,
	[FMT_REC_FINISHED_INIT] = no_rows,
};

static void visit_rows(struct fmt_visit *v, const struct row *row)
{
	for (; row->name && !v->missing; row++) {
		if (row->kind == RESERVED)
			fmt_visit_reserved(v, row->bytes);
		else if (row->bytes)
			fmt_visit_num(v, row->name, (enum fmt_kind)row->kind, row->bytes);
		else
			fmt_visit_text(v, row->name, v->left);
	}
}

static void visit_mmap2(struct fmt_visit *v)
{
	size_t n;

	visit_rows(v, mapping_rows);
	if (v->rec->misc & FMT_MISC_MMAP_BUILD_ID) {
		n = (size_t)fmt_visit_num(v, "build_id_size", FMT_AS_DEC, 1);
		fmt_visit_reserved(v, 1);
		fmt_visit_reserved(v, 2);
		n = n < 20 ? n : 20;
		fmt_visit_bytes(v, "build_id", n);
		fmt_take(v, "build_id", 20 - n);
	} else {
		fmt_visit_num(v, "maj", FMT_AS_DEC, 4);
		fmt_visit_num(v, "min", FMT_AS_DEC, 4);
		fmt_visit_num(v, "ino", FMT_AS_DEC, 8);
		fmt_visit_num(v, "ino_generation", FMT_AS_DEC, 8);
	}
	fmt_visit_num(v, "prot", FMT_AS_HEX, 4);
	fmt_visit_num(v, "flags", FMT_AS_HEX, 4);
	fmt_visit_text(v, "filename", v->left);
}

static void visit_aux(struct fmt_visit *v)
{
	fmt_visit_num(v, "aux_offset", FMT_AS_HEX, 8);
	fmt_visit_num(v, "aux_size", FMT_AS_HEX, 8);
	fmt_visit_flags(v, "flags", fmt_aux_flags, 8);
}

static void visit_namespaces(struct fmt_visit *v)
{
	static const char *const names[] = { "net", "uts", "ipc",   "pid_ns",
					     "user", "mnt", "cgroup" };
	uint64_t nr;

	visit_rows(v, pid_tid_rows);
	nr = fmt_visit_num(v, "nr_namespaces", FMT_AS_DEC, 8);
	if (!fmt_visit_list(v, "namespaces", nr, 16))
		return;
	for (uint64_t i = 0; i < nr; i++) {
		fmt_visit_open(v, NULL, FMT_AS_GROUP);
		if (i < sizeof(names) / sizeof(*names))
			fmt_give(v, &(struct fmt_field){ .name = "ns",
							 .kind = FMT_AS_WORD,
							 .word = names[i],
							 .v = i });
		fmt_visit_num(v, "dev", FMT_AS_DEC, 8);
		fmt_visit_num(v, "ino", FMT_AS_DEC, 8);
		fmt_visit_close(v);
	}
	fmt_visit_close(v);
}

static void visit_ksymbol(struct fmt_visit *v)
{
	static const char *const types[] = { "UNKNOWN", "BPF", "OOL" };

	fmt_visit_num(v, "addr", FMT_AS_HEX, 8);
	fmt_visit_num(v, "len", FMT_AS_HEX, 4);
	fmt_visit_word(v, "ksym_type", types, 3, 2);
	fmt_visit_flags(v, "flags", fmt_ksymbol_flags, 2);
	fmt_visit_text(v, "name", v->left);
}

static void visit_bpf_event(struct fmt_visit *v)
{
	static const char *const types[] = { "UNKNOWN", "PROG_LOAD", "PROG_UNLOAD" };

	fmt_visit_word(v, "type", types, 3, 2);
	fmt_visit_num(v, "flags", FMT_AS_HEX, 2);
	fmt_visit_num(v, "id", FMT_AS_DEC, 4);
	fmt_visit_bytes(v, "tag", 8);
}

void fmt_visit_padding(struct fmt_visit *v)
{
	if (v->missing || v->left > 7)
		return;
	for (size_t i = 0; i < v->left; i++)
		if (v->p[i])
			return;
	fmt_take(v, "padding", v->left);
}

static void visit_text_poke(struct fmt_visit *v)
{
	size_t old_len, new_len;

	fmt_visit_num(v, "addr", FMT_AS_HEX, 8);
	old_len = (size_t)fmt_visit_num(v, "old_len", FMT_AS_DEC, 2);
	new_len = (size_t)fmt_visit_num(v, "new_len", FMT_AS_DEC, 2);
	fmt_visit_bytes(v, "old", old_len);
	fmt_visit_bytes(v, "new", new_len);
	fmt_visit_padding(v);
}

static void visit_deferred(struct fmt_visit *v)
{
	uint64_t nr;

	fmt_visit_num(v, "cookie", FMT_AS_HEX, 8);
	nr = fmt_visit_num(v, "nr", FMT_AS_DEC, 8);
	fmt_visit_nums(v, "ips", FMT_AS_HEX, nr, 8);
}

/* The body of a kernel record; false when there is no description. */
static bool visit_kernel(struct fmt_visit *v)
{
	switch (v->rec->type) {
	case FMT_REC_READ:
		visit_rows(v, pid_tid_rows);
		if (v->attr)
			fmt_visit_read(v);
		return true;
	case FMT_REC_SAMPLE:
		if (v->attr)
			fmt_visit_sample(v);
		return true;
	case FMT_REC_MMAP2:
		visit_mmap2(v);
		return true;
	case FMT_REC_AUX:
		visit_aux(v);
		return true;
	case FMT_REC_NAMESPACES:
		visit_namespaces(v);
		return true;
	case FMT_REC_KSYMBOL:
		visit_ksymbol(v);
		return true;
	case FMT_REC_BPF_EVENT:
		visit_bpf_event(v);
		return true;
	case FMT_REC_TEXT_POKE:
		visit_text_poke(v);
		return true;
	case FMT_REC_CALLCHAIN_DEFERRED:
		visit_deferred(v);
		return true;
	}
	return false;
}

static bool visit_body(struct fmt_visit *v)
{
	uint32_t type = v->rec->type;

	if (type < sizeof(rows_of) / sizeof(*rows_of) && rows_of[type]) {
		visit_rows(v, rows_of[type]);
		return true;
	}
	return type < FMT_REC_USER_START ? visit_kernel(v) : fmt_visit_user(v);
}

static void visit_trailer(struct fmt_visit *v, uint64_t st)
{
	if (st & FMT_SAMPLE_TID) {
		fmt_visit_num(v, "s_pid", FMT_AS_INT, 4);
		fmt_visit_num(v, "s_tid", FMT_AS_INT, 4);
	}
	if (st & FMT_SAMPLE_TIME)
		fmt_visit_num(v, "at", FMT_AS_TIME, 8);
	if (st & FMT_SAMPLE_ID)
		fmt_visit_num(v, "s_id", FMT_AS_DEC, 8);
	if (st & FMT_SAMPLE_STREAM_ID)
		fmt_visit_num(v, "s_stream_id", FMT_AS_DEC, 8);
	if (st & FMT_SAMPLE_CPU) {
		fmt_visit_num(v, "cpu", FMT_AS_INT, 4);
		fmt_visit_reserved(v, 4);
	}
	if (st & FMT_SAMPLE_IDENTIFIER)
		fmt_visit_num(v, "s_identifier", FMT_AS_DEC, 8);
}

/* The attr that says how rec's trailer or sample is made, if that is known. */
static void find_attr(struct fmt_visit *v, int event)
{
	const struct fmt_reader *r = v->r;

	if (v->rec->type >= FMT_REC_USER_START || !r->nr_events)
		return;
	if (event < 0 && !r->same_layout)
		return;
	if (event < 0 || (size_t)event >= r->nr_events)
		event = 0;
	v->attr = r->events[event].attr;
	v->attr_size = r->events[event].attr_size;
}

struct fmt_fit fmt_fields(const struct fmt_reader *r, const struct fmt_rec *rec, int event,
			  fmt_field_fn *fn, void *ctx)
{
	struct fmt_visit v = { .fn = fn, .ctx = ctx, .r = r, .rec = rec,
			       .p = rec->p + FMT_REC_HEADER_SIZE,
			       .left = rec->size - FMT_REC_HEADER_SIZE };
	struct fmt_fit fit = { 0 };
	uint64_t st = 0;
	size_t trailer = 0;

	fmt_give(&v, &(struct fmt_field){ .name = "misc",
					  .kind = FMT_AS_FLAGS,
					  .flags = fmt_misc_flags(rec->type),
					  .v = rec->misc });
	find_attr(&v, event);
	if (v.attr && rec->type != FMT_REC_SAMPLE &&
	    (fmt_attr_flags(v.attr, v.attr_size) & FMT_ATTR_F_SAMPLE_ID_ALL)) {
		st = fmt_attr_sample_type(v.attr, v.attr_size);
		trailer = fmt_trailer_size(st);
	}
	if (trailer > v.left) {
		fit.missing = "sample_id";
		trailer = 0;
	}
	v.left -= trailer;
	fit.known = visit_body(&v);
	if (v.missing)
		fit.missing = v.missing;
	fit.left = v.left;
	if (trailer) {
		v.p = rec->p + rec->size - trailer;
		v.left = trailer;
		v.missing = NULL;
		visit_trailer(&v, st);
	}
	return fit;
}
