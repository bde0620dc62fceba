#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ptmake.py SCENARIO DIR: write DIR/perf.data with Intel PT put together by hand, and the
programs it is of. Prints the instructions of each thread as JSON: what a decoder must find.

Scenarios:
  switch   two cpus, four threads of three processes take turns; one is forked and has its
           parent's mappings, one executes another program, one maps another file over its
           code. The code lies at one address everywhere, and each program's loop has another
           length: who is taken for another is counted wrong.
  sample   the same trace of one thread in AUX samples that overlap
  snapshot the same in snapshots that overlap
  kernel   one thread in a kernel of which DIR/kcore_dir/kcore has the code
The packets: Intel SDM vol. 3, 33.4.2. A TSC tick is a nanosecond of the records' clock."""
import json
import os
import struct
import sys

P = struct.pack
PT, IPT = 10, 0x400 | 0x2000 | 1  # type of the event; tsc, branch, pt
IP, TID, TIME, CPU, AUX, IDENTIFIER = 1, 2, 4, 1 << 7, 1 << 20, 1 << 16
ST = IP | TID | TIME | CPU | IDENTIFIER
BASE, CODE, KERNEL = 0x400000, 0x80, 0xffffffff81000000
MMAP, COMM, FORK, SAMPLE, MMAP2, SWITCH = 1, 3, 7, 9, 10, 15


def z8(b):
    return b + bytes(-len(b) % 8)


def program(turn):
    """A loop of `turn` instructions, then a system call."""
    nops = turn - 1
    return b"\x90" * nops + b"\x75" + P("b", -(nops + 2)) + b"\x0f\x05"


def write_elf(path, code):
    """Loaded at BASE as a whole."""
    size = CODE + len(code)
    head = b"\x7fELF\2\1\1" + bytes(9) + P("<HHIQQQIHHHHHH", 2, 62, 1, BASE + CODE, 64, 0, 0,
                                           64, 56, 1, 0, 0, 0)
    head += P("<IIQQQQQQ", 1, 5, 0, BASE, BASE, size, size, 0x1000)
    with open(path, "wb") as f:
        f.write(head.ljust(CODE, b"\0") + code)


def write_kcore(path, code):
    head = b"\x7fELF\2\1\1" + bytes(9) + P("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1,
                                           0, 0, 0)
    head += P("<IIQQQQQQ", 1, 7, 0x1000, KERNEL, 0, 0x1000, 0x1000, 0x1000)
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as f:
        f.write(head.ljust(0x1000, b"\0") + (bytes(CODE) + code).ljust(0x1000, b"\xcc"))


def psb(tsc):
    return b"\x02\x82" * 8 + stamp(tsc) + b"\x02\x03\x0a\0\x02\x23"


def stamp(tsc):
    return b"\x19" + P("<Q", tsc)[:7]


def tnt(taken):
    """So many branches taken, then one not."""
    bits, out = [1] * taken + [0], b""
    while bits:
        part, bits = bits[:6], bits[6:]
        v = 1
        for b in part:
            v = v << 1 | b
        out += bytes([v << 1])
    return out


def run(tsc, taken, at=BASE + CODE):
    """Enters the loop, leaves it, and ends in the system call."""
    return stamp(tsc) + b"\x99\x01" + b"\xd1" + P("<Q", at) + tnt(taken) + b"\x01"


def insns(turn, taken):
    return turn * (taken + 1) + 1


class File:
    def __init__(self, per_cpu=1, snapshot=0, aux=0):
        self.data, self.index, self.timed, self.aux = b"", [], [], aux
        self.ids = [[101, 102], [103, 104]] + ([[105]] if aux else [])
        ids = [(i, 0 if i == 105 else c, 0 if i == 105 else c) for e in self.ids
               for c, i in enumerate(e)]
        self.rec(69, 0, P("<Q", len(ids)) + b"".join(P("<QQQQ", i, x, c, (1 << 64) - 1)
                                                     for i, x, c in ids))
        words = [PT, 0, 1, 0, 1, 0x400, 0x800, 3 if per_cpu else 0, snapshot, per_cpu, 0x200,
                 0x3c000, 2, 1, 2, 10, 0, 0]
        self.rec(70, 0, P("<II", 1, 0) + b"".join(P("<Q", w) for w in words))

    def rec(self, kind, misc, body):
        self.data += P("<IHH", kind, misc, 8 + len(body)) + body

    def trailer(self, t, cpu, pid, tid):
        return P("<IIQIIQ", pid, tid, t, cpu, 0, 103 + cpu if t else 0)

    def kernel(self, t, cpu, kind, misc, body, pid=0, tid=0):
        """Kept back: the kernel's records of a cpu come in the order of time."""
        self.timed.append((t, kind, misc, body + self.trailer(t, cpu, pid, tid)))

    def flush(self):
        for _, kind, misc, body in sorted(self.timed, key=lambda x: x[0]):
            self.rec(kind, misc, body)
        self.timed = []
        self.rec(68, 0, b"")

    def map(self, t, cpu, pid, name, misc=2, addr=BASE, size=0x1000):
        self.kernel(t, cpu, MMAP2, misc, P("<IIQQQIIQQII", pid, pid, addr, size, 0, 0, 0, 0, 0,
                                           5, 2) + z8(name.encode() + b"\0"), pid, pid)

    def comm(self, t, cpu, pid, tid, name, execed=False):
        self.kernel(t, cpu, COMM, 0x2000 if execed else 0,
                    P("<II", pid, tid) + z8(name.encode() + b"\0"), pid, tid)

    def fork(self, t, cpu, pid, ppid, tid, ptid):
        self.kernel(t, cpu, FORK, 0, P("<IIIIQ", pid, ppid, tid, ptid, t), ppid, ptid)

    def switch(self, t, cpu, old, new):
        self.kernel(t, cpu, SWITCH, 0x2000, P("<II", *new), *old)
        self.kernel(t + 100, cpu, SWITCH, 0, P("<II", *old), *new)

    def trace(self, idx, offset, pt, reference, cpu=None, tid=None):
        none = (1 << 32) - 1
        self.index.append(len(self.data))
        pt = z8(pt)
        self.data += P("<IHHQQQIIII", 71, 0, 48, len(pt), offset, reference, idx,
                       none if tid is None else tid, none if cpu is None else cpu, 0) + pt

    def attr(self, kind, config, flags, st, sample=0):
        a = P("<IIQQQQQIIQQQQIiQIHHIIQ", kind, 128, config, 1, st, 4 | 16, flags, 0, 0, 0, 0, 0,
              0, 0, 0, 0, 0, 0, 0, sample, 0, 0)
        return a.ljust(128, b"\0")

    def text(self, s):
        b = (s.encode() + b"\0").ljust(64, b"\0")
        return P("<I", len(b)) + b

    def write(self, path):
        flags = 1 << 18 | 1
        attrs = [(self.attr(PT, IPT, flags | 1 << 20, ST), "intel_pt//"),
                 (self.attr(1, 9, flags | 7 << 8 | 1 << 13 | 1 << 23 | 1 << 24 | 1 << 26, ST),
                  "dummy:u")]
        if self.aux:
            attrs.append((self.attr(1, 0, flags, ST | AUX, 4096), "cpu-clock"))
        at, ids, table = 104, b"", b""
        for (a, _), i in zip(attrs, self.ids):
            table += a + P("<QQ", at + len(ids), 8 * len(i))
            ids += b"".join(P("<Q", x) for x in i)
        data = at + len(ids) + len(table)
        feats = {3: self.text("host"), 6: self.text("x86_64"), 7: P("<II", 2, 2),
                 9: self.text("GenuineIntel,6,142,10"),
                 12: P("<II", len(attrs), 128) + b"".join(
                     a + P("<I", len(i)) + self.text(n) + b"".join(P("<Q", x) for x in i)
                     for (a, n), i in zip(attrs, self.ids)),
                 18: P("<Q", len(self.index)) + b"".join(P("<QQ", data + x, 48)
                                                         for x in self.index)}
        place, sections, bits = data + len(self.data) + 16 * len(feats), b"", 0
        heads = b""
        for k in sorted(feats):
            heads += P("<QQ", place + len(sections), len(feats[k]))
            sections += feats[k]
            bits |= 1 << k
        with open(path, "wb") as f:
            f.write(b"PERFILE2" + P("<QQQQQQQQ", 104, 144, at + len(ids), len(table), data,
                                    len(self.data), 0, 0) + P("<QQQQ", bits, 0, 0, 0))
            f.write(ids + table + self.data + heads + sections)


def switch(d):
    name = {k: os.path.join(d, k) for k in "abcd"}
    turn = {"a": 3, "b": 5, "c": 7, "d": 11}
    for k in "abcd":
        write_elf(name[k], program(turn[k]))
    f, want = File(), {}
    # What was there before.
    for pid, tid in ((500, 500), (500, 501), (600, 600)):
        f.kernel(0, 0, FORK, 0x2000, P("<IIIIQ", pid, 1 if tid == pid else pid, tid, 1, 0))
        f.comm(0, 0, pid, tid, "t%d" % tid)
    f.map(0, 0, 500, name["a"])
    f.map(0, 0, 600, name["b"])
    f.flush()
    # 700 is forked from 500 and later executes
    # c; 600 maps d over its code.
    now = [1000000, 1000300]
    for cpu, tid in ((0, 500), (1, 600)):
        f.kernel(now[cpu], cpu, 12, 0, P("<II", tid, tid), tid, tid)
    code = {500: "a", 501: "a", 600: "b", 700: "a"}
    pid = {500: 500, 501: 500, 600: 600, 700: 700}
    pt, last, forked = [b"", b""], [500, 600], False
    order = [(0, 500), (1, 600), (0, 501), (1, 600), (0, 600), (1, 500), (0, 700), (1, 501),
             (0, 600), (1, 700), (0, 500), (1, 600), (0, 501), (1, 700)] * 3
    for n, (cpu, tid) in enumerate(order):
        t = now[cpu] = max(now) + 1000
        if tid == 700 and not forked:
            f.fork(t - 900, 0, 700, 500, 700, 500)
            forked = True
        if tid != last[cpu]:
            f.switch(t, cpu, (pid[last[cpu]], last[cpu]), (pid[tid], tid))
            last[cpu] = tid
        if n == 9:
            f.comm(t + 150, cpu, 700, 700, "execed", True)
            f.map(t + 160, cpu, 700, name["c"])
            code[700] = "c"
        if n == 18:
            f.map(t + 150, cpu, 600, name["d"])
            code[600] = "d"
        if n % 5 < 2:
            pt[cpu] += psb(t + 200)
        taken = n * 7 % 23
        pt[cpu] += run(t + 300, taken)
        want[tid] = want.get(tid, 0) + insns(turn[code[tid]], taken)
    f.flush()
    for cpu in (0, 1):
        f.trace(cpu, 0, pt[cpu], now[cpu] + 5000, cpu=cpu)
    f.write(os.path.join(d, "perf.data"))
    return want


def one_thread(d, f):
    """Ten stretches of a loop, each behind a PSB: the bytes, and where each begins."""
    write_elf(os.path.join(d, "a"), program(3))
    f.kernel(0, 0, FORK, 0x2000, P("<IIIIQ", 500, 1, 500, 1, 0))
    f.comm(0, 0, 500, 500, "one")
    f.map(0, 0, 500, os.path.join(d, "a"))
    f.flush()
    f.kernel(900, 0, 12, 0, P("<II", 500, 500), 500, 500)
    pt, at, n = b"", [], 0
    for k in range(10):
        at.append(len(pt))
        pt += psb(1000 + 100 * k) + run(1010 + 100 * k, 20 + k)
        n += insns(3, 20 + k)
    return pt, at, {500: n}


def sample(d):
    """The samples end within stretches, and the next ones begin before what was last."""
    f = File(aux=1)
    pt, at, want = one_thread(d, f)
    for begin, end in ((0, at[3] + 50), (at[2], at[6] + 45), (at[5], at[8]), (at[7], len(pt))):
        t = 1005 + 100 * sum(x < end for x in at)
        part = z8(pt[begin:end])
        f.timed.append((t, SAMPLE, 2, P("<QQIIQII", 105, BASE + CODE, 500, 500, t, 0, 0) +
                        P("<Q", len(part)) + part))
    f.flush()
    f.write(os.path.join(d, "perf.data"))
    return want


def snapshot(d):
    f = File(snapshot=1)
    pt, at, want = one_thread(d, f)
    f.flush()
    for begin, end in ((0, at[3] + 50), (at[2], at[6] + 45), (at[6], len(pt))):
        f.trace(0, begin, pt[begin:end], 1005 + 100 * sum(x < end for x in at), cpu=0)
    f.write(os.path.join(d, "perf.data"))
    return want


def kernel(d):
    f = File()
    write_kcore(os.path.join(d, "kcore_dir", "kcore"), program(9))
    f.kernel(0, 0, MMAP, 1, P("<IIQQQ", (1 << 32) - 1, 0, KERNEL, 0x1000, KERNEL) +
             z8(b"[kernel.kallsyms]_text\0"))
    f.comm(0, 0, 500, 500, "one")
    f.flush()
    f.kernel(900, 0, 12, 0, P("<II", 500, 500), 500, 500)
    f.flush()
    f.trace(0, 0, psb(1000) + run(1010, 40, KERNEL + CODE), 2000, cpu=0)
    f.write(os.path.join(d, "data"))
    return {500: insns(9, 40)}


if __name__ == "__main__":
    make = {"switch": switch, "sample": sample, "snapshot": snapshot, "kernel": kernel}
    print(json.dumps(make[sys.argv[1]](os.path.abspath(sys.argv[2]))))
