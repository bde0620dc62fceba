#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `auxrec dump` leaves out when it is told to, what it does with damage, and how it ends.
. "$E2E/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
CORPUS=$E2E/../corpus
PT=$CORPUS/quipper/perf.data.piped.intel_pt-4.14 # four cpus, switches, samples, trace
TEP=$CORPUS/linuxtracepoints/pipe.data
LZ=$CORPUS/linux-perf-data/sleep.compressed2.data

# Each filter against the same choice made in python from all lines.
python3 - "$PT" "$TEP" <<'END' || fail "filters"
import json, os, subprocess, sys

def dump(path, *more):
    out = subprocess.run([os.environ["AUXREC"], "dump", "-j", *more, path],
                         stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]

def check(path, keep, *more):
    want = [o for o in lines[path] if keep(o)]
    got = dump(path, *more)
    assert want and len(want) < len(lines[path]), (more, len(want))
    assert got == want, (more, len(got), len(want))

def who(o, *names):
    return {o[name] for name in names if name in o}

def pids(o):
    found = who(o, "s_pid", "next_prev_pid")
    return found | (who(o, "pid") if o["kind"] != "BUILD_ID" else set())

def tids(o):
    return who(o, "s_tid", "tid", "next_prev_tid")

pt, tep = sys.argv[1:]
lines = {path: dump(path) for path in (pt, tep)}
check(pt, lambda o: o["kind"] in ("MMAP2", "AUX", "AUXTRACE"), "--type=mmap2,AUX,71")
check(pt, lambda o: o["kind"] == "HEADER_ATTR", "-t", "type64")
check(pt, lambda o: o.get("cpu") in (0, 2, 3), "--cpu=0,2-3")
check(pt, lambda o: 3587 in pids(o), "--pid=3587")
check(pt, lambda o: pids(o) & {0, -1}, "-p", "-1-0")
check(pt, lambda o: 3587 in tids(o), "--tid", "3587")
check(pt, lambda o: 3314114093584 <= o.get("at", -1) <= 3314128489254,
      "--time=3314.114093584,3314.128489254")
check(pt, lambda o: o.get("at", -1) >= 3314128000000, "--time", "3314.128,")
check(pt, lambda o: "at" in o and o["at"] <= 3314114000000, "--time", ",3314.114")
check(pt, lambda o: o["kind"] == "SWITCH_CPU_WIDE" and o["cpu"] == 1 and 0 in pids(o),
      "-t", "SWITCH_CPU_WIDE", "-C", "1", "-p", "0")
check(tep, lambda o: o.get("event") == "sched:sched_switch", "-t", "SAMPLE", "-e",
      "sched:sched_switch")
END

# The tail of a stream that was cut off: what is whole, then words.
size=$(wc -c <"$PT")
head -c $((size - 100)) "$PT" >cut.data
want 0 "$AUXREC" dump "$PT"
mv out all
want 1 "$AUXREC" dump cut.data
said "^auxrec: 'cut\.data' at byte [0-9]+ \(0x[0-9a-f]+\): expected "
[ "$(wc -l <out)" -ge 600 ] || fail "only $(wc -l <out) lines of a cut file"
head -n "$(wc -l <out)" all | cmp - out || fail "the lines of a cut file differ"
# Cut in the trace of a record: the record is whole, and says how much of it is there.
at=$(sed -n 's/^\(0x[0-9a-f]*\) [0-9]* AUXTRACE misc.*/\1/p' all | head -n 1)
head -c $((at + 48 + 1000)) "$PT" >torn.data
want 1 "$AUXREC" dump torn.data
tail -n 1 out | grep -q '^0x[0-9a-f]* 48 AUXTRACE .* there=1000$' || fail "$(tail -n 1 out)"

# A COMM record that ends where its name should begin: the trailer is the same.
python3 - "$PT" <<'END'
import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
at = 16
while True:
    kind, _, size = struct.unpack_from("<IHH", b, at)
    if kind == 3:
        break
    at += size
del b[at + 16:at + size - 32]
struct.pack_into("<H", b, at + 6, 48)
open("short.data", "wb").write(b)
END
want 1 "$AUXREC" dump -t COMM short.data
grep -q ' short=comm' out || fail "a record without its name is not called short"
said "the record ends before its 'comm' does"

# Records out of a compressed one are marked.
want 0 "$AUXREC" dump "$LZ"
grep -q '^0x420 104 MMAP2 inner=40 ' out || fail "no mark of what was compressed"
grep -q '^0x420 384 COMPRESSED2 ' out || fail "the compressed record is not shown"

# Nobody reads on; a full disk.
python3 - "$TEP" <<'END' || fail "a closed pipe"
import os, subprocess, sys
p = subprocess.Popen([os.environ["AUXREC"], "dump", "-x", sys.argv[1]],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
p.stdout.read(1)
p.stdout.close()
assert p.wait() == 0 and p.stderr.read() == b"", p.returncode
END
if [ -e /dev/full ]; then
	if "$AUXREC" dump "$TEP" 2>err >/dev/full; then fail "a full disk is success"; fi
	said 'cannot write to standard output: No space left'
fi

# Words for what cannot be.
want 2 "$AUXREC" dump
want 2 "$AUXREC" dump -t MAPP "$PT"
said "'MAPP' is no record type"
said 'types that have names:.* MMAP2 .* COMPRESSED2'
for file in "$PT" "$TEP"; do
	want 2 "$AUXREC" dump -e nosuch "$file"
	said "has no event 'nosuch'"
done
said "^ +'sched:sched_switch'"
want 1 "$AUXREC" dump -e nosuch cut.data
said "has no event 'nosuch'"
[ ! -s out ] || fail "lines of no event"
want 0 "$AUXREC" dump -e sched:sched_switch -C 4000 "$TEP" # a filter that nothing passes
want 2 "$AUXREC" dump --cpu 1,,2 "$PT"
said "'1,,2' is no list of numbers"
want 2 "$AUXREC" dump --time 5 "$PT"
said "'5' is no span of time"
want 2 "$AUXREC" dump --packets --time 1,2 "$PT"
want 2 "$AUXREC" dump --last-ip "$PT"
want 1 "$AUXREC" dump /nonexistent
said "cannot read '/nonexistent': No such file"
want 1 "$AUXREC" dump "$PROG/spin"
said 'expected the magic'
[ ! -s out ] || fail "lines of what is no recording"
want 1 "$AUXREC" dump "$CORPUS/quipper-fuzz/poc-7bef7f89"
said 'little-endian'
