#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Bytes that were made elsewhere come out as they went in, whatever they are and however long:
# a real PT trace, and noise. Also with an area that overflows all the time.
. "$GUEST/lib.sh"

prepare() {
	head -c 400003 /dev/urandom >noise
	# A trace of a program that was stepped here; where that is not permitted, more noise.
	if "$AUXREC" record -q --source=soft -o soft.data -- "$PROG/spin" 300; then
		mkdir soft && "$TOOLS/auxcheck" -x soft soft.data && cat soft/* >trace
	else
		head -c 5001 /dev/urandom >trace
	fi
	rm -rf soft soft.data
	for _ in 1 2 3 4 5 6; do cat trace trace trace; done >pt
}

feed() {
	cat pt >"$PT_DEBUG/feed0"
	cat noise >"$PT_DEBUG/feed1"
}

guest() {
	param mode 1
	feed
	record plain -a -- sleep 1
	feed
	param bytes_per_tick 65536
	record cut -a -m 64K,16K -- sleep 1
	param mode 0
}

host() {
	for name in plain cut; do
		mkdir -p $name
		"$TOOLS/auxcheck" -x $name $name.data || fail "$name"
		cmp pt $name/0 || fail "$name: cpu 0"
		cmp noise $name/1 || fail "$name: cpu 1"
	done
	[ "$(json cut.data 'd["aux"][1]["truncated"] > 1')" = True ] || fail "no truncation"
}

"$1"
