/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address spaces as libipt wants them: for a process and a time an image whose sections are
 * the files that were mapped then, and the kernel's code from a recording's kcore. The spaces
 * of a few processes are kept and follow the time as it goes on.
 *
 * For one thread; each decoding thread has its own.
 */
#ifndef RECORDER_DECODE_SPACES_H
#define RECORDER_DECODE_SPACES_H

#include <intel-pt.h>
#include <stdint.h>

#include "recorder/decode/images.h"
#include "recorder/decode/tasks.h"

struct spaces;

/* tasks are sorted, images found; both must stay. 0 or -ENOMEM. */
int spaces_new(struct spaces **ret, const struct tasks *tasks, const struct images *images);
void spaces_free(struct spaces *v); /* NULL is fine */

/* The image of a process at a time; good until the next call. It may change from *ret_until
 * on. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int spaces_at(struct spaces *v, uint32_t pid, uint64_t time, struct pt_image **ret,
	      uint64_t *ret_until);
/* Set by libipt's reading of an address that no section of the last image covers; 0 none
 * since it was last set to 0. */
uint64_t *spaces_hole(struct spaces *v);
/* What the last image has at an address: an image without a file, or NULL where nothing is
 * mapped. */
const struct image *spaces_find(const struct spaces *v, uint64_t ip);

#endif
