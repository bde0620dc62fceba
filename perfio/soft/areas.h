/* SPDX-License-Identifier: Apache-2.0 */
/* The private mappings of an address space: what only its own threads change. */
#ifndef PERFIO_SOFT_AREAS_H
#define PERFIO_SOFT_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct soft_area {
	uint64_t begin, end;
	bool readable, writable, executable;
	bool fixed; /* code that nobody can write: of a file with a name, or the kernel's */
};

/* { 0 } is empty; in order of addresses. */
struct soft_areas {
	struct soft_area *v;
	size_t nr, cap;
	bool jitdump; /* the program tells of the code that it makes: a jitdump was mapped */
};

/* The lines of /proc/PID/maps, of which fd is a descriptor, one by one; the callee may write into
 * them. False: not all. */
bool soft_maps_each(int fd, void (*take)(void *arg, char *line), void *arg);

void soft_areas_done(struct soft_areas *a);
/* Read anew from /proc/PID/maps, of which fd is a descriptor. What cannot be read is missing. */
void soft_areas_read(struct soft_areas *a, int fd);
/* The one that addr lies in, or NULL. */
const struct soft_area *soft_areas_find(const struct soft_areas *a, uint64_t addr);

#endif
