/* SPDX-License-Identifier: Apache-2.0 */
/* One address space of a traced program, shared by all threads that live in it. */
#ifndef PERFIO_SOFT_MEM_H
#define PERFIO_SOFT_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct soft_insn;

struct soft_range {
	uint64_t begin, end;
};

struct soft_mem {
	unsigned refs;
	int mem_fd, maps_fd; /* both stay with this address space across an execve */
	uint32_t gen;	     /* counts changes of mappings; never 0 */
	uint32_t code_gen;   /* gen at which `code` was read */
	struct soft_range *code;
	size_t nr_code, cap_code;
	struct soft_insn *cache; /* insn.c's */
};

/* 0 or -errno of open(2), -ENOMEM. */
__attribute__((warn_unused_result))
int soft_mem_open(struct soft_mem **ret, pid_t pid);
struct soft_mem *soft_mem_get(struct soft_mem *m);
void soft_mem_put(struct soft_mem *m); /* NULL is fine */

/* Bytes read or written; fewer than n at the end of what is mapped. */
size_t soft_mem_read(const struct soft_mem *m, uint64_t addr, void *p, size_t n);
size_t soft_mem_write(const struct soft_mem *m, uint64_t addr, const void *p, size_t n);

/* A thread has changed mappings. */
void soft_mem_changed(struct soft_mem *m);
/* Code at addr cannot change without soft_mem_changed(): private, read-only, of a file. */
bool soft_mem_is_fixed(struct soft_mem *m, uint64_t addr);

#endif
