/* SPDX-License-Identifier: Apache-2.0 */
/* The end of tracing. */
#ifndef PERFIO_SOFT_PART_H
#define PERFIO_SOFT_PART_H

#include "perfio/soft/tracer.h"

/* Every thread is let go; of what was attached to, those that sleep are left to the end of the
 * lane, which must come now. 0 or -errno, -ETIMEDOUT: some could not be stopped in time. */
__attribute__((warn_unused_result))
int soft_part(struct soft *s);
/* All that is still traced is killed. */
void soft_kill_rest(struct soft *s);

#endif
