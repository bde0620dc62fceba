#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""omissions.py: a small perf.data file with Intel PT, put together here, and what becomes of
it when one thing is left out or wrong: what `auxrec check` finds, and where; and whether stock
perf ($PERF, or perf from PATH) agrees that it cannot be read, where it is known to say so.

Exit: 0 all as expected, 1 a difference.
"""
import ctypes
import json
import os
import struct
import subprocess
import sys

AUXREC = os.environ['AUXREC']
PERF = os.environ.get('PERF', 'perf')
P = struct.pack
PT, IP, TID, TIME, CPU, ID, IDENT = 10, 1, 2, 4, 128, 64, 1 << 16
ST = IP | TID | TIME | CPU | IDENT
ALL = 1 << 18  # sample_id_all
NOBODY = 0xffffffff
MMAP, COMM, AUX, ITRACE_START, SWITCH, WIDE = 1, 3, 11, 12, 14, 15
ROUND, ID_INDEX, INFO, AUXTRACE, COMPRESSED, INIT = 68, 69, 70, 71, 81, 82
COMPRESSED2 = 83
failed = 0


def z8(b):
    return b + bytes(-len(b) % 8)


def text(s):
    return P('<I', 64) + s.encode().ljust(64, b'\0')


def record(kind, body=b'', misc=0):
    return P('<IHH', kind, misc, 8 + len(body)) + body


def psb_plus(tsc):
    return b'\x02\x82' * 8 + b'\x19' + P('<Q', tsc)[:7] + b'\x02\x23' + bytes(7)


class Made:
    """What the file is made of; a row changes some of it before bytes() is called."""

    def __init__(self):
        self.attr_size = 128
        self.st = [ST, ST]
        self.flags = [ALL | 1, ALL | 1 << 26]  # context_switch
        self.types = [(PT, 0x400 | 0x2000 | 1), (1, 9)]
        self.ids = [[101, 102], [103, 104]]
        self.words = [PT, 10, 1024, 0, 1, 0x400, 0x800, 3, 0, 1, 0x200, 0x3c000, 168, 2, 2, 10,
                      0, 0]
        self.rows = [(i, c, c) for ids in self.ids for c, i in enumerate(ids)]
        self.switch_id = self.ids[1]
        self.switch = WIDE
        self.aux_flags = 0
        self.idx = [0, 1]
        self.order = []   # (name, bytes, payload)
        self.changes = []  # functions of the list above, before anything is placed
        self.features = True
        self.index = lambda places: places
        self.sizes = {}   # of header fields, set at last
        self.patch = {}   # bytes to write at a named place
        self.cut = 0

    def trailer(self, event, time, cpu, ident, tid=500):
        b, st = b'', self.st[event]
        if not self.flags[event] & ALL:
            return b
        if st & TID:
            b += P('<II', tid, tid)
        if st & TIME:
            b += P('<Q', time)
        if st & ID:
            b += P('<Q', ident)
        if st & CPU:
            b += P('<II', cpu, 0)
        if st & IDENT:
            b += P('<Q', ident)
        return b

    def head(self):
        yield 'id_index', record(ID_INDEX, P('<Q', len(self.rows)) + b''.join(
            P('<QQQq', i, idx, cpu, -1) for i, idx, cpu in self.rows))
        yield 'info', record(INFO, P('<II', 1, 0) + b''.join(P('<Q', w) for w in self.words))
        yield 'kernel', record(MMAP, P('<IIQQQ', NOBODY, 0, 0xffffffff81000000, 0x1400000,
                                       0xffffffff81000000) + z8(b'[kernel.kallsyms]_text\0') +
                               self.trailer(0, 0, 0, 0, 0), 1)
        yield 'comm', record(COMM, P('<II', 500, 500) + b'alpha'.ljust(16, b'\0') +
                             self.trailer(0, 0, 0, 0, 0))
        yield 'init', record(INIT)

    def of_cpu(self, turn, cpu):
        base = 10 ** 10 + turn * 10 ** 6
        pt = self.ids[0][cpu] if self.ids[0] else 101 + cpu
        if not turn:
            yield f'start{cpu}', record(ITRACE_START, P('<II', 500, 500) +
                                        self.trailer(0, base, cpu, pt))
        for k, (tid, other) in enumerate(((500, 600), (600, 500), (600, 500), (500, 600))):
            body = P('<II', other, other) if self.switch == WIDE else b''
            yield f'switch{turn}.{cpu}.{k}', record(
                self.switch, body + self.trailer(1, base + 1000 * k, cpu,
                                                 self.switch_id[cpu], tid),
                0x2000 if k % 2 == 0 else 0)
        yield f'aux{turn}.{cpu}', record(
            AUX, P('<QQQ', 64 * turn, 64, self.aux_flags) +
            self.trailer(0, base + 5000, cpu, pt))

    def trace(self, turn, cpu):
        body = psb_plus(10 ** 10 + turn * 10 ** 6).ljust(64, b'\0')
        return record(AUXTRACE, P('<QQQIIII', len(body), 64 * turn, 10 ** 10, self.idx[cpu],
                                  NOBODY, cpu, 0)), body

    def all(self):
        self.order = [(n, r, b'') for n, r in self.head()]
        for turn in range(2):
            for cpu in range(2):
                self.order += [(n, r, b'') for n, r in self.of_cpu(turn, cpu)]
                self.order.append((f'trace{turn}.{cpu}', *self.trace(turn, cpu)))
            self.order.append((f'round{turn}', record(ROUND), b''))

    def attr(self, i):
        return P('<IIQQQQQ', *self.types[i][:1], self.attr_size, self.types[i][1], 1,
                 self.st[i], 4, self.flags[i]).ljust(self.attr_size, b'\0')

    def sections(self, places):
        yield 3, text('box')
        yield 6, text('x86_64')
        yield 7, P('<II', 2, 2)
        yield 9, text('GenuineIntel,6,140,1')
        yield 12, P('<II', 2, self.attr_size) + b''.join(
            self.attr(i) + P('<I', len(self.ids[i])) + text(n) +
            b''.join(P('<Q', v) for v in self.ids[i])
            for i, n in enumerate(('intel_pt//', 'dummy:u')))
        index = self.index(places)
        if index is not None:
            yield 18, P('<Q', len(index)) + b''.join(P('<QQ', *e) for e in index)
        if any(r[:4] in (P('<I', COMPRESSED), P('<I', COMPRESSED2))
               for _, r, _ in self.order):
            yield 27, P('<IIIII', 0, 1, 1, 5, 1 << 20)

    def bytes(self):
        """The file, and where each named record is."""
        self.all()
        for change in self.changes:
            change(self.order)
        idlists = [b''.join(P('<Q', v) for v in ids) for ids in self.ids]
        attrs = 104 + sum(map(len, idlists))
        data = attrs + 2 * (self.attr_size + 16)
        b = b''.join(idlists)
        at = 104
        for i in range(2):
            b += self.attr(i) + P('<QQ', at, len(idlists[i]))
            at += len(idlists[i])
        where, index = {'attr0': attrs, 'attr1': attrs + self.attr_size + 16}, []
        for name, rec, payload in self.order:
            where[name] = 104 + len(b)
            if rec[:4] == P('<I', AUXTRACE):
                index.append((where[name], 48))
            b += rec + payload
        size = 104 + len(b) - data
        feats = list(self.sections(index)) if self.features else []
        at, table, tail, bits = 104 + len(b) + 16 * len(feats), b'', b'', 0
        where['table'] = 104 + len(b)
        for bit, payload in feats:
            where[f'feature{bit}'] = at + len(tail)
            table += P('<QQ', at + len(tail), len(payload))
            tail += payload
            bits |= 1 << bit
        head = bytearray(b'PERFILE2' + P('<QQQQQQQQQ', 104, self.attr_size + 16, attrs,
                                         2 * (self.attr_size + 16), data, size, 0, 0, bits) +
                         bytes(24))
        for at, value in self.sizes.items():
            was = struct.unpack_from('<Q', head, at)[0]
            head[at:at + 8] = P('<Q', value(was) if callable(value) else value)
        whole = bytearray(bytes(head) + b + table + tail)
        for name, piece in self.patch.items():
            whole[where[name]:where[name] + len(piece)] = piece
        return whole[:len(whole) - self.cut], where


# ---- changes of the list of records ----

def without(*names):
    return lambda order: order.__setitem__(
        slice(None), [r for r in order if not r[0].startswith(names)])


def behind(name, what, rec):
    def change(order):
        at = next(i for i, r in enumerate(order) if r[0] == name)
        order.insert(at + 1, (what, rec, b''))
    return change


def replaced(name, how):
    def change(order):
        at = next(i for i, r in enumerate(order) if r[0] == name)
        order[at] = (name, *how(*order[at][1:]))
    return change


def moved(name, to):
    def change(order):
        at = next(i for i, r in enumerate(order) if r[0] == name)
        row = order.pop(at)
        order.insert(next(i for i, r in enumerate(order) if r[0] == to) + 1, row)
    return change


def zstd(piece):
    lib = ctypes.CDLL('libzstd.so.1')
    lib.ZSTD_compress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(len(piece) + 1024)
    n = lib.ZSTD_compress(room, ctypes.c_size_t(len(room)), piece,
                          ctypes.c_size_t(len(piece)), 1)
    return room.raw[:n]


def squeezed(names, kind=COMPRESSED):
    """These records inside of one COMPRESSED record."""
    def change(order):
        first = next(i for i, r in enumerate(order) if r[0].startswith(names))
        frame = zstd(b''.join(r + p for n, r, p in order if n.startswith(names)))
        if kind == COMPRESSED:
            rec = record(kind, frame)
        else:
            rec = record(kind, P('<Q', len(frame)) + z8(frame))
        order.insert(first, ('squeezed', rec, b''))
        without(*names)(order)
    return change


def set_to(m, **values):
    for name, value in values.items():
        setattr(m, name, value)


# name, change, exit, finding, its place (the name of a record or header field), perf: 'ok',
# 'fails' (script -D ends with an error), None (not asked: it hangs, or versions differ)
ROWS = [
    ('nothing', lambda m: None, 0, None, None, 'ok'),
    ('AUXTRACE_INFO missing', lambda m: m.changes.append(without('info')),
     1, 'no-aux-info', 'trace0.0', 'fails'),
    ('AUXTRACE_INFO with 9 words', lambda m: set_to(m, words=m.words[:9]),
     1, 'aux-info', 'info', 'fails'),
    ('AUXTRACE_INFO with 10 words', lambda m: set_to(m, words=m.words[:10]),
     0, None, None, 'ok'),
    ('AUXTRACE_INFO after COMM', lambda m: m.changes.append(moved('info', 'comm')),
     0, None, None, 'ok'),
    ('ID_INDEX missing', lambda m: m.changes.append(without('id_index')), 0, None, None, 'ok'),
    ('ID_INDEX with an unknown id', lambda m: m.rows.append((9999, 0, 0)),
     1, 'id-index', ('id_index', 16 + 4 * 32), 'fails'),
    ('PT event without ids', lambda m: (set_to(m, ids=[[], m.ids[1]]),
                                        set_to(m, rows=m.rows[2:])),
     1, 'unknown-id', 'start0', 'fails'),
    ('record with an unknown id', lambda m: set_to(m, switch_id=[9999, 104]),
     1, 'unknown-id', 'switch0.0.0', 'fails'),
    ('neither ID nor IDENTIFIER', lambda m: set_to(m, st=[ST & ~IDENT] * 2),
     1, 'layout', 'attr0', 'fails'),
    ('ID instead of IDENTIFIER', lambda m: set_to(m, st=[ST & ~IDENT | ID] * 2),
     0, None, None, 'ok'),
    ('no sample_id_all', lambda m: set_to(m, flags=[1, 1 << 26]), 1, 'aux-info', 'info', None),
    ('dummy lacks CPU', lambda m: set_to(m, st=[ST, ST & ~CPU]),
     1, 'switch-kind', 'switch0.0.0', None),
    ('dummy lacks TIME', lambda m: set_to(m, st=[ST, ST & ~TIME]),
     0, 'timeless', 'info', 'ok'),
    ('no TSC bit', lambda m: set_to(m, types=[(PT, 0x2001), (1, 9)]),
     0, 'timeless', 'info', 'ok'),
    ('cap_time_zero 0', lambda m: m.words.__setitem__(4, 0), 0, 'timeless', 'info', 'ok'),
    ('SWITCH instead of SWITCH_CPU_WIDE', lambda m: set_to(m, switch=SWITCH),
     1, 'switch-kind', 'switch0.0.0', None),
    ('word 7 = 1 without tracepoint', lambda m: m.words.__setitem__(7, 1),
     1, 'aux-info', 'info', None),
    ('PMU type differs from event', lambda m: m.words.__setitem__(0, 11),
     1, 'aux-info', 'info', None),
    ('crazy time_mult, ratio 0', lambda m: (m.words.__setitem__(2, 1024000),
                                            m.words.__setitem__(15, 0)),
     1, 'aux-info', 'info', None),
    ('index missing', lambda m: set_to(m, index=lambda p: None), 0, 'no-index', None, 'ok'),
    ('index empty', lambda m: set_to(m, index=lambda p: []), 0, 'no-index', None, 'ok'),
    ('index bad', lambda m: set_to(m, index=lambda p: [(at + 8, n) for at, n in p]),
     1, 'index-missing', 'trace0.0', 'ok'),
    ('index without one', lambda m: set_to(m, index=lambda p: p[:-1]),
     1, 'index-missing', 'trace1.1', 'ok'),
    ('index with a size', lambda m: set_to(m, index=lambda p: [(at, 56) for at, _ in p]),
     1, 'index-foreign', 'feature18', None),
    ('no features at all', lambda m: set_to(m, features=False), 4, 'unfinished', 72, 'ok'),
    ('no kernel MMAP', lambda m: m.changes.append(without('kernel')), 0, None, None, 'ok'),
    ('no COMM', lambda m: m.changes.append(without('comm')), 0, None, None, 'ok'),
    ('no ITRACE_START', lambda m: m.changes.append(without('start')), 0, None, None, 'ok'),
    ('no AUX', lambda m: m.changes.append(without('aux')), 0, 'aux-unannounced', 'trace0.0',
     'ok'),
    ('no rounds, no INIT', lambda m: m.changes.append(without('round', 'init')),
     0, 'unsorted', None, 'ok'),
    ('AUX TRUNCATED', lambda m: set_to(m, aux_flags=1), 4, 'aux-truncated', 'aux0.0', 'ok'),
    ('payload over-declared by 3', lambda m: m.changes.append(
        replaced('trace0.0', lambda r, p: (r, p[:-3]))), 1, 'broken', None, 'fails'),
    ('unaligned payload', lambda m: m.changes.append(
        replaced('trace0.0', lambda r, p: (r[:8] + P('<Q', 61) + r[16:], p[:-3]))),
     0, 'misaligned', 'trace0.0', 'ok'),
    ('user type 90', lambda m: m.changes.append(behind('round1', 'odd', record(90, bytes(8)))),
     0, 'unknown-type', 'odd', 'fails'),
    ('kernel type 40', lambda m: m.changes.append(behind(
        'aux1.1', 'odd', record(40, m.trailer(0, 10 ** 10 + 2 * 10 ** 6, 1, 102)))),
     0, 'unknown-type', 'odd', 'fails'),
    ('attr.size 136', lambda m: set_to(m, attr_size=136), 0, 'new-attr', ('attr0', 4), None),
    ('attr.size 144', lambda m: set_to(m, attr_size=144), 0, 'new-attr', ('attr0', 4),
     'fails'),
    ('header and attrs overlap', lambda m: set_to(m, sizes={24: 80}), 1, None, None, 'fails'),
    ('attrs and data overlap', lambda m: set_to(m, sizes={
        40: lambda at: at - 144, 48: lambda size: size + 144}),
     1, 'overlap', 40, 'fails'),
    ('data.size 0', lambda m: set_to(m, features=False, sizes={48: 0}),
     4, 'unfinished', 48, 'fails'),
    ('data.size too big', lambda m: set_to(m, features=False, sizes={48: 1 << 20}),
     1, 'cut', 'table', None),
    ('file cut', lambda m: set_to(m, features=False, cut=30), 1, 'cut', 'trace1.1', None),
    ('8 zeros between records', lambda m: m.changes.append(behind('round0', 'odd', bytes(8))),
     1, 'broken', 'odd', 'fails'),
    ('a record of size 4', lambda m: m.changes.append(
        behind('round0', 'odd', P('<IHH', ROUND, 0, 4))), 1, 'broken', 'odd', None),
    ('AUXTRACE in COMPRESSED', lambda m: m.changes.append(squeezed(('trace0',))),
     1, 'hidden-trace', 'squeezed', 'ok'),
    ('records in COMPRESSED', lambda m: m.changes.append(squeezed(('start', 'switch0', 'aux0'))),
     0, None, None, 'ok'),
    ('COMPRESSED2', lambda m: m.changes.append(squeezed(('start', 'switch0', 'aux0'),
                                                               COMPRESSED2)),
     0, 'unknown-type', 'squeezed', 'fails'),
    ('data.size 8 too big', lambda m: set_to(m, sizes={48: lambda size: size + 8}),
     1, 'feature', None, None),
    ('data.size 8 too small', lambda m: set_to(m, sizes={48: lambda size: size - 8}),
     1, 'feature', None, None),
    ('a text of 3 GB', lambda m: set_to(m, patch={'feature3': P('<I', 0xb3972f84)}),
     1, 'feature', 'feature3', None),
    ('4 billion texts', lambda m: set_to(m, patch={'feature12': P('<I', 0xffffffff)}),
     1, 'feature', None, None),
    ('a section beyond all', lambda m: set_to(m, patch={'table': P('<QQ', 1 << 63, 1 << 63)}),
     1, 'feature', 'table', None),
    ('one index for two cpus', lambda m: set_to(m, idx=[0, 0]),
     1, 'mixed-queue', 'trace0.1', 'ok'),
]


def place(where, at):
    if at is None or isinstance(at, int):
        return at
    return where[at[0]] + at[1] if isinstance(at, tuple) else where[at]


def complain(name, *words):
    global failed
    failed += 1
    print(f'{name}:', *words)


def run(*cmd):
    try:
        return subprocess.run(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=20)
    except subprocess.TimeoutExpired:
        return None


def check(name, status, kind, at):
    got = run(AUXREC, 'check', '--json', 'made.data')
    if got is None:
        return complain(name, 'auxrec check hangs')
    if got.returncode != status:
        complain(name, 'ends with', got.returncode, 'instead of', status, got.stdout.decode())
    found = json.loads(got.stdout)['findings']
    if kind is None:
        if status == 0 and found:
            complain(name, 'has', found)
        return None
    ours = [f for f in found if f['kind'] == kind]
    if not ours:
        complain(name, 'lacks', kind, 'among', found)
    elif at is not None and ours[0]['at'] != at:
        complain(name, kind, 'at', ours[0]['at'], 'instead of', at)
    return None


def ask_perf(name, want):
    got = run(PERF, 'script', '-D', '-f', '-i', 'made.data')
    if got is None:
        complain(name, 'perf hangs')
    elif (got.returncode == 0) != (want == 'ok'):
        complain(name, 'perf ends with', got.returncode, 'where it', want)


def add(b, at, n):
    b[at:at + 8] = P('<Q', struct.unpack_from('<Q', b, at)[0] + n)


def huge():
    """The last trace is 5 GiB long, a hole, and the features stand behind it."""
    more = 5 << 30
    m = Made()
    b, where = m.bytes()
    split = where['trace1.1'] + 48 + 64
    add(b, 48, more)                    # data.size
    add(b, where['trace1.1'] + 8, more)
    add(b, where['aux1.1'] + 16, more)  # aux_size
    for at in range(where['table'], min(where[w] for w in where if w.startswith('feature')), 16):
        add(b, at, more)
    with open('huge.data', 'wb') as f:
        f.write(b[:split])
        f.seek(split + more)
        f.write(b[split:])
    got = run(AUXREC, 'check', '--json', 'huge.data')
    os.unlink('huge.data')
    if got is None or got.returncode:
        return complain('a file of 5 GiB', got and got.stdout.decode())
    d = json.loads(got.stdout)
    if d['findings'] or d['bytes'] != len(b) + more:
        complain('a file of 5 GiB', d)
    return None


def main():
    huge()
    has_perf = run(PERF, '--version') is not None if any(
        os.access(os.path.join(d, PERF), os.X_OK) for d in os.environ['PATH'].split(':')
    ) else False
    for name, change, status, kind, at, want in ROWS:
        m = Made()
        change(m)
        b, where = m.bytes()
        with open('made.data', 'wb') as f:
            f.write(b)
        check(name, status, kind, place(where, at))
        if want and has_perf:
            ask_perf(name, want)
    print(len(ROWS), 'rows,', failed, 'differences' + ('' if has_perf else '; without perf'))
    sys.exit(bool(failed))


main()
