#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# As t-guest.sh, on the newer kernel that Debian 12 offers.
if grep -q __asan_init "$AUXREC"; then
	echo "a sanitized program takes an emulated machine longer than its watchdogs allow"
	exit 77
fi
O=$(dirname "$TOOLS") exec "$E2E/../guest/run.sh" -k cloud612 \
	-t g-trunc.sh -t g-task.sh -t g-feed.sh -t g-busy.sh -t g-pause.sh \
	-t g-cgroup.sh -t g-hotplug.sh
