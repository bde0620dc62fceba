/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/lifeline.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

struct soft_lifeline *soft_lifeline_new(void)
{
	struct soft_lifeline *l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_mutexattr_t a;

	if (l == MAP_FAILED)
		return NULL;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&l->alive, &a);
	pthread_mutexattr_destroy(&a);
	sem_init(&l->begun, 1, 0);
	return l;
}

void soft_lifeline_hold(struct soft_lifeline *l)
{
	if (l && !pthread_mutex_lock(&l->alive))
		sem_post(&l->begun);
}

void soft_lifeline_drop(struct soft_lifeline *l)
{
	if (l)
		pthread_mutex_unlock(&l->alive);
}

struct soft_life *soft_life_new(struct soft_lifeline *l, pid_t pid, pid_t tid)
{
	for (size_t i = 0; l && i < SOFT_LIVES; i++) {
		if (l->life[i].tid)
			continue;
		l->life[i] = (struct soft_life){ .pid = pid };
		/* The rest first: the other process may look at any moment. */
		__atomic_store_n(&l->life[i].tid, tid, __ATOMIC_RELEASE);
		if (l->nr <= i)
			__atomic_store_n(&l->nr, i + 1, __ATOMIC_RELEASE);
		return &l->life[i];
	}
	return NULL;
}

void soft_life_free(struct soft_life *f)
{
	if (f)
		__atomic_store_n(&f->tid, 0, __ATOMIC_RELEASE);
}

/* Whoever is stopped already shall be found so. */
static bool is_halted(const struct soft_lifeline *l, pid_t pid)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->life[i].tid && l->life[i].pid == pid && l->life[i].halted)
			return true;
	return false;
}

/* Again for each thread costs little, and a list of those that were stopped takes time. */
static void stop_all(struct soft_lifeline *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->life[i].tid && !is_halted(l, l->life[i].pid))
			kill(l->life[i].pid, SIGSTOP);
	l->stopped = true;
}

void soft_lifeline_wait(struct soft_lifeline *l)
{
	int err;

	while (sem_wait(&l->begun) && errno == EINTR)
		;
	err = pthread_mutex_lock(&l->alive);
	if (err == EOWNERDEAD && !l->idle)
		stop_all(l);
	if (err == EOWNERDEAD)
		pthread_mutex_consistent(&l->alive);
	if (!err || err == EOWNERDEAD)
		pthread_mutex_unlock(&l->alive);
}

void soft_lifeline_wake(struct soft_lifeline *l)
{
	sem_post(&l->begun);
}
