/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cpu had in its rings when it went offline. Nobody has asked for it yet, and its rings
 * are about to be unmapped; of each cpu the last time counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/flight.h"
#include "recorder/newestring.h"
#include "recorder/session.h"

struct flight_kept {
	struct flight_kept *next;
	struct fmt_auxtrace aux;
	struct fmt_buf trace, records;
	struct newestring found;
};

static void drop(struct flight_kept *k)
{
	fmt_buf_done(&k->trace);
	fmt_buf_done(&k->records);
	free(k);
}

void flight_drop_kept(struct session *s)
{
	struct flight_kept *k;

	while ((k = s->flight.kept)) {
		s->flight.kept = k->next;
		drop(k);
	}
}

static void drop_earlier(struct session *s, size_t place)
{
	for (struct flight_kept **at = &s->flight.kept, *k; (k = *at);) {
		if (k->aux.idx != place) {
			at = &k->next;
			continue;
		}
		*at = k->next;
		drop(k);
	}
}

static int copy(struct session *s, size_t place, struct flight_kept *k)
{
	struct iovec v[2];
	int nv = s->source.set ? snapshot_look(s, place, &k->aux, v) : 0;

	k->aux.idx = (uint32_t)place;
	for (int i = 0; i < nv; i++)
		fmt_put(&k->trace, v[i].iov_base, v[i].iov_len);
	if (k->trace.err)
		return k->trace.err;
	return newestring_copy(&s->set.place[place].newest, 0, &k->records, &k->found);
}

int flight_keep(struct session *s, size_t place)
{
	struct flight_kept *k = calloc(1, sizeof(*k));
	int err = k ? copy(s, place, k) : -ENOMEM;

	if (err) {
		if (k)
			drop(k);
		return err;
	}
	drop_earlier(s, place);
	k->next = s->flight.kept;
	s->flight.kept = k;
	return 0;
}

int flight_put_kept(struct session *s)
{
	int err = 0;

	for (const struct flight_kept *k = s->flight.kept; k && !err; k = k->next) {
		struct iovec v = { k->trace.data, k->trace.len };

		err = snapshot_put(s, &k->aux, &v, k->trace.len != 0);
		ledger_time(&s->ledger, k->found.first_ns);
		ledger_time(&s->ledger, k->found.last_ns);
		if (!err) {
			fmt_put(&s->flight.records, k->records.data, k->records.len);
			err = s->flight.records.err;
		}
	}
	if (!err && !s->flight.own)
		flight_drop_kept(s);
	return err;
}
