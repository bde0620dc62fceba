#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel source on a real kernel, Debian 12's, with a PMU whose every byte is known. Half of
# the tests here and in t-guest-flight.sh, half on the newer kernel in t-guest612.sh; `make guest`
# runs all on both.
if grep -q __asan_init "$AUXREC"; then
	echo "a sanitized program takes an emulated machine longer than its watchdogs allow"
	exit 77
fi
O=$(dirname "$TOOLS") exec "$E2E/../guest/run.sh" -k cloud61 \
	-t g-trunc.sh -t g-full.sh -t g-cheat.sh -t g-soft.sh -t g-kcore.sh
