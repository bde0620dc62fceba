/* SPDX-License-Identifier: Apache-2.0 */
/* Between the folds of `auxrec info`. Those that return an int: 0 or -ENOMEM. */
#ifndef RECORDER_INFO_PRIV_H
#define RECORDER_INFO_PRIV_H

#include "recorder/info.h"
#include "recorder/jtree.h"

static inline void info_span_add(struct info_span *s, uint64_t ns)
{
	if (!s->known || ns < s->first_ns)
		s->first_ns = ns;
	if (!s->known || ns > s->last_ns)
		s->last_ns = ns;
	s->known = true;
}

/* One more record of that loss; ns NULL: its time is not known. */
void info_loss_add(struct info_loss *l, uint64_t amount, const uint64_t *ns);

/* A kernel record, and what its trailer says; real: not made up by the recorder. */
struct info_kernel {
	const struct fmt_reader *r;
	const struct fmt_rec *rec;
	struct fmt_when when;
	bool real;
	struct info_cpu *cpu;
};

/* info_facts.c: of the header, and of a HEADER_FEATURE record. */
void info_take_features(struct info *i, const struct fmt_reader *r);
void info_take_feature(struct info *i, const struct fmt_rec *rec);
/* info_loss.c: LOST, LOST_SAMPLES, AUX and READ. */
int info_loss_fold(struct info *i, const struct info_kernel *k);
/* info_time.c */
int info_time_fold(struct info *i, const struct info_kernel *k);
void info_conv_take(struct info *i, const struct fmt_rec *rec);
void info_conv_from_pt(struct info *i, const struct fmt_pt_info *pt);
/* Is there a conversion? Then *ret is the time of tsc. */
bool info_conv_ns(const struct info_conv *c, uint64_t tsc, uint64_t *ret);
/* info_tasks.c */
int info_tasks_fold(struct info *i, const struct info_kernel *k);
void info_tasks_end(struct info *i);
/* info_aux.c */
int info_aux_take_info(struct info *i, const struct fmt_rec *rec);
int info_aux_take_trace(struct info *i, const struct fmt_rec *rec);
/* A SAMPLE, with AUX data or without. */
int info_aux_take_sample(struct info *i, const struct fmt_reader *r, const struct fmt_rec *rec);
/* All bytes are one stream of Intel PT; when it has ended, its faults are the file's. */
int info_aux_raw(struct info *i, const uint8_t *p, uint64_t len);
void info_aux_judge_raw(struct info *i);
void info_aux_end(struct info *i);
void info_aux_done(struct info_aux *a);
/* info_shots.c */
int info_shots_take_trace(struct info *i, const struct fmt_rec *rec);
int info_shots_fold(struct info *i, const struct info_kernel *k);
/* info_pool.c: walks over packets, in threads of their own where there is more than one
 * processor. mapped: what is fed lies in a mapping of the file, whose pages may be given
 * back behind the walk. What was fed must stay until info_pool_wait is back. */
int info_pool_new(struct info_pool **ret, bool mapped);
void info_pool_free(struct info_pool *p); /* NULL is fine */
/* p, n: the next bytes of the walk, which are copied where they are few; gap: before them
 * some are missing. */
void info_pool_feed(struct info_pool *pool, struct info_pt *pt, bool gap,
		    const uint8_t *p, uint64_t n);
void info_pool_wait(struct info_pool *pool);
/* info_images.c */
int info_images_take(struct info *i, const struct input *in, const struct fmt_rec *rec);
int info_images_end(struct info *i, const struct input *in);
void info_images_done(struct info_images *m);

/* info_text_*.c */
void info_text_field(const char *name);
void info_text_safe(const char *s);
void info_text_id(uint32_t id, int width);
void info_text_seconds(uint64_t ns);
void info_text_aux(const struct info_file *f);
void info_text_shots(const struct info_file *f);
void info_text_losses(const struct info_file *f);
int info_text_tasks(const struct info_file *f);
int info_text_images(const struct info_file *f);

/* info_json_*.c */
json_t *info_json_id(uint32_t v);
json_t *info_json_span(const struct info_span *s, int *err);
void info_json_aux(json_t *o, const struct info_file *f, int *err);
void info_json_shots(json_t *o, const struct info_file *f, int *err);
void info_json_losses(json_t *o, const struct info_file *f, int *err);
void info_json_tasks(json_t *o, const struct info_file *f, int *err);
void info_json_images(json_t *o, const struct info_file *f, int *err);

#endif
