/* SPDX-License-Identifier: Apache-2.0 */
/* What is missing from an answer, as one of a newer recorder may be, is left out. */
#include "recorder/ctl_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "recorder/units.h"

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "?";
}

static uint64_t number(const json_t *o, const char *key)
{
	double v = json_number_value(json_object_get(o, key));

	return v > 0 && v < 1e19 ? (uint64_t)v : 0;
}

static double real(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static bool truth(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

static void print_state(const json_t *a)
{
	const json_t *why = json_object_get(a, "pausedBy");

	printf("%s recording into '%s', source %s, process %llu\n", text(a, "mode"),
	       text(a, "output"), text(a, "source"), (unsigned long long)number(a, "pid"));
	if (!truth(a, "enabled"))
		printf("not begun yet\n");
	else if (truth(a, "paused"))
		printf("paused (%s%s%s), %llu times so far, %.1f s after its begin\n",
		       json_string_value(json_array_get(why, 0)),
		       json_array_size(why) > 1 ? ", " : "",
		       json_array_size(why) > 1 ? json_string_value(json_array_get(why, 1)) : "",
		       (unsigned long long)number(a, "pauses"), real(a, "seconds"));
	else
		printf("running for %.1f s, paused %llu times, woken up %llu times\n",
		       real(a, "seconds"), (unsigned long long)number(a, "pauses"),
		       (unsigned long long)number(a, "wakeups"));
}

static void print_output(const json_t *a)
{
	char size[16], rate[16], left[16];

	printf("%s written, %s/s", units_bytes(number(a, "written"), size),
	       units_bytes(number(a, "rate"), rate));
	if (json_is_number(json_object_get(a, "diskLeft")))
		printf(", %s left on the disk", units_bytes(number(a, "diskLeft"), left));
	if (json_is_number(json_object_get(a, "secondsUntilFull")))
		printf(" for %.0f s", real(a, "secondsUntilFull"));
	printf("\n");
}

static void print_software(const json_t *a)
{
	const json_t *s = json_object_get(a, "software");
	char times[32];

	if (!s)
		return;
	printf("%llu instructions, %.0f a second, ", (unsigned long long)number(s, "instructions"),
	       real(s, "rate"));
	if (json_is_number(json_object_get(s, "slowdown")))
		printf("about %s times slower than one instruction a cycle, ",
		       units_times(real(s, "slowdown"), times));
	printf("%llu stops, %llu threads now\n", (unsigned long long)number(s, "stops"),
	       (unsigned long long)number(s, "threads"));
}

static void print_losses(const json_t *a)
{
	const json_t *l = json_object_get(a, "losses"), *v;
	const char *key;
	bool any = false;

	json_object_foreach((json_t *)(uintptr_t)l, key, v) {
		if (!(json_number_value(v) > 0))
			continue;
		printf("%s %llu %s", any ? "," : "lost:", (unsigned long long)number(l, key), key);
		any = true;
	}
	if (any)
		printf("\n");
}

static void print_events(const json_t *a)
{
	const json_t *v, *all = json_object_get(a, "events");
	size_t i;

	json_array_foreach(all, i, v)
		printf("event %s: %s\n", text(v, "name"), truth(v, "counts") ? "on" : "off");
}

static void print_ring(const json_t *r)
{
	char size[16], capacity[16], buf[16];

	printf(" %s %s of %s", text(r, "kind"), units_bytes(number(r, "size"), size),
	       units_bytes(number(r, "capacity"), capacity));
	if (json_object_get(r, "records"))
		printf(" (%llu records over %s)", (unsigned long long)number(r, "records"),
		       units_time(number(r, "spanNs"), buf));
	if (json_object_get(r, "rate"))
		printf(" %s/s", units_bytes(number(r, "rate"), buf));
}

static void print_rings(const json_t *a, const char *list, const char *what, const char *id)
{
	const json_t *v, *r, *all = json_object_get(a, list);
	size_t i, k;

	json_array_foreach(all, i, v) {
		if (!json_array_size(json_object_get(v, "binaryData")) && !number(v, "lost"))
			continue;
		printf("%s %llu:", what, (unsigned long long)number(v, id));
		json_array_foreach(json_object_get(v, "binaryData"), k, r) {
			if (k)
				printf(",");
			print_ring(r);
		}
		if (number(v, "lost"))
			printf("%s %llu records lost", k ? "," : "",
			       (unsigned long long)number(v, "lost"));
		printf("\n");
	}
}

/* Those without rings of their own. */
static void print_threads(const json_t *a)
{
	const json_t *v, *all = json_object_get(a, "tracedThreads");
	bool any = false;
	size_t i;

	json_array_foreach(all, i, v) {
		if (json_array_size(json_object_get(v, "binaryData")))
			continue;
		printf("%s %llu", any ? "," : "threads:", (unsigned long long)number(v, "tid"));
		any = true;
	}
	if (any)
		printf("\n");
}

static void print_flight(const json_t *a)
{
	const json_t *t = json_object_get(a, "tasks");
	char pause[16], now[16], most[16];

	if (!t)
		return;
	printf("%llu snapshots, no cpu stood still for longer than %s\n",
	       (unsigned long long)number(a, "snapshots"),
	       units_time(number(a, "longestPauseNs"), pause));
	printf("tasks: %llu processes, %llu threads, %llu maps, %llu records that wait; %s, at "
	       "most %s\n",
	       (unsigned long long)number(t, "processes"), (unsigned long long)number(t, "threads"),
	       (unsigned long long)number(t, "maps"), (unsigned long long)number(t, "waiting"),
	       units_bytes(number(t, "bytes"), now), units_bytes(number(t, "mostBytes"), most));
}

void ctl_text_status(const json_t *a)
{
	const json_t *v, *warnings = json_object_get(a, "warnings");
	size_t i;

	print_state(a);
	print_output(a);
	print_losses(a);
	print_software(a);
	print_events(a);
	print_rings(a, "cpus", "cpu", "id");
	print_rings(a, "tracedThreads", "thread", "tid");
	print_threads(a);
	print_flight(a);
	json_array_foreach(warnings, i, v)
		printf("%s\n", json_string_value(v));
}
