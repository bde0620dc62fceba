/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a recording (auxrec-ctl(1)) as text for people, on stdout. */
#ifndef RECORDER_CTL_TEXT_H
#define RECORDER_CTL_TEXT_H

#include "recorder/jtree.h"

void ctl_text_status(const json_t *answer);

#endif
