#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rotated.py FILE... (in the order in which they were written)

The files of one recording joined, byte by byte: every timed record of the kernel is in one of
them only, each cpu's in the order of time, and the bytes of each queue go on from file to
file. Prints how many switches and how many bytes of trace there are.

Exit: 0, 1 something is wrong, 2 usage.
"""
import sys

from rawperf import AUXTRACE, CPU, TID, TIME, File, u32, u64

SWITCH, CPU_WIDE = 14, 15
OUT = 1 << 13
SHOWN = 5


def who_comes(rec, trailer):
    """The task that runs after a switch record; None: not told."""
    if u32(rec, 4) & OUT:
        return u32(rec, 12) if u32(rec, 0) == CPU_WIDE else None
    return u32(trailer[TID], 4)


def main(paths):
    faults, switches, aux = [], 0, {}
    seen, last, within, between = set(), {}, 0, 0
    for path in paths:
        f, first, heads = File(path), set(), 0
        for rec, payload in f.records():
            kind = u32(rec, 0)
            if kind == AUXTRACE:
                idx, at = u32(rec, 32), u64(rec, 16)
                end, tail = aux.get(idx, (at, b''))
                # A piece is padded to 8 bytes.
                if not 0 <= end - at < 8 or any(tail[len(tail) - (end - at):]):
                    faults.append('%s: queue %d goes on at %#x, not %#x' %
                                  (path, idx, at, end))
                aux[idx] = at + len(payload), payload[-8:]
            if kind >= 64:
                continue
            t = f.trailer(rec)
            time, cpu = u64(t[TIME], 0), u32(t[CPU], 0)
            if not time:
                heads += 1
                continue
            if kind not in (SWITCH, CPU_WIDE):
                continue
            switches += 1
            key = cpu, time, bytes(rec)
            if key in seen:
                faults.append('%s: a switch at %d that was there' % (path, time))
            seen.add(key)
            before = last.get(cpu)
            if before and time < before[0]:
                faults.append('%s: cpu %d goes back to %d' % (path, cpu, time))
            # Who comes was named, who leaves was there. Kernels leave gaps anywhere, so one
            # between two files proves nothing: they are counted, for who reads this. What
            # the recorder counted is what must be here.
            task = u32(t[TID], 4)
            if before and before[1] not in (None, task):
                if cpu in first:
                    within += 1
                else:
                    between += 1
            first.add(cpu)
            last[cpu] = time, who_comes(rec, t)
        if not heads:
            faults.append('%s: tells of no task that runs' % path)
    for line in faults[:SHOWN]:
        print(line)
    print('%d switches, %d bytes of trace in %d files, %d faults (gaps: %d within, %d between)' %
          (switches, sum(end for end, _ in aux.values()), len(paths), len(faults), within,
           between))
    return bool(faults)


if __name__ == '__main__':
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1:]))
