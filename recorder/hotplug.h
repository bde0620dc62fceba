/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which cpus are online, and which have been away.
 *
 * The list in sysfs tells how things stand, and is read and compared again and again. It does
 * not show a cpu that went and came back in between, whose events are dead all the same: the
 * kernel's uevents do (NETLINK_KOBJECT_UEVENT, netlink(7)), where this process may listen.
 * They come after the cpu has gone, so that nothing is added to its rings any more.
 */
#ifndef RECORDER_HOTPLUG_H
#define RECORDER_HOTPLUG_H

#include <stdbool.h>

#include "perfio/cpus.h"

struct hotplug {
	const struct pio_sys *sys;
	int fd;		 /* of the uevents; -1: none. To be polled */
	bool again;	 /* set by the user: look closely next time, whatever the list says */
	char seen[4096]; /* the list as last read; sysfs has no longer one */
	struct pio_cpus online;
	unsigned char went[PIO_CPU_MAX / 8];
};
#define HOTPLUG_INIT (struct hotplug){ .fd = -1 }

/* Never fails: without uevents the list has to do. */
void hotplug_open(struct hotplug *h, const struct pio_sys *sys);
void hotplug_done(struct hotplug *h);

/* 1: something changed since the last time, or may have; h->online and hotplug_went() are new.
 * The first time is a change. 0: nothing. -errno: the list cannot be read. */
__attribute__((warn_unused_result))
int hotplug_look(struct hotplug *h);
/* Has that cpu been offline at any time before the last look, and after the one before? */
bool hotplug_went(const struct hotplug *h, int cpu);

#endif
