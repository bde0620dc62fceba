#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compress.py FILE

The COMPRESSED records of a perf.data file or stream that auxrec wrote, byte by byte, with
libzstd's one-shot decompression and nothing of auxrec. Complains about what
auxrec-perf-data(5) rules out; prints "TYPE COUNT" lines for records outside, "in TYPE COUNT"
for those inside, and "bytes IN OUT": inflated, and as COMPRESSED records.

Exit: 0 as the page says, 1 not so, 2 nothing was checked.
"""
import collections
import ctypes
import struct
import sys

FINISHED_ROUND, AUXTRACE, HEADER_FEATURE, COMPRESSED = 68, 71, 80, 81
TRACING_DATA, FEATURE = 66, 27
SKIPPABLE = 0x184d2a50
BIG = 1 << 20

try:
    zstd = ctypes.CDLL("libzstd.so.1")
except OSError as e:
    print(e, file=sys.stderr)
    sys.exit(2)
for call in ("ZSTD_decompress", "ZSTD_findFrameCompressedSize"):
    getattr(zstd, call).restype = ctypes.c_size_t
zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong


def demand(true, at, what):
    if not true:
        print(f"at {at:#x}: {what}", file=sys.stderr)
        sys.exit(1)


def inflate(piece, at):
    out = ctypes.create_string_buffer(BIG)
    n = zstd.ZSTD_decompress(out, ctypes.c_size_t(BIG), piece, ctypes.c_size_t(len(piece)))
    demand(n <= BIG, at, "zstd does not inflate it")
    return out.raw[:n]


def check_frames(piece, size, at):
    """A skippable frame where it is needed, one frame with its size and a checksum."""
    pad = 0
    if struct.unpack_from("<I", piece)[0] == SKIPPABLE:
        pad = 8 + struct.unpack_from("<I", piece, 4)[0]
        demand(8 <= pad <= 15 and not any(piece[8:pad]), at, f"{pad} bytes of padding")
    frame = piece[pad:]
    n = zstd.ZSTD_findFrameCompressedSize(frame, ctypes.c_size_t(len(frame)))
    demand(n == len(frame), at, f"a frame of {n} bytes, {len(frame)} are there")
    demand(pad == 0 or n % 8, at, "padding without need")
    demand(frame[4] & 4, at, "no checksum")
    told = zstd.ZSTD_getFrameContentSize(frame, ctypes.c_size_t(len(frame)))
    demand(told == size, at, f"content size {told}, not {size}")


def feature(payload, at):
    version, kind, level, ratio, most = struct.unpack_from("<5I", payload)
    demand((version, kind) == (0, 1) and 1 <= level <= 22, at, "feature COMPRESSED")
    return ratio, most


def sections(data):
    """{bit: payload} of a finished file"""
    begin, size = struct.unpack_from("<QQ", data, 40)
    bits = struct.unpack_from("<Q", data, 72)[0]
    found, table = {}, begin + size
    for bit in range(64):
        if bits >> bit & 1:
            at, n = struct.unpack_from("<QQ", data, table)
            found[bit] = data[at:at + n]
            table += 16
    return found


class Walk:
    def __init__(self, data):
        self.data = data
        self.outside, self.inside = collections.Counter(), collections.Counter()
        self.most = self.ratio = None
        self.rest = 0  # of a record that ends in a later COMPRESSED record
        self.n_in = self.n_out = 0

    def records(self):
        pipe = struct.unpack_from("<Q", self.data, 8)[0] == 16
        at, size = (16, len(self.data) - 16) if pipe else struct.unpack_from("<QQ", self.data, 40)
        end = at + size
        while at < end:
            kind, misc, n = struct.unpack_from("<IHH", self.data, at)
            demand(n >= 8 and n % 8 == 0 and at + n <= end, at, f"size {n}")
            yield at, kind, misc, self.data[at + 8:at + n]
            if kind == AUXTRACE:
                n += struct.unpack_from("<Q", self.data, at + 8)[0]
            elif kind == TRACING_DATA:
                n += struct.unpack_from("<I", self.data, at + 8)[0]
            at += n
        demand(at == end, at, "a payload beyond the end")

    def unpack(self, at, piece):
        demand(self.most is not None, at, "COMPRESSED before its feature is known")
        plain = inflate(piece, at)
        check_frames(piece, len(plain), at)
        demand(0 < len(plain) <= self.most, at, f"inflates to {len(plain)}")
        self.n_in += len(plain)
        self.n_out += 8 + len(piece)
        pos, self.rest = self.rest, 0
        while pos < len(plain):
            kind, _, n = struct.unpack_from("<IHH", plain, pos)
            demand(n >= 8 and kind < 64, at, f"type {kind} size {n} inside, at {pos}")
            demand(pos + n <= len(plain) or n > 65024, at, "a record cut without need")
            self.inside[kind] += 1
            pos += n
        self.rest = pos - len(plain)

    def walk(self):
        for at, kind, misc, body in self.records():
            self.outside[kind] += 1
            if kind == HEADER_FEATURE and struct.unpack_from("<Q", body)[0] == FEATURE:
                self.ratio, self.most = feature(body[8:], at)
                demand(self.ratio == 0, at, "a ratio before anything is compressed")
            elif kind == COMPRESSED:
                demand(misc == 0, at, "misc")
                self.unpack(at, body)
            elif kind == FINISHED_ROUND:
                demand(self.rest == 0, at, "a round ends within a record")
        if struct.unpack_from("<Q", self.data, 8)[0] == 104:
            found = sections(self.data)
            if found:
                ratio, most = feature(found[FEATURE], len(self.data))
                demand(most == self.most, 72, "two values of mmap_len")
                want = self.n_in / self.n_out if self.n_out else 0
                demand(abs(ratio - want) <= 0.5, 72, f"ratio {ratio}, {want} would be right")


def main():
    with open(sys.argv[1], "rb") as f:
        walk = Walk(f.read())
    walk.walk()
    for kind, n in sorted(walk.outside.items()):
        print(kind, n)
    for kind, n in sorted(walk.inside.items()):
        print("in", kind, n)
    print("bytes", walk.n_in, walk.n_out)
    demand(walk.outside[COMPRESSED] > 0, 0, "nothing is compressed")


main()
