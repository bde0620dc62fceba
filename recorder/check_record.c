/* SPDX-License-Identifier: Apache-2.0 */
/* A record on its own: its size, its fields, whose it is. */
#include <inttypes.h>
#include <stdio.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/fields.h"
#include "format/le.h"
#include "recorder/check_priv.h"

/* Fixed bodies, header included: most records of a trace need no more than a comparison.
 * 0: look closer. */
static const uint8_t fixed[] = {
	[FMT_REC_AUX] = 32,
	[FMT_REC_ITRACE_START] = 16,
	[FMT_REC_SWITCH] = 8,
	[FMT_REC_SWITCH_CPU_WIDE] = 16,
	[FMT_REC_FINISHED_ROUND] = 8,
	[FMT_REC_AUXTRACE] = 48,
};

static bool as_it_should(const struct check *c, const struct check_rec *cr)
{
	size_t size;

	if (cr->rec->type >= sizeof(fixed) || !fixed[cr->rec->type])
		return false;
	size = fixed[cr->rec->type];
	if (cr->has_when && cr->event >= 0)
		size += c->r->events[cr->event].trailer_size;
	return size == cr->rec->size &&
	       (cr->has_when || cr->rec->type >= FMT_REC_USER_START);
}

static void ignore(void *ctx, const struct fmt_field *f)
{
	(void)ctx;
	(void)f;
}

/* perf makes some records longer than what it puts into them. */
static bool only_zeros(const struct fmt_rec *rec, size_t n)
{
	for (size_t i = rec->size - n; i < rec->size; i++)
		if (rec->p[i])
			return false;
	return true;
}

/* Of a record whose event is not known the trailer is left; where it goes is told. */
static bool expected_left(const struct check_rec *cr, size_t n)
{
	if (cr->rec->type < FMT_REC_USER_START)
		return cr->event < 0;
	return only_zeros(cr->rec, n);
}

static bool fields(struct check *c, const struct check_rec *cr)
{
	const struct fmt_rec *rec = cr->rec;
	struct fmt_fit fit = fmt_fields(c->r, rec, cr->event, ignore, NULL);
	char type[24], expected[CHECK_EXPECTED_MAX];

	check_type(rec->type, type);
	if (!fit.known) {
		check_find(c, CHECK_UNKNOWN_TYPE, rec->at, "a type that is known",
			   "a record of %s, %u bytes", type, rec->size);
	} else if (fit.missing) {
		snprintf(expected, sizeof(expected), "its field '%s' whole", fit.missing);
		check_find(c, CHECK_SHORT, rec->at, expected, "a record %s of %u bytes",
			   type, rec->size);
	} else if (fit.left >= 8 && !expected_left(cr, fit.left)) {
		check_find(c, CHECK_LEFT_OVER, rec->at, "no more than its fields",
			   "a record %s of %u bytes, %zu of them left over", type,
			   rec->size, fit.left);
	}
	return !fit.missing;
}

/* Newer than perf 6.1 and 6.12, which stop at them. */
static void newer(struct check *c, const struct fmt_rec *rec)
{
	uint32_t last = rec->type < FMT_REC_USER_START ? FMT_REC_AUX_OUTPUT_HW_ID :
							 FMT_REC_FINISHED_INIT;
	char type[24];

	if (rec->type > last && fmt_record_name(rec->type))
		check_find(c, CHECK_UNKNOWN_TYPE, rec->at,
			   "types that perf 6.1 knows, too", "a record %s",
			   check_type(rec->type, type));
}

/* Readers after Linux 6.18 demand whole words of all but these. */
static void alignment(struct check *c, const struct fmt_rec *rec)
{
	char type[24];

	if (!((rec->size | rec->payload_len) & 7) ||
	    rec->type == FMT_REC_HEADER_TRACING_DATA ||
	    rec->type == FMT_REC_HEADER_FEATURE || rec->type == FMT_REC_COMPRESSED)
		return;
	check_type(rec->type, type);
	if (rec->size & 7)
		check_find(c, CHECK_MISALIGNED, rec->at, "a multiple of 8 bytes",
			   "a record %s of %u bytes", type, rec->size);
	else
		check_find(c, CHECK_MISALIGNED, rec->at, "a multiple of 8 bytes",
			   "a record %s with %" PRIu64 " bytes behind it", type,
			   rec->payload_len);
}

static void owner(struct check *c, const struct check_rec *cr)
{
	const struct fmt_rec *rec = cr->rec;
	char type[24];

	if (rec->type >= FMT_REC_USER_START || cr->event >= 0)
		return;
	check_type(rec->type, type);
	if (!c->r->nr_events)
		check_find(c, CHECK_NO_EVENT, rec->at, "an event before it",
			   "a record %s", type);
	else if (cr->has_when)
		check_find(c, CHECK_UNKNOWN_ID, rec->at, "an id of one of the events",
			   "a record %s with id %" PRIu64, type, cr->w.id);
	else
		check_find(c, CHECK_UNKNOWN_ID, rec->at, "an id of one of the events",
			   "a record %s whose event cannot be told", type);
}

bool check_body(struct check *c, const struct check_rec *cr)
{
	bool whole = as_it_should(c, cr) || fields(c, cr);

	alignment(c, cr->rec);
	newer(c, cr->rec);
	owner(c, cr);
	return whole;
}
