/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the reader's files share: reader_open.c looks at the header, reader.c walks,
 * reader_event.c knows the events, reader_feature.c the feature sections.
 */
#ifndef FORMAT_READER_PRIV_H
#define FORMAT_READER_PRIV_H

#include "format/reader.h"

/* Note where and what was expected; returns err. */
int fmt_reader_bad(struct fmt_reader *r, int err, uint64_t at, const char *what);
/* The same for a record that is passed over all the same; the first one stays. 0. */
int fmt_reader_odd(struct fmt_reader *r, const struct fmt_rec *rec, const char *what);

/* A section of the file. -ENODATA when it is not within the bytes that are there. */
int fmt_reader_section(const struct fmt_reader *r, uint64_t at, uint64_t len,
		       const uint8_t **ret);

/* The attrs section, `step` bytes an entry. */
int fmt_reader_attrs(struct fmt_reader *r, uint64_t at, uint64_t len, uint64_t step);
/* HEADER_ATTR and EVENT_UPDATE: 0, -ENOMEM. */
int fmt_reader_take_attr(struct fmt_reader *r, const struct fmt_rec *rec);
int fmt_reader_take_update(struct fmt_reader *r, const struct fmt_rec *rec);
/* Names from an EVENT_DESC payload, as far as it can be followed. */
void fmt_reader_event_desc(struct fmt_reader *r);
/* The one event of bare records: 0, -ENOMEM. */
int fmt_reader_add_bare(struct fmt_reader *r, const uint8_t *attr, size_t size);
void fmt_reader_events_done(struct fmt_reader *r);

/* HEADER_FEATURE: 0. */
int fmt_reader_take_feature(struct fmt_reader *r, const struct fmt_rec *rec);
/* Is the whole feature table within the file? */
bool fmt_reader_has_table(const struct fmt_reader *r);
/* A u32 length and its bytes, with a NUL among them, at *at: the text, and *at moves
 * behind it; or NULL. */
const char *fmt_reader_text(const uint8_t *p, uint64_t len, uint64_t *at);

#endif
