#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attaching to a program that starts threads and forks children all the time: whatever is half made
# when tracing begins, or ends, also by the recorder's death, has no breakpoint left in its memory.
set -eu
. "$E2E/soft.sh"
. "$E2E/attach.sh"
soft_begin
attach_possible

attach_begin "$PROG/offspring"
for i in 1 2 3 4; do
	attach_record "r$i" -- sleep 0.5 || {
		cat "r$i/err"
		soft_fail "record -p"
	}
	! grep 'trace has gaps' "r$i/err" || soft_fail "not all was traced"
	soft_say code "$E2E/samecode.py" "$target" || soft_fail "code is not as it was"
	soft_libipt "r$i"
	soft_lists "r$i" 3
done
for delay in 0.05 0.12 0.2 0.3 0.4; do
	"$AUXREC" record --source=soft -o killed.data -p "$target" >err 2>&1 3>&- &
	recorder=$!
	sleep "$delay"
	kill -9 "$recorder"
	attach_freed
	kill -0 "$target" || soft_fail "the program is dead"
	soft_say code "$E2E/samecode.py" "$target" || soft_fail "code is not as it was"
done
attach_end 7
attach_printed 'done'
