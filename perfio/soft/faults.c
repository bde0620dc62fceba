/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/faults.h"
#include "perfio/soft/remap.h"

#include <dirent.h>
#include <linux/ioctl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux 6.1 include/uapi/linux/userfaultfd.h: USERFAULTFD_IOC_NEW, of /dev/userfaultfd. */
#define IOC_NEW _IO(0xaa, 0x00)

bool soft_faults_made(const struct user_regs_struct *r, bool legacy)
{
	const long nr = (long)r->orig_rax & ~(long)SOFT_X32_BIT;

	if (legacy || (long long)r->rax < 0)
		return false;
	return nr == SYS_userfaultfd || (nr == SYS_ioctl && (uint32_t)r->rsi == IOC_NEW);
}

static bool is_one(int dir, const char *name)
{
	char to[64];
	ssize_t n = readlinkat(dir, name, to, sizeof(to) - 1);

	to[n > 0 ? n : 0] = '\0';
	return !strcmp(to, "anon_inode:[userfaultfd]");
}

bool soft_faults_served(pid_t pid)
{
	bool found = false;
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	if (!d)
		return false;
	while (!found && (e = readdir(d)))
		found = is_one(dirfd(d), e->d_name);
	closedir(d);
	return found;
}
