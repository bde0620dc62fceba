/* SPDX-License-Identifier: Apache-2.0 */
/* What images.c (which images there are) and imagefind.c (where they lie) share. */
#ifndef RECORDER_DECODE_IMAGES_PRIV_H
#define RECORDER_DECODE_IMAGES_PRIV_H

#include "recorder/decode/images.h"

struct image_row {
	struct image image;
	uint64_t hash;
	char *path, *other_path; /* what the image's pointers show */
	char name[];
};

struct images {
	const char *recording, *dir;
	const char *file; /* the recording, or NULL */
	struct image_row **rows; /* as they came */
	size_t nr, room;
	size_t *slot; /* open addressing: 1 + index in rows, a power of two of them */
	size_t nr_slots;
	struct image_row *rest; /* stands for all beyond the bound */
	/* Ids by name: HEADER_BUILD_ID records and the feature. */
	struct image_told {
		char *name;
		uint8_t id[IMAGE_ID_MAX], size;
	} *told;
	size_t nr_told, room_told;
	struct image_kcore *kcore;
	size_t nr_kcore;
	char *kcore_path;
	int vdso; /* a memfd with a copy of our own, or -1 */
};

/* The kernel's map is called after its reference symbol, the kernel itself is not. */
#define IMAGE_KERNEL "[kernel.kallsyms]"

/* Finds kcore_dir/kcore of the recording. 0 or -ENOMEM: a broken one counts as none. */
int image_kcore_open(struct images *v);
/* Sets state and paths of one. 0 or -ENOMEM. */
int image_find(struct images *v, struct image_row *r);

#endif
