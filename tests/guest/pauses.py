#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pauses.py FILE

How long each cpu stood still for each snapshot of FILE but the last, by what was recorded: from the
time of the AUX record with OVERWRITE to the TSC of the first PSB behind the end of the
snapshot's trace, which the next snapshot has, as long as it was not overwritten.
"""
import os
import sys

sys.path.insert(0, os.environ.get('E2E', os.path.join(os.path.dirname(__file__), '../e2e')))
from rawperf import AUXTRACE, CPU, INFO, TIME, File, u32, u64  # noqa: E402

AUX, OVERWRITE = 11, 2
PSB = b'\x02\x82' * 8


def main(path):
    areas, frozen, conv = {}, {}, None
    f = File(path)
    for rec, payload in f.records():
        kind = u32(rec, 0)
        if kind == INFO:
            conv = u64(rec, 24), u64(rec, 32), u64(rec, 40)
        elif kind == AUXTRACE and payload:
            areas.setdefault(u32(rec, 40), []).append((u64(rec, 16), payload))
        elif kind == AUX and u64(rec, 24) & OVERWRITE:
            t = f.trailer(rec)
            frozen.setdefault(u32(t[CPU], 0), []).append(u64(t[TIME], 0))
    shift, mult, zero = conv
    for cpu, parts in sorted(areas.items()):
        for k in range(len(parts) - 1):
            (start, trace), (next_start, after) = parts[k:k + 2]
            at = after.find(PSB, max(0, start + len(trace) - 7 - next_start))
            if at < 0 or len(frozen.get(cpu, ())) <= k:
                continue
            tsc = u64(after, at + len(PSB)) >> 8
            ns = zero + (tsc >> shift) * mult + ((tsc & ((1 << shift) - 1)) * mult >> shift)
            print('snapshot %d of cpu %d: %.1f us' %
                  (k + 1, cpu, (ns % (1 << 64) - frozen[cpu][k]) / 1e3))
    return 0


if __name__ == '__main__':
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1]))
