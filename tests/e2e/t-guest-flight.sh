#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Flight recording, triggers, control and several files on a real kernel, with a PMU whose every
# byte is known.
if grep -q __asan_init "$AUXREC"; then
	echo "a sanitized program takes an emulated machine longer than its watchdogs allow"
	exit 77
fi
O=$(dirname "$TOOLS") exec "$E2E/../guest/run.sh" -k cloud61 \
	-t g-flight.sh -t g-rotate.sh -t g-ctl.sh -t g-trigger.sh -t g-stopped.sh
