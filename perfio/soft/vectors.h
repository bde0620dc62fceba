/* SPDX-License-Identifier: Apache-2.0 */
/* The vector registers of a stopped thread, fetched when one of them is wanted. */
#ifndef PERFIO_SOFT_VECTORS_H
#define PERFIO_SOFT_VECTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Room for what the kernel hands out (SDM vol. 1, 13.4: 11 KiB with all that is known), less than
 * all of this. */
enum { SOFT_VECTORS_ROOM = 16384 };

struct soft_vectors {
	_Alignas(64) uint8_t area[SOFT_VECTORS_ROOM]; /* as XSAVE writes it */
	pid_t tid;
	size_t size; /* of `area`; 0: not fetched */
	bool refused, changed;
};

/* From here to soft_vectors_put(): of a thread that has stopped. */
void soft_vectors_of(struct soft_vectors *v, pid_t tid);
/* `area` is what they are. False: they are not to be had, or what they do may fault (an exception
 * of MXCSR is not masked). */
__attribute__((warn_unused_result))
bool soft_vectors_get(struct soft_vectors *v);
/* The thread's are as `area`, if that is `changed`. 0 or -errno of ptrace(2). */
__attribute__((warn_unused_result))
int soft_vectors_put(struct soft_vectors *v);

#endif
