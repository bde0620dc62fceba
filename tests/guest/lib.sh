# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by both halves of a test: guest() runs as root in the guest, in a directory that
# comes back; host() then runs in that directory on the host, with $AUXREC, $TOOLS, $PROG and
# $PERF. A prepare() runs on the host before the boot; what it leaves goes along. The last
# line of a test is:  "$1"
set -u
PT=/sys/module/fakept/parameters
PT_DEBUG=/sys/kernel/debug/fakept

say() {
	echo "-- $*"
}

fail() {
	echo "FAIL: $*"
	exit 1
}

# ---- in the guest ----

# param NAME VALUE: of the module.
param() {
	echo "$2" >"$PT/$1" || fail "no parameter $1"
}

# stats FILE: the module's counters as they are now.
stats() {
	cat "$PT_DEBUG/stats" >"$1"
}

# record NAME ARGUMENT...: auxrec record to NAME.data, with the counters around it.
record() {
	name=$1
	shift
	stats "$name.before"
	auxrec record -q -o "$name.data" "$@" 2>"$name.err"
	got=$?
	stats "$name.after"
	cat "$name.err"
	[ $got = 0 ] || fail "auxrec record $* ends with $got"
}

# count FILE CPU NAME: one counter.
count() {
	grep "^cpu=$2 " "$1" | tr ' ' '\n' | sed -n "s/^$3=//p"
}

# until_started FILE: wait until a recording is on that was not when FILE was taken.
until_started() {
	while [ "$(starts <"$1")" = "$(starts <"$PT_DEBUG/stats")" ]; do
		sleep 0.1
	done
}

starts() {
	tr ' ' '\n' | sed -n 's/^starts=//p'
}

cpus() {
	sed -n 's/^cpu=\([0-9]*\) .*/\1/p' "$PT_DEBUG/stats"
}

# ---- on the host ----

# sound FILE: it may tell of losses.
sound() {
	status=0
	"$AUXREC" check "$1" >checked || status=$?
	cat checked
	case $status in 0 | 4) ;; *) fail "auxrec check calls $1 damaged" ;; esac
}

# account NAME [OPTION...]: every byte of NAME.data is accounted for.
account() {
	name=$1
	shift
	"$TOOLS/auxcheck" "$@" -b "$name.before" -a "$name.after" "$name.data" ||
		fail "$name.data is not what the module wrote"
	sound "$name.data"
}

# json FILE EXPRESSION: a python expression over what `info` says, as `d`.
json() {
	"$AUXREC" info --json "$1" >info.json || fail "auxrec info $1"
	python3 -c 'import json, sys
print(eval(sys.argv[2], {"d": json.load(open(sys.argv[1]))}))' info.json "$2"
}
