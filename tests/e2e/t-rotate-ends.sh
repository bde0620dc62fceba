#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How recordings with several files end: at a limit, killed, with a full disk; what goes together
# and what does not; and snapshots in files of their own.
. "$E2E/lib.sh"
need_root "system-wide events"
need_perf
pingpong="taskset -c 0 '$PROG/pingpong'"

# perf's words and forms; what contradicts itself is told before anything is opened.
for bad in --switch-output=5x --switch-output=0 --switch-output=0s --max-time=5 --max-time=0s \
	--max-size=x --switch-max-files=x; do
	want 2 "$AUXREC" record $bad -- true
done
want 2 "$AUXREC" record -a --switch-output -o - -- true
said 'one stream: it cannot become several files'
want 2 "$AUXREC" record -a --flight --max-snapshots=2 -o - -- true
want 2 "$AUXREC" record -a --switch-max-files=2 -- true
said '--switch-max-files needs --switch-output'
want 2 "$AUXREC" record -a --max-snapshots=2 -- true
want 2 "$AUXREC" record -a --flight --switch-output -- true
said '--max-snapshots gives each snapshot a file'
[ -z "$(ls perf* 2>/dev/null)" ] || fail "a file was made"

# A time: the command is ended, which makes the status 0; a status of its own stays.
start=$(date +%s%N)
want 0 "$AUXREC" record -a --max-time=500ms -o f -- sleep 60
ms=$((($(date +%s%N) - start) / 1000000))
said 'the recording ends: .* are over \(--max-time\)'
between $ms 500 6000 "500 ms"
"$AUXREC" info --json f >j
[ "$(json j 'd["finished"]')" = True ] || fail "not finished"
want 9 "$AUXREC" record -a --max-time=300ms -o f -- sh -c 'trap "exit 9" TERM; sleep 5 & wait'
want 7 "$AUXREC" record -a --max-time=60s -o f -- sh -c 'exit 7'
want 0 "$AUXREC" record -a --flight --max-time=300ms -o none
[ ! -e none ] || fail "a file without a snapshot"

# A size: of one file, of a stream, and of several, where those that are removed do not count.
want 0 "$AUXREC" record -a -m 64K --max-size=600K -o f -- sh -c "$pingpong 100000; sleep 60"
said 'the recording ends: .* are written \(--max-size\)'
between "$(stat -c %s f)" 614400 1500000 "a file of 600K"
"$AUXREC" record -q -a -m 64K --max-size=600K -o - -- sh -c "$pingpong 100000; sleep 60" >f
between "$(stat -c %s f)" 614400 1500000 "a stream of 600K"
want 0 "$AUXREC" record -a -m 64K --switch-output=300K --max-size=2M -o g -- \
	sh -c "$pingpong 100000; sleep 60"
between "$(cat g.*.data | wc -c)" 2097152 3500000 "files of 2M"
rm g.*.data
want 0 "$AUXREC" record -a -m 64K --switch-output=300K --switch-max-files=2 --max-size=3M \
	-o g -- sh -c "$pingpong 40000"
[ "$(find . -name 'g.*.data' | wc -l)" = 2 ] || fail "not two files"
! grep -q -- --max-size err || fail "what is removed counts"
rm g.*.data

# Killed: all but the last are finished, the last is sound, and nothing else is there.
whole=0 cut=0
for ms in 150 300 450 620; do
	taskset -c 0 "$PROG/pingpong" 40000 >/dev/null &
	load=$!
	"$AUXREC" record -q -a -m 64K --switch-output=300K -o k & rec=$!
	sleep "$(printf '0.%03d' $ms)"
	kill -9 $rec
	wait $rec 2>/dev/null
	kill $load 2>/dev/null
	wait $load 2>/dev/null
	last=$(in_order k | tail -n 1)
	for f in $(in_order k); do
		perf_accepts "$f"
		"$AUXREC" info --json "$f" >j || fail "info refuses $f"
		if [ "$(json j 'd["finished"]')" = True ]; then
			whole=$((whole + 1))
		else
			cut=$((cut + 1))
			[ "$f" = "$last" ] || fail "$f is not finished, and $last is behind it"
		fi
	done
	[ -z "$(find . -name '*tmp*')" ] || fail "left-over: $(find . -name '*tmp*')"
	rm -f k.*.data
done
echo "killed: $whole files finished, $cut not"
between $whole 3 1000 "finished files"
between $cut 2 4 "files that were cut"

# A full disk: in the middle of a file, and when there is no room for the next head.
mkdir m
mount -t tmpfs -o size=2500k tmpfs m 2>/dev/null || skip "cannot mount a tmpfs"
trap 'umount m' EXIT
for size in 300K 1K; do
	want 1 "$AUXREC" record -a -m 64K --switch-output=$size -o m/d -- \
		sh -c "$pingpong 60000; echo went on"
	said "writing 'm/d\.[0-9]+\.data' failed: No space left|cannot begin 'm/d\..*: No space left"
	grep -q 'went on' out || fail "the command did not go on"
	last=$(in_order m/d | tail -n 1)
	for f in m/d.*.data; do
		perf_accepts "$f"
		"$AUXREC" info --json "$f" >j
		[ "$f" = "$last" ] || [ "$(json j 'd["finished"]')" = True ] ||
			fail "$f is not finished"
	done
	[ "$(in_order m/d | wc -l)" -ge 2 ] || fail "hardly a file"
	rm m/d.*.data
done

# Snapshots in files of their own. One that cannot be written is told of; the next one can.
want 1 "$AUXREC" record -v -a --flight=64K --max-snapshots=2 -o m/s -- sh -c "
	for i in 1 2 3; do $pingpong 3000; kill -USR2 \$PPID; sleep 0.3; done
	head -c 3000000 /dev/zero >m/full; kill -USR2 \$PPID; sleep 0.3
	rm m/full; kill -USR2 \$PPID; sleep 0.3"
said "there is no snapshot 'm/s.4.data': No space left"
said "wrote 4 files, 2 of them removed, 'm/s.3.data' to 'm/s.5.data'"
[ "$(ls m)" = "s.3.data
s.5.data" ] || fail "there is: $(ls m)"
for f in m/s.3.data m/s.5.data; do
	perf_accepts $f
	[ "$(grep -c SWITCH_CPU_WIDE accepted)" -gt 500 ] || fail "hardly anything in $f"
	sound $f
done
# What one had and the rings still hold, the next has, too.
want 0 "$AUXREC" record -a --flight=4M --max-snapshots=3 -o s -- sh -c "
	$pingpong 1000; kill -USR2 \$PPID; sleep 0.2; kill -USR2 \$PPID; sleep 0.2"
for i in 1 2; do
	"$PERF" script -i s.$i.data --show-switch-events 2>/dev/null | grep SWITCH_CPU_WIDE |
		sort >s$i
done
[ "$(comm -23 s1 s2 | wc -l)" = 0 ] || fail "the second snapshot has not what the first had"
[ "$(wc -l <s1)" -gt 1000 ] || fail "hardly anything in the first"
