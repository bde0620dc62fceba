# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by every end-to-end test, which runs in a scratch directory of its own with
# $AUXREC, $PROG, $TOOLS and $E2E set (see tests/check.sh).
set -u
PERF=${PERF:-perf}
USER_NAME=auxrec-test

fail() {
	echo "FAIL: $*"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

is_root() {
	[ "$(id -u)" = 0 ]
}

need_root() {
	is_root || skip "needs root: ${1:-}"
}

# Where tracefs is not mounted, the test begins anew, as root, with a mount that only it sees.
need_tracefs() {
	[ -e /sys/kernel/tracing/events/sched/sched_switch/id ] ||
		[ -e /sys/kernel/debug/tracing/events/sched/sched_switch/id ] || {
		[ -z "${OWN_TRACEFS:-}" ] || skip "no tracefs"
		export OWN_TRACEFS=1
		# shellcheck disable=SC2016 # the shell that is started expands it
		exec unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
			exec sh "$0"' "$0"
	}
}

need_perf() {
	"$PERF" --version >/dev/null 2>&1 || skip "no working perf"
}

# The status of a command that is expected to fail or to return something.
status_of() {
	"$@"
	echo $?
}

# want STATUS COMMAND...: stdout to out, stderr to err.
want() {
	expected=$1
	shift
	"$@" >out 2>err
	got=$?
	[ "$got" = "$expected" ] || {
		cat err
		fail "'$*' ended with $got, not $expected"
	}
}

# said PATTERN: the last want() printed it on stderr.
said() {
	grep -qE -- "$1" err || {
		cat err
		fail "no word of '$1'"
	}
}

# An ordinary user for this test: root makes one, others are one. `as_user CMD...`
# A test that sets another trap on EXIT calls drop_user there.
drop_user() {
	! is_root || userdel "$USER_NAME-$$" 2>/dev/null
}

make_user() {
	is_root || return 0
	useradd -M -d /nonexistent -s /bin/sh "$USER_NAME-$$" 2>/dev/null ||
		skip "cannot make an ordinary user"
	trap drop_user EXIT
	chmod 777 .
	for d in "$PWD" "$AUXREC" "$PROG"; do
		runuser -u "$USER_NAME-$$" -- test -r "$d" ||
			skip "an ordinary user cannot reach $d"
	done
}

as_user() {
	if is_root; then
		runuser -u "$USER_NAME-$$" -- "$@"
	else
		"$@"
	fi
}

# in_order STEM: the files STEM.N.data, by their numbers.
in_order() {
	for numbered in "$1".[0-9]*.data; do
		[ ! -e "$numbered" ] || echo "$numbered"
	done | sort -V
}

# between VALUE LEAST MOST WHAT
between() {
	[ "$1" -ge "$2" ] || fail "$4: $1, expected $2 at least"
	[ "$1" -le "$3" ] || fail "$4: $1, expected $3 at most"
}

# json FILE EXPRESSION: print a python expression over the parsed JSON `d`.
json() {
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"
}

# Stock perf reads the file without a word of complaint. Prints nothing.
perf_accepts() {
	"$PERF" script -i "$1" --show-task-events --show-mmap-events --show-switch-events \
		>accepted 2>complaints || { cat complaints; fail "perf script refuses $1"; }
	if grep -vE '^(Warning: Processed [0-9]+ events and lost|Check IO|$)' complaints |
		grep -iE 'error|fail|unknown|unhandled|out of order|corrupt|incompatible|terminated'; then
		fail "perf complains about $1"
	fi
}

# sound FILE: check finds it sound. Some kernels leave out a switch now and then, whoever
# records: that alone is passed over.
sound() {
	"$AUXREC" check "$1" >found 2>&1 && return
	if grep -vE '(^| )(switch-lost|switch-gap) |: sound' found; then
		fail "check $1"
	fi
}
