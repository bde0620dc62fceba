#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From branch to branch a program executes what it executes step by step: without address
# randomisation and with equal environments, the lists of addresses are the same, byte for byte.
# Breakpoints cost the program nothing that it could see, nor its reading of its own code.
set -eu
. "$E2E/soft.sh"
setarch -R true 2>/dev/null || soft_skip "setarch -R is not permitted"
soft_begin

# record DIR MODE CMD...
record() {
	dir=$1 mode=$2
	shift 2
	mkdir -p "$dir/ips"
	status=0
	env -i timeout 200 setarch -R "$AUXREC" record --source=soft ${mode:+"$mode"} \
		--soft-ips "$dir/ips" -o "$dir/perf.data" -- "$@" >"$dir/out" 2>"$dir/err" ||
		status=$?
	echo "$status" >>"$dir/out"
}

plain() {
	status=0
	env -i setarch -R "$@" >plain 2>plain.err || status=$?
	echo "$status" >>plain
}

# same NAME CMD...
same() {
	name=$1
	shift
	plain "$@"
	record "$name" '' "$@"
	record "$name.step" --soft-step "$@"
	cmp plain "$name/out" || { cat "$name/err"; soft_fail "$name: other output"; }
	cmp plain "$name.step/out" || { cat "$name.step/err"; soft_fail "$name: other, stepped"; }
	! grep 'trace has gaps' "$name/err" "$name.step/err" || soft_fail "$name: not all traced"
	# Processes differ in their numbers only, and come in the same order.
	find "$name/ips" -type f | sort -V >lists
	find "$name.step/ips" -type f | sort -V >lists.step
	[ -s lists ] || soft_fail "$name: no list"
	[ "$(wc -l <lists)" = "$(wc -l <lists.step)" ] ||
		soft_fail "$name: $(wc -l <lists) lists, $(wc -l <lists.step) when stepped"
	paste lists lists.step | while read -r block step; do
		cmp "$block" "$step" || exit 1
		wc -c <"$block"
	done >sizes || soft_fail "$name: other instructions"
	echo "$name: $(($(paste -sd+ sizes))) bytes of addresses"
}

same mini "$PROG/mini"
same spin "$PROG/spin" 500
same true /bin/true
same branches "$PROG/branches"
same remaps "$PROG/remaps"
same ls /bin/ls /

# A loop of jumps alone goes round as fast as it can: only what it prints can be compared.
plain "$PROG/branches" 0
for mode in '' --soft-step; do
	dir="jumps$mode"
	record "$dir" "$mode" "$PROG/branches" 0
	cmp plain "$dir/out" || { cat "$dir/err"; soft_fail "a loop of jumps"; }
done

# Lists that are not the same are told apart.
printf '\1' | dd of=spin/ips/"$(ls spin/ips)" bs=1 seek=80 conv=notrunc 2>dd.err
! cmp -s spin/ips/* spin.step/ips/* || soft_fail "the comparison sees nothing"
