#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The guest's half of tests/bench/soak.sh: AUX areas in overwrite mode, ours and perf's, in turn, for
# one cpu has one PMU.
# shellcheck disable=SC1091
. "$GUEST/lib.sh"

prepare() {
	cp "$GUEST/../e2e/waiting.sh" "$GUEST/../bench/soaking.sh" "$GUEST/pauses.py" .
	echo "SOAK_SECONDS=${SOAK_SECONDS:-600}" >seconds
}

one() {
	head_line
	start "$@"
	soak "$1"
}

guest() {
	. ./waiting.sh
	. ./soaking.sh
	. ./seconds
	param bytes_per_tick 1024
	light_load &
	load=$!
	echo "-- AUX areas of 4 MiB, for $SOAK_SECONDS s each"
	one auxrec auxrec record -v -a -e intel_pt// --flight=4M -o auxrec.data
	one perf perf record -a --snapshot -m,4M -e intel_pt// -B -N -o perf.data
	kill $load
}

host() {
	for f in auxrec perf; do
		echo "$f: from the AUX record that tells of the freeze to the first PSB behind it:"
		python3 "$GUEST/pauses.py" $f.data
	done
}

"$1"
