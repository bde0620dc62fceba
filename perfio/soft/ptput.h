/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single packets of a stream, by libipt's encoder; what they mean for the next ones of their
 * kind (last IP, cycles and crystal clock told so far) is kept, when they are due is pt.c's.
 *
 * Packets: Intel SDM vol. 3C, 33.4.2.
 */
#ifndef PERFIO_SOFT_PTPUT_H
#define PERFIO_SOFT_PTPUT_H

#include "perfio/soft/pt.h"

enum soft_ip_kind { SOFT_TIP, SOFT_FUP, SOFT_PGE, SOFT_PGD };

/* Before every sequence of packets, which may not be cut: room for it, or the stream is lost. */
void soft_put_room(struct soft_pt *p);

void soft_put_psb(struct soft_pt *p);
void soft_put_psbend(struct soft_pt *p);
void soft_put_ovf(struct soft_pt *p);
void soft_put_cbr(struct soft_pt *p);
void soft_put_mode_tsx(struct soft_pt *p);
void soft_put_mode_exec(struct soft_pt *p); /* 64-bit */
/* All branch bits that wait, in one packet, if there are any. */
void soft_put_tnt(struct soft_pt *p);
void soft_put_ip(struct soft_pt *p, enum soft_ip_kind kind, uint64_t ip);
void soft_put_pgd(struct soft_pt *p); /* without an address */
void soft_put_tracestop(struct soft_pt *p);
void soft_put_ptw(struct soft_pt *p, uint64_t value, bool wide);

/* Time, as far as the configuration asks for it. */

/* p->now by TSC and, with MTC, TMA. */
void soft_put_tsc(struct soft_pt *p);
/* Would a packet that is written at `ticks` have a CYC before it? */
bool soft_put_cyc_due(const struct soft_pt *p, uint64_t ticks);
/* Are there edges of the crystal clock between the last one told and `ticks`? */
bool soft_put_mtc_due(const struct soft_pt *p, uint64_t ticks);
/* Then: those edges; after many of them, TSC. p->now is `ticks` then. */
void soft_put_mtc(struct soft_pt *p, uint64_t ticks);

#endif
