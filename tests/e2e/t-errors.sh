#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Bad input gets the call, the object, the limit and the fix; and nothing is recorded.
. "$E2E/lib.sh"

want 2 "$AUXREC"
said '^usage: auxrec'
want 2 "$AUXREC" recrod
said "unknown command 'recrod'"

# What is wrong comes first, whatever the command; how it is used follows.
wrong() { # PATTERN ARGUMENTS...
	pattern=$1
	shift
	want 2 "$AUXREC" "$@"
	head -n 1 err | grep -q "^auxrec: $pattern" || fail "$*: $(head -n 1 err)"
	sed 1d err | grep -q '^usage: auxrec' || fail "$*: the usage is missing"
}
wrong 'no command is named'
for cmd in check info dump recover export; do
	wrong "$cmd: no FILE is named" $cmd
	wrong "$cmd: unexpected argument 'b'" $cmd a b
	wrong "$cmd: unknown option '--nonsense'" $cmd --nonsense a
	wrong "$cmd: unknown option '-Z'" $cmd -Z a
done
for cmd in check info dump recover; do
	wrong "$cmd: option '--json=1' takes no argument" $cmd --json=1 a
	want 1 "$AUXREC" $cmd a --json # an option behind the file
done
wrong "list: unexpected argument 'x'" list x
wrong "record: option '-C' needs an argument" record -C
wrong "ctl: unknown option '--nonsense'" ctl --nonsense
wrong 'export: --to=NAME is missing' export -o x a
wrong 'export: -o BASE is missing' export --to=libipt a
wrong 'recover: -o OUT and --in-place exclude' recover -o x --in-place a
wrong 'recover: .*standard input.* -o OUT' recover -
wrong 'recover: .*standard input' recover --in-place -
want 2 "$AUXREC" record -C 0-x -- true
said "bad cpu list '0-x' at 'x'"
want 2 "$AUXREC" record -C '' -- true
want 2 "$AUXREC" record -C 3-1 -- true
want 3 "$AUXREC" record -C 60000 -- true
said 'cpu 60000 of -C is not online'
said 'online: 0'
want 2 "$AUXREC" record -m 7x -- true
said "bad ring size '7x'"
want 2 "$AUXREC" record -p 1,x
said "bad process list '1,x' at 'x'"
want 3 "$AUXREC" record -t 999999999
said 'cannot find thread 999999999'
want 2 "$AUXREC" record -k martian -- true
said "unknown clock 'martian': monotonic"
want 2 "$AUXREC" record --source=magic -- true
said "unknown source 'magic': auto, kernel, soft or none"
for o in max-total-buffer max-snapshots switch-max-files max-size max-instructions; do
	want 2 "$AUXREC" record --source=soft --$o=0 -- true
	said "bad value '0' for --$o: expected at least 1"
done
want 2 "$AUXREC" record -a -p 1
want 2 "$AUXREC" record -o
said "needs an argument"
want 2 "$AUXREC" record -e 'intel_pt/tsc' -- true
said 'closing slash'
want 2 "$AUXREC" record -e 'intel_pt//,intel_pt//' -- true
want 2 "$AUXREC" record -e ,, -- true
want 3 "$AUXREC" record -e no_such_pmu// -- true
said "no PMU 'no_such_pmu' on this machine"
said 'PMUs with an AUX area on this machine:'
want 3 "$AUXREC" record --max-total-buffer 1K --source=none -- true
said 'rings would need .* = [0-9]+ bytes, but --max-total-buffer allows 1024'
want 3 "$AUXREC" record --max-total-buffer 2M --source=none --flight=8M -- true
said 'rings would need .*\+ 8388608 newest records .*, but --max-total-buffer allows 2097152'
said 'choose smaller rings with --flight=SIZE'
want 3 "$AUXREC" record --max-total-buffer 2M --source=none --flight --window=60s -- true
said 'newest records .*, but --max-total-buffer allows 2097152'
if [ ! -e /sys/bus/event_source/devices/intel_pt ]; then
	want 3 "$AUXREC" record --source=kernel -- true
	said "no PMU 'intel_pt' on this machine"
	want 2 "$AUXREC" record -e 'intel_pt/tsk/u' -- true
	said "event 'intel_pt/tsk/u': unknown term: 'tsk'"
	said 'terms of intel_pt:'
	want 2 "$AUXREC" record -e 'intel_pt/psb_period=9/u' -- true
	said 'psb_periods: 0 1 2 3 4 5'
	want 2 "$AUXREC" record --source=soft -a
fi
ls f perf.data 2>/dev/null && fail "a file was made"

# Descriptors: the soft limit is raised by auxrec itself, the hard one is named.
want 0 sh -c "ulimit -Sn 8; exec '$AUXREC' record --source=none -o f -- true"
for n in 6 7 8 9 10 11 12 13; do
	want 3 sh -c "ulimit -n $n; exec '$AUXREC' record --source=none -o g -- true"
	said 'Too many open files'
	said "RLIMIT_NOFILE is $n"
	[ ! -e g ] || fail "a file was made"
done
exit 0
