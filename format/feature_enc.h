/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between feature.c and feature_topo.c: encoders of feature payloads and their parts. An
 * encoder appends and returns 1, or returns 0 when the value is absent; what goes wrong
 * sticks in the buffer.
 */
#ifndef FORMAT_FEATURE_ENC_H
#define FORMAT_FEATURE_ENC_H

#include "format/feature.h"

/* u32 length, then the text padded to 64 with zeros; nothing and 0 for NULL. */
int fmt_feat_str(struct fmt_buf *b, const char *s);
/* u32 count, then strings. */
void fmt_feat_strs(struct fmt_buf *b, const char *const *s, size_t n);

int fmt_feat_cpu_topology(struct fmt_buf *b, const struct fmt_features *f);
int fmt_feat_numa_topology(struct fmt_buf *b, const struct fmt_features *f);
int fmt_feat_pmu_mappings(struct fmt_buf *b, const struct fmt_features *f);
int fmt_feat_cache(struct fmt_buf *b, const struct fmt_features *f);
int fmt_feat_pmu_caps(struct fmt_buf *b, const struct fmt_features *f);

#endif
