/* SPDX-License-Identifier: Apache-2.0 */
/* One address space of a traced program, shared by all threads that live in it. */
#ifndef PERFIO_SOFT_MEM_H
#define PERFIO_SOFT_MEM_H

#include "perfio/soft/areas.h"
#include "perfio/soft/filter.h"
#include "perfio/soft/plants.h"
#include "perfio/soft/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct soft_insn;
struct soft_run;

struct soft_mem {
	unsigned refs;
	uint64_t serial; /* no two have the same */
	int mem_fd, maps_fd; /* both stay with this address space across an execve */
	uint32_t gen;	     /* counts changes of mappings */
	uint64_t gen_time;   /* virtual TSC by which it was counted */
	uint32_t code_gen;   /* those of them that may concern code; never 0 */
	struct soft_areas areas;
	uint32_t areas_gen, areas_code_gen; /* as of which they were read */
	struct soft_ranges altered; /* may be other than what readers know to be mapped */
	uint64_t code_time;  /* virtual TSC when code_gen was last counted; 0: unknown */
	struct soft_insn *cache; /* insn.c's */
	struct soft_run *runs;	 /* runs.c's */
	struct soft_pages *pages; /* code.c's */
	struct soft_plants plants;
	struct soft_sites sites; /* filter.c's */
	uint32_t fence_gen;	 /* fence.c's: code_gen of which the entries are, */
	bool unfenced;		 /* of which some cannot be planted */
	bool fenced;		 /* all are planted, and nobody is stepped */
	bool stepped; /* nothing is to be planted here any more */
};

/* 0 or -errno of open(2), -ENOMEM. */
__attribute__((warn_unused_result))
int soft_mem_open(struct soft_mem **ret, pid_t pid);
struct soft_mem *soft_mem_get(struct soft_mem *m);
void soft_mem_put(struct soft_mem *m); /* NULL is fine */

/* A forked child's, still empty: it has its parent's plants. `shared`: so has somebody else
 * than the parent, who may have planted since. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int soft_mem_inherit(struct soft_mem *m, const struct soft_mem *parent, bool shared);

/* Bytes read or written, of the program as it is without us; fewer than n at the end of what
 * is mapped. */
size_t soft_mem_read(const struct soft_mem *m, uint64_t addr, void *p, size_t n);
size_t soft_mem_write(const struct soft_mem *m, uint64_t addr, const void *p, size_t n);

/* Does a change of what is mapped in [begin, end) concern code? */
bool soft_mem_holds_code(const struct soft_mem *m, uint64_t begin, uint64_t end);
/* A thread has changed what is mapped in [begin, end); `code`: into something that may run.
 * What was there may have been moved, by `by`. */
void soft_mem_changed(struct soft_mem *m, uint64_t begin, uint64_t end, bool code, uint64_t by);
/* What is known about runs of code is out of date. */
void soft_mem_renew(struct soft_mem *m);
/* Code at addr cannot change without soft_mem_changed(), and is as its file has it: private,
 * read-only, not written to. */
bool soft_mem_is_fixed(struct soft_mem *m, uint64_t addr);
/* The private mapping that addr lies in, or NULL; until something else is asked. */
const struct soft_area *soft_mem_private(struct soft_mem *m, uint64_t addr);

#endif
