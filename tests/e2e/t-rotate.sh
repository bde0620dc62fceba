#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Going on in new files, at a size, by a signal and at an age: stock perf reads each alone, and
# together they have every switch once.
. "$E2E/lib.sh"
need_root "system-wide events"
need_perf
command -v python3 >/dev/null || skip "python3 is not installed"

# readable STEM: each file alone, by perf and by our own rules. accepted.all has what perf saw.
readable() {
	: >accepted.all
	for f in $(in_order "$1"); do
		perf_accepts "$f"
		cat accepted >>accepted.all
		"$PERF" report -i "$f" --stats >stats 2>&1 || { cat stats; fail "perf report: $f"; }
		sound "$f"
		"$AUXREC" info --json "$f" >j || fail "info: $f"
		[ "$(json j 'd["finished"]')" = True ] || fail "$f is not finished"
		[ "$("$PERF" buildid-list -i "$f" | wc -l)" -gt 1 ] || fail "$f has no build ids"
	done
}

# By size. A task that sleeps from before the beginning is known in each file; what has ended
# before one began is not.
cp /bin/sleep longsleep
./longsleep 60 &
sleeper=$!
trap 'kill $sleeper' EXIT
want 0 "$AUXREC" record -v -a --switch-output=1M -o s.data -- sh -c "
	cp /bin/true shortlived; ./shortlived; exec taskset -c 0 '$PROG/pingpong' 40000"
total=$(sed -n 's/.*records (\([0-9]*\) switches.*/\1/p' err)
n=$(in_order s | wc -l)
[ "$n" -ge 4 ] || fail "only $n files"
said "wrote $n files, 's.1.data' to 's.$n.data': "
said "'s.2.data': [0-9.]+ MiB, [0-9]+ records"
[ ! -e s.data ] || fail "there is a file without a number"
readable s
seen=$(grep -c PERF_RECORD_SWITCH_CPU_WIDE accepted.all)
# shellcheck disable=SC2046
"$E2E/rotated.py" $(in_order s) >joined || { cat joined; fail "the files do not join"; }
joined=$(sed -n 's/^\([0-9]*\) switches.*/\1/p' joined)
echo "$n files, switches: auxrec $total, perf $seen, joined $joined"
[ "$total" = "$seen" ] || fail "perf counts differently"
[ "$total" = "$joined" ] || fail "the joined files have others"
! "$E2E/rotated.py" s.1.data s.1.data >/dev/null || fail "rotated.py sees no double"
for f in $(in_order s); do
	"$PERF" script -i "$f" --show-task-events --show-mmap-events >script 2>/dev/null
	grep -q "PERF_RECORD_COMM: longsleep:$sleeper/" script || fail "$f: no name of what ran before"
	grep -q "PERF_RECORD_MMAP2 $sleeper/$sleeper:.*/longsleep" script || fail "$f: no maps of it"
done
! grep -q shortlived script || fail "the last file tells of what has ended long before"
[ "$("$PERF" buildid-list -i "s.$n.data" | grep -c /longsleep)" = 1 ] || fail "no build id"

# A second run goes on behind the first; of its own files it keeps two.
kill $sleeper
trap - EXIT
cksum s.*.data >before
want 0 "$AUXREC" record -a --switch-output=512K --switch-max-files=2 -o s.data -- \
	taskset -c 0 "$PROG/pingpong" 20000
sort before >b1
cksum s.*.data | sort >after
comm -23 b1 after >gone
[ ! -s gone ] || fail "files of an earlier run were touched"
last=$(in_order s | tail -n 1)
[ "$(in_order s | wc -l)" = $((n + 2)) ] || fail "$(in_order s | wc -l) files are there, not $n and 2"
said "wrote [0-9]+ files, [0-9]+ of them removed, 's\.[0-9]+\.data' to '$last'"
rm s.*.data

# By signal, compressed.
"$AUXREC" record -z -a --switch-output -o dir.data/g >out 2>err & rec=$!
wait $rec
[ $? = 1 ] || fail "a folder that is not there"
mkdir sub
"$AUXREC" record -v -z -a --switch-output -o sub/g >out 2>err & rec=$!
for i in 1 2 3 4; do
	until [ -s "sub/g.$i.data" ]; do
		kill -0 $rec || { cat err; fail "it ended"; }
		sleep 0.05
	done
	"$PROG/pingpong" 300 >out
	[ $i = 4 ] || kill -USR2 $rec
done
kill -INT $rec
wait $rec || fail "ended with $?"
readable sub/g
[ "$(in_order sub/g | wc -l)" = 4 ] || fail "$(in_order sub/g)"
# shellcheck disable=SC2046
"$E2E/rotated.py" $(in_order sub/g) || fail "compressed files do not join"
said "a new file was begun in at most"
said "compressed to"

# By age: the files span about that time each.
want 0 "$AUXREC" record -a --switch-output=300ms -o t -- sh -c "
	for i in 1 2 3 4 5 6 7 8 9 10; do '$PROG/pingpong' 100; sleep 0.1; done"
readable t
n=$(in_order t | wc -l)
between "$n" 4 12 "files of 300 ms in a second or more"
# shellcheck disable=SC2046
"$E2E/rotated.py" $(in_order t) || fail "files by age do not join"

# A command alone, by an ordinary user.
make_user
want 0 as_user "$AUXREC" record --source=none --switch-output=64K -m 64K -o u -- "$PROG/pingpong" 3000
[ "$(in_order u | wc -l)" -ge 3 ] || fail "$(in_order u)"
# shellcheck disable=SC2046
"$E2E/rotated.py" $(in_order u) || fail "an ordinary user's files do not join"
chown 0 u.*.data # perf reads no file of another user
for f in $(in_order u); do
	perf_accepts "$f"
	grep -q 'PERF_RECORD_COMM.*pingpong' accepted || fail "$f does not know its command"
done
