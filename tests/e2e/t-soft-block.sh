#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From branch to branch a program executes what it executes step by step: without address
# randomisation and with equal environments, the lists of addresses are the same, and perf and
# libipt find what they have. Breakpoints cost the program nothing that it could see, nor its
# reading of its own code.
set -eu
. "$E2E/soft.sh"
soft_alike_begin
soft_begin
HOME=$PWD
export HOME
"$E2E/vdso.py" "$HOME" || soft_skip "no vdso"
SOFT_ENV='PATH=/usr/bin:/bin PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 PYTHONHASHSEED=0'

# record DIR [OPTION...] -- CMD...
record() {
	dir=$1
	status=0
	soft_alike "$@" || status=$?
	echo "$status" >>"$dir/out"
	cmp plain "$dir/out" || { cat "$dir/err"; soft_fail "$dir: other output"; }
	! grep 'trace has gaps' "$dir/err" || soft_fail "$dir: not all was traced"
}

# plain CMD...
plain() {
	status=0
	# shellcheck disable=SC2086 # words
	env -i $SOFT_ENV setarch -R "$@" >plain 2>plain.err || status=$?
	echo "$status" >>plain
}

# alike NAME [-p]
alike() {
	soft_say lists "$E2E/samelists.py" ${2:+"$2"} "$1" "$1.step" || {
		ls -l "$1/ips" "$1.step/ips"
		soft_fail "$1: other instructions"
	}
	echo "$1: $(cat lists)"
}

# digits DIR: how many the numbers of its processes have. A shell writes them down, which takes some
# instructions more for a digit more.
digits() {
	{ cat "$1/parent" && ls "$1/ips"; } | tr 0-9 0 | sort
}

# twice NAME CMD...: the same addresses.
twice() {
	name=$1
	shift
	plain "$@"
	for _ in 1 2 3; do
		record "$name" -- "$@"
		record "$name.step" --soft-step -- "$@"
		[ "$(digits "$name")" != "$(digits "$name.step")" ] || break
	done
	alike "$name"
}

# same NAME CMD...: and the decoders agree.
same() {
	command -v "$2" >/dev/null || { echo "$2 is not installed"; return 0; }
	twice "$@"
	soft_witness "$1"
	soft_libipt "$1.step"
}

# begins NAME N M CMD...: the same of the first N instructions, of M that are decoded.
begins() {
	name=$1 n=$2 m=$3
	shift 3
	command -v "$1" >/dev/null || { echo "$1 is not installed"; return 0; }
	plain "$@"
	record "$name" --max-instructions "$m" -- "$@"
	record "$name.step" --soft-step --max-instructions "$n" -- "$@"
	alike "$name" -p
	soft_witness "$name"
}

same mini "$PROG/mini"
same spin "$PROG/spin" 500
same true /bin/true
same branches "$PROG/branches"
twice remaps "$PROG/remaps" # whose code is of files that are gone
same ls /bin/ls /

# Processes, traps and stops, where nothing is left to chance.
same forkexec "$PROG/forkexec"
same stopcont "$PROG/stopcont"
same traps "$PROG/traps"

# Programs that people run: of vectors, several at once, interpreters.
seq 4000 >numbers
same wc wc -l numbers
# shellcheck disable=SC2016 # not our $i, not our $_
{
	same bash bash -c 'for i in a b; do echo $i; done | tr a-z A-Z; exit 3'
	begins perl 300000 2000000 perl -e 'print join(",", map { $_ * 2 } 1 .. 20), "\n"'
}
begins python3 300000 3000000 python3 -S -s -c 'print(6 * 7)'
begins openssl 300000 2000000 openssl dgst -sha256 numbers

# A loop of jumps alone goes round as fast as it can: only what it prints can be compared.
plain "$PROG/branches" 0
for mode in '' --soft-step; do
	record "jumps$mode" ${mode:+"$mode"} -- "$PROG/branches" 0
done

# Lists that are not the same are told apart, from the first address to the last.
for at in 0 80 "$(($(cat spin/ips/* | wc -c) - 8))"; do
	rm -rf other
	cp -R spin other
	printf '\1' | dd of=other/ips/"$(ls spin/ips)" bs=1 seek="$at" conv=notrunc 2>dd.err
	! "$E2E/samelists.py" other spin.step >said 2>&1 || soft_fail "the comparison sees nothing"
done
rm -rf other
cp -R spin other
head -c -8 spin/ips/"$(ls spin/ips)" >other/ips/"$(ls spin/ips)"
! "$E2E/samelists.py" other spin.step >said 2>&1 || soft_fail "it does not see what is missing"
