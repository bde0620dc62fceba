/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions by name: of an ELF file (elfsym.c) or of the running kernel (kallsyms.c).
 */
#ifndef PERFIO_SYMTAB_H
#define PERFIO_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfio/sys.h"

struct pio_sym {
	uint64_t at;   /* offset in the file, or address in the kernel */
	uint64_t size; /* 0: nothing tells it */
	char *name;
	char kind; /* ELF: 'g' global, 'l' local, 'w' weak; kernel: as in /proc/kallsyms */
	bool global;
};

struct pio_symtab {
	struct pio_sym *sym; /* by address, then name; each pair once */
	size_t n;
	uint64_t start, end; /* all of it: the file's bytes, or the kernel's functions */
};

/*
 * The functions of an ELF file, with labels that stand in code: from its .symtab, else from
 * the .symtab of its debug file (DEBUG/.build-id/12/3456.debug; debug NULL:
 * "/usr/lib/debug"), else from its .dynsym. A function without a size ends where the next one
 * begins, or with its segment. Names are as the file has them, not demangled, but for a
 * default version ("@@V2"), which is cut off.
 * 0 (n may be 0); -ENOEXEC not an ELF file; -ENOMEM; -errno of opening it.
 */
__attribute__((warn_unused_result))
int pio_symtab_elf(struct pio_symtab *ret, const char *path, const char *debug);
/*
 * The functions of the kernel and its modules, from /proc/kallsyms. One ends where the next
 * symbol of any kind begins, so the last has no size.
 * 0; -EACCES addresses are hidden (kernel.kptr_restrict); -ENOENT there are none; -ENOMEM;
 * -errno of reading it.
 */
__attribute__((warn_unused_result))
int pio_symtab_kernel(struct pio_symtab *ret, const struct pio_sys *sys);
void pio_symtab_done(struct pio_symtab *t);

/* For the two: append (takes the name, also when it fails: -ENOMEM) and put in order. */
int pio_symtab_add(struct pio_symtab *t, size_t *cap, const struct pio_sym *s);
void pio_symtab_sort(struct pio_symtab *t);

#endif
