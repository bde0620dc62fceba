/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file has the bytes that a recording's mappings hold.
 *
 * Fed with a recording's records (MMAP, MMAP2, HEADER_BUILD_ID) and its BUILD_ID feature; then
 * each image, that is each (name, build id), is looked for, in this order:
 *   DIR/NAME and DIR/.build-id, when a directory was given
 *   NAME itself
 *   what the recorder keeps beside a recording (OUTPUT.jit/code-PID), where that was moved to
 *   ~/.debug/.build-id/xx/yyy... (perf's cache: elf or vdso), /usr/lib/debug/.build-id/xx/yyy...
 *   [vdso]: this machine's own
 *   the kernel, its modules, its BPF programs and trampolines: kcore_dir/kcore of a recording
 *   that is a directory, and nothing else, as only that has the code as it was patched
 * Where the recording tells the build id, a file counts only if it has the same.
 */
#ifndef RECORDER_DECODE_IMAGES_H
#define RECORDER_DECODE_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader.h"

enum image_state {
	IMAGE_FOUND,
	IMAGE_NO_FILE,	/* no file of that name, nor of that build id */
	IMAGE_OTHER_ID, /* a file of that name has another build id, or none */
	IMAGE_NO_CODE,	/* memory that is no file: //anon, [heap], code made at run time */
	IMAGE_NO_KCORE, /* the kernel's, and the recording has no copy of it */
};

enum { IMAGE_ID_MAX = 20 };

struct image {
	const char *name; /* as the first mapping has it */
	bool kernel;	  /* or a module */
	uint8_t id[IMAGE_ID_MAX];
	uint8_t id_size; /* 0: the recording does not tell */
	/* Mappings of code (PROT_EXEC; an MMAP does not say and counts), and their bytes. */
	uint64_t mappings, bytes;

	enum image_state state; /* set by images_find, as all below */
	const char *path;	/* IMAGE_FOUND: can be opened; else NULL. The vdso of this
				   machine is a /proc/self/fd/N while the images live */
	bool checked;		/* the build ids were compared */
	const char *other_path; /* IMAGE_OTHER_ID: what is there instead ... */
	uint8_t other_id[IMAGE_ID_MAX], other_id_size; /* ... and its id, size 0: none */
};

struct images; /* opaque: owns the images */

/* For an option table, `--images=DIR`: target is a const char *. 0, or -EINVAL after a message
 * when there is no such directory: then all that should be in it would look as if missing. */
int images_dir(void *target, const char *arg);

/* recording: the directory a recording is, or NULL; dir: looked into first, or NULL. Both
 * must stay. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int images_new(struct images **ret, const char *recording, const char *dir);
void images_free(struct images *v); /* NULL is fine */
/* The recording's own name, which must stay: beside it lies the code that is in no file. */
void images_beside(struct images *v, const char *recording);

/* A record of any type; those that tell nothing of images are passed over. *ret is the image
 * of an MMAP or MMAP2 of the host, else NULL (also where the record is malformed). The image
 * stays where it is. A file can name 65536 images; further ones share one without a file.
 * 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int images_take(struct images *v, const struct fmt_rec *rec, struct image **ret);
/* The BUILD_ID feature: ids of mappings that have none of their own. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int images_take_feature(struct images *v, const struct fmt_reader *r);
/* Looks for them. Once, when everything was taken. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int images_find(struct images *v);

size_t images_count(const struct images *v);
const struct image *images_at(const struct images *v, size_t i);
/* In words: "found", "no file" ... */
const char *image_words(enum image_state state);

/* A stretch of kernel code in kcore_dir/kcore: bytes at `offset` of the file. */
struct image_kcore {
	uint64_t addr, size, offset;
};
/* The segments, *ret_n of them, and in *ret_path the file; 0 without one. */
size_t images_kcore(const struct images *v, const struct image_kcore **ret,
		    const char **ret_path);

#endif
