#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kcore.py OURS THEIRS MOST: every byte of OURS is at its address in THEIRS, too (/proc/kcore,
or perf's copy). The kernel may have patched itself in between: MOST bytes may differ. What
THEIRS does not show is passed over, but for the text."""
import struct
import sys


def segments(f):
    head = f.read(64)
    assert head[:6] == b"\x7fELF\x02\x01", "not a 64-bit ELF file"
    kind, machine = struct.unpack_from("<HH", head, 16)
    assert (kind, machine) == (4, 62), f"type {kind}, machine {machine}"
    at, = struct.unpack_from("<Q", head, 32)
    size, n = struct.unpack_from("<HH", head, 54)
    f.seek(at)
    table = f.read(size * n)
    for i in range(n):
        p = struct.unpack_from("<IIQQQQQQ", table, size * i)
        if p[0] == 1:
            yield p[3], p[5], p[2]  # address, length, offset


def main():
    ours, theirs, most = open(sys.argv[1], "rb"), open(sys.argv[2], "rb"), int(sys.argv[3])
    there = list(segments(theirs))
    differ = same = 0
    for addr, size, offset in segments(ours):
        print(f"{addr:#x}: {size} bytes at {offset:#x}")
        assert addr % 4096 == size % 4096 == offset % 4096 == 0
        ours.seek(offset)
        mine = ours.read(size)
        assert len(mine) == size, "cut short"
        for at, n, where in there:
            low, high = max(addr, at), min(addr + size, at + n)
            if low >= high:
                continue
            theirs.seek(where + low - at)
            other = theirs.read(high - low)
            bad = sum(x != y for x, y in zip(mine[low - addr:high - addr], other))
            differ += bad
            same += high - low - bad
            print(f"  {high - low} bytes from {low:#x}: {bad} differ")
    print(f"{same} bytes are the same, {differ} differ")
    return 0 if same and differ <= most and same > 100 * differ else 1


sys.exit(main())
