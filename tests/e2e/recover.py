#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recover.py cuts FILE N | damage FILE | flow FILE N | corpus | same FILE OTHER

What $AUXREC recover makes of a file, held against the bytes of that file by a walk of our own,
and against what stock perf ($PERF, or perf from PATH) finds in it.

cuts: FILE cut at N places (N = all: each byte of the first 64 KiB and 2000 random places);
perf reads each file that comes out of it once.
damage: data.size, the feature table, sections, the index, holes and foreign text.
flow: FILE with software trace cut at N places: perf decodes what precedes the cut.
corpus: tests/corpus, whose INDEX.tsv says how many records are whole.
same: the records of FILE are those of OTHER, and perf reads them.

Exit: 0 all as it must be, 1 a difference, 2 usage.
"""
import collections
import csv
import json
import os
import random
import re
import struct
import subprocess
import sys

AUXREC = os.environ['AUXREC']
PERF = os.environ.get('PERF', 'perf')
CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../corpus')
AUXTRACE, HEADER = 71, 104
COMPLAINTS = re.compile(rb'error|fail|unknown|out of order|corrupt|incompatible|terminated', re.I)
# Records of a pipe that have another place in a file, and COMPRESSED ones.
MOVED = (64, 66, 67, 80, 81, 83)


def fail(*words):
    print(*words)
    sys.exit(1)


def u64(b, at):
    return struct.unpack_from('<Q', b, at)[0]


def walk(b, at, end):
    """(offset, type, end) of the whole records from `at` on."""
    while at + 8 <= end:
        kind, _, size = struct.unpack_from('<IHH', b, at)
        if size < 8 or at + size > end:
            return
        more = 0
        if kind == AUXTRACE:
            more = u64(b, at + 8)
        elif kind == 66 and size <= 16:
            more = struct.unpack_from('<I', b, at + 8)[0]
        if at + size + more > end:
            return
        yield at, kind, at + size + more
        at += size + more


def places(b):
    """The records of a sound file."""
    at, end = 16, len(b)
    if u64(b, 8) == HEADER:
        at = u64(b, 40)
        end = at + u64(b, 48)
    return list(walk(b, at, end))


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def write(path, b):
    with open(path, 'wb') as f:
        f.write(b)


def recover(b, *words):
    """(status, report, bytes or None) of a file with these bytes."""
    write('damaged', b)
    if os.path.exists('recovered'):
        os.unlink('recovered')
    run = subprocess.run([AUXREC, 'recover', '--json', 'damaged', '-o', 'recovered', *words],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    if run.returncode not in (0, 1, 4):
        fail('recover ended with', run.returncode, run.stderr.decode())
    if read('damaged') != b:
        fail('recover changed its input')
    out = read('recovered') if os.path.exists('recovered') else None
    if (out is None) != (run.returncode == 1):
        fail('status', run.returncode, 'with' if out else 'without', 'a file')
    return run.returncode, json.loads(run.stdout) if run.stdout else None, out


def perf_reads(path, want):
    """perf finds the records where they are, and does not complain."""
    run = subprocess.run([PERF, 'script', '-D', '-f', '-i', path], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=300)
    if run.returncode or COMPLAINTS.search(run.stderr):
        fail(path + ': perf script ends with', run.returncode, run.stderr.decode())
    found = [int(at, 16) for at in
             re.findall(rb'(0x[0-9a-f]+) \[0x[0-9a-f]+\]: PERF_RECORD_', run.stdout)]
    if sorted(found) != [at for at, _, _ in want]:
        fail(path + ': perf finds', len(found), 'records of', len(want), 'and not',
             [r for r in want if r[0] not in found][:5], 'but',
             sorted(set(found) - {at for at, _, _ in want})[:5])
    if random.randrange(4):
        return  # the dump met every record
    script = subprocess.run([PERF, 'script', '-f', '-i', path, '--no-itrace',
                             '--show-mmap-events'],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300)
    if script.returncode or COMPLAINTS.search(script.stderr):
        fail(path + ': perf script', script.returncode, script.stderr.decode())


def starts(whole, part):
    """An AUXTRACE and the start of its trace, of which the last packet may be blank."""
    n = len(part)
    packet = 15
    while packet and part[-packet:].strip(b'\0'):
        packet -= 1
    return whole[:8] == part[:8] and whole[16:n - packet] == part[16:n - packet]


def expect_records(b, want, out, cut=False):
    """The records of out are those of b in `want`; one more may be the start of trace."""
    got = places(out)
    for (at, kind, end), (to, _, to_end) in zip(want, got):
        if b[at:end] != out[to:to_end]:
            fail('the record of type', kind, 'at', at, 'is not that at', to)
    if len(got) == len(want) + 1 and cut and got[-1][1] == AUXTRACE:
        at = want[-1][2] if want else data_of(b)[0]
        n = got[-1][2] - got[-1][0]
        if n > 48 and starts(b[at:at + n], out[got[-1][0]:got[-1][2]]):
            return got
    if len(got) != len(want):
        fail(len(got), 'records instead of', len(want))
    return got


def is_index_right(out):
    """Feature 18 names each AUXTRACE record."""
    bits = u64(out, 72)
    if not bits >> 18 & 1:
        return
    table = u64(out, 40) + u64(out, 48) + 16 * bin(bits & ((1 << 18) - 1)).count('1')
    at = u64(out, table)
    index = [(u64(out, at + 8 + 16 * i), u64(out, at + 16 + 16 * i))
             for i in range(u64(out, at))]
    if index != [(p, 48) for p, kind, _ in places(out) if kind == AUXTRACE]:
        fail('the index is wrong')


def cuts(path, n):
    good = read(path)
    records = places(good)
    if n == 'all':
        where = list(range(min(len(good), 65537)))
        where += [random.randrange(len(good)) for _ in range(2000)]
    else:
        where = [random.randrange(len(good)) for _ in range(int(n))]
        where += [random.choice(records)[2] for _ in range(3)]
        where += [random.choice([r for r in records if r[1] == AUXTRACE])[2] - 9]
    seen = set()
    for at in where:
        status, _, out = recover(good[:at])
        whole = [r for r in records if r[2] <= at]
        if status == 1:
            if whole:
                fail('cut at', at, ': nothing is recovered of', len(whole), 'records')
            continue
        got = expect_records(good, whole, out, True)
        if out not in seen:
            seen.add(out)
            is_index_right(out)
            perf_reads('recovered', got)
    print(len(where), 'cuts,', len(seen), 'different files for perf')


def put(b, at, fmt, *values):
    c = bytearray(b)
    struct.pack_into(fmt, c, at, *values)
    return bytes(c)


class Damage:
    """One good file, and what is done to it."""

    def __init__(self, path):
        self.good = read(path)
        self.records = places(self.good)
        self.end = u64(self.good, 40) + u64(self.good, 48)
        self.bits = [i for i in range(64) if u64(self.good, 72) >> i & 1]
        self.n = 0

    def check(self, what, b, want, lost=(), records=None):
        """records: of self.good; those of b are the same bytes in the same order."""
        records = self.records if records is None else records
        self.n += 1
        status, report, out = recover(b)
        if status != want:
            fail(what + ': status', status, 'instead of', want, report)
        got = expect_records(self.good, records, out)
        is_index_right(out)
        perf_reads('recovered', got)
        dropped = [d['name'] for d in report['features']['dropped']]
        if sorted(dropped) != sorted(lost):
            fail(what + ': dropped', dropped, 'instead of', lost)
        return report

    def section(self, bit):
        """Where its table entry is, and where and how long its payload."""
        entry = self.end + 16 * self.bits.index(bit)
        return entry, u64(self.good, entry), u64(self.good, entry + 8)


def sizes(d):
    size = u64(d.good, 48)
    for n in (0, size - 8, size + 8, size // 2, size + 10**6, 2**63, 2**64 - 1, 1):
        report = d.check('data.size %d' % n, put(d.good, 48, '<Q', n), 0)
        if report['state'] != 'incomplete' or report['killed'] != (n == 0):
            fail('data.size', n, report)
    if d.check('a good file', d.good, 0)['state'] != 'sound':
        fail('a good file is not sound')


def features(d):
    names = {3: 'hostname', 11: 'cmdline', 13: 'cpu topology', 16: 'pmu mappings'}
    for bit, name in names.items():
        if bit not in d.bits:
            continue
        entry, at, _ = d.section(bit)
        b = put(d.good, at, '<I', 0xb3972f84)
        d.check(name + ', a long text', b, 4, (name,))
        b = put(d.good, at, '<I', 0xffffffff)
        d.check(name + ', a long list', b, 4, (name,))
        b = put(d.good, entry, '<QQ', 2**64 - 8, 16)
        d.check(name + ', beyond the file', b, 4, (name,))
        b = put(d.good, entry, '<Q', u64(d.good, 40))
        d.check(name + ', in the data', b, 4, (name,))
    # What the records can tell is not lost.
    for bit in (12, 18, 21):
        _, at, _ = d.section(bit)
        report = d.check('feature %d' % bit, put(d.good, at, '<QQ', 2**64 - 1, 2**62), 0)
        if bit != 21 and not report['features']['rebuilt']:
            fail('feature', bit, 'is not rebuilt')
    b = d.good[:d.end] + bytes(16 * len(d.bits)) + d.good[d.end + 16 * len(d.bits):]
    if not d.check('no table', b, 4)['features']['table_lost']:
        fail('a table of zeros is not missed')
    report = d.check('nothing behind the data', d.good[:d.end], 4)
    if 'event desc' not in report['features']['rebuilt']:
        fail('no names of events from EVENT_UPDATE')


def index(d):
    _, at, size = d.section(18)
    n = u64(d.good, at)
    d.check('index of nothing', put(d.good, at, '<Q', 0), 0)
    d.check('index one short', put(d.good, at, '<Q', n - 1), 0)
    d.check('index elsewhere', put(d.good, at + 8, '<Q', u64(d.good, at + 8) + 8), 0)
    d.check('index of another size', put(d.good, at + 16, '<Q', 40), 0)
    d.check('index too long', put(d.good, at, '<Q', 2**60), 0)
    assert size == 8 + 16 * n


def strangers(d):
    """Bytes between records; the features behind move along."""
    text = b'[ perf record: Woken up 1 times to write data ]\n'
    for what in (bytes(8), bytes(4096), bytes(13), text, os.urandom(64).replace(b'\0', b'x')):
        for at, _, _ in random.sample(d.records[1:], 3):
            report = d.check('%d bytes at %d' % (len(what), at),
                             d.good[:at] + what + d.good[at:], 4)
            if not report['dropped']:
                fail('nothing was dropped')
    # A record that lost bytes, or is overwritten, is dropped alone.
    for i in random.sample(range(1, len(d.records) - 1), 6):
        at, kind, end = d.records[i]
        # perf takes no trace without AUXTRACE_INFO (70).
        if kind in (AUXTRACE, 70) or end - at < 24 or d.records[i - 1][1] == 9:
            continue
        rest = d.records[:i] + d.records[i + 1:]
        d.check('the header of type %d' % kind, put(d.good, at, '<Q', 2**64 - 1), 4,
                records=rest)
        d.check('bytes of type %d' % kind, d.good[:at + 3] + d.good[at + 8:], 4,
                records=rest)


def damage(path):
    d = Damage(path)
    sizes(d)
    features(d)
    index(d)
    strangers(d)
    print(d.n, 'kinds of damage')


def ips(path):
    run = subprocess.run([PERF, 'script', '-f', '-i', path, '--itrace=i1ie', '-F', 'ip'],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if run.returncode or b'error' in run.stdout or COMPLAINTS.search(run.stderr):
        fail(path + ': decoding ends with', run.returncode, run.stderr.decode())
    return run.stdout.split()


def flow(path, n):
    """perf decodes as far as the trace goes: at least what the whole chunks hold."""
    good = read(path)
    traces = [r for r in places(good) if r[1] == AUXTRACE]
    full = ips(path)
    last = 0
    # The code must be known: a recorder may write trace before the maps of its round.
    mapped = max(r[2] for r in places(good) if r[1] == 10)
    for at in sorted(random.randrange(mapped, traces[-1][2]) for _ in range(int(n))):
        recover(good[:at])
        got = ips('recovered')
        if got != full[:len(got)]:
            fail('cut at', at, ': other instructions')
        if len(got) < last:
            fail('cut at', at, ':', len(got), 'instructions, fewer than before it')
        last = len(got)
    recover(good[:traces[-1][2]])
    if ips('recovered') != full:
        fail('all of the trace, but not all instructions')
    if not last:
        fail('no instruction was decoded')
    print(n, 'cuts,', last, 'of', len(full), 'instructions')


def parse(counts):
    return {k: int(v) for k, v in (c.split('=') for c in counts.split())}


def corpus():
    n = 0
    with open(os.path.join(CORPUS, 'INDEX.tsv'), newline='') as f:
        rows = list(csv.DictReader(f, delimiter='\t', quoting=csv.QUOTE_NONE))
    for row in rows:
        if not row['kind'].startswith('perf.data') or 'fuzz' in row['kind']:
            continue
        b = read(os.path.join(CORPUS, row['file']))
        status, report, out = recover(b)
        n += 1
        whole, inside = parse(row['records']), parse(row['records_inside_compressed'])
        got = report['records']
        # Behind damage there may be more.
        more = 'zero_size' in row['file'] or 'killed' in row['file']
        if got['whole'] != sum(whole.values()) and \
           not (more and got['whole'] >= sum(whole.values())):
            fail(row['file'] + ':', got['whole'], 'records instead of', sum(whole.values()))
        if got['compressed'] != sum(inside.values()):
            fail(row['file'] + ':', got['compressed'], 'compressed records')
        sound = row['walk'].startswith('clean') or row['file'].endswith('interrupted')
        if status != (0 if sound else 4):
            fail(row['file'] + ': status', status)
        plain = places(out)
        if len(plain) != got['written']:
            fail(row['file'] + ':', len(plain), 'records in the file, not', got['written'])
        kept = collections.Counter(b[at:end] for at, kind, end in
                                   walk(b, *data_of(b)) if kind not in MOVED)
        if kept - collections.Counter(out[at:end] for at, _, end in plain):
            fail(row['file'] + ': a record was changed')
        if row['perf61'].startswith('accepts') or not sound or inside:
            perf_reads('recovered', plain)
    print(n, 'files of the corpus')


def data_of(b):
    if u64(b, 8) == 16:
        return 16, len(b)
    at, size = u64(b, 40), u64(b, 48)
    return at, at + size if size else len(b)


def same(path, other):
    a, b = read(path), read(other)
    pipe = u64(b, 8) == 16
    expect_records(b, [r for r in walk(b, *data_of(b)) if not (pipe and r[1] in MOVED)], a, True)
    is_index_right(a)
    perf_reads(path, places(a))


def main():
    commands = {'cuts': cuts, 'damage': damage, 'flow': flow, 'corpus': corpus, 'same': same}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        print(__doc__)
        return 2
    seed = int(os.environ.get('SEED', random.randrange(10**6)))
    random.seed(seed)
    print('SEED=%d' % seed)
    commands[sys.argv[1]](*sys.argv[2:])
    return 0


if __name__ == '__main__':
    sys.exit(main())
