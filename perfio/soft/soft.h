/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The software source: a program is traced with ptrace(2), and what an Intel PT unit would
 * have written about its branches is written here, one queue of trace bytes per thread.
 *
 * User space only. Packet sequences: Intel SDM vol. 3, chapter 33 (Intel Processor Trace);
 * bytes are made by libipt's encoder.
 *
 * All calls must come from the thread that called soft_start() or soft_attach() first.
 * The caller alternates soft_run() and the draining of queues; nothing runs behind its back.
 *
 * A thread runs up to the next branch, where a breakpoint (int3) stands. The branch is carried out
 * in its registers, and so is all that follows up to an instruction that only the thread can run:
 * one of the kernel, or whose memory others see, too, or that is as rare as cpuid. Breakpoints are
 * for code of files that the program cannot write, and has not written; in other code, and with
 * `step` everywhere, those are stepped.
 *
 * What a program can notice: it runs hundreds of times slower (with `step`, thousands), so that
 * its timers fire early; with `pin` it has one cpu (with `per_cpu`, each thread has one); where it
 * reads its own code it sees the breakpoints; restartable sequences (rseq) abort at a stop within
 * them. Of a loop of direct jumps alone nothing is written, as by the real unit: a reader does not
 * learn how often it went round.
 */
#ifndef PERFIO_SOFT_SOFT_H
#define PERFIO_SOFT_SOFT_H

#include "perfio/soft/code.h"
#include "perfio/soft/pt.h"
#include "perfio/soft/setid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct soft;
struct soft_lifeline;

/* perf's address filters. */
enum soft_filter_kind {
	SOFT_FILTER_RANGE,     /* what is in one is traced; without any, all is */
	SOFT_FILTER_START,     /* from there on; a program with such begins untraced */
	SOFT_FILTER_STOP,      /* up to there */
	SOFT_FILTER_TRACESTOP, /* who comes there is not traced any more */
};

struct soft_filter {
	enum soft_filter_kind kind;
	uint64_t at, size; /* bytes of the file; START, STOP: size 0 */
	/* Of the file; its path counts, too, where a file system has numbers of two kinds. */
	dev_t dev;
	ino_t ino;
	const char *path;
};

struct soft_config {
	/* Clock of the virtual TSC: CLOCK_MONOTONIC_RAW in ns, or rdtsc where the kernel
	 * gives a conversion. TSC packets hold its low 56 bits. */
	bool use_rdtsc;
	struct soft_pt_config pt; /* psb_bytes: 2048..1 MiB */
	bool ptwrite; /* carry out ptwrite where the CPU does not know it */
	/* Flight recording: of each queue, at least the newest so many bytes are kept and not
	 * much more; what is older is forgotten. 0: all is kept for the caller to drain. */
	size_t window;
	bool pin;	    /* keep tracer and traced threads on one cpu */
	bool step;	    /* stop at every instruction */
	bool paused;	    /* begin as after soft_pause() */
	/* After so many instructions of all threads together nothing more is traced; 0: no end. */
	uint64_t max_instructions;
	const struct soft_filter *filter; /* the caller's, as long as the source lives */
	size_t nr_filters;
	bool note_stops;    /* for soft_notes_peek(), */
	bool per_cpu;	    /* where changes of cpus are, too: a queue for each cpu */
	/* Gets the code that is not that of files, while soft_run() is at work; or NULL. */
	soft_code_fn *code;
	void *code_arg;
	/* Hears, at the same time, of programs that run without rights because they are traced;
	 * or NULL. */
	soft_withheld_fn *withheld;
	void *withheld_arg;
	/* Of a process that outlives this one (lifeline.h), or NULL. */
	struct soft_lifeline *lifeline;
	/* Test oracle: directory that receives PID.TID files of executed addresses, u64
	 * little-endian each, or NULL. A file is complete when its thread has ended or is
	 * let go. */
	const char *ip_log;
};

struct soft_stats {
	uint64_t instructions, stops, signals, threads, processes;
	uint64_t runs, steps; /* how often a thread was told to run on, or to step */
	uint64_t shadowed;     /* instructions whose trap was swallowed, accounted for */
	uint64_t unexplained;  /* steps that no rule explains; each ends a stretch of trace */
	uint64_t refused;      /* programs run unstepped: of 32 bits, or not readable */
	uint64_t withheld;     /* programs that ran without their rights (setid.h) */
	uint64_t untold;       /* programs of whose mappings the kernel does not tell (setid.h) */
	uint64_t traced_ticks; /* of the TSC, while something was traced (pace.h) */
	uint64_t live;	       /* threads alive now */
	uint64_t trace_bytes;  /* bytes produced so far */
	uint64_t dropped;      /* bytes given up for want of memory */
	uint64_t code_kept;    /* pages of code that was handed out, ... */
	uint64_t code_lost;    /* ... and how often one was met that could not be */
	uint64_t forgotten;    /* threads that ended with a window that was given up for others' */
};

/* With a window: threads that have ended keep theirs, up to so many windows in all; those that
 * ended first are forgotten first. Their queues are empty then, and of no thread. */
enum { SOFT_DEAD_WINDOWS = 16 };

/* 0, -ENOMEM, -EINVAL (pt), -ENOTSUP (not x86-64). */
__attribute__((warn_unused_result))
int soft_new(struct soft **ret, const struct soft_config *c);
/* What is left of a child of ours is killed, what was attached to is detached. NULL is fine. */
void soft_free(struct soft *s);

/* Seize `child`, which is a child of ours that still waits before its execve. Tracing
 * begins with the first instruction after the execve. 0 or -errno of ptrace(2). */
__attribute__((warn_unused_result))
int soft_start(struct soft *s, pid_t child);

/* Trace a process that runs, and what it will start; for several of them call it again, not after
 * soft_start(). Threads that run are stopped where they are; one that sleeps in a system call is
 * not disturbed, and traced from its return on. A thread of the source's own becomes the tracer:
 * soft_detach() leaves the process as it was, and while it is traced nothing kills it but what
 * kills the tracer.
 * 0, -EPERM (ptrace(2) says when), -ESRCH (no thread is left), -EACCES (its memory), -ENOMEM. */
__attribute__((warn_unused_result))
int soft_attach(struct soft *s, pid_t pid);

enum soft_state {
	SOFT_BUSY, /* budget used up: call again soon */
	SOFT_IDLE, /* every thread sleeps in the kernel: call after SIGCHLD, or later */
	SOFT_DONE, /* no traced thread is left */
	SOFT_FULL, /* max_instructions were traced, no more will be: time for soft_detach() */
};
/* Handle up to `max_stops` stops, at most about `max_ns` long. Waits only for threads that
 * run user code, which stop after some instructions (or as soon as the page is there that one
 * touches). One of the above, or -errno of a failure that ends tracing. */
__attribute__((warn_unused_result))
int soft_run(struct soft *s, unsigned max_stops, uint64_t max_ns);

/* Stop tracing: every thread is detached and runs on untraced. For a clean end of a
 * recording whose command goes on; whose end is then the caller's to wait for. 0,
 * -ETIMEDOUT if a thread could not be stopped within two seconds, or -errno. */
int soft_detach(struct soft *s);
/* Send sig to the first process and go on tracing (to end it). 0 or -errno. */
int soft_kill(struct soft *s, int sig);

/* Nothing more is traced: stretches of trace end where their threads are, and the threads, which
 * are still followed, run at their own speed. */
void soft_pause(struct soft *s);
/* Each thread is traced again from where it is now, or, in the kernel, from where it comes back; as
 * with soft_attach() it sleeps on undisturbed. 0 or -errno of a failure that ends tracing. */
__attribute__((warn_unused_result))
int soft_go_on(struct soft *s);

/* waitpid() status of the child given to soft_start(); false while it lives. */
bool soft_exit_status(const struct soft *s, int *ret);

/* Queues, one per thread that ever ran, which only grow in number; or, per_cpu, one for each cpu
 * that threads are spread over, from the beginning on. */
struct soft_queue {
	pid_t pid, tid;
	uint64_t offset; /* position of v[0] in the queue's stream */
	struct iovec v[2];
	int nv;	      /* 0: nothing new */
	bool started; /* true once, with the first bytes: the queue has just begun */
	uint64_t start_ticks; /* when it began, on the virtual TSC */
	int cpu; /* whose it is, or that its thread runs on; -1: not known */
	bool of_cpu; /* pid and tid are of the thread whose packets are the first */
};
size_t soft_nr_queues(const struct soft *s);
/* What is new in queue i. Packets that are not complete yet (pending TNT bits) stay back
 * until the thread leaves user space or `flush` is set. */
void soft_queue_peek(struct soft *s, size_t i, bool flush, struct soft_queue *ret);
/* Forget what the last peek handed out. */
void soft_queue_release(struct soft *s, size_t i);

/* End every stretch of trace here, as an interrupt would, and begin the next with a PSB+: what the
 * queues hold now and what will come are each readable alone, and tell no instruction twice. */
void soft_divide(struct soft *s);

/* Behind that: what comes next begins each queue anew. */
void soft_begin_anew(struct soft *s);

/* What queue i holds, without handing it out: pid, tid, offset and start_ticks; how many bytes. */
size_t soft_queue_kept(const struct soft *s, size_t i, struct soft_queue *ret);
/* Up to n bytes of it from a position of its stream on, copied: how many there were. */
size_t soft_queue_copy(const struct soft *s, size_t i, uint64_t from, void *to, size_t n);

/* Up to n bytes of the memory of a living process, as it sees them: how many there are. (Reading
 * /proc/PID/mem shows breakpoints.) */
size_t soft_memory(const struct soft *s, pid_t pid, uint64_t addr, void *to, size_t n);

/* What would end a stretch of trace of queue i here, as soft_divide() does, without ending it: its
 * bytes, how many. Behind a copy of what the queue holds they make it readable to the last
 * instruction. */
enum { SOFT_END_MAX = 32 };
size_t soft_queue_end(const struct soft *s, size_t i, uint8_t buf[SOFT_END_MAX]);

/*
 * What we have seen since the last release, in order of time.
 *
 * The kernel tells each stop of a thread as it tells any wait: it left its cpu, and was back. So
 * that the two can be told apart, a note says of a moment at which a thread stood still for us and
 * had not been let go on. What job control stops (SIGSTOP) waits of its own, and is not noted.
 *
 * With per_cpu, a note says when the trace of a cpu goes on with a thread: its packets are later
 * than the note by SOFT_CHANGE_TICKS, those of the one before it are not later than the note.
 */
struct soft_note {
	uint64_t ticks;
	pid_t pid, tid; /* tid 0: with nobody */
	int cpu;	/* -1: it stood still */
};
enum { SOFT_CHANGE_TICKS = 16 };
size_t soft_notes_peek(const struct soft *s, const struct soft_note **ret);
void soft_notes_release(struct soft *s);
/* Does it stand still for us now? If so, it is among the stops. */
bool soft_stands(struct soft *s, pid_t tid);

/* All records up to now, and all code that was handed out, went on their way to readers. */
void soft_round(struct soft *s);

void soft_stats(const struct soft *s, struct soft_stats *ret);
uint64_t soft_ticks(const struct soft *s); /* the virtual TSC of now */
uint64_t soft_ticks_of(const struct soft_config *c); /* the same */

#endif
