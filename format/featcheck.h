/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can a feature section be followed to its end? Only its shape is looked at: that each
 * count, length and text fits into the bytes that are there. What comes behind is ignored,
 * as readers do: newer recorders have more to say. Nothing is allocated.
 */
#ifndef FORMAT_FEATCHECK_H
#define FORMAT_FEATCHECK_H

#include <stdint.h>

/* 0, or -EBADMSG: then *ret_at is the offset in the section where something else was
 * expected, and *ret_expected says what. An empty section says nothing and is sound; so is
 * one whose kind is not known here. */
int fmt_feature_check(unsigned feat, const uint8_t *p, uint64_t len, uint64_t *ret_at,
		      const char **ret_expected);

#endif
