#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the software source cannot attach to is refused with words and status 3, before a file is
# made or anything is disturbed.
. "$E2E/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "the software source is for x86-64"

wait_until() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ "$tries" -lt 600 ] || fail "not within a while: $*"
		sleep 0.05
	done
}

# refused PID WORDS
refused() {
	want 3 "$AUXREC" record --source=soft -o no.data -p "$1"
	said "cannot attach to process $1"
	said "$2"
	[ ! -e no.data ] || fail "a file was made"
}

refused $$ 'auxrec runs under it'
[ ! -e /proc/2/stat ] || ! grep -q '(kthreadd)' /proc/2/stat ||
	refused 2 'a thread of the kernel'

# One that has ended and is not waited for.
python3 -c 'import os, time
child = os.fork()
if not child:
    os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
print(child, flush=True)
time.sleep(60)' >ended &
keeper=$!
trap 'kill $keeper 2>/dev/null' EXIT
wait_until test -s ended
refused "$(cat ended)" 'it has ended'

# A thread's number.
mkfifo in
"$PROG/attached" 1 0 <in >out.attached &
target=$!
exec 3>in
wait_until grep -q ready out.attached
for thread in /proc/"$target"/task/*; do :; done
[ "${thread##*/}" = "$target" ] || refused "${thread##*/}" "-p $target traces all of them"

# One tracer at a time.
"$AUXREC" record --source=soft -o first.data -p "$target" 2>first &
first=$!
wait_until sh -c "grep -q '^TracerPid:.*[1-9]' /proc/$target/status || ! kill -0 $first"
if kill -0 "$first" 2>/dev/null; then
	refused "$target" 'soft-tracer) traces it already'
	said 'one tracer'
	kill -INT "$first"
fi
wait "$first" || said_first=$?
[ "${said_first:-0}" = 0 ] || [ "$said_first" = 3 ] || fail "the first recording: $said_first"
exec 3>&-
status=0
wait "$target" || status=$?
[ "$status" = 7 ] || fail "the program ended with $status"

# A child of vfork would run into breakpoints.
mkfifo vfork.in
"$PROG/sharing" <vfork.in >out.sharing &
target=$!
exec 3>vfork.in
wait_until grep -q ready out.sharing
refused "$target" 'it shares its memory with process'
exec 3>&-
status=0
wait "$target" || status=$?
[ "$status" = 7 ] || fail "the program ended with $status"

# What is not for -p.
want 3 "$AUXREC" record --source=soft -o no.data -p 999999999
want 2 "$AUXREC" record --source=soft -o no.data -t "$keeper"
said '-t cannot be used with the software source'
for option in --per-thread '-C 0'; do
	# shellcheck disable=SC2086
	want 2 "$AUXREC" record --source=soft $option -o no.data -p "$keeper"
	said 'the processes of -p'
done

# Nothing but the software source may be meant: a program is not slowed down unasked.
"$AUXREC" record -o auto.data -p "$keeper" -- true 2>err || cat err
! grep -q 'source soft' err || fail "auto has attached"

# Somebody else's.
is_root || exit 0
make_user
trap 'kill $keeper; drop_user' EXIT
want 3 as_user "$AUXREC" record --source=soft -o no.data -p "$keeper"
said 'Permission denied|Operation not permitted'
said 'it runs as user 0'
