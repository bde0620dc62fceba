#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rawperf.py split cpu|tid FILE OUT
rawperf.py shift NS FILE NEW
rawperf.py snapshot FILE NEW
rawperf.py samples FILE NEW

perf.data byte by byte, without anything of auxrec.

split: what AUXTRACE records carry, joined by idx, as OUT/aux-idxN.bin; the kernel's records,
without SAMPLE, in the order of their times, by the cpu or thread of their trailer, as
OUT/sideband-cpuN.pevent (tidN), those of time 0 as OUT/sideband.pevent, those of no cpu as
OUT/sideband-rest.pevent. Header and pipe form; COMPRESSED records are inflated with libzstd.

The others make a new file of a soft recording (header form): one whose clock is NS later, so
that time_zero is not 0, and where what was mapped before the trace began is told by records
without a time; one that says it is of snapshots; one whose first queue's trace comes in AUX
samples.
"""
import ctypes
import os
import struct
import sys

COMM, SAMPLE, MMAP2, ITRACE_START = 3, 9, 10, 12
HEADER_ATTR, TRACING_DATA, INFO, AUXTRACE = 64, 66, 70, 71
COMPRESSED, COMPRESSED2 = 81, 83
TID, TIME, ID, STREAM, CPU, IDENT, AUX = 2, 4, 1 << 6, 1 << 9, 1 << 7, 1 << 16, 1 << 20
TRAILER = (TID, TIME, ID, STREAM, CPU, IDENT)
BIG = 1 << 20


def u32(b, at):
    return struct.unpack_from('<I', b, at)[0]


def u64(b, at):
    return struct.unpack_from('<Q', b, at)[0]


class Zstd:
    """One stream over all COMPRESSED records."""

    def __init__(self):
        self.lib = ctypes.CDLL('libzstd.so.1')
        self.lib.ZSTD_createDStream.restype = ctypes.c_void_p
        self.lib.ZSTD_decompressStream.restype = ctypes.c_size_t
        self.stream = ctypes.c_void_p(self.lib.ZSTD_createDStream())
        self.rest = b''

    class Buffer(ctypes.Structure):
        _fields_ = [('p', ctypes.c_void_p), ('size', ctypes.c_size_t),
                    ('pos', ctypes.c_size_t)]

    def records(self, piece):
        source = ctypes.create_string_buffer(piece, len(piece))
        target = ctypes.create_string_buffer(BIG)
        i = self.Buffer(ctypes.cast(source, ctypes.c_void_p), len(piece), 0)
        while i.pos < i.size:
            o = self.Buffer(ctypes.cast(target, ctypes.c_void_p), BIG, 0)
            self.lib.ZSTD_decompressStream(self.stream, ctypes.byref(o), ctypes.byref(i))
            self.rest += target.raw[:o.pos]
        while len(self.rest) >= 8 and len(self.rest) >= u32(self.rest, 4) >> 16:
            size = u32(self.rest, 4) >> 16
            yield self.rest[:size]
            self.rest = self.rest[size:]


class File:
    def __init__(self, path):
        with open(path, 'rb') as f:
            self.b = f.read()
        self.events = []  # (sample_type, sample_id_all, ids)
        assert self.b[:8] == b'PERFILE2'
        self.pipe = u64(self.b, 8) == 16
        if self.pipe:
            self.begin, self.end = 16, len(self.b)
            return
        step, at, size = struct.unpack_from('<QQQ', self.b, 16)
        self.begin, n = struct.unpack_from('<QQ', self.b, 40)
        self.end = self.begin + n
        for a in range(at, at + size, step):
            ids_at, ids_n = struct.unpack_from('<QQ', self.b, a + step - 16)
            self.attr(self.b[a:a + step - 16], self.b[ids_at:ids_at + ids_n])

    def attr(self, attr, ids):
        self.events.append((u64(attr, 24), u64(attr, 40) >> 18 & 1,
                            set(struct.unpack('<%dQ' % (len(ids) // 8), ids))))

    def outer(self):
        """(record, payload)"""
        at = self.begin
        while at < self.end:
            kind, size = u32(self.b, at), u32(self.b, at + 4) >> 16
            more = u64(self.b, at + 8) if kind == AUXTRACE else 0
            if kind == TRACING_DATA:
                more = u32(self.b, at + 8)
            yield self.b[at:at + size], self.b[at + size:at + size + more]
            at += size + more

    def records(self):
        zstd = None
        for rec, payload in self.outer():
            kind = u32(rec, 0)
            if kind == HEADER_ATTR and self.pipe:
                n = u32(rec, 12)
                self.attr(rec[8:8 + n], rec[8 + n:])
            yield rec, payload
            if kind in (COMPRESSED, COMPRESSED2):
                zstd = zstd or Zstd()
                piece = rec[8:] if kind == COMPRESSED else rec[16:16 + u64(rec, 8)]
                for inner in zstd.records(piece):
                    yield inner, b''

    def trailer(self, rec):
        """{bit: bytes} of a kernel record that is no SAMPLE"""
        event = self.events[0]
        if len(self.events) > 1 and event[0] & IDENT:
            ident = u64(rec, len(rec) - 8)
            event = next((e for e in self.events if ident in e[2]), event)
        found, at = {}, len(rec)
        if not event[1]:
            return found
        for bit in reversed(TRAILER):
            if event[0] & bit:
                at -= 8
                found[bit] = rec[at:at + 8]
        return found


def split(by, path, out):
    f = File(path)
    trace, streams = {}, {}
    os.makedirs(out)
    for rec, payload in f.records():
        kind = u32(rec, 0)
        if kind == AUXTRACE:
            trace.setdefault(u32(rec, 32), []).append(payload)
        if kind >= 64 or kind == SAMPLE:
            continue
        t = f.trailer(rec)
        time = u64(t[TIME], 0) if TIME in t else 0
        key = '-rest' if time else ''
        if by == 'cpu' and CPU in t and (time or TIME not in t):
            key = '-cpu%d' % u32(t[CPU], 0)
        elif by == 'tid' and TID in t and (time or TIME not in t):
            key = '-tid%d' % u32(t[TID], 4)
        streams.setdefault(key, []).append((time, rec))
    for idx, parts in trace.items():
        with open('%s/aux-idx%d.bin' % (out, idx), 'wb') as o:
            o.write(b''.join(parts))
    for key, recs in streams.items():
        recs.sort(key=lambda r: r[0])
        with open('%s/sideband%s.pevent' % (out, key), 'wb') as o:
            o.write(b''.join(r[1] for r in recs))


def rebuild(f, new, change, attrs=lambda b: None):
    """A file of the same head, with each record changed, and without features."""
    head = bytearray(f.b[:f.begin])
    attrs(head)
    data = b''.join(change(bytearray(rec), payload) for rec, payload in f.outer())
    head[48:56] = struct.pack('<Q', len(data))
    head[72:104] = bytes(32)
    with open(new, 'wb') as o:
        o.write(head + data)


def shift(ns, path, new):
    f = File(path)
    begun = min(u64(rec, len(rec) - 24) for rec, _ in f.outer()
                if u32(rec, 0) == ITRACE_START)

    def change(rec, payload):
        kind, at = u32(rec, 0), len(rec) - 24  # TID, TIME, CPU, IDENTIFIER
        if kind == INFO:
            rec[40:48] = struct.pack('<Q', u64(rec, 40) + ns)
        elif kind in (COMM, MMAP2) and u64(rec, at) < begun:
            rec[at - 8:] = bytes(32)
        elif kind < 64 and kind != SAMPLE and u64(rec, at):
            rec[at:at + 8] = struct.pack('<Q', u64(rec, at) + ns)
        return bytes(rec) + payload
    rebuild(f, new, change)


def snapshot(path, new):
    def change(rec, payload):
        if u32(rec, 0) == INFO:
            rec[16 + 8 * 8:16 + 9 * 8] = struct.pack('<Q', 1)
        return bytes(rec) + payload
    rebuild(File(path), new, change)


def samples(path, new):
    f = File(path)
    st = f.events[0][0]
    ident = min(f.events[0][2])
    assert st == 0x10087  # IDENTIFIER IP TID TIME CPU

    def attrs(head):
        at = u64(head, 24)
        head[at + 24:at + 32] = struct.pack('<Q', st | AUX)

    def change(rec, payload):
        if u32(rec, 0) != AUXTRACE:
            return bytes(rec)
        if u32(rec, 32):
            return b''
        body = struct.pack('<QQIIQIIQ', ident, 0, 1, u32(rec, 36), u64(rec, 24), 0, 0,
                           len(payload)) + payload
        return struct.pack('<IHH', SAMPLE, 2, 8 + len(body)) + body
    rebuild(f, new, change, attrs)


def main(argv):
    if len(argv) == 5 and argv[1] == 'split':
        split(*argv[2:])
    elif len(argv) == 5 and argv[1] == 'shift':
        shift(int(argv[2]), *argv[3:])
    elif len(argv) == 4 and argv[1] in ('snapshot', 'samples'):
        globals()[argv[1]](*argv[2:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
