#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spans.py FILE INFO

Does INFO (`auxrec info --json FILE`) tell what the snapshots in FILE span? From the bytes of the
file: of each cpu the TSC behind the first PSB, the moment when it was frozen (as the recorder, and
as the kernel's AUX record has it), and the switches that came along, which are of the time between
two freezes.

Exit: 0, 1 something is wrong, 2 usage.
"""
import json
import os
import sys

sys.path.insert(0, os.environ.get('E2E', os.path.join(os.path.dirname(__file__), '../e2e')))
from rawperf import AUXTRACE, CPU, INFO, TIME, File, u32, u64  # noqa: E402

AUX, SWITCH, CPU_WIDE = 11, 14, 15
OVERWRITE = 2
PSB = b'\x02\x82' * 8


class Clock:
    def __init__(self, rec):
        self.shift, self.mult, self.zero = u64(rec, 24), u64(rec, 32), u64(rec, 40)

    def ns(self, tsc):
        low = tsc & ((1 << self.shift) - 1)
        ns = self.zero + (tsc >> self.shift) * self.mult + (low * self.mult >> self.shift)
        return ns % (1 << 64)


def snapshots(path):
    """[{cpu: what there is}]"""
    f, found, clock, switched = File(path), [], None, True
    for rec, payload in f.records():
        kind = u32(rec, 0)
        if kind == INFO:
            clock = Clock(rec)
        elif kind == AUXTRACE and payload:
            if switched:
                found.append({})
            switched = False
            at = payload.find(PSB) + len(PSB)
            assert payload[at] == 0x19
            found[-1][u32(rec, 40)] = {
                'begin': clock.ns(u64(payload, at) >> 8), 'frozen': clock.ns(u64(rec, 24)),
                'pause': u32(rec, 44), 'told': None, 'switches': []}
        elif kind in (SWITCH, CPU_WIDE):
            t, switched = f.trailer(rec), True
            found[-1][u32(t[CPU], 0)]['switches'].append(u64(t[TIME], 0))
        elif kind == AUX and u64(rec, 24) & OVERWRITE:
            t = f.trailer(rec)
            found[-1][u32(t[CPU], 0)]['told'] = u64(t[TIME], 0)
    return found


def span(first, last):
    return {'first_ns': first, 'last_ns': last}


def main(path, info):
    faults, before = [], {}
    with open(info) as f:
        told = {(s['snapshot'], s['cpu']): s for s in json.load(f)['snapshots']}
    for nr, cpus in enumerate(snapshots(path), 1):
        for cpu, s in cpus.items():
            who = 'snapshot %d of cpu %d: ' % (nr, cpu)
            first, last = min(s['switches']), max(s['switches'])
            both = span(max(first, s['begin']), s['frozen'])
            want = {'trace': span(s['begin'], s['frozen']), 'switches': span(first, last),
                    'both': both, 'frozen_ns': s['frozen'], 'pause_ns': s['pause']}
            got = told.pop((nr, cpu), {})
            for name, value in want.items():
                if got.get(name) != value:
                    faults.append('%s%s is %s, info says %s' % (who, name, value, got.get(name)))
            if not s['begin'] < s['frozen'] <= s['told'] <= s['frozen'] + s['pause']:
                faults.append('%sfrozen at %d for %d ns, by the kernel at %d' %
                              (who, s['frozen'], s['pause'], s['told']))
            # What tells of switches is stopped a moment after the trace.
            if last > s['frozen'] + s['pause'] or first < before.get(cpu, 0):
                faults.append(who + 'switches of another time')
            before[cpu] = s['told']
            print('%sboth for %.1f ms, stood still for %.1f us' %
                  (who, (both['last_ns'] - both['first_ns']) / 1e6, s['pause'] / 1e3))
    faults += ['info makes up snapshot %d of cpu %d' % k for k in told]
    print('\n'.join(faults))
    return bool(faults) or not before


if __name__ == '__main__':
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
