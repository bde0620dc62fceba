#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel's MMAP2 records get the build ids of the files they name, and other recorders'
# records stay what they are.
# shellcheck disable=SC2016 # scripts for sh -c, which get $PROG from the environment
. "$E2E/lib.sh"
need_perf

id_of() {
	readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'
}

# The MMAP2 records of the kernel (those that are synthesised have no time) of that name.
mmaps() { # file, pattern
	"$PERF" script -i "$1" --show-mmap-events 2>/dev/null | grep 'PERF_RECORD_MMAP2' |
		grep -v ' 0\.000000: ' | grep -E "$2" >maps
	[ -s maps ] || fail "no MMAP2 record of $2"
}

all_have() { # id
	! grep -v "<$1>" maps || fail "without the build id $1"
}

readelf=$(readlink -f "$(command -v readelf)")
libc=$(ldd "$readelf" | sed -n 's/.*libc\.so\.6 => \([^ ]*\) .*/\1/p')
pingpong=$(id_of "$PROG/pingpong") spin=$(id_of "$PROG/spin")
for id in "$(id_of "$readelf")" "$(id_of "$libc")" "$pingpong" "$spin"; do
	[ -n "$id" ] || skip "programs without build ids here"
done

# A program, what it links, and the vdso.
want 0 "$AUXREC" record --source=none -o f -- "$readelf" -n "$PROG/pingpong"
mmaps f " $readelf\$"
all_have "$(id_of "$readelf")"
mmaps f '/libc\.so\.6$'
all_have "$(id_of "$libc")"
mmaps f ' \[vdso\]$'
all_have '[0-9a-f]*'
"$PERF" buildid-list -i f >list
grep -q "^$(id_of "$libc") .*/libc.so.6" list || { cat list; fail "libc is not in the list"; }

# One that is deleted while it runs is seen through its mapping, by those who may.
want 0 "$AUXREC" record --source=none -o f -- sh -c '
	cp "$PROG/spin" doomed
	./doomed 8000000000 >/dev/null &
	while [ "$(readlink /proc/$!/exe)" != "$PWD/doomed" ]; do sleep 0.01; done
	rm doomed
	sleep 0.7
	kill $!'
mmaps f '/doomed$'
! is_root || all_have "$spin"

# The same name and, on many file systems, the same inode: a record has the id of the
# program that was there when it was made, or none.
want 0 "$AUXREC" record --source=none -o f -- sh -c '
	for p in pingpong spin pingpong spin; do
		rm -f same
		cp "$PROG/$p" same
		./same 2 >/dev/null
	done'
mmaps f '/same$'
[ "$(wc -l <maps)" = 4 ] || { cat maps; fail "not 4 MMAP2 records of 'same'"; }
! sed -n '1p;3p' maps | grep "$spin" || fail "pingpong with the build id of spin"
! sed -n '2p;4p' maps | grep "$pingpong" || fail "spin with the build id of pingpong"
sed -n 4p maps | grep -q "$spin" || { cat maps; fail "the program that is there has no build id"; }

# A recorder that asks the kernel for no build ids gets none, while we run: stock perf 6.1
# crashes when it is told otherwise. And one that does ask does not spoil ours.
is_root || skip "the rest needs root: system-wide events"
alongside() { # perf's options
	rm -f p
	"$PERF" record -q "$@" -e dummy:u -a -o p >/dev/null 2>complaints &
	for _ in $(seq 100); do
		[ ! -s p ] || break
		sleep 0.1
	done
	sleep 0.3
	want 0 "$AUXREC" record --source=none -a -o f -- sh -c '
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			"$PROG/pingpong" 2 >/dev/null
		done'
	kill -INT $!
	wait $!
	[ $? -le 130 ] || { cat complaints; fail "perf record $* crashed"; }
	for file in p f; do
		"$PERF" script -i $file --show-mmap-events >script 2>complaints ||
			{ tail -n 3 complaints; fail "perf script: $file, perf record $*"; }
		mmaps $file "$PROG/pingpong\$"
	done
	[ "$(wc -l <maps)" -ge 20 ] || fail "not all MMAP2 records of pingpong"
	all_have "$pingpong"
}
alongside
"$PERF" record -q --buildid-mmap -e dummy:u -o p true >/dev/null 2>&1 ||
	skip "this perf or kernel has no build ids in MMAP2 records"
alongside --buildid-mmap
