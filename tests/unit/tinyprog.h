/* SPDX-License-Identifier: Apache-2.0 */
/* Static programs of a few instructions, written as ELF files when a test wants them. */
#ifndef TESTS_UNIT_TINYPROG_H
#define TESTS_UNIT_TINYPROG_H

enum tinyprog {
	TINY_FLOW,	 /* all kinds of branches; exits with 0 if it sees no trap flag */
	TINY_SIGNALS,	 /* exits with the number of handlers run: 5 */
	TINY_FORK,	 /* exits with its child's 3 */
	TINY_EXEC,	 /* vfork, and the child executes itself anew: 7 */
	TINY_THREADS,	 /* exits with 4 while the other thread, having mapped, spins */
	TINY_THREADEXEC, /* the second thread executes itself anew: 7 */
	TINY_SLEEP,	 /* sleeps 200 ms, exits with 6 */
	TINY_SPIN,	 /* counts to 2^27, exits with 6 */
	TINY_FOREVER,	 /* spins in a loop of one conditional branch */
	TINY_32,	 /* of 32 bits: exits with 5 */
	TINY_TO_32,	 /* executes the file named by argv[1] */
};

/* Write the program to path. 0 or -errno. */
int tinyprog_write(const char *path, enum tinyprog which);

#endif
