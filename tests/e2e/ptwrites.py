#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ptwrites.py FILE SAID FLOW [BEFORE]

The values that tests/prog/ptwrites said it wrote (SAID), and when, against what `ptflow -w` (FLOW)
and stock perf find in FILE. No value may lie behind the moment that the program read after it, nor
more than BEFORE ticks (default: any) before the one it read before it, nor before its neighbour.

Exit: 0 all the same, 1 a difference.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import perfdata as pd  # noqa: E402

SLACK = 64  # ticks and ns: perf computes with fractions


def said(path):
    """[(value, before, after)], a moment being (raw ns, TSC)."""
    found, values, begin = [], [], None
    for line in open(path):
        word = line.split()
        if word[0] != 'at':
            values.append(int(word[0], 16))
        elif begin is None:
            begin = int(word[1]), int(word[2])
        else:
            end = int(word[1]), int(word[2])
            found += [(v, begin, end) for v in values]
            values, begin = [], None
    return found


def from_flow(path):
    return [(int(w[4], 16), int(w[2]), int(w[3], 16)) for w in map(str.split, open(path))
            if w[0] == 'ptwrite']


def from_perf(data):
    run = subprocess.run([os.environ.get('PERF', 'perf'), 'script', '-i', data, '--itrace=w',
                          '--ns', '-F', 'tid,time,event,ip,synth'],
                         capture_output=True, text=True, check=True)
    line = re.compile(r'\s*\d+\s+(\d+)\.(\d{9}):\s+ptwrite:\s+([0-9a-f]+)?\s+'
                      r'IP: (\d) payload: 0x([0-9a-f]+)')
    found = []
    for text in run.stdout.splitlines():
        m = line.match(text)
        if m:
            found.append((int(m[5], 16), int(m[1]) * 10 ** 9 + int(m[2]),
                          int(m[3], 16) if m[3] and m[4] == '1' else 0))
    return found


def conversion(data):
    """(is the TSC the clock itself?, TSC to perf's time)"""
    with open(data, 'rb') as f:
        for kind, body in pd.walk(f.read()):
            if kind == pd.INFO:
                w = [int.from_bytes(body[16 + 8 * i:24 + 8 * i], 'little') for i in range(5)]
                shift, mult, zero = w[1:4]
                virtual = (shift, mult, zero) == (0, 1, 0)
                return virtual, lambda t: zero + (t >> shift) * mult + \
                    ((t & ((1 << shift) - 1)) * mult >> shift)
    sys.exit('no AUXTRACE_INFO')


def judge(who, want, got, moment, before):
    good = [v for v, _, _ in want] == [v for v, _, _ in got]
    print('%s: %d values, %d said, %s' % (who, len(got), len(want),
                                          'same' if good else 'different'))
    last = 0
    for (_, a, b), (v, t, _) in zip(want, got):
        a, b = moment(a), moment(b)
        if t > b + SLACK or t < last or (before is not None and t < a - before - SLACK):
            print('  %x: at %d, between %d and %d, last %d' % (v, t, a, b, last))
            good = False
        last = t
    return good


def main():
    data, want = sys.argv[1], said(sys.argv[2])
    before = int(sys.argv[4]) if len(sys.argv) > 4 else None
    virtual, to_time = conversion(data)
    ticks = (lambda m: m[0]) if virtual else (lambda m: m[1])
    flow, perf = from_flow(sys.argv[3]), from_perf(data)
    good = judge('libipt', want, flow, ticks, before)
    good &= judge('perf', want, perf, lambda m: to_time(ticks(m)),
                  before and to_time(before) - to_time(0))
    if any(ip for _, _, ip in perf) and [f[2] for f in flow] != [p[2] for p in perf]:
        print('addresses differ')
        good = False
    if not want:
        print('nothing was said')
        good = False
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
