#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who checks the checker? The module drops a packet now and then and says nothing.
. "$GUEST/lib.sh"

guest() {
	record honest -a -m 512K,16M -- sleep 0.5
	param cheat 50
	record cheat -a -m 512K,16M -- sleep 1
	param cheat 0
}

noticed() { # auxcheck's arguments
	"$TOOLS/auxcheck" "$@" >seen && { cat seen; fail "not noticed: $*"; }
	head -n 3 seen
}

host() {
	noticed cheat.data
	grep -q 'unexplained' seen || fail "another complaint"
	noticed -b cheat.before -a cheat.after cheat.data
	account honest
	noticed -b cheat.before -a honest.after honest.data

	# One other byte, in the middle of the trace.
	cp honest.data bent.data
	printf '\377' | dd of=bent.data bs=1 conv=notrunc status=none \
		seek=$(($(wc -c <bent.data) / 2))
	noticed bent.data
}

"$1"
