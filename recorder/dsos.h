/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mapped files of a recording and their build ids: fed by the synthesised records and by
 * the kernel's MMAP2 records as they pass, written as the BUILD_ID feature. Each (name,
 * build id) stands once.
 */
#ifndef RECORDER_DSOS_H
#define RECORDER_DSOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/feature.h"
#include "perfio/sys.h"

struct dsos; /* opaque: a hash set that owns its strings */

int dsos_new(struct dsos **ret); /* 0 or -ENOMEM */
void dsos_free(struct dsos *d);	 /* NULL is fine */

/* misc: FMT_MISC_KERNEL or FMT_MISC_USER. Names of memory that is no file ("//anon", "[heap]",
 * "[stack]", "/dev/zero", "/memfd:...", "anon_inode:...", "/SYSV...") are none; [vdso] is. */
bool dsos_is_file(uint16_t misc, const char *name);
/* size 0: not known yet. Names that are no file are not taken; [vdso] is, with its own id.
 * 0 or -ENOMEM. */
int dsos_add(struct dsos *d, uint16_t misc, const char *name, const uint8_t *id, size_t size);

/* A PERF_RECORD_MMAP2 or MMAP as it lies in a ring or file (`size` bytes, header first):
 * takes name and, where it carries one, build id. Malformed ones are ignored. 0 or -ENOMEM. */
int dsos_add_record(struct dsos *d, const uint8_t *rec, size_t size);

/* Look up what is still missing on disk (by path; [vdso] from our own copy), then hand out
 * rows for fmt_features.build_ids; the memory stays with d until the next call. Files without
 * a build id are left out. */
int dsos_rows(struct dsos *d, const struct pio_sys *sys, const struct fmt_build_id **ret,
	      size_t *ret_n);

#endif
