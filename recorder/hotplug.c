/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/hotplug.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KERNEL_GROUP = 1 }; /* of uevents: the kernel's own; 2 is udev's */

static int listen_to_uevents(void)
{
	const struct sockaddr_nl all = { .nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&all, sizeof(all))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void hotplug_open(struct hotplug *h, const struct pio_sys *sys)
{
	*h = HOTPLUG_INIT;
	h->sys = sys;
	h->fd = listen_to_uevents();
}

void hotplug_done(struct hotplug *h)
{
	if (h->fd >= 0)
		close(h->fd);
	pio_cpus_done(&h->online);
	*h = HOTPLUG_INIT;
}

/* "offline@/devices/system/cpu/cpu3", then variables that are not needed. */
static void take_uevent(struct hotplug *h, const char *text)
{
	static const char head[] = "offline@/devices/system/cpu/cpu";
	unsigned long cpu;
	char *end;

	if (strncmp(text, head, sizeof(head) - 1))
		return;
	text += sizeof(head) - 1;
	cpu = strtoul(text, &end, 10);
	if (end != text && !*end && cpu < PIO_CPU_MAX)
		h->went[cpu / 8] |= (unsigned char)(1u << cpu % 8);
}

static bool read_uevents(struct hotplug *h)
{
	struct sockaddr_nl from;
	char text[4096];
	bool any = false;

	memset(h->went, 0, sizeof(h->went));
	while (h->fd >= 0) {
		socklen_t len = sizeof(from);
		ssize_t n;

		from.nl_pid = 0;
		n = recvfrom(h->fd, text, sizeof(text) - 1, MSG_DONTWAIT,
			     (struct sockaddr *)&from, &len);
		if (n < 0 && errno == ENOBUFS) { /* some were dropped */
			any = true;
			continue;
		}
		if (n <= 0)
			break;
		text[n] = '\0';
		if (from.nl_pid) /* not the kernel's */
			continue;
		take_uevent(h, text);
		any = any || strstr(text, "@/devices/system/cpu/cpu");
	}
	return any;
}

int hotplug_look(struct hotplug *h)
{
	bool changed = read_uevents(h) || h->again;
	struct pio_cpus online;
	char now[sizeof(h->seen)];
	ssize_t n = pio_read_line(now, sizeof(now), "%s/devices/system/cpu/online",
				  h->sys->sysfs);
	int err;

	if (n < 0)
		return (int)n;
	if (!changed && !strcmp(now, h->seen))
		return 0;
	err = pio_cpus_online(&online, h->sys);
	if (err)
		return err;
	pio_cpus_done(&h->online);
	h->online = online;
	h->again = false;
	strcpy(h->seen, now);
	return 1;
}

bool hotplug_went(const struct hotplug *h, int cpu)
{
	return h->went[cpu / 8] & 1u << cpu % 8;
}
