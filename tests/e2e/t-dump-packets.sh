#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `auxrec dump --packets` against the listings that libipt's ptdump makes of its own traces,
# and against the packets of a recording's trace taken out by other means.
. "$E2E/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
CORPUS=$E2E/../corpus

python3 - "$CORPUS/libipt" <<'END' || fail "packets differ from ptdump's"
import glob, json, os, re, subprocess, sys

# A listing has more than packets: errors, side band records and columns that only ptdump
# knows how to fill (time, calibration, cr3 ...). Here it knew the errata of the cpu, and took
# these bytes for an OVF.
HIDDEN = {"skd007": {0x19, 0x1b}}

def ours(path):
    out = subprocess.run([os.environ["AUXREC"], "dump", "-j", "--as=pt", "--packets",
                          "--last-ip", path], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]

def same(packet, rest, last_ip):
    columns = re.split(r"  +", rest)
    said = packet.get("payload", "")
    if re.sub(r"[ \t]+", " ", columns[0]) != said and said:
        return False
    if not said and columns[0] and not re.match(r"(tsc|ip|cr3|vmcs|tcal|cbr|fcr)", columns[0]):
        return False
    m = re.search(r"  +ip ([0-9a-f]{16})$", " " * 2 + rest)
    return not (last_ip and m) or packet.get("ip") == "0x%x" % int(m[1], 16)

files = packets = bad = 0
for exp in sorted(glob.glob(sys.argv[1] + "/*.ptdump.exp")):
    name = os.path.basename(exp)[:-len(".ptdump.exp")]
    got = {int(p["offset"], 16): p for p in ours(exp[:-len(".ptdump.exp")] + ".pt")}
    want = 0
    files += 1
    for line in open(exp, encoding="utf-8"):
        line = line.rstrip("\n")
        m = re.match(r"\[([0-9a-f]+): error decoding packet: (.*)\]", line)
        if m:
            p = got.get(int(m[1], 16), {})
            if (p.get("kind"), p.get("payload")) != ("error", m[2]):
                bad += 1
                print(name, line, "ours:", p)
            continue
        m = re.match(r"([0-9a-f]{16}) +([a-z][a-z0-9.]*) *(.*)$", line)
        if not m or "PERF_RECORD" in line or int(m[1], 16) in HIDDEN.get(name, ()):
            continue
        at = int(m[1], 16)
        # The one listing made without looking for a PSB first.
        if name == "dump-all-packets" and at < 2:
            continue
        want += 1
        p = got.get(at, {})
        if p.get("kind") != m[2] or not same(p, m[3].replace("\t", "  "), "last-ip" in name):
            bad += 1
            print(name, repr(line), "ours:", p)
    packets += want
    real = [p for p in got.values() if p["kind"] not in ("skipped", "error")]
    if len(real) != want + len(HIDDEN.get(name, ())):
        bad += 1
        print(name, len(real), "packets of", want)
print(files, "listings,", packets, "packets,", bad, "differ")
sys.exit(bad > 0 or files < 20 or packets < 150)
END

# A recording's queues, as AUXTRACE records carry them, against the same trace as a raw file;
# then the same again cut into pieces at all kinds of places, padded as perf pads them.
python3 - "$CORPUS/quipper/perf.data.piped.intel_pt-4.14" <<'END' || fail "packets of a recording"
import json, os, struct, subprocess, sys

def packets(path, *more):
    run = subprocess.run([os.environ["AUXREC"], "dump", "-j", "--packets", *more, path],
                         stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]

def plain(p):
    return p["kind"], p["bytes"], p["offset"], p.get("payload")

def records(b):
    at = 16
    while at < len(b):
        kind, _, size = struct.unpack_from("<IHH", b, at)
        extra = struct.unpack_from("<Q", b, at + 8)[0] if kind == 71 else 0
        yield kind, at, size, extra
        at += size + extra

path = sys.argv[1]
data = open(path, "rb").read()
all_packets = packets(path)
queues = {}
for kind, at, size, extra in records(data):
    if kind == 71:
        idx = struct.unpack_from("<I", data, at + 32)[0]
        queues[idx] = queues.get(idx, b"") + data[at + size:at + size + extra]
for idx, trace in queues.items():
    with open("raw.pt", "wb") as f:
        f.write(trace)
    raw = packets("raw.pt", "--as=pt")
    got = [p for p in all_packets if p["queue"] == idx]
    assert [plain(p) for p in raw] == [plain(p) for p in got], idx
    assert sum(p["bytes"] for p in raw) == len(trace)
    for p in got:
        at = int(p["offset"], 16)
        assert data[p["pos"]:p["pos"] + p["bytes"]] == trace[at:at + p["bytes"]], p
print(len(queues), "queues,", len(all_packets), "packets")
assert len(all_packets) > 1000

def record(kind, body):
    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body

def pieces(trace, lengths, skip=()):
    """A stream with two queues of the same trace, taking turns."""
    info = next(data[at:at + size] for kind, at, size, _ in records(data) if kind == 70)
    out, at, n = data[:16] + info, 0, 0
    while at < len(trace):
        piece = trace[at:at + lengths[n % len(lengths)]]
        padded = piece + bytes(-len(piece) % 8)
        if n not in skip:
            for idx in (0, 5):
                out += record(71, struct.pack("<QQQIIII", len(padded), at, 0, idx, idx + 1,
                                              idx, 0)) + padded
        at += len(piece)
        n += 1
    return out

trace = queues[min(queues)]
psbs = [int(p["offset"], 16) for p in all_packets if p["queue"] == min(queues) and
        p["kind"] == "psb"]
trace = trace[:psbs[1] + 300]
with open("raw.pt", "wb") as f:
    f.write(trace)
raw = packets("raw.pt", "--as=pt")
for lengths in ([4096], [8], [1, 2, 3, 5, 7], [17], [64, 1, 999, 23]):
    with open("cut.data", "wb") as f:
        f.write(pieces(trace, lengths))
    got = packets("cut.data")
    # The last piece may be padded, which nothing behind it takes back.
    tail = -len(trace) % 8 + 8
    for idx in (0, 5):
        mine = [plain(p) for p in got if p["queue"] == idx]
        assert mine[:len(raw) - 1] == [plain(p) for p in raw[:-1]], (lengths, idx)
        assert len(mine) <= len(raw) + tail
    assert [plain(p) for p in packets("cut.data", "-C", "5")] == mine
    assert [plain(p) for p in packets("cut.data", "--tid", "6")] == mine

# A piece that is missing: what is before it and, from a PSB on, behind it.
with open("gap.data", "wb") as f:
    f.write(pieces(trace, [4096], skip=(1,)))
got = [p for p in packets("gap.data") if p["queue"] == 0]
gaps = [i for i, p in enumerate(got) if p["kind"] == "gap"]
assert len(gaps) == 1 and got[gaps[0] + 1]["kind"] == "psb", gaps
before = [plain(p) for p in got[:gaps[0]] if p["kind"] != "error"]
assert before == [plain(p) for p in raw[:len(before)]] and len(before) > 100
END

# Trace inside of samples: dump lists, and info walks, what stands in the bytes of the records.
python3 "$E2E/ptmake.py" sample . >made || fail "no file with samples"
want 0 "$AUXREC" dump --packets --json perf.data
want 0 "$AUXREC" info --json perf.data
mv out info.json
"$AUXREC" dump --packets --json perf.data >packets.json || fail "packets of samples"
python3 - <<'END' || fail "trace inside of samples"
import json, struct
b = open('perf.data', 'rb').read()
at, size = struct.unpack_from('<QQ', b, 40)
end, samples = at + size, []
while at < end:
    kind, _, n = struct.unpack_from('<IHH', b, at)
    # identifier, ip, pid, tid, time, cpu, res, aux_size
    if kind == 9 and struct.unpack_from('<Q', b, at + 8)[0] == 105:
        samples.append((at + 56, struct.unpack_from('<Q', b, at + 48)[0]))
    at += n
assert len(samples) == 4, samples
packets = [json.loads(line) for line in open('packets.json')]
assert {p['queue'] for p in packets} == {0}
real = [p for p in packets if p['kind'] not in ('gap', 'skipped', 'error', 'pad')]
for p in real:
    assert any(s <= p['pos'] and p['pos'] + p['bytes'] <= s + n for s, n in samples), p
PSB = b'\x02\x82' * 8
want, aux = [], []
for s, n in samples:
    aux.append(b[s:s + n])
    want += [s + i for i in range(n) if b[s + i:s + i + 16] == PSB]
psbs = [p['pos'] for p in real if p['kind'] == 'psb']
assert psbs == want and len(want) > len(samples), (psbs, want)
assert sum(p['kind'] == 'gap' for p in packets) == len(samples) - 1
q, = json.load(open('info.json'))['aux']
assert (q['samples'], q['chunks'], q['bytes']) == (4, 0, sum(map(len, aux))), q
assert q['pt']['psb'] == len(want), q
# Without ID_INDEX nothing tells the queues: said, not guessed.
at = b.index(struct.pack('<IH', 69, 0), 104)
open('homeless', 'wb').write(b[:at] + struct.pack('<I', 73) + b[at + 4:])
END
want 0 "$AUXREC" dump --packets -C 1 perf.data
[ ! -s out ] || fail "packets of another cpu: $(cat out)"
want 0 "$AUXREC" check --decode perf.data
grep -q '^decoded    100.00 %' out || fail "not decoded: $(cat out)"
"$AUXREC" dump --packets homeless >out 2>err
said '4 AUX samples are left out: no ID_INDEX tells their queue'

# Without trace there is nothing to list, which is said.
want 0 "$AUXREC" dump --packets "$CORPUS/quipper/perf.data.branch-4.14"
[ ! -s out ] || fail "packets of no trace: $(cat out)"
said 'has no trace: there are no packets'

# A packet of a sample in a part of a directory says so: its place counts from there.
mkdir parts
python3 - <<'END'
import struct
b = bytearray(open('perf.data', 'rb').read())
at, size = struct.unpack_from('<QQ', b, 40)
head, part, end = b'', b'', at + size
while at < end:
    kind, _, n = struct.unpack_from('<IHH', b, at)
    if kind == 9:
        part += b[at:at + n]
    else:
        head += b[at:at + n]
    at += n
start = struct.unpack_from('<Q', b, 40)[0]
struct.pack_into('<Q', b, 48, len(head))
b[72:104] = struct.pack('<4Q', 1 << 24, 0, 0, 0)
table = start + len(head)
open('parts/data', 'wb').write(b[:start] + head + struct.pack('<3Q', table + 16, 8, 1))
open('parts/data.0', 'wb').write(part)
END
"$AUXREC" dump --packets parts | sed -n 's/ part="data.0" / /p' >got || fail "parts"
"$AUXREC" dump --packets perf.data >whole || fail "no parts"
sed 's/^[^ ]* //' got >got.text
sed 's/^[^ ]* //' whole | cmp - got.text || fail "packets in a part"
[ "$(head -n 1 got)" != "$(head -n 1 whole)" ] || fail "the place is that in the part"

# The side band that ptdump lists between packets: the same records in the same order.
sed -nE 's/.*PERF_RECORD_([A-Z0-9_]+).*/\1/p' "$CORPUS/libipt/pevent-dump_verbose.ptdump.exp" |
	sed 's/^SWITCH_CPU_WIDE.*/SWITCH_CPU_WIDE/' >listed
want 0 "$AUXREC" dump --as=records,sample_type=0x102c6 \
	"$CORPUS/libipt/pevent-dump_verbose.primary.sb"
cut -d ' ' -f 3 out | diff listed - || fail "records of a side band"

want 3 "$AUXREC" dump --packets "$CORPUS/simpleperf/etm/perf_etm.data"
said 'trace of kind CS_ETM \(3\), not Intel PT'
[ ! -s out ] || fail "packets of what is not Intel PT"
want 0 "$AUXREC" dump --packets "$CORPUS/quipper/perf.data.branch-4.14"
[ ! -s out ] || fail "packets where there is no trace"
want 2 "$AUXREC" dump --as=pt "$CORPUS/libipt/trig.pt"
