#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check --decode against who executed the code (the addresses kept by the tracer), stock
# perf's decoder, and files that are wrong in a known way.
# shellcheck source=tests/e2e/lib.sh
. "$E2E/lib.sh"

need_perf
command -v python3 >/dev/null || skip "python3 is not installed"

# record DIR CMD...: DIR/perf.data, and DIR/ips/PID.TID with each executed address.
record() {
	dir=$1
	shift
	mkdir -p "$dir/ips"
	"$AUXREC" record --source=soft -e intel_pt/psb_period=0/u --soft-ips "$dir/ips" \
		-o "$dir/perf.data" -- "$@" >"$dir/out" 2>"$dir/err" ||
		{ grep -q 'ptrace' "$dir/err" && skip "$(tail -n 1 "$dir/err")"; }
	[ -s "$dir/perf.data" ] || { cat "$dir/err"; fail "no recording of $*"; }
}

# "TID COUNT" a line, by tid: of the lists, of perf, of us.
listed() {
	for list in "$1"/ips/*; do
		echo "${list##*.} $(($(wc -c <"$list") / 8))"
	done | awk '{ n[$1] += $2 } END { for (t in n) if (n[t]) print t, n[t] }' | sort -n
}

by_perf() {
	"$PERF" script -i "$1" --itrace=i1i -F tid 2>/dev/null | awk '{ n[$1]++ }
		END { for (t in n) print t, n[t] }' | sort -n
}

by_us() {
	"$AUXREC" check --decode --json "$1" >report.json
	status=$?
	json report.json '"\n".join("%d %d" % (t, sum(x["instructions"] for x in
		d["decode"]["threads"] if x["tid"] == t))
		for t in sorted({x["tid"] for x in d["decode"]["threads"]}))'
	return $status
}

# decode EXPRESSION: of the last report.
decode() {
	json report.json "(lambda d: $1)(d['decode'])"
}

same_counts() {
	listed "$1" >want.counts
	by_us "$1/perf.data" >our.counts || { cat report.json; fail "$1: status $?"; }
	by_perf "$1/perf.data" >perf.counts
	diff want.counts our.counts || fail "$1: not the instructions that were executed"
	diff perf.counts our.counts || fail "$1: not the instructions that perf finds"
	[ "$(decode '(d["undecodable"], d["errors"], d["missing"])')" = "(0, [], [])" ] ||
		fail "$1: $(cat report.json)"
	[ "$(decode 'sum(q["instructions"] for q in d["queues"])')" = \
		"$(decode 'd["instructions"]')" ] || fail "$1: queues do not add up"
}

record true /bin/true
same_counts true
[ "$(decode 'd["threads"][0]["command"]')" = true ] || fail "the thread has another name"
record threads "$PROG/threads"
same_counts threads
record forkexec "$PROG/forkexec"
same_counts forkexec

cp "$PROG/spin" program
record spin ./program 5000
same_counts spin
good=$(decode 'd["instructions"]')
[ "$(decode 'd["queues"][0]["psb"]')" -ge 2 ] || fail "too little trace for what follows"

# A branch outcome turned round: errors, or other instructions. Now and then the other way is
# as long and comes out at the same place; only the addresses tell then.
noticed=0
for seed in 1 2 3 4 5 6; do
	"$TOOLS/ptflip" "$seed" spin/perf.data flipped >flip
	by_us flipped >our.counts
	if [ $? = 1 ] && [ "$(decode 'len(d["errors"])')" -ge 1 ]; then
		noticed=$((noticed + 1))
	elif [ "$(decode 'd["instructions"]')" != "$good" ]; then
		noticed=$((noticed + 1))
	fi
done
[ "$noticed" -ge 4 ] || fail "of 6 flipped outcomes only $noticed are noticed: $(cat flip)"

# The second half is PAD packets: what is before it counts, whether or not a packet was cut.
"$TOOLS/ptflip" -t spin/perf.data blanked >flip
by_us blanked >our.counts
[ "$(decode "0 < d['instructions'] < $good")" = True ] || fail "not half: $(cat our.counts)"

# The program is not there: it is named, and nothing of it counts.
mv program kept
want 4 "$AUXREC" check --decode --json spin/perf.data
mv out report.json
[ "$(decode 'd["instructions"]')" = 0 ] || fail "instructions of a program that is not there"
[ "$(decode 'd["missing"][0]["name"]')" = "$PWD/program" ] || fail "another name"
[ "$(decode 'd["missing"][0]["why"]')" = "no such file" ] || fail "another reason"
[ "$(decode 'd["missing"][0]["errors"] == d["errors"][0]["count"] > 0')" = True ] ||
	fail "errors that the missing program did not cause"
want 4 "$AUXREC" check --decode spin/perf.data
grep -qF "$PWD/program: no such file" out || fail "the text does not name it"

# Another program of that name has another build id: not taken for the code.
cp "$PROG/signals" program
want 4 "$AUXREC" check --decode --json spin/perf.data
mv out report.json
[ "$(decode 'd["missing"][0]["why"]')" = "another build id" ] || fail "another reason"
[ "$(decode 'd["instructions"]')" = 0 ] || fail "another program was decoded"

# Found elsewhere: below a folder, and in perf's cache.
id=$(decode 'd["missing"][0]["build_id"]')
mkdir -p "images/$PWD" home/.debug/.build-id/"$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)"
cp kept "images/$PWD/program"
want 0 "$AUXREC" check --images=images spin/perf.data
grep -q " $good instructions, 0 errors" out || fail "not decoded with the folder"
# A directory that is not there has nothing, which is no fault of the recording.
want 2 "$AUXREC" check --images=imagse spin/perf.data
said "cannot look for images in 'imagse': No such file"
want 2 "$AUXREC" export --to=libipt -o x --images=spin/perf.data spin/perf.data
said "cannot look for images in 'spin/perf.data': Not a directory"
mv "images/$PWD/program" \
	home/.debug/.build-id/"$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)/elf"
HOME=$PWD/home
export HOME
want 0 "$AUXREC" check --decode spin/perf.data
grep -q " $good instructions, 0 errors" out || fail "not decoded with perf's cache"

# Cut within the trace: what is there is decoded. While the command sleeps all that there was goes
# into the file, so that the last piece of trace is not the first.
# shellcheck disable=SC2016 # not our $0
record twice sh -c '"$0" 500; sleep 1; "$0" 500' "$PROG/spin"
all=$(listed twice | awk '{ n += $2 } END { print n }')
at=$(python3 -c 'import struct
b = open("twice/perf.data", "rb").read()
at, size = struct.unpack_from("<QQ", b, 40)
end, last = at + size, 0
while at < end:
    kind, _, n = struct.unpack_from("<IHH", b, at)
    if kind == 71:
        last, n = at, n + struct.unpack_from("<Q", b, at + 8)[0]
    at += n
print(last + 48 + 100)')
head -c "$at" twice/perf.data >shortened
"$AUXREC" check --decode --json shortened >report.json && fail "a cut file is sound"
[ "$(decode '0 < d["instructions"] < '"$all")" = True ] || fail "nothing of a cut file"
