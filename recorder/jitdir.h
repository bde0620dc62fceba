/* SPDX-License-Identifier: Apache-2.0 */
/* NAME.jit/, the code that belongs to the recording NAME (recorder/softcode.h). */
#ifndef RECORDER_JITDIR_H
#define RECORDER_JITDIR_H

/* The recording NAME has just become NAME.old, in place of an older one: its code goes with it.
 * Files that are none of ours are not removed, and then all stays where it is. */
void jitdir_keep_old(const char *name);

#endif
