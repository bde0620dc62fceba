/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that this very CPU carries out in a stopped thread's place: a copy of one runs
 * here, with the thread's general registers, flags and vector registers, and with its memory
 * operand, if it has one, in a buffer of ours. That is how vectors, locks and all that is too rare
 * for op.h are done.
 *
 * Left to the thread itself: whatever knows of more than that, may fault for another reason than
 * its memory, addresses several places, or uses rsp otherwise than in an address.
 */
#ifndef PERFIO_SOFT_STUB_H
#define PERFIO_SOFT_STUB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct soft_access;
struct soft_insn;
struct user_regs_struct;

enum { SOFT_STUB_MAX = 15 }; /* SDM vol. 2A, 2.3.11 */

struct soft_stub {
	/* With the memory operand's address as that of rip, whose four bytes are zero and stand at
	 * `disp`, if `bytes`; the rest is zero, too. */
	uint8_t code[SOFT_STUB_MAX];
	uint8_t len, disp;
	uint8_t bytes;	     /* of memory: up to 64 */
	bool reads : 1, writes : 1;
	bool aligned : 1;    /* would fault elsewhere than at a multiple of `bytes` */
	bool partly : 1;     /* touches only some of the bytes */
	bool whole : 1;	     /* only where the memory is owned (regs.h): as others may see it as
				one, or `partly` */
	bool locked : 1;     /* what it reads and writes is one */
	bool vectors : 1;
};

struct soft_stubs;

/* NULL: no memory, or none that could be run. */
struct soft_stubs *soft_stubs_new(void);
void soft_stubs_free(struct soft_stubs *s); /* NULL is fine */

/* From here to soft_stubs_close(): for a thread that has stopped. */
void soft_stubs_open(struct soft_stubs *s, pid_t tid);
/* Are its vector registers to be written? */
bool soft_stubs_changed(const struct soft_stubs *s);
/* Its vector registers are as they became. 0 or -errno of ptrace(2). */
__attribute__((warn_unused_result))
int soft_stubs_close(struct soft_stubs *s);

/* True: i, of SOFT_STUB, has run, and r says what it did but for rip. False: nothing has changed,
 * and the thread has to do it. */
__attribute__((warn_unused_result))
bool soft_stub_run(struct soft_stubs *s, const struct soft_insn *i, struct user_regs_struct *r,
		   const struct soft_access *m);

#endif
