#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel source on a real kernel, Debian 12's, with a PMU whose every byte is known. Half of
# the tests here, half on the newer kernel in t-guest612.sh; `make guest` runs all on both.
O=$(dirname "$TOOLS") exec "$E2E/../guest/run.sh" -k cloud61 \
	-t g-trunc.sh -t g-full.sh -t g-cheat.sh -t g-soft.sh -t g-kcore.sh
