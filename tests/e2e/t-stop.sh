#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ends of a recording that are not the command's own: children that outlive it, readers that
# stand still, hang-ups, an output that cannot be published, a command as a stop-watch.
. "$E2E/lib.sh"

# What outlives the command runs on, stepped or not.
for source in none soft; do
	want 3 "$AUXREC" record --source=$source -o f -- "$PROG/daemon" "$PWD/$source.alive"
	for _ in $(seq 100); do
		[ -s $source.alive ] && break
		sleep 0.1
	done
	[ -s $source.alive ] || fail "source $source killed what outlives the command"
done

# A FIFO without a reader, and a pipe whose reader stands still: SIGTERM ends both.
mkfifo fifo
want 124 timeout 1 "$AUXREC" record --source=none -o fifo -- true
mkfifo pipe
# shellcheck disable=SC2217 # that it does not read is the point
sleep 30 <pipe &
reader=$!
"$AUXREC" record -q --source=none -o - -- "$PROG/pingpong" 1000000 >pipe 2>err &
rec=$!
sleep 1
kill -TERM $rec
for _ in $(seq 60); do
	kill -0 $rec 2>/dev/null || break
	sleep 0.1
done
! kill -0 $rec 2>/dev/null || { kill -9 $rec; fail "held by a reader that stands still"; }
kill $reader

# A hang-up ends a recording, but not under nohup.
"$AUXREC" record -q --source=none -o h -- sleep 20 &
rec=$!
sleep 0.5
kill -HUP $rec
wait $rec
[ $? = 143 ] || fail "SIGHUP: status $?"
(trap '' HUP; exec "$AUXREC" record -q --source=none -o h -- sleep 1) &
rec=$!
sleep 0.4
kill -HUP $rec
wait $rec || fail "SIGHUP under nohup: status $?"

# An earlier file that cannot be kept: said, and the command does not run on unseen.
: >kept
mkdir kept.old
want 1 "$AUXREC" record --source=none -o kept -- sh -c 'sleep 1; touch ran'
said "cannot create 'kept'"
said "first moved to 'kept.old'"
sleep 1.2
[ ! -e ran ] || fail "the command ran on"
[ -e kept ] || fail "the earlier file has gone"

# The command as a stop-watch for running processes.
sleep 30 &
pid=$!
want 0 "$AUXREC" record -p $pid -o p -- sleep 0.3
said '1 process'
kill $pid
exit 0
