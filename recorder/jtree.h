/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of JSON, built first and looked at once. jansson's "_new" calls take over the
 * value they are given, also when they fail, and take NULL for a failure: so the calls
 * below can be nested, and the first failure sticks in *err.
 */
#ifndef RECORDER_JTREE_H
#define RECORDER_JTREE_H

#include <jansson.h>
#include <stdint.h>

/* Add v to an object, or to the end of an array. *err becomes -ENOMEM on failure. */
void jtree_set(json_t *o, const char *key, json_t *v, int *err);
void jtree_append(json_t *a, json_t *v, int *err);

/* A number; as decimal text where it does not fit a signed 64-bit integer. */
json_t *jtree_number(uint64_t v);
/* Text from a file, which need not be UTF-8: bytes that are not have '?' in their place. NULL
 * gives null. */
json_t *jtree_text(const char *s);

/* Free o, printed on stdout unless err is set. Returns err: a failed write sticks to the
 * stream, and is for whoever closes it to see. */
int jtree_print(json_t *o, int err);

#endif
