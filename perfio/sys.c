/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int kernel_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		       unsigned long flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
			  flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int kernel_ioctl(int fd, unsigned long request, uintptr_t arg)
{
	int rc = ioctl(fd, request, arg);

	return rc < 0 ? -errno : rc;
}

static int kernel_mmap(void **ret, size_t len, int prot, int fd, off_t off)
{
	void *p = mmap(NULL, len, prot, MAP_SHARED, fd, off);

	if (p == MAP_FAILED)
		return -errno;
	*ret = p;
	return 0;
}

static int kernel_munmap(void *p, size_t len)
{
	return munmap(p, len) ? -errno : 0;
}

static ssize_t kernel_read(int fd, void *buf, size_t len)
{
	ssize_t n = read(fd, buf, len);

	return n < 0 ? -errno : n;
}

static int kernel_close(int fd)
{
	return close(fd) ? -errno : 0;
}

const struct pio_sys pio_kernel = {
	.open = kernel_open,
	.ioctl = kernel_ioctl,
	.mmap = kernel_mmap,
	.munmap = kernel_munmap,
	.read = kernel_read,
	.close = kernel_close,
	.proc = "/proc",
	.sysfs = "/sys",
	.tracefs = "/sys/kernel/tracing",
};

__attribute__((format(printf, 1, 0)))
static int open_path(const char *path, va_list ap)
{
	char name[PATH_MAX];
	int fd, n = vsnprintf(name, sizeof(name), path, ap);

	if (n < 0 || (size_t)n >= sizeof(name))
		return -ENAMETOOLONG;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static ssize_t read_some(int fd, char *buf, size_t len)
{
	ssize_t n;

	do
		n = kernel_read(fd, buf, len);
	while (n == -EINTR);
	return n;
}

/* Pseudo files have no size of their own: read until there is no more. One byte more than
 * `max` is room enough to see that a file is too big. */
static int read_all(int fd, char **ret, size_t *ret_len, size_t max)
{
	size_t len = 0, room = 0;
	char *buf = NULL, *more;
	ssize_t n;

	do {
		if (room - len < 2) {
			room = room ? 2 * room : 4096;
			more = realloc(buf, room);
			if (!more) {
				n = -ENOMEM;
				break;
			}
			buf = more;
		}
		n = read_some(fd, buf + len, room - len - 1);
		if (n > 0)
			len += (size_t)n;
		if (len > max)
			n = -EFBIG;
	} while (n > 0);
	if (n < 0) {
		free(buf);
		return (int)n;
	}
	buf[len] = '\0';
	*ret = buf;
	*ret_len = len;
	return 0;
}

int pio_read_file(char **ret, size_t *ret_len, size_t max, const char *path, ...)
{
	va_list ap;
	int fd, err;

	va_start(ap, path);
	fd = open_path(path, ap);
	va_end(ap);
	if (fd < 0)
		return fd;
	err = read_all(fd, ret, ret_len, max);
	close(fd);
	return err;
}

__attribute__((format(printf, 3, 0)))
static ssize_t vread_line(char *buf, size_t size, const char *path, va_list ap)
{
	int fd = open_path(path, ap);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read_some(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return n;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return (ssize_t)strlen(buf);
}

ssize_t pio_read_line(char *buf, size_t size, const char *path, ...)
{
	va_list ap;
	ssize_t n;

	va_start(ap, path);
	n = vread_line(buf, size, path, ap);
	va_end(ap);
	return n;
}

int pio_read_u64(uint64_t *ret, const char *path, ...)
{
	char line[64], *end;
	unsigned long long v;
	va_list ap;
	ssize_t n;

	va_start(ap, path);
	n = vread_line(line, sizeof(line), path, ap);
	va_end(ap);
	if (n < 0)
		return (int)n;
	/* strtoull takes signs and blanks, and reads a leading 0 as octal; we do not. */
	if (line[0] < '0' || line[0] > '9')
		return -EINVAL;
	errno = 0;
	v = strtoull(line, &end, line[1] == 'x' ? 16 : 10);
	if (errno || *end)
		return -EINVAL;
	*ret = v;
	return 0;
}
