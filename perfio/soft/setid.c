/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/setid.h"
#include "perfio/soft/tracer.h"

#include <elf.h>
#include <endian.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Of a process: proc(5), /proc/PID/status. */
struct rights {
	unsigned euid, egid, no_new_privs;
	unsigned long long caps, bound, effective;
};

static bool read_rights(pid_t pid, struct rights *ret)
{
	struct rights r = { 0 };
	char path[64], line[256];
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		found += sscanf(line, "Uid: %*u %u", &r.euid) == 1 ||
			 sscanf(line, "Gid: %*u %u", &r.egid) == 1 ||
			 sscanf(line, "CapPrm: %llx", &r.caps) == 1 ||
			 sscanf(line, "CapEff: %llx", &r.effective) == 1 ||
			 sscanf(line, "CapBnd: %llx", &r.bound) == 1 ||
			 sscanf(line, "NoNewPrivs: %u", &r.no_new_privs) == 1;
	fclose(f);
	*ret = r;
	return found == 6;
}

bool soft_setid_given(void)
{
	struct rights r;

	return read_rights(getpid(), &r) && r.effective >> CAP_SYS_PTRACE & 1;
}

/* Capabilities that the file gives: capabilities(7), "File capability extended attribute
 * versioning". Those for the root of another user namespace (version 3) are not ours. */
static uint64_t file_caps(const char *path)
{
	struct vfs_ns_cap_data d = { 0 };
	ssize_t n = getxattr(path, "security.capability", &d, sizeof(d));
	uint32_t version = le32toh(d.magic_etc) & VFS_CAP_REVISION_MASK;

	if (n == XATTR_CAPS_SZ_2 && version == VFS_CAP_REVISION_2)
		return le32toh(d.data[0].permitted) |
		       (uint64_t)le32toh(d.data[1].permitted) << 32;
	if (n == XATTR_CAPS_SZ_1 && version == VFS_CAP_REVISION_1)
		return le32toh(d.data[0].permitted);
	return 0;
}

static bool gives_group(const struct stat *st)
{
	return (st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
}

static bool same_users(pid_t pid)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return !stat("/proc/self/ns/user", &ours) && !stat(path, &theirs) &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

unsigned soft_setid_missing(const char *path, pid_t pid)
{
	struct statvfs fs;
	struct stat st;
	struct rights r;
	unsigned what = 0;

	if (stat(path, &st) || statvfs(path, &fs) || fs.f_flag & ST_NOSUID ||
	    !read_rights(pid, &r) || r.no_new_privs || !same_users(pid))
		return 0;
	if (st.st_mode & S_ISUID && st.st_uid != r.euid)
		what |= SOFT_SETUID;
	if (gives_group(&st) && st.st_gid != r.egid)
		what |= SOFT_SETGID;
	if (file_caps(path) & r.bound & ~r.caps)
		what |= SOFT_FILE_CAPS;
	return what;
}

static void tell(struct soft *s, pid_t pid, unsigned what, const char *exe)
{
	struct soft_withheld w = { .pid = pid, .what = what };
	char name[PATH_MAX], comm[64];
	struct stat st;
	ssize_t n;
	FILE *f;

	if (!stat(exe, &st)) {
		w.dev = st.st_dev;
		w.ino = st.st_ino;
	}
	n = readlink(exe, name, sizeof(name) - 1);
	if (n < 0) {
		snprintf(comm, sizeof(comm), "/proc/%d/comm", (int)pid);
		f = fopen(comm, "re");
		n = f && fgets(name, sizeof(name), f) ? (ssize_t)strcspn(name, "\n") : 0;
		if (f)
			fclose(f);
	}
	name[n] = '\0';
	w.path = name;
	s->cfg.withheld(s->cfg.withheld_arg, &w);
}

/* Linux 6.12 security/commoncap.c: what the kernel tells of raised rights is what it goes by. */
static bool is_secure(pid_t pid)
{
	uint64_t aux[2] = { AT_SECURE, 0 };
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	do
		if (fread(aux, sizeof(aux), 1, f) != 1)
			break;
	while (aux[0] != AT_SECURE && aux[0] != AT_NULL);
	fclose(f);
	return aux[0] == AT_SECURE && aux[1];
}

/* Who may not read a program cannot dump it: its files in /proc are not its user's then (Linux 6.12
 * fs/proc/base.c task_dump_owner()). */
static bool is_hidden(pid_t pid)
{
	struct rights r;
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return !stat(path, &st) && read_rights(pid, &r) && st.st_uid != r.euid;
}

static void look_untold(struct soft *s, pid_t pid, const char *exe)
{
	if (!is_secure(pid) && !is_hidden(pid))
		return;
	s->stats.untold++;
	if (s->cfg.withheld)
		tell(s, pid, SOFT_UNTOLD, exe);
}

void soft_setid_look(struct soft *s, pid_t pid, bool readable)
{
	unsigned what = readable ? 0 : SOFT_UNREADABLE;
	char exe[64];

	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	if (soft_setid_given()) {
		look_untold(s, pid, exe);
		return;
	}
	what |= soft_setid_missing(exe, pid);
	s->stats.withheld += (what & ~(unsigned)SOFT_UNREADABLE) != 0;
	if (what && s->cfg.withheld)
		tell(s, pid, what, exe);
}
