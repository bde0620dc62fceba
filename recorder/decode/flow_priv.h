/* SPDX-License-Identifier: Apache-2.0 */
/* What flow.c (decoding) and flowsum.c (adding up) share. All return 0 or -ENOMEM. */
#ifndef RECORDER_DECODE_FLOW_PRIV_H
#define RECORDER_DECODE_FLOW_PRIV_H

#include "recorder/decode/flow.h"

int flow_count(struct flow *f, uint32_t pid, uint32_t tid, uint64_t insns);
int flow_blame(struct flow *f, const struct decode_error *e);
int flow_miss(struct flow *f, const struct decode_missing *m);

#endif
