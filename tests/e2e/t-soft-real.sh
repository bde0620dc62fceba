#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that people run, from branch to branch: same output, same status, and libipt finds
# every instruction.
set -eu
. "$E2E/soft.sh"
soft_begin

# real NAME CMD...
real() {
	name=$1
	shift
	command -v "$1" >/dev/null || { echo "$1 is not installed"; return 0; }
	want=0
	"$@" >plain.out 2>plain.err || want=$?
	status=0
	soft_record "$name" "$@" || status=$?
	[ "$status" = "$want" ] || { cat "$name/err"; soft_fail "$name: $status, not $want"; }
	cmp plain.out "$name/out" || soft_fail "$name: other output"
	! grep 'trace has gaps' "$name/err" || soft_fail "$name: not all was traced"
	soft_libipt "$name"
	grep -h '^queue' "$name/ptflow"
}

# shellcheck disable=SC2016 # not our $i, not our $_
{
	real bash bash -c 'for i in a b; do echo $i; done | tr a-z A-Z; exit 3'
	real perl perl -e 'print join(",", map { $_ * 2 } 1 .. 20), "\n"'
}
real find find /etc/apt
real openssl openssl dgst -sha512 "$PROG/mini"
real python3 /usr/bin/python3 -I -S -c 'print(6 * 7)'

