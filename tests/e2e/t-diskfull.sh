#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A full disk: the words, status 1, a file that stock perf reads, and the command goes on.
. "$E2E/lib.sh"
need_root "mounts a small tmpfs"
need_perf

mkdir m
mount -t tmpfs -o size=640k tmpfs m 2>/dev/null || skip "cannot mount a tmpfs"
trap 'umount m' EXIT
want 1 "$AUXREC" record -a -m 64K -o m/f -- sh -c "'$PROG/pingpong' 30000; echo went on"
said "writing 'm/f' failed: No space left"
said "up to the last completed round"
grep -q 'went on' out || fail "the command did not go on"
perf_accepts m/f
[ "$(grep -c SWITCH_CPU_WIDE accepted)" -gt 100 ] || fail "hardly anything in the file"
"$AUXREC" info m/f >/dev/null || fail "info"

# A stream is kept while it is read: where, and what to do, is said.
for cmd in info check dump 'recover -o whole' 'export --to=libipt -o x'; do
	# shellcheck disable=SC2086,SC2002
	cat m/f | TMPDIR=m "$AUXREC" $cmd - >out 2>err && fail "$cmd: room in a full directory"
	said "cannot keep what comes from '-': No space left"
	said "in m: TMPDIR names another"
done

# A limit on the file's size, for an ordinary program: EFBIG, and no SIGXFSZ.
want 1 sh -c "ulimit -f 400; exec '$AUXREC' record -a -m 64K -o f -- '$PROG/pingpong' 30000"
said "writing 'f' failed: File too large"
perf_accepts f
