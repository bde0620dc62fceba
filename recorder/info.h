/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `auxrec info` says about a file: one walk folds the records into numbers
 * (info_fold.c and those it calls, one file for each subject), which are then printed as
 * text (info_text*.c) or JSON (info_json*.c).
 *
 * Memory does not grow with the file, but with what it names: one row for each record
 * type, queue, cpu, thread and word of AUX flags, and one for each image, each up to a
 * bound. Beyond it rows lump together.
 */
#ifndef RECORDER_INFO_H
#define RECORDER_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/auxtrace.h"
#include "format/ptwalk.h"
#include "format/reader.h"
#include "recorder/auxsample.h"
#include "recorder/input.h"
#include "recorder/rows.h"

enum {
	INFO_TYPES = 128,
	INFO_ROWS_MAX = 8192,	/* record types, queues, cpus */
	INFO_TASKS_MAX = 65536, /* threads */
	INFO_FLAGS_MAX = 64,	/* different words of AUX flags */
	INFO_FAULTS_MAX = 16,
	INFO_IMAGES_MAX = 1000, /* missing ones that are listed */
	INFO_LATE_MAX = 65536,	/* how far back a late record is looked for */
};
#define INFO_NONE UINT32_MAX /* no cpu, no thread, no queue */

struct info_type {
	uint64_t key; /* record type, INFO_TYPES and up */
	uint64_t n, inflated;
};

/* Records that carry one and the same word of AUX flags. */
struct info_flags {
	uint64_t key, n;
};

enum info_cause {
	INFO_LOST,	    /* LOST: records */
	INFO_LOST_SAMPLES,  /* LOST_SAMPLES: samples */
	INFO_READ_LOST,	    /* READ with the LOST format: samples */
	INFO_AUX_TRUNCATED, /* AUX records with the flag; of how much nothing tells */
	INFO_AUX_PARTIAL,
	INFO_AUX_COLLISION,
	INFO_TRACE_GAP, /* AUXTRACE pieces that do not follow each other: bytes */
	INFO_CAUSES
};

struct info_loss {
	uint64_t n;	 /* records that tell of it */
	uint64_t amount; /* records, samples or bytes lost; of flags 0 */
	bool has_time;
	uint64_t first_ns, last_ns; /* of those records */
};

struct info_span {
	bool known;
	uint64_t first_ns, last_ns;
};

struct info_cpu {
	uint64_t key; /* cpu; INFO_NONE for records that do not tell theirs */
	uint64_t n;   /* kernel records */
	uint64_t late; /* of these, older than one before them on the same cpu */
	struct info_span time, trace;
	struct info_loss loss[INFO_CAUSES];
};

/* AUX records by flag: of one cpu, or one thread. */
struct info_flagged {
	uint64_t key;
	uint64_t truncated, partial, collision, overwrite;
};

/* What the records that may be late are compared with. */
struct info_order {
	uint64_t nr;   /* records with a time */
	uint64_t late; /* of these, with an older time than one before them */
	uint64_t worst_records, worst_ns; /* how far: records back, and time */
	bool worst_is_more; /* the place was too far back to be known */

	/* Private: where the newest time so far was exceeded, the last INFO_LATE_MAX. */
	struct info_mark {
		uint64_t time, nr;
	} *marks;
	uint64_t nr_marks;
};

struct info_task {
	uint64_t key; /* tid */
	uint32_t pid;
	bool has_pid;
	char comm[16];	/* the last it had; "": not told */
	uint64_t on_ns; /* on a cpu, as far as the switch records tell */
	uint64_t runs;	/* how often it began to run */
	uint64_t folded; /* pairs of switches that were its tracer's, and are left out */

	/* Private: records of several cpus do not come in the order of time. */
	bool named;	  /* by a COMM of its own, at comm_ns */
	bool forked;	  /* at fork_ns, by parent */
	uint32_t parent;
	uint64_t comm_ns, fork_ns;
};

/* What runs on a cpu; or, where records do not tell their cpu, whether a thread runs. */
struct info_slot {
	uint64_t key; /* cpu, or INFO_SLOT_TASK + tid */
	bool running;
	uint32_t tid;
	uint64_t since;
};
#define INFO_SLOT_TASK (UINT64_C(1) << 32)

struct info_tasks {
	struct rows tasks, slots;
	bool switches;	    /* there are records of switches: on_ns and runs are told */
	uint64_t processes; /* whose main thread was seen */
	uint64_t folded;    /* of all threads */

	/* Private: of the events so far. */
	size_t nr_events;
	bool cpus; /* records tell their cpu */
};

/* Intel PT of one queue. */
struct info_pt {
	size_t nr; /* place among the queues, which says who walks */
	struct fmt_ptwalk walk;
	struct info_span time; /* of its TSC packets */
};

struct info_queue {
	uint64_t key;	   /* idx; INFO_NONE: not told */
	uint32_t cpu, tid; /* of its first piece, INFO_NONE where it has none */
	uint64_t n, bytes; /* AUXTRACE records, and all trace */
	uint64_t samples;  /* SAMPLE records with some of it */
	struct info_flagged flagged; /* of its cpu, or thread */
	uint64_t gaps, gap_bytes; /* pieces that begin behind the end of the last one */
	uint64_t doubled;	  /* bytes of pieces that begin before it */
	struct info_pt *pt;	  /* NULL: not walked */

	/* Private. */
	uint64_t end;	    /* of the last piece, in the AUX stream */
	uint64_t reference; /* of the last piece */
	uint8_t high;	    /* byte of the TSC that its packets leave out */
	unsigned nr_held;   /* last bytes, which may be padding */
	uint8_t held[7];
};

/* TSC to ns: zero + tsc * mult >> shift. */
struct info_conv {
	const char *from;    /* the record that told: "AUXTRACE_INFO", "TIME_CONV", NULL */
	const char *problem; /* why there is no conversion, or NULL */
	uint64_t shift, mult, zero;
};

struct info_aux {
	bool has_info;
	uint32_t type; /* FMT_AUXTRACE_* */
	uint64_t info_at; /* of the AUXTRACE_INFO record */
	uint8_t *info;	  /* a copy of it: info_size bytes, at most 65535 */
	uint16_t info_size;
	bool snapshot; /* pieces may overlap, or leave bytes out, by intent */
	bool per_thread; /* Intel PT: a stream of trace for each thread */
	struct rows queues; /* struct info_queue */
	struct rows flags;  /* struct info_flags */
	struct rows by_cpu, by_tid; /* struct info_flagged */
	struct auxsample_ids ids;
	uint64_t homeless; /* AUX samples of ids that ID_INDEX does not tell */
	struct info_pool *pool;
	bool mapped; /* pages behind the walk may be given back */
};

/* Trace of one cpu, or thread, in one snapshot. */
struct info_shot {
	uint64_t key;
	uint32_t nr;	   /* of the snapshot, from 1 on; 0: a row without trace */
	uint32_t cpu, tid; /* INFO_NONE */
	uint32_t pause_ns; /* for how long it stood still; 0: not told */
	uint64_t bytes;
	uint64_t frozen_tsc; /* when it was frozen, or read */
	bool has_tsc;
	uint64_t begin_tsc; /* 56 bits: from when on the trace can be read */
	struct info_span switches;
};

struct info_shots {
	struct rows rows; /* struct info_shot, in the order of the file */
	uint32_t nr;	  /* snapshots */
	bool throughout;  /* switches are recorded all the time, not with snapshots */
	bool switched;	  /* private: there were some since the last AUXTRACE record */
};

struct info_image {
	const char *name; /* in the images */
	const uint8_t *id;
	unsigned id_size;
	const char *why;
	const char *found; /* what is there instead, or NULL */
};

struct info_images {
	struct images *images;
	bool looked; /* only with AUX trace */
	size_t nr;   /* with code */
	size_t nr_missing;
	struct info_image *missing; /* at most INFO_IMAGES_MAX */
};

struct info_fault {
	const struct fmt_reader *r; /* of the file it is in, for input_path_of() */
	uint64_t at;
	char expected[120];
};

struct info {
	uint64_t types[INFO_TYPES]; /* records by type */
	uint64_t inflated[INFO_TYPES]; /* those that COMPRESSED records held */
	struct rows others;	       /* struct info_type */
	struct rows cpus;	       /* struct info_cpu */
	struct info_span time; /* of kernel records; time 0 is "synthesised" */
	uint64_t features[4];  /* bits: announced, or in a pipe: sent */
	uint64_t untold;       /* kernel records whose layout cannot be known */
	struct info_loss loss[INFO_CAUSES]; /* of all cpus */
	struct info_order order;
	struct info_conv conv;
	struct info_aux aux;
	struct info_shots shots;
	struct info_tasks tasks;
	struct info_images images;
	uint64_t whole_to;   /* offset behind the last whole record */
	uint64_t not_walked; /* bytes of the records' section behind that */
	struct info_fault faults[INFO_FAULTS_MAX];
	size_t nr_faults; /* all of them, kept or not */
	const struct fmt_reader *from; /* whose records are at hand; NULL: the file itself */
};

/* Walks the input once. 0, -ENOMEM or what a system call gave; damage is noted in faults,
 * and what stands before it is counted. */
int info_fold(struct info *ret, struct input *in);
void info_done(struct info *i);
/* Of the file whose records are at hand. */
__attribute__((format(printf, 3, 4))) void info_fault(struct info *i, uint64_t at,
						      const char *fmt, ...);
/* Announced feature sections that are not there or cannot be read: a fault each. */
void info_check_features(struct info *i, const struct fmt_reader *r);

/* Is anything lost? */
bool info_lost(const struct info_loss loss[INFO_CAUSES]);
/* "lost records" ... and what its amount counts, NULL: it has none. */
const char *info_cause_name(enum info_cause c);
const char *info_cause_key(enum info_cause c);
const char *info_cause_unit(enum info_cause c);

struct info_file;

/* "none", "soft", "kernel" or "unknown": who wrote the trace. */
const char *info_source(const struct info *i, const struct fmt_reader *r);
/* "intel_pt", "cs_etm" ..., or NULL. */
const char *info_aux_name(const struct info *i);
/* "perf", "monotonic" ...: the clock of the time stamps. */
const char *info_clock(const struct fmt_reader *r);
/* CLOCK_DATA: what the clock showed at one moment of real time. -ENOENT without that
 * feature, -ENOTSUP of a version that is not known (ret->version says which), -EBADMSG
 * too short. */
struct info_clock_data {
	uint32_t version, clockid;
	uint64_t wall_ns, clock_ns;
};
int info_clock_data(const struct fmt_reader *r, struct info_clock_data *ret);
/* "type90" and the like for a type without a name; buf is used then. */
const char *info_type_name(uint32_t type, char buf[20]);
/* "file", "pipe", "records" or "pt". */
const char *info_form(const struct info_file *f);
/* The words of AUXTRACE_INFO: how many, and of these without a meaning that is known. */
struct info_words {
	size_t nr, unknown;
	const char *missing; /* the first field that is not whole, or NULL */
	bool in_unknown;     /* private */
};
struct info_words info_aux_words(const struct info_file *f);
/* NULL for a feature bit without a name. */
const char *info_feature_name(unsigned feat);
/* The words of aux_action in the event's attr (aux_start_paused ...), one after the other
 * from *at = 0 on; NULL behind the last. Bits without a name go to *rest. */
const char *info_aux_action(const struct fmt_reader_event *e, unsigned *at,
			    uint32_t *rest);
/* "truncated" ... for one bit of the AUX flags below the format byte, or NULL. */
const char *info_flag_name(unsigned bit);

/* What all cpus cover: from the last first time to the first last time. nr: cpus that
 * have any; empty: no moment is covered by all of them. */
struct info_window {
	struct info_span span;
	bool empty;
	size_t nr;
};
struct info_window info_window(const struct info *i, bool trace);

/* In ns, each as far as it is known. both: trace and switches. */
struct info_shot_spans {
	struct info_span frozen, trace, switches, both;
};
struct info_shot_spans info_shot_spans(const struct info *i, const struct info_shot *s);

/* Threads by time on a cpu, longest first: an array of *ret_nr rows, owned by the caller,
 * of pointers into the tasks. NULL: no memory, or none. */
const struct info_task **info_tasks_sorted(const struct info *i, size_t *ret_nr);

/* The file as the printers see it. */
struct info_file {
	const char *path;
	uint64_t bytes;
	const struct input *in;
	const struct fmt_reader *r; /* zeroed when the file could not be opened */
	const struct info *i;
};
/* Both return 0 or -ENOMEM; a failing stdout is the caller's to look at. */
int info_print_text(const struct info_file *f);
int info_print_json(const struct info_file *f);

enum {
	INFO_ARGS_MAX = 4096,  /* arguments of the recorded command line that are shown */
	INFO_SHOTS_TEXT = 64,  /* rows of snapshots that the text shows */
	INFO_TASKS_TEXT = 20,  /* threads, and missing images, that the text shows */
	INFO_TASKS_JSON = 10000, /* and JSON */
};

#endif
