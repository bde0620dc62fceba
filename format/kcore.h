/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcore_dir/kcore of a recording that is a directory: an ELF core file with a PT_LOAD segment
 * for each piece of kernel code, from which readers take the bytes that were executed (with
 * alternatives, static keys and ftrace's patches applied).
 *
 * Layout: ELF header, program headers, zeros up to a page, then the segments back to back,
 * each a whole number of pages. Addresses are the kernel's.
 * Sources: elf(5); kcore__init() and kcore__add_phdr() in tools/perf/util/symbol-elf.c (6.1).
 */
#ifndef FORMAT_KCORE_H
#define FORMAT_KCORE_H

#include <stddef.h>
#include <stdint.h>

#include "format/buf.h"

#define FMT_KCORE_PAGE 4096u

struct fmt_kcore_segment {
	uint64_t addr, len; /* multiples of FMT_KCORE_PAGE */
};

/* Bytes before the first segment, that is its file offset. */
uint64_t fmt_kcore_head_size(size_t nr_segments);
/* All that stands before the first segment. machine: e_machine, as the running kernel's. 0;
 * -EINVAL a segment that is empty or not whole pages; -EOVERFLOW more segments than e_phnum
 * can say (65534); or buf.err. Nothing is appended after -EINVAL and -EOVERFLOW. */
int fmt_put_kcore_head(struct fmt_buf *b, uint16_t machine, const struct fmt_kcore_segment *s,
		       size_t n);

#endif
