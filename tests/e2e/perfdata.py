# SPDX-License-Identifier: Apache-2.0
"""perf.data files put together field by field, for the tests: nothing of auxrec is used.

Layouts: perf_event_open(2), tools/perf/util/header.c and tools/lib/perf/include/perf/event.h
(Linux 6.1)."""
import ctypes
import struct

P = struct.pack
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD = 1, 2, 4, 8, 16, 32, 64, 128, 256
RAW, BRANCH_STACK, REGS_USER, STACK_USER, IDENTIFIER = 1024, 2048, 4096, 8192, 1 << 16
ID_ALL, USE_CLOCKID = 1 << 18, 1 << 25
MMAP, LOST, COMM, THROTTLE, READ_RECORD, SAMPLE, MMAP2, AUX = 1, 2, 3, 5, 8, 9, 10, 11
LOST_SAMPLES, SWITCH, KSYMBOL, BPF_EVENT = 13, 14, 17, 18
HEADER_ATTR, TRACING_DATA, BUILD_ID, ROUND, ID_INDEX, INFO, AUXTRACE = 64, 66, 67, 68, 69, 70, 71
THREAD_MAP, CPU_MAP, TIME_CONV, HEADER_FEATURE, COMPRESSED, COMPRESSED2 = 73, 74, 79, 80, 81, 83
HOSTNAME, NRCPUS, CMDLINE, CPU_TOPOLOGY, CLOCKID, COMPRESSED_FEATURE, CLOCK_DATA = 3, 7, 11, 13, 23, 27, 29
ST = IP | TID | TIME | CPU | IDENTIFIER
NOBODY = 0xffffffff


def padded(b, to=8):
    return b + bytes(-len(b) % to)


def text(s):
    """A string of a feature."""
    return P('<I', 64) + s.encode().ljust(64, b'\0')


def record(kind, body=b'', misc=0):
    return P('<IHH', kind, misc, 8 + len(body)) + body


def trailer(time=0, cpu=0, ident=1, tid=500):
    """Of the sample_type ST."""
    return P('<IIQIIQ', tid, tid, time, cpu, 0, ident)


def comm(time, cpu=0, ident=1, tid=500, name=b'task'):
    return record(COMM, P('<II', tid, tid) + padded(name + b'\0') + trailer(time, cpu, ident, tid))


def switch(time, cpu=0, ident=1, tid=500, out=False):
    return record(SWITCH, trailer(time, cpu, ident, tid), 0x2000 if out else 0)


def sample(time, cpu=0, ident=1, tid=500, more=b''):
    return record(SAMPLE, P('<QQIIQII', ident, 0x1234, tid, tid, time, cpu, 0) + more)


def aux(offset, size, flags=0, time=0, cpu=0, ident=1):
    return record(AUX, P('<QQQ', offset, size, flags) + trailer(time, cpu, ident))


def auxtrace(payload, offset=0, idx=0, cpu=0, size=None):
    size = len(payload) if size is None else size
    return record(AUXTRACE, P('<QQQIIII', size, offset, 0, idx, NOBODY, cpu, 0)) + payload


def aux_info(kind, words):
    return record(INFO, P('<II', kind, 0) + P('<%dQ' % len(words), *words))


# pmu type, time_shift, time_mult, time_zero, cap_user_time_zero ...: a TSC tick is a nanosecond.
PT_WORDS = [8, 10, 1024, 0, 1, 0x400, 0x800, 2, 0, 1, 0x200, 0x3c000, 2, 2, 2, 10, 0, 0]
PT_INFO = aux_info(1, PT_WORDS)


def psb_plus(tsc):
    """64 bytes of trace."""
    return (b'\x02\x82' * 8 + b'\x19' + P('<Q', tsc)[:7] + b'\x02\x23').ljust(64, b'\0')


def attr(sample_type=ST, flags=ID_ALL | 1 << 26, kind=8, config=0x2401, size=128, **words):
    """kind 8 is that of the PT event. words: offset of a u32 as at112=..."""
    a = bytearray(P('<IIQQQQQ', kind, size, config, 1, sample_type, 4, flags).ljust(size, b'\0'))
    for at, v in words.items():
        struct.pack_into('<I', a, int(at[2:]), v)
    return bytes(a)


def pipe(attrs, records):
    """attrs: [(bytes, ids)]"""
    heads = [record(HEADER_ATTR, a + b''.join(P('<Q', i) for i in ids)) for a, ids in attrs]
    return b'PERFILE2' + P('<Q', 16) + b''.join(heads) + b''.join(records)


class File:
    """Header form: header, ids, attrs, data, feature table, features."""

    def __init__(self, attrs=None, records=(), features=None):
        self.attrs = attrs or [(attr(), [1])]
        self.records = list(records)
        self.features = {HOSTNAME: text('box'), CMDLINE: P('<I', 1) + text('perf')}
        self.features.update(features or {})
        self.data_at = 104 + sum(8 * len(ids) for _, ids in self.attrs) + sum(
            len(a) + 16 for a, _ in self.attrs)
        self.places = []  # of the records
        at = self.data_at
        for r in self.records:
            self.places.append(at)
            at += len(r)
        self.data_end = at

    def bytes(self):
        ids, entries, at = b'', b'', 104
        for a, numbers in self.attrs:
            entries += a + P('<QQ', at + len(ids), 8 * len(numbers))
            ids += b''.join(P('<Q', i) for i in numbers)
        data = b''.join(self.records)
        table, sections, bits = b'', b'', [0, 0, 0, 0]
        at = self.data_end + 16 * len(self.features)
        for bit in sorted(self.features):
            bits[bit // 64] |= 1 << bit % 64
            table += P('<QQ', at + len(sections), len(self.features[bit]))
            sections += self.features[bit]
        head = b'PERFILE2' + P('<QQ', 104, len(self.attrs[0][0]) + 16)
        head += P('<QQQQQQ', 104 + len(ids), len(entries), self.data_at, len(data), 0, 0)
        return head + P('<4Q', *bits) + ids + entries + data + table + sections

    def interrupted(self, n):
        """data.size was never stored, and n bytes of the data are there."""
        b = bytearray(self.bytes())[:self.data_at + n]
        struct.pack_into('<Q', b, 48, 0)
        return bytes(b)

    def section_at(self, bit):
        """Where the table's entry of a feature stands."""
        return self.data_end + 16 * sorted(self.features).index(bit)


def walk(b):
    """(type, bytes with payload) of the records of a header form file."""
    at, size = struct.unpack_from('<QQ', b, 40)
    end = at + size
    while at < end:
        kind, _, n = struct.unpack_from('<IHH', b, at)
        if kind == AUXTRACE:
            n += struct.unpack_from('<Q', b, at + 8)[0]
        yield kind, b[at:at + n]
        at += n


class Zstd:
    """libzstd's streams: what COMPRESSED records hold."""

    class Buffer(ctypes.Structure):
        _fields_ = [('p', ctypes.c_void_p), ('size', ctypes.c_size_t), ('pos', ctypes.c_size_t)]

    def __init__(self):
        self.lib = ctypes.CDLL('libzstd.so.1')
        self.lib.ZSTD_createCStream.restype = ctypes.c_void_p
        self.lib.ZSTD_compressStream2.restype = ctypes.c_size_t
        self.stream = ctypes.c_void_p(self.lib.ZSTD_createCStream())

    def piece(self, data, end=False):
        """The next piece of one stream (flushed), or the last of a frame."""
        source = ctypes.create_string_buffer(data, len(data) or 1)
        target = ctypes.create_string_buffer(len(data) + 1024)
        i = self.Buffer(ctypes.cast(source, ctypes.c_void_p), len(data), 0)
        o = self.Buffer(ctypes.cast(target, ctypes.c_void_p), len(target), 0)
        left = self.lib.ZSTD_compressStream2(self.stream, ctypes.byref(o), ctypes.byref(i),
                                             2 if end else 1)
        assert left == 0 and i.pos == i.size
        return target.raw[:o.pos]
