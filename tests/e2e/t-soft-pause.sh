#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program that is paused runs at its own speed, with nothing of ours in it, and all that it does
# before and after is in the trace: by control words, by ctl, after --start-paused and -D.
set -eu
. "$E2E/soft.sh"
soft_alike_begin
command -v nm >/dev/null || soft_skip "nm is not installed"
soft_begin
"$PROG/phases" >plain && soft_fail "phases ends with 0"

# record DIR OPTION...: phases, which sends the words by itself.
record() {
	dir=$1
	shift
	rm -f ctl.fifo ack.fifo
	mkfifo ctl.fifo ack.fifo
	status=0
	soft_alike "$dir" "$@" --control fifo:ctl.fifo,ack.fifo -- \
		"$PROG/phases" ctl.fifo ack.fifo || status=$?
	[ "$status" = 8 ] || { cat "$dir/err" "$dir/out"; soft_fail "$dir ends with $status"; }
	cmp plain "$dir/out" || soft_fail "$dir: other output"
	! grep 'trace has gaps' "$dir/err" || soft_fail "$dir: not all was traced"
}

# in_functions DIR: instructions of the first thread in each of the three, and other processes.
in_functions() {
	nm "$PROG/phases" | python3 -c '
import array, os, sys
names = ["work_before", "work_between", "work_after"]
where = {w[2]: int(w[0], 16) for w in map(str.split, sys.stdin) if len(w) == 3}
ends = sorted(where.values())
count = {n: 0 for n in names}
lists = sorted(os.listdir(sys.argv[1]), key=lambda n: int(n.split(".")[0]))
first = lists[0].split(".")[0]
others = len({n.split(".")[0] for n in lists}) - 1
v = array.array("Q")
with open(os.path.join(sys.argv[1], first + "." + first), "rb") as f:
    v.frombytes(f.read())
for n in names:
    end = next(e for e in ends if e > where[n])
    count[n] = sum(where[n] <= ip < end for ip in v)
print(*count.values(), others)' "$1/ips"
}

# all of the first and the last function, nothing of that between, nor of the child that ended then.
record words
soft_witness words
words=$(in_functions words)
first=${words%% *}
[ "$first" -gt 1000 ] || soft_fail "only $first instructions before"
[ "$words" = "$first 0 $first 3" ] || soft_fail "in functions: $words"

record step --soft-step
soft_libipt step
[ "$(in_functions step)" = "$words" ] || soft_fail "stepped: $(in_functions step), not $words"

record later --start-paused
soft_libipt later
[ "$(in_functions later)" = "0 0 $first 3" ] || soft_fail "later: $(in_functions later)"

# A delay, and a limit: in between it is traced, then it runs on. Traced from the start, or to the
# end, it would take days.
mkdir -p delay/ips
timeout 120 "$AUXREC" record --source=soft -D 100 --max-instructions 5000 --soft-ips delay/ips \
	-o delay/perf.data -- "$PROG/spin" 500000000 >delay/out 2>delay/err ||
	{ cat delay/err; soft_fail "spin ends with $?"; }
[ "$(cat delay/ips/* | wc -c)" = 40000 ] || soft_fail "delay: $(wc -c delay/ips/*)"
soft_witness delay

# A delay that is longer than the program, which is not over before we have looked at it.
mkdir -p never/ips
"$AUXREC" record --source=soft -D 1000000 --soft-ips never/ips -o never/perf.data -- \
	"$PROG/spin" 300 2 >never/out 2>never/err || { cat never/err; soft_fail "spin ends with $?"; }
[ "$(cat never/ips/* 2>/dev/null | wc -c)" = 0 ] || soft_fail "traced before the delay was over"

# By ctl, while a shell waits in a system call; what it executes is traced from its beginning.
mkdir -p ctl/ips
mkfifo gate
# shellcheck disable=SC2016 # the inner shell's
"$AUXREC" record --source=soft --start-paused --socket=s --soft-ips ctl/ips -o ctl/perf.data -- \
	sh -c 'read -r x <gate; "$0" 50; read -r x <gate; nproc
		while read -r k v; do [ "$k" != Cpus_allowed_list: ] || echo "$v"; done </proc/$$/status
		read -r x <gate; exec "$0" 50' \
	"$PROG/spin" >ctl/out 2>ctl/err &
rec=$!
trap 'kill $rec 2>/dev/null' EXIT
for _ in $(seq 200); do
	"$AUXREC" ctl -s s ping 2>/dev/null && break
	sleep 0.05
done
"$AUXREC" ctl -s s status >said
grep -q 'paused (asked)' said || { cat said; soft_fail "it is not paused"; }
! grep -q 'times slower' said || { cat said; soft_fail "slower than what?"; }
grep -q 'intel_pt/soft/u: off' said || { cat said; soft_fail "it counts"; }
grep -q '^0 instructions, 0 a second, .* 1 threads now' said || { cat said; soft_fail "figures"; }
for word in resume pause pause resume resume; do
	"$AUXREC" ctl -s s "$word" >said || { cat said; soft_fail "ctl $word"; }
done
echo go >gate
for _ in $(seq 200); do
	! grep -q turns ctl/out || break
	sleep 0.05
done
"$AUXREC" ctl -s s status >said
so_far=$(sed -n 's/ instructions, [1-9][0-9]* a second, .*//p' said)
[ "$so_far" -gt 0 ] || { cat said; soft_fail "no instructions so far"; }
grep -q ' a second, about [0-9,.]* times slower than one instruction a cycle, ' said ||
	{ cat said; soft_fail "no word of how slow it is"; }
# How slow it is does not change while the shell sleeps, or while nothing is traced.
slowdown() {
	"$AUXREC" ctl -s s --json status |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["software"]["slowdown"])'
}
asleep() {
	grep -q '^State:.S' "/proc/$(pgrep -P $rec -x sh)/status"
}
until asleep; do sleep 0.02; done
sleep 0.1
slow=$(slowdown)
[ "${slow%.*}" -ge 1 ] || soft_fail "slower by $slow"
sleep 0.3
"$AUXREC" ctl -s s pause >said
"$AUXREC" ctl -s s resume >said
[ "$(slowdown)" = "$slow" ] || soft_fail "asleep it becomes slower: $slow, now $(slowdown)"
# A shell that is paused has its cpus, and so has what it executes.
"$AUXREC" ctl -s s pause >said || { cat said; soft_fail "ctl pause"; }
echo go >gate
for _ in $(seq 200); do
	[ "$(wc -l <ctl/out)" != 3 ] || break
	sleep 0.05
done
[ "$(sed -n 2p ctl/out)" = "$(nproc)" ] || { cat ctl/out; soft_fail "cpus while it is paused"; }
[ "$(sed -n 3p ctl/out)" = "$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/$$/status)" ] ||
	{ cat ctl/out; soft_fail "its own cpus while it is paused"; }
"$AUXREC" ctl -s s resume >said || { cat said; soft_fail "ctl resume"; }
echo go >gate
status=0
wait $rec || status=$?
trap - EXIT
[ "$status" = 0 ] || { cat ctl/err; soft_fail "sh ends with $status"; }
soft_witness ctl
grep -q ' per second, about [0-9,.]* times slower than one instruction a cycle' ctl/err ||
	{ cat ctl/err; soft_fail "no summary of how slow it was"; }
mkdir spin
env -i "$AUXREC" record --source=soft --soft-ips spin -o spin.data -- "$PROG/spin" 50 >out 2>err
in_all=$(($(cat ctl/ips/* | wc -c) / 8)) of_one=$(($(cat spin/* | wc -c) / 8))
{ [ "$so_far" -gt "$of_one" ] && [ "$so_far" -lt $((in_all - of_one / 2)) ]; } ||
	soft_fail "ctl: $so_far of $in_all instructions, $of_one of spin"
[ "$in_all" -gt $((of_one * 2)) ] || soft_fail "ctl: not all of spin"

# Paused to the end: it is let go as it is.
# shellcheck disable=SC2016
"$AUXREC" record --source=soft --start-paused -o none -- \
	sh -c 'kill -INT $PPID; exec sleep 60' 2>err && soft_fail "a signal is not told"
grep -q ' 0 instructions' err || { cat err; soft_fail "something was traced"; }
