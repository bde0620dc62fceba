/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/lane.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>

struct soft_lane {
	pthread_t thread;
	sem_t asked, done;
	int (*fn)(void *arg); /* NULL: end */
	void *arg;
	int result;
};

static void wait_for(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

static void *serve(void *arg)
{
	struct soft_lane *l = arg;

	for (;;) {
		wait_for(&l->asked);
		if (!l->fn)
			return NULL;
		l->result = l->fn(l->arg);
		sem_post(&l->done);
	}
}

/* Signals are for the thread that reads them. */
static int start_deaf(struct soft_lane *l)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&l->thread, NULL, serve, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

int soft_lane_start(struct soft_lane **ret)
{
	struct soft_lane *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	sem_init(&l->asked, 0, 0);
	sem_init(&l->done, 0, 0);
	err = start_deaf(l);
	if (err)
		free(l);
	else
		*ret = l;
	return err;
}

int soft_lane_call(struct soft_lane *l, int (*fn)(void *arg), void *arg)
{
	l->fn = fn;
	l->arg = arg;
	sem_post(&l->asked);
	wait_for(&l->done);
	return l->result;
}

void soft_lane_end(struct soft_lane *l)
{
	if (!l)
		return;
	l->fn = NULL;
	sem_post(&l->asked);
	pthread_join(l->thread, NULL);
	free(l);
}
