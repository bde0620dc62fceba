#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The witnesses of the other tests can say no: each damage below must be noticed.
set -eu
. "$E2E/soft.sh"
soft_begin

perfcmp=$E2E/perfcmp.py

# refuses STATUS CMD...: CMD must end with STATUS.
refuses() {
	want=$1
	shift
	status=0
	"$@" >said 2>&1 || status=$?
	[ "$status" = "$want" ] && return 0
	cat said
	soft_fail "$*: exit status $status, expected $want"
}

# All three, on FILE and LISTS.
all_refuse() {
	refuses "$1" "$TOOLS/ptflow" "$2" "$3"
	refuses "$1" "$TOOLS/ptflow" -b "$2" "$3"
	refuses "$1" "$perfcmp" "$2" "$3"
}

# A copy of the lists in ./lists, to be damaged.
fresh() {
	rm -rf lists
	cp -R signals/ips lists
	set -- lists/*
	[ $# -ge 2 ] || soft_fail "expected two lists"
	list=$1
	size=$(wc -c <"$list")
}

status=0
soft_record signals "$PROG/signals" || status=$?
[ "$status" = 6 ] || soft_fail "signals: exit status $status"
soft_witness signals
data=signals/perf.data

# One branch outcome turned round. perf decodes slowly, so it sees a part of them.
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	"$TOOLS/ptflip" "$seed" "$data" flipped >flip || soft_fail "ptflip: $(cat flip)"
	refuses 1 "$TOOLS/ptflow" flipped signals/ips
	refuses 1 "$TOOLS/ptflow" -b flipped signals/ips
	[ "$seed" -gt 4 ] || refuses 1 "$perfcmp" flipped signals/ips
done

# A queue that ends too early.
"$TOOLS/ptflip" -t "$data" cut || soft_fail "ptflip -t"
all_refuse 1 cut signals/ips

# One address off by one. An early address: block decoding must see it, and it is told of
# first and last addresses of a block only, so the very first is the one.
fresh
byte=$(od -An -tu1 -N1 "$list" | tr -d ' ')
# shellcheck disable=SC2059,SC2094 # the format is the byte
printf "\\$(printf %03o $((byte ^ 1)))" | dd of="$list" bs=1 conv=notrunc 2>dd.err
all_refuse 1 "$data" lists

# An address missing at the end, and one too many.
fresh
head -c $((size - 8)) signals/ips/"${list#lists/}" >"$list"
all_refuse 1 "$data" lists
fresh
tail -c 8 signals/ips/"${list#lists/}" >>"$list"
all_refuse 1 "$data" lists

# A thread without a list, a list without a thread, no list at all, an empty trace.
fresh
rm "$list"
all_refuse 1 "$data" lists
fresh
cp "$list" lists/1.1
all_refuse 1 "$data" lists
mkdir none
all_refuse 2 "$data" none
: >empty
refuses 2 "$TOOLS/ptflow" empty signals/ips
refuses 2 "$TOOLS/ptflow" missing signals/ips
refuses 1 "$perfcmp" empty signals/ips

# Not one process's code but another's: the lists of another recording.
status=0
soft_record other "$PROG/spin" 10 || status=$?
[ "$status" = 0 ] || soft_fail "spin: exit status $status"
refuses 2 "$TOOLS/ptflow" "$data" other/ips
refuses 1 "$perfcmp" "$data" other/ips
