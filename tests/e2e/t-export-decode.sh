#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The lines of BASE.cmds.txt, run as they are by libipt over the exported files alone, yield
# what was executed, address by address: with side bands, without, for another clock, in
# pieces, within a span of time.
set -eu
. "$E2E/soft.sh"
. "$E2E/lib.sh"
soft_begin
mkdir bin
ln -s "$TOOLS/ptlines" bin/ptxed
ln -s "$TOOLS/ptlines" bin/ptdump

# export_of FILE WORDS...: to x/e, anew.
export_of() {
	rm -rf x
	mkdir x
	"$AUXREC" export --to=libipt "$@" -o x/e >out 2>err || { cat err; fail "cannot export $1"; }
}

# run_lines [SCRIPT]: addresses to ips/NAME.bin, words to said.
run_lines() {
	rm -rf ips
	mkdir ips
	if ! PATH=$PWD/bin:$PATH PTLINES_IPS=$PWD/ips sh "${1:-x/e.cmds.txt}" >said 2>&1 ||
		grep -qi error said; then
		cat said
		fail "the lines of ${1:-x/e.cmds.txt} fail"
	fi
}

# as_executed DIR: every queue's addresses are those the tracer listed for its thread.
as_executed() {
	python3 - "$1" x/e.json <<'END' || fail "$1: other instructions"
import json, os, sys
lists = {name.split('.')[1]: name for name in os.listdir(sys.argv[1] + '/ips')}
total = 0
for q in json.load(open(sys.argv[2]))['queues']:
    want = open(f"{sys.argv[1]}/ips/{lists[str(q['tid'])]}", 'rb').read()
    got = open('ips/' + q['file'], 'rb').read()
    total += len(got) // 8
    if got != want:
        sys.exit(f"queue {q['idx']}: {len(got) // 8} instructions, {len(want) // 8} listed")
print(total, 'instructions')
sys.exit(not total)
END
}

# As many as stock perf finds.
as_perf() {
	"$PERF" script -i "$1/perf.data" --itrace=i1i -F ip 2>/dev/null | wc -l >n
	sum=$(sed -n 's/^insn: \(.*\)\.$/\1/p' said | awk '{ n += $1 } END { print n }')
	[ "$sum" = "$(cat n)" ] || fail "$1: $sum instructions, perf finds $(cat n)"
}

# Processes that fork, exec and call a shell; slow enough for several chunks of trace.
SOFT_EVENT=intel_pt/psb_period=0/u
SOFT_MODE=--soft-step
soft_record forkexec "$PROG/forkexec" || true # it ends with a status of its own
SOFT_MODE=
export_of forkexec/perf.data
run_lines
as_executed forkexec
as_perf forkexec
[ "$(grep -c '^ptxed' x/e.cmds.txt)" -ge 6 ] || fail "not a line for each thread"

# Another place, and a clock whose zero is not that of the TSC.
python3 "$E2E/rawperf.py" shift 5000000000000 forkexec/perf.data shifted
export_of shifted
mv x 'y z'
mkdir x
cp 'y z/e.json' x
run_lines 'y z/e.cmds.txt'
as_executed forkexec

# A name for the shell to stumble over; one that ends like a range of bytes.
rm -rf x
mkdir x
"$AUXREC" export --to=libipt forkexec/perf.data -o "x/it's \$1:7" 2>err || fail "$(cat err)"
run_lines "x/it's \$1:7.cmds.txt"
cp "x/it's \$1:7.json" x/e.json
as_executed forkexec

# Line breaks in names, that of a traced program among them: nothing behind one is a line.
evil='m
touch hit
#'
cp "$PROG/mini" "$evil"
soft_record broken "./$evil" || true
rm -rf x
mkdir x
"$AUXREC" export --to=libipt broken/perf.data -o "x/$evil" 2>err || fail "$(cat err)"
run_lines "x/$evil.cmds.txt"
[ ! -e x/hit ] || fail "a name was run as a command"
cp "x/$evil.json" x/e.json
as_executed broken
sed 's/^#ptxed/ptxed/; /--pevent/d' "x/$evil.cmds.txt" >x/raw.txt
run_lines x/raw.txt
as_executed broken

# Threads, records in COMPRESSED ones; a single process needs no side band.
mkdir -p threads/ips
"$AUXREC" record --source=soft -z --soft-ips threads/ips -o threads/perf.data -- \
	"$PROG/threads" >/dev/null 2>&1 || true
export_of threads/perf.data
run_lines
as_executed threads
sed 's/^#ptxed/ptxed/; /--pevent/d' x/e.cmds.txt >x/raw.txt
run_lines x/raw.txt
as_executed threads


# Code that is in no file, several times at one address: from the files beside the recording.
mkdir -p jit/ips
"$AUXREC" record --source=soft --soft-ips jit/ips -o jit/perf.data -- "$PROG/jit" >/dev/null 2>&1
export_of jit/perf.data
run_lines
as_executed jit

# A span of time: from PSB to PSB, no more; what is there decodes as it did.
"$AUXREC" export --to=libipt forkexec/perf.data -o full 2>/dev/null
cat >spans.py <<'END'
import glob, json, sys
q = max(json.load(open('full.json'))['queues'], key=lambda q: q['psbs'])
trace = open(q['file'], 'rb').read()
psb, at = [], -1
while (at := trace.find(b'\x02\x82' * 8, at + 1)) >= 0:
    tsc = trace.index(b'\x19', at, at + 60)  # the clock of a soft recording counts ns
    psb.append((at, int.from_bytes(trace[tsc + 1:tsc + 8], 'little')))
assert len(psb) > 5, psb
if sys.argv[1] == 'span':
    print('%d.%09d,%d.%09d' % (*divmod(psb[1][1], 10**9), *divmod(psb[3][1] + 1, 10**9)))
    sys.exit()
cut = next(c for c in json.load(open('x/e.json'))['queues'] if c['idx'] == q['idx'])
got = open('x/' + cut['file'], 'rb').read()
assert (cut['offset'], got) == (psb[1][0], trace[psb[1][0]:psb[4][0]]), 'other bytes'
whole = open('forkexec/ips/%d.%d' % (q['tid'], q['tid']), 'rb').read()
part = open('ips/' + cut['file'], 'rb').read()
assert 0 < len(part) < len(whole) and whole.find(part) >= 0, 'other instructions'
for name in glob.glob('x/e-sideband*'):
    full, some = (open(n, 'rb').read() for n in (name.replace('x/e', 'full', 1), name))
    assert full.startswith(some), name
print(len(part) // 8, 'of', len(whole) // 8, 'instructions')
END
export_of forkexec/perf.data --time="$(python3 spans.py span)"
run_lines
python3 spans.py check || fail "not the span asked for"

# Byte by byte what an independent reader finds, records in the order of their times.
for name in forkexec threads; do
	rm -rf raw
	python3 "$E2E/rawperf.py" split tid $name/perf.data raw || fail "no witness for $name"
	export_of $name/perf.data --no-images
	for f in raw/*; do
		cmp "$f" "x/e-${f#raw/}" || fail "$name: ${f#raw/}"
	done
done

# A directory with the kernel's code.
mkdir -p dir/kcore_dir
cp forkexec/perf.data dir/data
python3 - <<'END'
import struct
at = 0xffffffff81000000
with open('dir/kcore_dir/kcore', 'wb') as f:
    f.write(struct.pack('<16sHHIQQQIHHHHHH', b'\x7fELF\2\1\1', 4, 62, 1, 0, 64, 0, 0, 64, 56,
                        1, 0, 0, 0))
    f.write(struct.pack('<IIQQQQQQ', 1, 5, 4096, at, 0, 8192, 8192, 4096))
    f.write(bytes(4096 - f.tell()) + b'\x90' * 8192)
END
export_of dir
cmp dir/kcore_dir/kcore x/e-kcore || fail "another kcore"
grep -q -- '^ptxed .* --pevent:kcore e-kcore ' x/e.cmds.txt || fail "no kcore with side bands"
grep -q -- '^#ptxed .* --raw e-kcore:0x1000-0x3000:0xffffffff81000000 ' x/e.cmds.txt ||
	fail "no kcore without side bands"
run_lines
as_executed forkexec

# Chunks that stand for themselves, as snapshots and as AUX samples: one by one.
rm -rf raw
python3 "$E2E/rawperf.py" split tid forkexec/perf.data raw
for kind in snapshot samples; do
	python3 "$E2E/rawperf.py" $kind forkexec/perf.data loose
	export_of loose
	cmp raw/aux-idx0.bin x/e-aux-idx0.bin || fail "$kind: other bytes"
	python3 - <<'END' || fail "$kind: pieces"
import json, os
q = json.load(open('x/e.json'))['queues'][0]
at = 0
for n, line in enumerate(open('x/' + q['pieces']), 1):
    start, end = (int(v, 16) for v in line.split()[0].split('-'))
    assert start == at < end, line
    at = end
assert (n, at) == (q['chunks'], os.stat('x/' + q['file']).st_size)
END
	run_lines
	n=$(cat x/e-*.pieces | wc -l)
	[ "$n" -gt 3 ] || fail "$kind: $n pieces"
	for tool in packets insn; do
		[ "$(grep -c "^$tool: " said)" = "$n" ] || fail "$kind: not each of $n is decoded"
	done
done
