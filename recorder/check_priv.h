/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the judges share. check.c walks and hands each record around; every judge has a
 * file of its own, keeps its state in a struct of its own below, and speaks through
 * check_find().
 */
#ifndef RECORDER_CHECK_PRIV_H
#define RECORDER_CHECK_PRIV_H

#include "recorder/check.h"
#include "recorder/check_extent.h"
#include "recorder/check_map.h"

#define CHECK_NOWHERE UINT64_MAX /* no place in the file */

/* One record, and what several judges want to know of it. */
struct check_rec {
	const struct fmt_rec *rec;
	bool has_when;
	struct fmt_when w; /* where has_when */
	int event;	   /* -1: not known */
};

/* A cpu, by its number. */
struct check_cpu {
	uint64_t key;
	uint64_t last_time;
	uint64_t breaks; /* times at which switch records may be missing */
};

struct check_times {
	uint64_t newest;       /* of all records so far */
	uint64_t round_newest; /* of those before the last round mark */
	uint64_t limit;	       /* nothing older may come */
	uint64_t rounds;
	/* Until the first round mark: what is older than something before it. */
	uint64_t n, late, worst_ns, worst_apart;
	struct check_peak *peaks; /* ring of the newest records that were the newest */
	size_t nr_peaks;
	/* Per cpu. */
	uint64_t back, worst_back, back_at, back_cpu;
	uint64_t first_sample, last_sample; /* 0: none */
};

/* Who owns an id, as ID_INDEX tells. */
struct check_id {
	uint64_t key;
	uint64_t idx, cpu, tid;
};

/* One source of switch records on one cpu. */
struct check_switch {
	uint64_t key;
	uint64_t breaks;
	bool known, in;
	uint32_t pid, tid;	     /* who runs, or who left */
	uint32_t next_pid, next_tid; /* who was to come */
};

struct check_queue {
	uint64_t key;
	uint32_t idx, cpu, tid; /* of its first AUXTRACE */
	uint64_t at, aux_at;	/* of its first AUXTRACE and AUX */
	uint64_t nr_trace, nr_aux;
	uint64_t next; /* where its trace goes on in the stream */
	bool overwrite, spoilt;
	struct check_extents announced, present;
};

struct check_aux {
	struct check_map queues;
	uint64_t nr_info, info_at;
	uint32_t kind; /* FMT_AUXTRACE_* */
	bool snapshot, per_thread, mixed;
	uint64_t nr_trace;
	uint8_t info[2048]; /* AUXTRACE_INFO, as far as it goes in */
	size_t info_size, info_room;
	/* Of the first SWITCH, and of the first SWITCH_CPU_WIDE without a cpu; or
	 * CHECK_NOWHERE. */
	uint64_t plain_at, nowhere_at;
};

/* The AUXTRACE index: entries of 16 bytes, in ascending order. */
struct check_index {
	bool there;
	const uint8_t *p;
	uint8_t *sorted; /* owned: a copy, where the file's are not in order */
	uint64_t n, next;
	uint64_t at; /* of the section */
};

struct check_zip {
	uint64_t at; /* first COMPRESSED record; CHECK_NOWHERE: none */
	uint64_t now_at, bytes; /* the one at hand, and what came out of it */
	uint64_t most, most_at;
	uint64_t seen_odd;
};

/* A name of the BUILD_ID feature, by its hash. */
struct check_name {
	uint64_t key;
	const uint8_t *id;
	uint8_t id_size;
	bool twice; /* with several ids: nothing can be held against it */
};

struct check {
	struct check_report *rep;
	struct input *in;
	const struct fmt_reader *r; /* whose records are at hand */
	unsigned part;
	int err; /* -ENOMEM: sticks, and ends the walk */

	struct check_map cpus, ids, switches, names;
	uint64_t breaks; /* of all cpus */
	struct check_times times;
	struct check_aux aux;
	struct check_index index;
	struct check_zip zip;
	bool tracing_data;
	uint64_t nr_cpus; /* of the feature NRCPUS: 0 not known */
};

/* Note a finding at `at` of the file at hand. `expected` completes "expected ...". */
__attribute__((format(printf, 5, 6)))
void check_find(struct check *c, enum check_kind k, uint64_t at, const char *expected,
		const char *found, ...);
/* What findings of a kind say adds up to. */
void check_sum(struct check *c, enum check_kind k, uint64_t n);
/* "an AUX record" and the like; buf is used for types without a name. */
const char *check_type(uint32_t type, char buf[24]);
void *check_new_row(struct check *c, struct check_map *m, uint64_t key);
/* A row of a table, made where there is none; NULL: no memory, or no more rows. */
static inline void *check_row(struct check *c, struct check_map *m, uint64_t key)
{
	void *row = check_map_find(m, key);

	return row ? row : check_new_row(c, m, key);
}

/* check_file.c: before the walk, and what is known after it. */
void check_sections(struct check *c);
void check_end_of_walk(struct check *c, int err, const struct fmt_reader *r);
void check_finished(struct check *c);
/* check_events.c: when all events are known. */
void check_events(struct check *c);
/* check_record.c: the body against its type. False: it lacks fields, and nobody else
 * should look into it. */
bool check_body(struct check *c, const struct check_rec *cr);
/* check_times.c */
void check_time(struct check *c, const struct check_rec *cr);
void check_round(struct check *c);
void check_times_end(struct check *c);
void check_times_done(struct check_times *t);
/* check_switch.c */
void check_switch(struct check *c, const struct check_rec *cr);
/* Switch records of this cpu may be missing from here on. */
void check_switch_break(struct check *c, const struct check_rec *cr);
/* check_ids.c */
void check_id_index(struct check *c, const struct check_rec *cr);
void check_ids_end(struct check *c);
/* check_aux.c, check_auxinfo.c */
void check_aux(struct check *c, const struct check_rec *cr);
void check_auxtrace(struct check *c, const struct check_rec *cr);
void check_aux_end(struct check *c);
void check_aux_done(struct check_aux *a);
void check_auxinfo(struct check *c, const struct check_rec *cr);
void check_auxinfo_end(struct check *c);
/* check_index.c */
void check_index_begin(struct check *c);
void check_index_take(struct check *c, const struct check_rec *cr);
void check_index_end(struct check *c);
void check_index_done(struct check_index *x);
/* check_feature.c: the table of a file; a payload on its own (pipe form). */
void check_features(struct check *c);
void check_feature(struct check *c, unsigned feat, const uint8_t *p, uint64_t len,
		   uint64_t at);
/* check_desc.c: EVENT_DESC and GROUP_DESC against the events. */
void check_descriptions(struct check *c);
/* check_buildid.c */
void check_build_ids_begin(struct check *c);
void check_mmap2(struct check *c, const struct check_rec *cr);
/* check_zip.c */
void check_zip(struct check *c, const struct check_rec *cr);
void check_zip_end(struct check *c);
/* check_dir.c, check_parts.c: its data.N, where it has any */
void check_dir(struct check *c);
void check_parts(struct check *c);

#endif
