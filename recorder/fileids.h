/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build ids of mapped files, asked for again and again as processes map the same files. A
 * file is opened once, for as long as it stays what it was.
 *
 * An id counts only if the file that is found is the one that was mapped: same device, inode
 * and, where the file system tells it, generation. Any other id would be worse than none:
 * readers refuse symbols by it.
 */
#ifndef RECORDER_FILEIDS_H
#define RECORDER_FILEIDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perfio/buildid.h"
#include "perfio/sys.h"

struct fileids; /* opaque: a cache of bounded size */

/* A mapping as /proc/PID/maps or an MMAP2 record tells of it. */
struct fileids_key {
	uint64_t start, len;
	uint64_t ino, ino_generation; /* generation 0: not known */
	uint32_t maj, min;
	const char *name;
};

int fileids_new(struct fileids **ret); /* 0 or -ENOMEM */
void fileids_free(struct fileids *f);  /* NULL is fine */

/*
 * The id of the file behind a mapping of process pid: seen through the mapping itself, else by
 * its path below the process's root, else by its path in ours, where the process is gone.
 * [vdso] of a 64-bit process has that of our own. Returns the size of the id (1..20); 0: none
 * to be had, *ret is untouched.
 */
size_t fileids_get(struct fileids *f, const struct pio_sys *sys, pid_t pid,
		   const struct fileids_key *k, uint8_t ret[PIO_BUILD_ID_MAX]);

#endif
