#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# export --to=libipt: byte by byte what an independent reader takes out of the file; the lines
# of BASE.cmds.txt, run as they are, decode with libipt what was executed; pieces; what is
# refused, and what is left then: nothing.
. "$E2E/lib.sh"
CORPUS=$E2E/../corpus
command -v python3 >/dev/null || skip "python3 is not installed"

# same_files cpu|tid FILE [WORDS]: the set is that of rawperf.py, no file more or less.
same_files() {
	by=$1 file=$2
	shift 2
	rm -rf raw ours
	mkdir ours
	python3 "$E2E/rawperf.py" split "$by" "$file" raw || fail "no witness for $file"
	"$AUXREC" export --to=libipt "$file" -o ours/x --no-images "$@" >out 2>err || {
		cat err
		fail "cannot export $file"
	}
	n=0
	for f in raw/*; do
		cmp "$f" "ours/x-${f#raw/}" || fail "$file: ${f#raw/} differs"
		n=$((n + 1))
	done
	[ "$(find ours -name '*.bin' -o -name '*.pevent' | wc -l)" = $n ] ||
		fail "$file: other files: $(ls ours)"
	[ $n -gt 0 ] || fail "$file: nothing was compared"
}

same_files cpu "$CORPUS/quipper/perf.data.piped.intel_pt-4.14"
json ours/x.json '[q["bytes"] for q in d["queues"]] == [76400, 68192] or 1 / 0' >/dev/null ||
	fail "queues of the pipe file"
grep -q '^ptxed --cpu 6/78/3 --mtc-freq 3 --nom-freq 12 --cpuid-0x15.eax 2 --cpuid-0x15.ebx 100 --event:tick --pt x-aux-idx0.bin ' \
	ours/x.cmds.txt || fail "options of the pipe file: $(cat ours/x.cmds.txt)"
# A stream is the same as the file.
"$AUXREC" export --to=libipt -o s - --no-images 2>err \
	<"$CORPUS/quipper/perf.data.piped.intel_pt-4.14" || fail "from a stream: $(cat err)"
for f in ours/x-*; do
	cmp "$f" "s-${f#ours/x-}" || fail "$f of a stream"
done
same_files cpu "$CORPUS/simpleperf/etm/perf_etm.data"
! grep -E '^#?pt(xed|dump)' ours/x.cmds.txt || fail "lines for trace that is not Intel PT"
same_files cpu "$CORPUS/linux-perf-data/sleep.compressed2.data"

# Cpus: theirs alone, and of others what tells of processes and mappings.
rm -rf c
mkdir c
"$AUXREC" export --to=libipt -o c/x -C 3,7 --no-images \
	"$CORPUS/quipper/perf.data.piped.intel_pt-4.14" 2>err || fail "-C: $(cat err)"
python3 - <<'END' || fail "-C 3,7"
import os, struct
def records(name):
    b, at = open(name, 'rb').read(), 0
    while at < len(b):
        size = struct.unpack_from('<H', b, at + 6)[0]
        yield b[at:at + size]
        at += size
same = ['aux-idx3.bin', 'sideband-cpu3.pevent', 'sideband.pevent']
for name in same:
    assert open('c/x-' + name, 'rb').read() == open('s-' + name, 'rb').read(), name
others = [r for n in '012' for r in records(f's-sideband-cpu{n}.pevent')
          if r[0] in (1, 3, 4, 7, 10, 16, 17, 18, 19, 20)]
others.sort(key=lambda r: struct.unpack_from('<Q', r, len(r) - 24))
assert others and list(records('c/x-sideband-others.pevent')) == others, 'others'
names = {'x-' + n for n in same + ['sideband-others.pevent']} | {'x.json', 'x.cmds.txt'}
assert set(os.listdir('c')) == names, os.listdir('c')
END
grep -q -- '--pevent:primary x-sideband-cpu3.pevent --pevent:secondary x-sideband-others' \
	c/x.cmds.txt || fail "-C: $(cat c/x.cmds.txt)"

# Without trace, of the recording or within the filters, there is nothing to decode: no image is
# copied, and words say so.
"$AUXREC" record -q --source=none -o none.data -- true 2>err || fail "record: $(cat err)"
mkdir none late
want 0 "$AUXREC" export --to=libipt -o none/x none.data
said "'none.data' has no trace"
[ -s none/x-sideband.pevent ] || fail "no records of a recording without trace"
grep -q '^# There is no trace' none/x.cmds.txt || fail "not said: $(cat none/x.cmds.txt)"
"$AUXREC" record -q --source=soft -o soft.data -- true 2>err || fail "record: $(cat err)"
want 0 "$AUXREC" export --to=libipt -o late/x soft.data
if grep -q 'has no trace' err || [ ! -d late/x-images ]; then fail "trace without images"; fi
rm -rf late/*
want 0 "$AUXREC" export --to=libipt -C 1 -o late/x \
	"$CORPUS/quipper/perf.data.piped.intel_pt-4.14"
said "no trace of '.*' is of the cpus and times"
for dir in none late; do
	[ -z "$(find $dir -name '*-images' -o -name '*vdso*')" ] || fail "images: $(ls $dir)"
done

# What is damaged is written as far as it is whole.
want 1 "$AUXREC" export --to=libipt -o k "$CORPUS/derived/piped.intel_pt.killed"
said 'at byte 32608 .*whole payload'
[ "$(stat -c %s k-aux-idx0.bin)" = 20001 ] || fail "not all bytes of a cut payload"
[ -s k.json ] || fail "no manifest of a damaged file"

# Refusals leave nothing. files: all but what the test itself makes.
files() {
	find . -type f ! -name out ! -name err ! -name 'files.*' | sort | xargs -d '\n' sha256sum
}
good=$CORPUS/quipper/perf.data.piped.intel_pt-4.14
files >files.before
want 2 "$AUXREC" export --to=svg -o n "$good"
said "unknown exit 'svg'"
said -- '--to=libipt'
want 2 "$AUXREC" export -o n "$good"
want 2 "$AUXREC" export --to=libipt "$good"
want 2 "$AUXREC" export --to=libipt -o n --time=3,2 "$good"
said "no span of time"
want 2 "$AUXREC" export --to=libipt -o n -C x "$good"
said "no list of cpus"
want 1 "$AUXREC" export --to=libipt -o n -C 77 "$good"
said "has nothing of these cpus"
want 1 "$AUXREC" export --to=libipt -o nowhere/n "$good"
said "cannot make files 'nowhere/n'.*No such file"
want 1 "$AUXREC" export --to=libipt -o n nothing
said "'nothing': No such file"
want 1 "$AUXREC" export --to=libipt -o s "$good"
said "'s.*' is in the way"
said -- --force
want 1 sh -c "ulimit -f 40; exec '$AUXREC' export --to=libipt -o n '$good'"
said "cannot write 'n-aux-idx0.bin': File too large"
(sleep 5; cat "$good") | timeout -s TERM 1 "$AUXREC" export --to=libipt -o n - && fail "no SIGTERM"
files >files.after
cmp files.before files.after || fail "something was left: $(ls)"
[ -z "$(find . -name '*.tmp')" ] || fail "left behind: $(ls)"
want 0 "$AUXREC" export --to=libipt -o s --force "$good"

if is_root && mkdir m && mount -t tmpfs -o size=100k tmpfs m 2>/dev/null; then
	trap 'umount m' EXIT
	want 1 "$AUXREC" export --to=libipt -o m/x "$good"
	said "cannot write 'm/x-aux-idx[03].bin': No space left"
	[ -z "$(ls m)" ] || fail "left on the full disk: $(ls m)"
fi
