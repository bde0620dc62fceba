/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that would raise the rights of who executes them: set-user-ID, set-group-ID, file
 * capabilities. The kernel runs one that is traced without these, unless its tracer has
 * CAP_SYS_PTRACE: Linux 6.12 security/commoncap.c cap_bprm_creds_from_file().
 */
#ifndef PERFIO_SOFT_SETID_H
#define PERFIO_SOFT_SETID_H

#include <stdbool.h>
#include <sys/types.h>

struct soft;

/* Bits: what is missing. */
enum soft_rights {
	SOFT_SETUID = 1,
	SOFT_SETGID = 2,
	SOFT_FILE_CAPS = 4,
	SOFT_UNREADABLE = 8, /* what may not be read cannot be traced: it runs untraced */
	/* Nothing of the above: it has other rights now, or its user may not read it, and the
	 * kernel has ended all events of the process, so that its mappings and switches are not
	 * told (Linux 6.12 fs/exec.c begin_new_exec()). */
	SOFT_UNTOLD = 16,
};

struct soft_withheld {
	pid_t pid;
	unsigned what; /* enum soft_rights */
	dev_t dev;     /* of the file, if it could be seen, or 0 */
	ino_t ino;
	/* Of the file, as the process has it, or the name of the process; during the call. */
	const char *path;
};

/* A process that is traced has executed a program, and has not all of the rights it gives, or is
 * SOFT_UNTOLD. */
typedef void soft_withheld_fn(void *arg, const struct soft_withheld *w);

/* Is a program that this process traces given its rights? */
bool soft_setid_given(void);
/* The rights of the program file `path` that `pid` has not, where nothing else than a tracer
 * would stand against them: bits; 0 also if nobody knows. */
unsigned soft_setid_missing(const char *path, pid_t pid);

/* pid has executed a program, which can be read or not: the function of s's configuration is
 * called if something is missing. */
void soft_setid_look(struct soft *s, pid_t pid, bool readable);

#endif
