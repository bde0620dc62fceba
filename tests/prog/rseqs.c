/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A restartable sequence (rseq(2)) with branches in it, 300 times to its end: whoever is taken
 * off its cpu within one begins it anew. Who is stopped at every branch never comes to an end.
 */
#include <stdio.h>
#include <sys/rseq.h>

static long counter;

/* Linux 6.1 include/uapi/linux/rseq.h: struct rseq_cs; the signature stands before the handler. */
static int add_one(struct rseq *r)
{
	int done;

	__asm__ volatile(".pushsection .data.rseq_cs, \"aw\"\n"
			 ".balign 32\n"
			 "3: .long 0, 0\n"
			 ".quad 1f, 2f - 1f, 4f\n"
			 ".popsection\n"
			 "lea 3b(%%rip), %%rax\n"
			 "mov %%rax, %[cs]\n"
			 "1: cmpl %[cpu], %[now]\n"
			 "jne 4f\n"
			 "mov %[counter], %%rax\n"
			 "test $1, %%al\n"
			 "jz 5f\n"
			 "nop\n"
			 "5: add $1, %%rax\n"
			 "mov %%rax, %[counter]\n"
			 "2: mov $1, %[done]\n"
			 "jmp 6f\n"
			 ".byte 0x0f, 0xb9, 0x3d\n"
			 ".long 0x53053053\n"
			 "4: xor %[done], %[done]\n"
			 "6:\n"
			 : [done] "=&r"(done), [cs] "=m"(r->rseq_cs), [counter] "+m"(counter)
			 : [cpu] "r"(r->cpu_id_start), [now] "m"(r->cpu_id)
			 : "rax", "cc", "memory");
	return done;
}

int main(void)
{
	struct rseq *r = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	long aborted = 0;

	for (int i = 0; i < 300; i++) {
		if (!__rseq_size) /* the kernel has none */
			counter++;
		else
			while (!add_one(r))
				aborted++;
	}
	printf("counted to %ld\n", counter);
	return aborted < 300 ? 9 : 1;
}
