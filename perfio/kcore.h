/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own code, as it is in memory now: where it lies, from the text of
 * /proc/kallsyms and /proc/modules, and its bytes, from /proc/kcore.
 */
#ifndef PERFIO_KCORE_H
#define PERFIO_KCORE_H

#include <stddef.h>
#include <stdint.h>

#include "perfio/sys.h"

#define PIO_KCORE_PAGE 4096u

struct pio_kcore_area {
	uint64_t addr, len; /* whole pages */
};

struct pio_kcore {
	int fd;
	uint16_t machine; /* e_machine */
	struct pio_kcore_segment {
		uint64_t addr, len, offset;
	} *seg; /* what of memory the file shows */
	size_t nr_seg;
};
#define PIO_KCORE_INIT (struct pio_kcore){ .fd = -1 }

/* 0; -EACCES, -EPERM (the file is root's, and reading needs CAP_SYS_RAWIO and a kernel that
 * is not locked down); -ENOENT (a kernel without it); -EBADMSG (not a 64-bit ELF core file
 * of this byte order); -ENOMEM. */
__attribute__((warn_unused_result))
int pio_kcore_open(struct pio_kcore *ret, const struct pio_sys *sys);
/* Exactly len bytes of kernel memory. 0; -EFAULT when the file does not show them all; or
 * what read(2) said. */
__attribute__((warn_unused_result))
int pio_kcore_read(const struct pio_kcore *k, uint64_t addr, void *buf, size_t len);
void pio_kcore_done(struct pio_kcore *k);

/*
 * Areas that hold code: the kernel's text, modules, code that the kernel made itself (BPF
 * programs, ftrace's trampolines: symbols with a [name]), entry trampolines of Linux 4.15 to
 * 4.20. Ascending, disjoint, small holes between them filled, cut to what k shows. *ret is
 * the caller's to free.
 * 0; -EACCES addresses are hidden (kernel.kptr_restrict); -ENOENT kallsyms has no _stext;
 * -ENXIO k does not show the kernel's text; -ENOMEM.
 */
__attribute__((warn_unused_result))
int pio_kcore_areas(struct pio_kcore_area **ret, size_t *ret_n, const struct pio_kcore *k,
		    const char *kallsyms, const char *modules);

#endif
