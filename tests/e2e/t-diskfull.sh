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

# So is a limit on the size of what is written, and nothing is left behind. One on address
# space leaves room for a stream.
mkdir limited
(cd limited && ulimit -f 8 && exec "$AUXREC" recover -o whole ../m/f) >out 2>err &&
	fail "recover: no limit"
said "cannot write 'whole': File too large"
(cd limited && ulimit -f 8 && exec "$AUXREC" export --to=libipt -o x ../m/f) >out 2>err &&
	fail "export: no limit"
said "cannot write 'x-sideband.*': File too large"
# shellcheck disable=SC2002
cat m/f | (ulimit -f 8 && exec "$AUXREC" info -) >out 2>err && fail "info: no limit"
said "cannot keep what comes from '-': File too large"
[ -z "$(ls -A limited)" ] || fail "left behind: $(ls -A limited)"
grep -q __asan_init "$AUXREC" && limit=unlimited || limit=200000 # its shadow alone is larger
# shellcheck disable=SC2002,SC3045
cat m/f | (ulimit -v "$limit" && exec "$AUXREC" info -) >out 2>err || fail "info: $(cat err)"

# A limit on the file's size, for an ordinary program: EFBIG, and no SIGXFSZ.
want 1 sh -c "ulimit -f 400; exec '$AUXREC' record -a -m 64K -o f -- '$PROG/pingpong' 30000"
said "writing 'f' failed: File too large"
perf_accepts f

# A flight whose first snapshot finds no room leaves no file, and says so.
rm m/f
dd if=/dev/zero of=m/most bs=1k count=620 status=none
want 1 "$AUXREC" record -a --flight=e,1M -o m/g -- "$PROG/pingpong" 30000
said "writing 'm/g' failed: No space left"
said "there is no file"
[ -z "$(find m -name 'g*')" ] || fail "left behind: $(ls m)"
