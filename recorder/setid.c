/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/setid.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <paths.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/cmd.h"
#include "recorder/config.h"
#include "recorder/hash.h"
#include "recorder/line.h"
#include "recorder/log.h"

/* "set-user-ID and set-group-ID rights" */
static const char *rights(struct line *l, unsigned what)
{
	static const struct {
		unsigned bit;
		const char *name;
	} all[] = {
		{ SOFT_SETUID, "set-user-ID" },
		{ SOFT_SETGID, "set-group-ID" },
		{ SOFT_FILE_CAPS, "file capability" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (what & all[i].bit)
			line_add(l, "%s%s", l->n ? " and " : "", all[i].name);
	line_add(l, " rights");
	return l->s;
}

/* ---- the command ---- */

static bool is_program(const char *path)
{
	struct stat st;

	return !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* As execvp(3) finds it. False: it will say so itself. */
static bool find(const char *name, char ret[PATH_MAX])
{
	const char *path = getenv("PATH");
	size_t n;

	if (strchr(name, '/')) {
		snprintf(ret, PATH_MAX, "%s", name);
		return is_program(ret);
	}
	for (path = path ? path : _PATH_STDPATH; ; path += n + 1) {
		n = strcspn(path, ":");
		snprintf(ret, PATH_MAX, "%.*s/%s", n ? (int)n : 1, n ? path : ".", name);
		if (is_program(ret))
			return true;
		if (!path[n])
			return false;
	}
}

/* Of a script the interpreter counts. */
static unsigned missing(const char *path)
{
	unsigned char magic[SELFMAG] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return errno == EACCES ? SOFT_UNREADABLE : 0;
	n = read(fd, magic, sizeof(magic));
	(void)close(fd);
	if (n != sizeof(magic) || memcmp(magic, ELFMAG, SELFMAG))
		return 0;
	return soft_setid_missing(path, getpid());
}

static void hint_root(void)
{
	log_hint("start the program by itself, and attach to it as root: sudo auxrec record "
		 "--source=soft -p PID");
}

int setid_check(const struct rec_config *cfg)
{
	char path[PATH_MAX];
	struct line l = { 0 };
	unsigned what;

	if (!cfg->follow || soft_setid_given() || !find(cfg->command[0], path))
		return 0;
	what = missing(path);
	if (!what)
		return 0;
	if (what == SOFT_UNREADABLE)
		log_err(0, "cannot trace '%s': you may execute it, but not read it, and the kernel "
			   "shows nobody what he may not read", path);
	else
		log_err(0, "cannot trace '%s': the kernel runs it without its %s when a user "
			   "without CAP_SYS_PTRACE traces it", path, rights(&l, what));
	hint_root();
	if (what != SOFT_UNREADABLE)
		log_hint("to trace it without these rights: auxrec record ... -- env %s", path);
	return EXIT_CANNOT;
}

/* ---- what is executed later ---- */

/* Of one that cannot be seen the name must do. */
static struct setid_file file_of(const struct soft_withheld *w)
{
	if (w->dev)
		return (struct setid_file){ w->dev, w->ino };
	return (struct setid_file){ 0, (ino_t)hash_bytes(HASH_INIT, w->path, strlen(w->path)) };
}

/* False: it was told, or there were too many. */
static bool is_new(struct setid *s, const struct soft_withheld *w)
{
	const struct setid_file f = file_of(w);

	for (size_t i = 0; i < s->nr; i++)
		if (s->told[i].dev == f.dev && s->told[i].ino == f.ino)
			return false;
	if (s->nr == SETID_TOLD_MAX)
		return false;
	s->told[s->nr++] = f;
	return true;
}

void setid_tell(void *arg, const struct soft_withheld *w)
{
	struct setid *s = arg;
	struct line l = { 0 }, name = { 0 };

	if (!is_new(s, w))
		return;
	line_add(&name, "%s", w->path);
	line_make_safe(&name);
	if (w->what & SOFT_UNTOLD) {
		log_warn("'%s' (process %d) has raised its rights, or may not be read by its user: "
			 "the kernel tells no more of its mappings, without which its trace cannot "
			 "be decoded", name.s, (int)w->pid);
		log_hint("attach to it when it runs: auxrec record --source=soft -p PID");
		return;
	}
	if (w->what & SOFT_UNREADABLE)
		log_warn("process %d (%s) executes a program that may not be read by you: it runs "
			 "untraced, and without rights that it would be given", (int)w->pid,
			 name.s);
	else
		log_warn("'%s' (process %d) runs without its %s, because it is traced", name.s,
			 (int)w->pid, rights(&l, w->what));
	if (s->nr == 1)
		hint_root();
}
