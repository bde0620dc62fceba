/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small, sound file made of records that a test chooses, and what `auxrec check` finds
 * in it. Header, ids and events are those of handmade_file(): event 0 is Intel PT (type
 * 8, ids 11 and 12 for cpus 0 and 1), event 1 a dummy (id 21, cpu 0); trailers have 32
 * bytes.
 */
#ifndef TESTS_UNIT_CHECKFIX_H
#define TESTS_UNIT_CHECKFIX_H

#include "recorder/check.h"
#include "tests/unit/handmade.h"

struct checkfix {
	struct fmt_buf b;
	struct input in;
	struct check_report rep;
	uint8_t *copy;
	struct checkfix_feature {
		unsigned bit;
		struct fmt_buf b;
	} feature[12];
	size_t nr_features;
	uint64_t index[16]; /* places of AUXTRACE records */
	size_t nr_index;
	uint64_t at; /* of the last record */
};

enum { CHECKFIX_PT_ID = 11, CHECKFIX_PT_ID_1 = 12, CHECKFIX_DUMMY_ID = 21 };
enum { CHECKFIX_INFO_WORDS = 17 };

/* cmocka's setup and teardown. */
int checkfix_setup(void **state);
int checkfix_teardown(void **state);

/* Header and events; then AUXTRACE_INFO and ID_INDEX with begin_pt. */
void checkfix_begin(struct checkfix *f);
void checkfix_begin_pt(struct checkfix *f);
/* priv words of an AUXTRACE_INFO that fits the events. */
void checkfix_info(uint64_t words[CHECKFIX_INFO_WORDS]);
void checkfix_put_info(struct checkfix *f, uint32_t kind, const uint64_t *words,
		       size_t n);

/* A record of n words. */
void checkfix_user(struct checkfix *f, uint32_t type, const uint64_t *words, size_t n);
/* The same with a trailer. */
struct checkfix_who {
	uint32_t tid; /* and pid */
	uint64_t time;
	uint32_t cpu;
	uint64_t id;
};
void checkfix_kernel(struct checkfix *f, uint32_t type, uint16_t misc,
		     const uint64_t *words, size_t n, struct checkfix_who who);
void checkfix_round(struct checkfix *f);
/* tid comes onto the cpu, or leaves it; other: who left, or is next. */
void checkfix_in(struct checkfix *f, uint32_t tid, uint32_t other, uint64_t time);
void checkfix_out(struct checkfix *f, uint32_t tid, uint32_t other, uint64_t time);
void checkfix_aux(struct checkfix *f, uint64_t offset, uint64_t size, uint64_t flags);
/* Of queue 0, cpu 0. */
void checkfix_trace(struct checkfix *f, uint64_t offset, uint64_t size);
void checkfix_trace_of(struct checkfix *f, uint32_t idx, uint32_t cpu, uint32_t tid,
		       uint64_t offset, uint64_t size);

/* A feature with an empty payload, to be filled. */
struct fmt_buf *checkfix_feature(struct checkfix *f, unsigned bit);
void checkfix_text(struct fmt_buf *b, const char *s);
/* The index of the AUXTRACE records so far. */
void checkfix_index(struct checkfix *f);

/* data.size and, in the order they were made, the features. */
void checkfix_end(struct checkfix *f);
/* Judge the first n bytes. */
void checkfix_judge_cut(struct checkfix *f, size_t n);
void checkfix_judge(struct checkfix *f);
/* checkfix_end() and checkfix_judge(). */
void checkfix_finish(struct checkfix *f);

/* Nothing was found, or that kind and no other: n times, the first of them at `at`. */
void checkfix_sound(const struct checkfix *f);
void checkfix_only(const struct checkfix *f, enum check_kind k, uint64_t n, uint64_t at);
/* The same of this kind, whatever else was found. */
void checkfix_has(const struct checkfix *f, enum check_kind k, uint64_t n, uint64_t at);

#endif
