#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Going on in new files with a kernel's AUX areas: the queues of all files together have every
# byte and every PTWRITE, each file tells who ran when it began, and perf reads each alone. With
# --kcore all files share one copy of the code, snapshots in files of their own, too.
. "$GUEST/lib.sh"

links() { # NAME: the copies of NAME.*.data and how often each is linked; then they are removed
	stat -c '%i %h' "$1".*.data/kcore_dir/kcore | sort -u
	rm -r "$1".*.data/kcore_dir
}

guest() {
	param bytes_per_tick 512
	record rot -a --switch-output=300ms -- sleep 2
	param bytes_per_tick 8192
	# shellcheck disable=SC2016 # for the shell that it is given to
	record task --switch-output=300ms -- taskset -c 0 sh -c '
		timeout 2 sh -c "while :; do :; done" 2>/dev/null; true'
	record size -a -z -m 512K,8M --switch-output=3M -- sleep 2
	param bytes_per_tick 512
	auxrec record -v -a --kcore -e intel_pt// --switch-output=500ms -o core -- sleep 2 \
		2>core.err || { cat core.err; fail "record --kcore --switch-output"; }
	links core >core.links
	# shellcheck disable=SC2016
	auxrec record -q -a --kcore -e intel_pt// --flight=64K --max-snapshots=2 -o snap -- sh -c '
		for i in 1 2 3; do sleep 0.3; kill -USR2 $PPID; sleep 1; done' ||
		fail "record --flight --max-snapshots"
	links snap >snap.links
	[ -z "$(find . -name '*tmp*')" ] || fail "left over: $(find . -name '*tmp*')"
}

in_order() {
	find . -maxdepth 1 -name "$1.*.data" | sort -V
}

# joined NAME: every PTWRITE that the module made is in the queues of the files, joined.
joined() {
	rm -rf parts queues
	mkdir queues
	n=0
	for f in $(in_order "$1"); do
		n=$((n + 1))
		"$AUXREC" check "$f" >checked || { cat checked; fail "check $f"; }
		[ "$(json "$f" 'd["finished"]')" = True ] || fail "$f is not finished"
		python3 -B "$GUEST/../e2e/rawperf.py" split cpu "$f" parts || fail "$f: split"
		# The last one may have been begun just before the end.
		[ -e parts/aux-idx0.bin ] || [ "$f" = "$(in_order "$1" | tail -n 1)" ] ||
			fail "$f has no trace of its time"
		for q in parts/aux-*; do
			[ ! -e "$q" ] || cat "$q" >>"queues/${q##*/}"
		done
		rm -r parts
	done
	[ $n -ge 3 ] || fail "$1: $n files"
	# shellcheck disable=SC2046
	python3 -B "$GUEST/../e2e/rotated.py" $(in_order "$1") || fail "$1: the files do not join"
	wanted=$(cat "$1.before" "$1.after" | tr ' ' '\n' | sed -n 's/^ptw=//p' |
		awk '{ n[NR] = $1 } END { for (i = 1; i <= NR / 2; i++) s += n[i + NR / 2] - n[i]
			print s }')
	"$TOOLS/ptcount" queues/* >packets || { cat packets; fail "libipt complains"; }
	got=$(sed -n 's/.* ptw=\([0-9]*\) .*/\1/p' packets | awk '{ s += $1 } END { print s }')
	echo "$1: $n files, libipt finds $got PTWRITEs of $wanted"
	[ "$got" = "$wanted" ] || fail "$1: not all of the trace is there"
}

# alone NAME: perf finds all of it in the files one by one, and who ran when each began.
alone() {
	sum=0
	for f in $(in_order "$1"); do
		"$PERF" script --itrace=w -F event -i "$f" >events 2>complaints ||
			{ cat complaints; fail "perf script $f"; }
		sum=$((sum + $(grep -c ptwrite events)))
		[ "$f" = "./$1.1.data" ] && continue
		"$PERF" script -D -i "$f" 2>/dev/null | grep -c PERF_RECORD_ITRACE_START >started
		[ "$(cat started)" -ge 2 ] || fail "$f does not tell who runs"
	done
	echo "$1: perf finds $sum of $wanted"
	[ "$sum" = "$wanted" ] || fail "perf does not find all of the trace in the files alone"
}

host() {
	joined rot
	alone rot
	joined size
	joined task
	grep 'no trace was halted' core.err || fail "no word of how long trace was halted"
	for name in core snap; do
		n=$(in_order $name | wc -l)
		echo "$name: $n files, code: $(cat $name.links)"
		[ "$(wc -l <$name.links)" = 1 ] || fail "$name: more than one copy"
		[ "$(cut -d' ' -f2 $name.links)" = "$n" ] || fail "$name: links"
	done
	[ "$(in_order snap | wc -l)" = 2 ] || fail "not two snapshots"
	"$PERF" script -D -i core.2.data/data 2>/dev/null | grep -q AUXTRACE || fail "no trace"
}

"$1"
