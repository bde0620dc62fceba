/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the libipt exit share: libipt.c writes trace and records, libipt_images.c
 * the code, libipt_cmds.c the command lines, libipt_json.c the manifest. */
#ifndef RECORDER_EXPORT_LIBIPT_PRIV_H
#define RECORDER_EXPORT_LIBIPT_PRIV_H

#include "recorder/export/export.h"
#include "recorder/export/recsort.h"

struct libipt_queue {
	struct outfile *bin;	/* NULL: nothing within the filters */
	struct outfile *pieces; /* of a loose queue: where each begins and ends in bin */
	uint64_t nr;		/* pieces written */
};

struct libipt_stream {
	struct outfile *f; /* NULL: nothing within the filters */
	struct recsort sort;
	uint64_t records;
	/* What its records end with: the sample_type of one of their events (0: nothing). */
	uint64_t sample_type;
	bool mixed; /* they do not all end alike, or end as nobody knows */
	struct export_stream *of;
};

struct libipt_image {
	const struct image *image; /* first: the key */
	struct outfile *copy;
	const char *why; /* there is no copy: static words */
};

struct libipt {
	struct export *x;
	const char *name; /* the last part of BASE */
	struct libipt_queue *queues;   /* as export_queue_at */
	struct libipt_stream *streams; /* as export_stream_at, then the three below */
	size_t nr_streams;
	struct libipt_stream *head, *rest, *others;
	struct libipt_image *images; /* those of mapped code, not the kernel's; by address */
	size_t nr_images;
	struct outfile *vdso, *kcore; /* or NULL */
	const char *no_vdso; /* there is a [vdso], but no copy: static words */
	bool soft; /* the trace was made by software */
};

/* Each 0 or -errno. */
int libipt_put_images(struct libipt *l);
int libipt_put_cmds(struct libipt *l);
int libipt_put_json(struct libipt *l);

/* Was any trace written? Only once it was. */
bool libipt_has_trace(const struct libipt *l);
/* What became of an image; NULL for one without code. */
const struct libipt_image *libipt_image_of(const struct libipt *l, const struct image *i);
/* The stream that goes with a queue, or NULL. */
const struct libipt_stream *libipt_own(const struct libipt *l, const struct export_queue *q);
/* MTC period of the PT event, -1: no MTC packets, or not known. */
int libipt_mtc(const struct libipt *l);

/* "BASE-images", without BASE. */
#define LIBIPT_IMAGES "-images"
#define LIBIPT_VDSO   "-vdso-x64.so"
#define LIBIPT_KCORE  "-kcore"
#define LIBIPT_CMDS   ".cmds.txt"
#define LIBIPT_JSON   ".json"

#endif
