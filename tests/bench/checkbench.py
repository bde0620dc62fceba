#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""checkbench.py AUXREC: `auxrec check FILE` beside `cat FILE >/dev/null`, in turn in one run.

Two files, read into memory before: one of context switches alone, one of AUX trace with few
records between (its payloads are holes: cat copies zeros, check steps over them).
"""
import array
import os
import resource
import statistics
import struct
import subprocess
import sys
import time

AUXREC = sys.argv[1]
RUNS = 5
P = struct.pack
OUT = 0x2000 << 32
CPUS, ROUND_RECORDS = 2, 8000


def attr(kind, config, flags):
    return P('<IIQQQQQ', kind, 128, config, 1, 0x10087, 4, flags).ljust(128, b'\0')


def head():
    """All before the records: a PT event and a dummy, one id each for cpus 0 and 1."""
    ids = P('<4Q', 101, 102, 103, 104)
    b = ids + attr(8, 0x2401, 1 << 18) + P('<QQ', 104, 16)
    b += attr(1, 9, 1 << 18 | 1 << 26) + P('<QQ', 120, 16)
    return b'PERFILE2' + P('<12Q', 104, 144, 136, 288, 104 + len(b), 0, 0, 0, 0, 0, 0, 0) + b


def start():
    """ID_INDEX and AUXTRACE_INFO."""
    rows = b''.join(P('<QQQq', 101 + i, i % 2, i % 2, -1) for i in range(4))
    words = P('<16Q', 8, 10, 1024, 0, 1, 0x400, 0x800, 3, 0, 1, 0x200, 0, 0, 0, 2, 10)
    return P('<IHHQ', 69, 0, 16 + len(rows), 4) + rows + \
        P('<IHHII', 70, 0, 16 + len(words), 1, 0) + words


def switches(cpu, time_ns):
    """Two threads take turns: who leaves, then who comes."""
    words = array.array('Q', bytes(48 * ROUND_RECORDS))
    one, two = 100 | 100 << 32, 200 | 200 << 32
    size = ROUND_RECORDS // 4
    words[0::12] = array.array('Q', [15 | OUT | 48 << 48] * (2 * size))
    words[6::12] = array.array('Q', [15 | 48 << 48] * (2 * size))
    words[1::24] = words[14::24] = words[8::24] = words[19::24] = array.array('Q', [two] * size)
    words[2::24] = words[13::24] = words[7::24] = words[20::24] = array.array('Q', [one] * size)
    words[3::6] = array.array('Q', range(time_ns, time_ns + ROUND_RECORDS * 100, 100))
    words[4::6] = array.array('Q', [cpu] * ROUND_RECORDS)
    words[5::6] = array.array('Q', [103 + cpu] * ROUND_RECORDS)
    return words.tobytes()


def aux(cpu, time_ns, offset, size):
    """An AUX record and its AUXTRACE, without the trace."""
    trailer = P('<IIQIIQ', 100, 100, time_ns, cpu, 0, 101 + cpu)
    return P('<IHHQQQ', 11, 0, 64, offset, size, 0) + trailer + \
        P('<IHHQQQIIII', 71, 0, 48, size, offset, 0, cpu, 0xffffffff, cpu, 0)


def finish(f, begin):
    size = f.tell() - begin
    f.write(P('<QQ', f.tell() + 16, 68) + P('<I', 64) + b'box'.ljust(64, b'\0'))
    f.seek(48)
    f.write(P('<Q', size))
    f.seek(72)
    f.write(P('<Q', 1 << 3))


def write(name, rounds, trace):
    with open(name, 'wb') as f:
        f.write(head())
        begin = f.tell()
        f.write(start())
        for k in range(rounds):
            for cpu in range(CPUS):
                at = 10 ** 12 + k * ROUND_RECORDS * 100
                if trace:
                    f.write(aux(cpu, at, k * trace, trace))
                    f.seek(trace, os.SEEK_CUR)
                else:
                    f.write(switches(cpu, at))
            f.write(P('<IHH', 68, 0, 8))
        finish(f, begin)
    return os.path.getsize(name)


def cpu_seconds():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def run(*cmd):
    """Seconds by the clock, and of CPU."""
    began, before = time.monotonic(), cpu_seconds()
    subprocess.run(cmd, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - began, cpu_seconds() - before


def beside_cat(what, name, size):
    run('cat', name)
    pairs = [(run(AUXREC, 'check', name), run('cat', name)) for _ in range(RUNS)]
    wall = [ours[0] / cat[0] for ours, cat in pairs]
    work = [ours[1] / max(cat[1], 1e-3) for ours, cat in pairs]
    median = statistics.median(ours[0] for ours, _ in pairs)
    print(f'check beside cat, {what:28} ratio {statistics.median(wall):7.3f} '
          f'({min(wall):.3f} to {max(wall):.3f}), of CPU time {statistics.median(work):.3f}   '
          f'{size / 1e6:.0f} MB at {size / 1e6 / median:.0f} MB/s')


def main():
    beside_cat('switch records only', 'switches.data', write('switches.data', 400, 0))
    os.unlink('switches.data')
    beside_cat('AUX trace, 64 KiB pieces', 'trace.data', write('trace.data', 8192, 1 << 16))
    os.unlink('trace.data')


main()
