#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What an ordinary user can do, and what he is told about the rest.
. "$E2E/lib.sh"
make_user
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)

if [ "$paranoid" -gt 0 ]; then
	as_user "$AUXREC" record -a -o f -- true 2>err && fail "-a worked with paranoid $paranoid"
	said "perf_event_open failed for event '.*' on cpu 0: Permission denied"
	said "kernel.perf_event_paranoid is $paranoid"
	said 'sysctl kernel.perf_event_paranoid=0'
	[ ! -e f ] || fail "a file was left behind"
fi
[ "$paranoid" -le 2 ] || skip "perf_event_paranoid is $paranoid: nothing is allowed"

as_user "$AUXREC" record --source=none -o f -- "$PROG/pingpong" 100 >out 2>err || {
	cat err
	fail "an own command"
}
[ "$(stat -c %a f)" = 600 ] || fail "mode"
as_user "$AUXREC" info --json f >j || fail info
[ "$(json j 'd["records"]["SWITCH"] > 100')" = True ] || fail "no switches"

# Rings over the budget: the arithmetic is shown. Sizes of our own choice shrink.
as_user sh -c "ulimit -l 64; exec '$AUXREC' record -m 64M --source=none -o g -- true" 2>err &&
	fail "64 MiB rings were allowed"
said 'mmap.* failed for event'
said 'perf_event_mlock_kb'
[ ! -e g ] || fail "a file was left behind"
as_user sh -c "ulimit -l 64; exec '$AUXREC' record --source=none -o s -- true" 2>err || fail "small"
said 'rings made smaller to fit the memlock budget'
# In flight, of both kinds; the window that is left is told.
as_user sh -c "ulimit -l 64; exec '$AUXREC' record --flight=e --window=60s --source=none \
	-o w -- true" 2>err || fail "small, in flight"
said 'rings made smaller .*: [0-9]+ x \([0-9]+ data \+ [0-9]+ newest records .*not \([0-9]+ data \+ [0-9]+ newest'
said 'window of 60.00 s: .*of records per ring for [0-9.]+ ms'
said 'that is less than was asked for'
as_user sh -c "ulimit -l 64; '$AUXREC' record -q --source=none -o a -- sleep 1 &
	'$AUXREC' record -q --source=none -o b -- sleep 1 &
	'$AUXREC' record -q --source=none -o c -- sleep 1 & wait" || fail "three at once"
for f in a b c; do
	as_user "$AUXREC" info $f >/dev/null || fail "recorder $f of three"
done

# Another user's process.
sleep 30 &
pid=$!
if is_root; then
	as_user "$AUXREC" record -p $pid -o h 2>err && fail "recorded root's process"
	said "Permission denied|Operation not permitted"
	said "another user's"
fi
kill $pid
