/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that hold code which was made at run time. Every fmt_put_* appends and returns nothing:
 * see buf.err.
 *
 * jitdump, what `perf inject --jit` reads: tools/perf/Documentation/jitdump-specification.txt
 * (Linux 6.1). Times are those of the trace's clock, which TIME_CONV converts.
 *
 * A code file: an ELF file (elf(5)) without symbols or segments whose only use is that readers
 * which find a file mapped take its bytes at the offset of the mapping, and its class.
 */
#ifndef FORMAT_JITDUMP_H
#define FORMAT_JITDUMP_H

#include <stddef.h>
#include <stdint.h>

#include "format/buf.h"

void fmt_put_jit_header(struct fmt_buf *b, uint32_t pid, uint64_t ticks);

struct fmt_jit_load {
	uint32_t pid, tid;
	uint64_t ticks;
	uint64_t addr, size;
	uint64_t index; /* of its own in the file */
	const char *name;
	const uint8_t *bytes;
};
void fmt_put_jit_load(struct fmt_buf *b, const struct fmt_jit_load *l);
/* What was loaded with that index is at its address, again (name and bytes are not looked at). */
void fmt_put_jit_again(struct fmt_buf *b, const struct fmt_jit_load *l);

/* The beginning of a code file, FMT_CODE_BEGIN bytes: what comes behind is code. */
enum { FMT_CODE_BEGIN = 4096 };
void fmt_put_code_file(struct fmt_buf *b);

#endif
