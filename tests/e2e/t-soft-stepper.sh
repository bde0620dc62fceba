#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The recorder's list of executed addresses against one that a naive stepper made. Without
# address randomisation, and with equal environment and descriptors, both runs are the
# same.
set -eu
. "$E2E/soft.sh"
setarch -R true 2>/dev/null || soft_skip "setarch -R is not permitted"
soft_begin

both() {
	dir=$1
	shift
	rm -rf "$dir"
	mkdir -p "$dir/ips"
	want=0
	env -i setarch -R "$TOOLS/stepper" "$dir/stepped" "$@" >"$dir/out.stepped" ||
		want=$?
	status=0
	env -i setarch -R "$AUXREC" record --source=soft --soft-ips "$dir/ips" \
		-o "$dir/perf.data" -- "$@" >"$dir/out" 2>"$dir/err" || status=$?
	if [ "$status" != "$want" ]; then
		cat "$dir/err"
		soft_fail "$*: exit status $status when recorded, $want when stepped"
	fi
	cmp "$dir/out.stepped" "$dir/out" || soft_fail "$*: other output"
	set -- "$dir"/ips/*
	[ $# = 1 ] || soft_fail "$dir: $# lists, expected one"
	"$TOOLS/stepper" -c "$dir/stepped" "$1" || soft_fail "$dir: the stepper disagrees"
	"$TOOLS/ptflow" "$dir/perf.data" "$dir/ips" || soft_fail "$dir: libipt disagrees"

	# A stepper that agrees with anything proves nothing.
	size=$(wc -c <"$1")
	head -c $((size - 8)) "$1" >"$dir/short"
	if "$TOOLS/stepper" -c "$dir/stepped" "$dir/short" >/dev/null; then
		soft_fail "$dir: a list without its last address is taken for the same"
	fi
}

both mini "$PROG/mini"
both spin "$PROG/spin" 200
both true /bin/true
