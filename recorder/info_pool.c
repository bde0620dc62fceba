/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that walk over packets. A queue belongs to one of them, so what is told of a
 * queue comes in order; each has a ring of jobs, and who feeds waits where it is full.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "recorder/info_priv.h"

enum {
	JOBS = 256,
	WORKERS_MAX = 8,
	FEW = 16,	 /* bytes that are copied */
	STEP = 4 << 20,	 /* pages are given back in pieces of this */
	PAGE = 4096,
};

struct job {
	struct info_pt *pt;
	const uint8_t *p; /* NULL: in few */
	uint64_t n;
	bool gap;
	uint8_t few[FEW];
};

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	struct job ring[JOBS];
	uint64_t put, done; /* jobs so far */
	bool ended, mapped;
};

struct info_pool {
	struct worker *w;
	size_t nr; /* 0: the caller walks */
	bool mapped;
};

static void give_back(const uint8_t *p, uint64_t n)
{
	uintptr_t from = ((uintptr_t)p + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	uintptr_t to = ((uintptr_t)p + n) & ~(uintptr_t)(PAGE - 1);

	if (to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

static void work(const struct job *j, bool mapped)
{
	const uint8_t *p = j->p ? j->p : j->few;
	uint64_t n = j->n, step;

	if (j->gap)
		fmt_ptwalk_gap(&j->pt->walk);
	for (; n; p += step, n -= step) {
		step = n < STEP ? n : STEP;
		fmt_ptwalk_feed(&j->pt->walk, p, step);
		if (mapped && j->p)
			give_back(p, step);
	}
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct job *j;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (w->done == w->put && !w->ended)
			pthread_cond_wait(&w->more, &w->lock);
		if (w->done == w->put)
			break;
		j = &w->ring[w->done % JOBS];
		pthread_mutex_unlock(&w->lock);
		work(j, w->mapped);
		pthread_mutex_lock(&w->lock);
		w->done++;
		pthread_cond_signal(&w->less);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static unsigned processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned)CPU_COUNT(&set);
}

int info_pool_new(struct info_pool **ret, bool mapped)
{
	unsigned n = processors();
	struct info_pool *p = calloc(1, sizeof(*p));
	struct worker *w;

	n = n < 2 ? 0 : n < WORKERS_MAX ? n : WORKERS_MAX;
	if (p && n)
		p->w = calloc(n, sizeof(*p->w));
	if (!p || (n && !p->w)) {
		free(p);
		return -ENOMEM;
	}
	p->mapped = mapped;
	for (; p->nr < n; p->nr++) {
		w = &p->w[p->nr];
		w->mapped = mapped;
		pthread_mutex_init(&w->lock, NULL);
		pthread_cond_init(&w->more, NULL);
		pthread_cond_init(&w->less, NULL);
		if (pthread_create(&w->thread, NULL, run, w))
			break; /* then with fewer, or by ourselves */
	}
	*ret = p;
	return 0;
}

void info_pool_free(struct info_pool *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr; i++) {
		pthread_mutex_lock(&p->w[i].lock);
		p->w[i].ended = true;
		pthread_cond_signal(&p->w[i].more);
		pthread_mutex_unlock(&p->w[i].lock);
		pthread_join(p->w[i].thread, NULL);
	}
	free(p->w);
	free(p);
}

static void put(struct worker *w, const struct job *j)
{
	struct job *at;

	pthread_mutex_lock(&w->lock);
	while (w->put - w->done == JOBS)
		pthread_cond_wait(&w->less, &w->lock);
	at = &w->ring[w->put++ % JOBS];
	*at = *j;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
}

void info_pool_feed(struct info_pool *pool, struct info_pt *pt, bool gap,
		    const uint8_t *p, uint64_t n)
{
	struct job j = { .pt = pt, .p = p, .n = n, .gap = gap };

	if (!n && !gap)
		return;
	if (n <= FEW) {
		memcpy(j.few, p, n);
		j.p = NULL;
	}
	if (pool->nr)
		put(&pool->w[pt->nr % pool->nr], &j);
	else
		work(&j, pool->mapped);
}

void info_pool_wait(struct info_pool *pool)
{
	for (size_t i = 0; i < pool->nr; i++) {
		struct worker *w = &pool->w[i];

		pthread_mutex_lock(&w->lock);
		while (w->done < w->put)
			pthread_cond_wait(&w->less, &w->lock);
		pthread_mutex_unlock(&w->lock);
	}
}
