/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format text of a tracepoint, as tracefs has it, made again in one plain form: what
 * comes from a file and is not exactly a list of fields never reaches libtraceevent, which
 * loses memory over what it does not understand.
 *
 * Taken: lines "field:TYPE NAME;" or "field:TYPE NAME[N];" with offset, size and, in all but
 * old kernels, signed. The name of the tracepoint and its print format are left out.
 */
#ifndef RECORDER_TEPCLEAN_H
#define RECORDER_TEPCLEAN_H

#include <stddef.h>
#include <stdint.h>

#include "format/buf.h"

/* Appends the plain form of n bytes of text, with its NUL, to b. 0 and the tracepoint's id;
 * -EBADMSG: not a format (b may have grown); or b->err. */
int tepclean(struct fmt_buf *b, const uint8_t *text, size_t n, int *ret_id);

#endif
