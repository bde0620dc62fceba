/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of `record`'s options, from words to a struct rec_config: each function is one
 * option's `call` (recorder/opts.h) with the config as its target. 0, or -EINVAL after a
 * message.
 */
#ifndef RECORDER_RECARG_H
#define RECORDER_RECARG_H

#include <stddef.h>
#include <sys/types.h>

struct rec_config;

int recarg_source(void *config, const char *arg);
int recarg_events(void *config, const char *arg);
int recarg_filter(void *config, const char *arg);
int recarg_cgroups(void *config, const char *arg);
int recarg_cpus(void *config, const char *arg);
int recarg_pids(void *config, const char *arg);
int recarg_tids(void *config, const char *arg);
int recarg_mmap(void *config, const char *arg);
int recarg_aux_sample(void *config, const char *arg);
int recarg_snapshot(void *config, const char *arg);
int recarg_switch_output(void *config, const char *arg);
int recarg_max_time(void *config, const char *arg);
int recarg_trigger(void *config, const char *arg);
int recarg_pre(void *config, const char *arg);
int recarg_post(void *config, const char *arg);
int recarg_window(void *config, const char *arg);
int recarg_watch(void *config, const char *arg);
int recarg_level(void *config, const char *arg);
int recarg_control(void *config, const char *arg);
int recarg_socket(void *config, const char *arg);
int recarg_clock(void *config, const char *arg);

/* Appends the ids of a list "12,34" to *list. what: "process" or "thread", for the message. */
int recarg_ids(pid_t **list, size_t *n, const char *arg, const char *what);
/* recarg_flight.c: completes what was said about triggers. NULL, or what is wrong with it. */
const char *recarg_check_flight(struct rec_config *c);

#endif
