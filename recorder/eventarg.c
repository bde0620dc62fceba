/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/eventarg.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfio/counters.h"

#include "perfio/attrs.h"

static void free_one(struct event_arg *e)
{
	free(e->text);
	free(e->head);
	free(e->body);
	free(e->modifiers);
	free(e->filter);
}

void eventarg_free(struct event_arg *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free_one(&list[i]);
	free(list);
}

static size_t name_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '-')
		n++;
	return n;
}

/* Where the event ends: at the next comma outside slashes. */
static const char *event_end(const char *s)
{
	int slashes = 0;

	for (; *s && (*s != ',' || slashes == 1); s++)
		if (*s == '/')
			slashes++;
	return s;
}

static int split_pmu(struct event_arg *e, const char *at, const char *end,
		     const char **ret_what)
{
	const char *close = "";

	if (at != end) {
		close = memchr(at + 1, '/', (size_t)(end - at - 1));
		if (!close) {
			*ret_what = "the terms need a closing slash";
			return -EINVAL;
		}
		e->body = strndup(at + 1, (size_t)(close - at - 1));
		e->modifiers = strndup(close + 1, (size_t)(end - close - 1));
	} else {
		e->body = strdup("");
		e->modifiers = strdup("");
	}
	return e->body && e->modifiers ? 0 : -ENOMEM;
}

/* Behind a tracepoint's name: nothing, or "/aux-action=WORD/". */
static int take_action(struct event_arg *e, const char *at, const char *end,
		       const char **ret_what)
{
	static const char term[] = "/aux-action=";
	const size_t len = strlen(term);

	if (at == end)
		return 0;
	if (end[-1] != '/' || (size_t)(end - at) <= len || strncmp(at, term, len)) {
		*ret_what = "a tracepoint is written system:name, or with one term, "
			    "system:name/aux-action=pause/ or /aux-action=resume/";
		return -EINVAL;
	}
	e->aux_action = pio_aux_action(at + len, (size_t)(end - 1 - at) - len);
	if (e->aux_action == PIO_AUX_PAUSE || e->aux_action == PIO_AUX_RESUME)
		return 0;
	*ret_what = e->aux_action ? "only the AUX event itself can start paused"
				  : "aux-action of a tracepoint is pause or resume";
	return -EINVAL;
}

static int split_tracepoint(struct event_arg *e, const char *at, const char *end,
			    const char **ret_what)
{
	size_t n = name_length(at + 1);

	if (!n) {
		*ret_what = "a tracepoint is written system:name";
		return -EINVAL;
	}
	if (take_action(e, at + 1 + n, end, ret_what))
		return -EINVAL;
	e->tracepoint = true;
	e->body = strndup(at + 1, n);
	e->modifiers = strdup("");
	return e->body && e->modifiers ? 0 : -ENOMEM;
}

bool eventarg_is_aux(const struct event_arg *e)
{
	return !e->tracepoint && !e->counter;
}

/* "cycles" or "cycles:u". */
static int split_counter(struct event_arg *e, const char *at, const char *end)
{
	e->body = strdup("");
	e->modifiers = at == end ? strdup("") : strndup(at + 1, (size_t)(end - at - 1));
	return e->body && e->modifiers ? 0 : -ENOMEM;
}

static int parse_one(struct event_arg *e, const char *s, const char *end,
		     const char **ret_what)
{
	const char *at = s + name_length(s);

	if (at == s) {
		*ret_what = "an event starts with a name";
		return -EINVAL;
	}
	if (at != end && *at != '/' && *at != ':') {
		*ret_what = "unexpected character in an event's name";
		return -EINVAL;
	}
	e->text = strndup(s, (size_t)(end - s));
	e->head = strndup(s, (size_t)(at - s));
	if (!e->text || !e->head)
		return -ENOMEM;
	e->counter = *at == '/' ? NULL : pio_counter_find(e->head);
	if (e->counter)
		return split_counter(e, at, end);
	if (*at == ':')
		return split_tracepoint(e, at, end, ret_what);
	return split_pmu(e, at, end, ret_what);
}

int eventarg_parse(struct event_arg **list, size_t *n, const char *text,
		   const char **ret_what, const char **ret_at)
{
	const char *s = text, *end;
	int err;

	for (;; s = end + 1) {
		struct event_arg e = { 0 }, *grown;

		end = event_end(s);
		*ret_at = s;
		err = parse_one(&e, s, end, ret_what);
		grown = err ? NULL : realloc(*list, (*n + 1) * sizeof(**list));
		if (!grown) {
			free_one(&e);
			return err ? err : -ENOMEM;
		}
		*list = grown;
		grown[(*n)++] = e;
		if (!*end)
			return 0;
	}
}
