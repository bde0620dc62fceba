#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flight.py SIZE STEM FILE [N]

Are the snapshots in FILE what the fakept module (tests/guest/fakept) had written when each cpu
was frozen? SIZE: bytes of each AUX area. STEM.base are the module's counters from before the
recording, STEM.K.low and STEM.K.high those from before and after snapshot K. FILE has all of
them, or, with N, is a file of snapshot N alone.

Of each cpu: the oldest byte comes first, every byte belongs to a packet, numbers follow each
other without a hole up to the moment of freezing, and there are as many bytes as the area can
hold, or as were written. Writes the trace from its first PSB on to STEM.K.CPU.pt, and the
numbers that a decoder must find in FILE to STEM.numbers (STEM.N.numbers).

Exit: 0, 1 something is wrong, 2 usage.
"""
import os
import struct
import sys

sys.path.insert(0, os.environ.get('E2E', os.path.join(os.path.dirname(__file__), '../e2e')))
from rawperf import AUXTRACE, File, u32, u64  # noqa: E402

PSB = b'\x02\x82' * 8
PTW = b'\x02\x32'
PSBEND = b'\x02\x23'
SEQ = (1 << 56) - 1
PSB_LEN, TSC_LEN = 26, 8  # PSB TSC PSBEND; of that the TSC


def ptw(number):
    return PTW + struct.pack('<Q', number)


def counters(path):
    """{cpu: {name: value}}"""
    found = {}
    with open(path) as f:
        for line in f:
            words = [w.split('=') for w in line.split() if '/' not in w]
            values = {k: int(v) for k, v in words}
            found[values['cpu']] = values
    return found


class Broken(Exception):
    pass


def is_head(b, number):
    """The bytes before the first PSB: the rest of a packet that was overwritten in part, then whole
    ones, the last of which is one less than `number`. Returns the first number."""
    left = len(b)
    while left >= 10 and b[left - 10:left] == ptw(number - 1):
        number -= 1
        left -= 10
    rest = b[:left]
    if not rest or ptw(number - 1).endswith(rest):
        return number
    # What is left of PSB TSC PSBEND; of the TSC nothing is known.
    if left < PSB_LEN and PSBEND.endswith(rest[-2:]):
        psb = PSB[len(PSB) - (left - TSC_LEN - 2):] if left > TSC_LEN + 2 else b''
        if rest.startswith(psb):
            return number
    raise Broken('%d bytes before the first PSB are of no packet' % left)


def walk(b):
    """Trace from a PSB on: (first number, behind the last one, numbers)"""
    at, first, behind, tsc = 0, None, None, 0
    while at < len(b):
        if b.startswith(PSB, at):
            at += len(PSB)
        elif b[at] == 0x19:
            now = u64(b, at) >> 8 if at + 8 <= len(b) else 0
            if now < tsc:
                raise Broken('the TSC goes back at %d' % at)
            tsc = now
            at += TSC_LEN
        elif b.startswith(PSBEND, at):
            at += len(PSBEND)
        elif b.startswith(PTW, at) and at + 10 <= len(b):
            number = u64(b, at + 2)
            if behind is not None and number != behind:
                raise Broken('number %d where %d should be' % (number & SEQ, behind & SEQ))
            first = number if first is None else first
            behind = number + 1
            at += 10
        elif len(b) - at < 8 and not any(b[at:]):
            break  # up to a multiple of 8
        else:
            raise Broken('no packet at %d: %s' % (at, b[at:at + 16].hex()))
    if first is None:
        raise Broken('no number')
    return first, behind, at


def look(size, cpu, trace, offset, base, low, high):
    """One cpu of one snapshot. What was seen, trace from its first PSB on, its numbers."""
    start = trace.find(PSB)
    if start < 0:
        raise Broken('no PSB')
    first, behind, end = walk(trace[start:])
    end += start
    oldest = is_head(trace[:start], first)
    if behind - 1 >> 56 != cpu:
        raise Broken('it is the trace of cpu %d' % (first >> 56))
    last = behind & SEQ
    if not low['seq'] <= last <= high['seq']:
        raise Broken('it ends before %d, and the cpu was frozen between %d and %d' %
                     (last, low['seq'], high['seq']))
    written = low['bytes'] - base['bytes'], high['bytes'] - base['bytes']
    if not min(size, written[0]) <= end <= min(size, written[1]):
        raise Broken('%d bytes, but the area has %d, and %d to %d were written' %
                     (end, size, *written))
    if end < size and start:
        raise Broken('it does not begin with a PSB')
    if written[0] == written[1] and (offset + end - written[0]) % size:
        raise Broken('it ends at %d of the stream, not %d' % (offset + end, written[0]))
    what = 'numbers %d to %d, %d bytes, %.2f to %.2f rings written%s' % (
        oldest & SEQ, last - 1, end, written[0] / size, written[1] / size,
        ', at rest' if written[0] == written[1] else '')
    return what, trace[start:end], range(first, behind)


def main(size, stem, path, only=None):
    base = counters(stem + '.base')
    chunks, faults, numbers = {}, 0, set()
    for rec, payload in File(path).records():
        if u32(rec, 0) == AUXTRACE and payload:
            chunks.setdefault(u32(rec, 40), []).append((u64(rec, 16), payload))
    if sorted(chunks) != sorted(base):
        print('%s: trace of cpus %s' % (path, sorted(chunks)))
        return 1
    for cpu, parts in sorted(chunks.items()):
        marks = [only] if only else range(1, len(parts) + 1)
        if len(parts) != len(marks) or (
                not only and os.path.exists('%s.%d.low' % (stem, len(parts) + 1))):
            print('%s: cpu %d: %d pieces' % (path, cpu, len(parts)))
            return 1
        for k, (offset, trace) in zip(marks, parts):
            name = '%s.%d' % (stem, k)
            who = 'snapshot %d of cpu %d: ' % (k, cpu)
            try:
                what, pt, found = look(size, cpu, trace, offset, base[cpu],
                                       counters(name + '.low')[cpu],
                                       counters(name + '.high')[cpu])
            except Broken as e:
                print('%s%s: WRONG' % (who, e))
                faults += 1
                continue
            print(who + what)
            numbers.update(found)
            with open('%s.%d.pt' % (name, cpu), 'wb') as o:
                o.write(pt)
    with open('%s%s.numbers' % (stem, '.%d' % only if only else ''), 'w') as o:
        o.writelines('%s\n' % (hex(n) if n else '0') for n in sorted(numbers))
    return bool(faults)


if __name__ == '__main__':
    if len(sys.argv) not in (4, 5):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:4], *map(int, sys.argv[4:])))
