/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as a directory, which readers of perf.data take like a file:
 *
 *   NAME/data                 the perf.data file
 *   NAME/data.N               more of its records (perf record --threads)
 *   NAME/kcore_dir/kcore      the kernel's code as it was (format/kcore.h)
 *   NAME/kcore_dir/kallsyms   copies of /proc/kallsyms
 *   NAME/kcore_dir/modules    and /proc/modules
 *
 * With it the trace of the kernel decodes: vmlinux has not the bytes that alternatives, static
 * keys and ftrace put into memory. Directories get mode 0700, files 0600.
 */
#ifndef RECORDER_KCOREDIR_H
#define RECORDER_KCOREDIR_H

#include <stdbool.h>
#include <stdint.h>

#include "perfio/sys.h"

/* An empty directory, with an empty kcore_dir where there shall be one; nothing is left when
 * that fails. 0 or -errno. */
__attribute__((warn_unused_result))
int kcoredir_make(const char *path, bool with_kcore);
/* Fill kcore_dir; *ret_bytes is the size of the code. *ret_what, a static string, names what
 * failed ("/proc/kcore", "/proc/kallsyms" ...). 0; -EACCES and -EPERM (not for this user, or
 * addresses are hidden); -ENOENT; -EBUSY modules kept coming and going; other -errno. */
__attribute__((warn_unused_result))
int kcoredir_fill(const char *path, const struct pio_sys *sys, uint64_t *ret_bytes,
		  const char **ret_what);
/* The same files as another recording has (hard links), in an empty kcore_dir. 0 or -errno: then
 * it is empty again. */
__attribute__((warn_unused_result))
int kcoredir_link(const char *path, const char *from);
/* The same with copies, of what there is: in a kcore_dir that is made where the other recording
 * has one. 0 or -errno. */
__attribute__((warn_unused_result))
int kcoredir_copy(const char *path, const char *from);
/* Is it a directory with a `data` and nothing else but data.N and a kcore_dir? */
bool kcoredir_is(const char *path);
/* Remove the files named above, and the directories if nothing else is in them. 0 or what
 * rmdir(2) said (-ENOTEMPTY). */
int kcoredir_remove(const char *path);

#endif
