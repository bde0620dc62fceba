/* SPDX-License-Identifier: Apache-2.0 */
/* What decode.c (the records), crew.c (the threads at work) and decodeshow.c share. */
#ifndef RECORDER_DECODE_DECODE_PRIV_H
#define RECORDER_DECODE_DECODE_PRIV_H

#include "recorder/decode/decode.h"
#include "recorder/decode/flow.h"

/* Decodes all queues; fills ret->queues and adds up in f. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int crew_run(struct decode_report *ret, const struct queues *queues, struct flow *f,
	     const struct decode_opts *o);

/* libipt's words for a code, or ours. */
const char *decode_words(int code);

#endif
