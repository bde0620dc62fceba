#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lldbbundle.py [-w] BASE: the files that `auxrec export --to=libipt -o BASE` has made become a
trace bundle of LLDB 16 and later, BASE.lldb.json beside them, of one process.

LLDB gives trace to threads from PSB to PSB, and drops what of that is behind the thread's next
switch. Who waits and comes back, with no other thread's trace between, has no PSB there: so of the
switches those are taken that tell whose the trace is from there on. -w: all, as they are.

A module's address is that of the lowest segment of its file. LLDB knows processors of Intel only.
"""
import json
import os
import re
import struct
import sys


def segments(path):
    """(type, offset, virtual address) of each"""
    with open(path, 'rb') as f:
        head = f.read(64)
        at, size, n = struct.unpack_from('<Q14xHH', head, 32)
        for i in range(n):
            f.seek(at + i * size)
            kind, _, offset, addr = struct.unpack('<IIQQ', f.read(24))
            yield kind, offset, addr


def module(folder, raw):
    file, offset, addr = re.fullmatch(r'(.*):(0x\w+)-0x\w+:(0x\w+)', raw).groups()
    loads = [(o & ~4095, a & ~4095) for kind, o, a in segments(os.path.join(folder, file)) if kind == 1]
    at = dict(loads)[int(offset, 16)]
    return {'systemPath': '/' + file.split('-images/', 1)[1], 'file': os.path.join(folder, file),
            'loadAddress': hex(int(addr, 16) - at + min(a for _, a in loads))}


IN, OUT = 0, 1 << 13
SWITCH = '<IHH8xIIQ'  # SWITCH_CPU_WIDE: type, misc, size, pid, tid, time


def changes(path):
    """Of its SWITCH_CPU_WIDE records, those by which another thread comes, and goes again when the
    next one does; as a file beside it."""
    data, at, on, kept = open(path, 'rb').read(), 0, None, b''
    while at < len(data):
        kind, misc, size = struct.unpack_from('<IHH', data, at)
        if kind == 15 and not misc & OUT:
            *_, pid, tid, time = struct.unpack_from(SWITCH, data, at)
            if tid and on and tid != on[1]:
                kept += struct.pack(SWITCH, kind, OUT, 32, *on, time - 1)
            if tid and (not on or tid != on[1]):
                on = pid, tid
                kept += struct.pack(SWITCH, kind, IN, 32, *on, time)
        at += size
    if on:
        kept += struct.pack(SWITCH, 15, OUT, 32, *on, 1 << 62)
    with open(path + '.changes', 'wb') as f:
        f.write(kept)
    return path + '.changes'


def main(base, waits):
    folder = os.path.dirname(os.path.abspath(base))
    told = json.load(open(base + '.json'))
    lines = open(base + '.cmds.txt').read()
    pid = re.search(r'(?m)^# process (\d+)', lines)[1]
    raws = re.search(r'(?m)^#ptxed .*', lines)[0].split(' --raw ')[1:]
    pt = told['intel_pt']
    bundle = {
        'type': 'intel-pt',
        'cpuInfo': {'vendor': 'GenuineIntel', 'family': 6, 'model': 85, 'stepping': 4},
        'processes': [{'pid': int(pid), 'triple': 'x86_64-unknown-linux-gnu', 'threads': [],
                       'modules': [module(folder, r) for r in raws if '-images/' in r]}],
        'cpus': [{'id': q['cpu'], 'iptTrace': os.path.join(folder, q['file']),
                  'contextSwitchTrace': (str if waits else changes)(
                      os.path.join(folder, q['sideband']))}
                 for q in told['queues']],
        'tscPerfZeroConversion': {'timeMult': pt['time_mult'], 'timeShift': pt['time_shift'],
                                  'timeZero': str(pt['time_zero'])}}
    with open(base + '.lldb.json', 'w') as f:
        json.dump(bundle, f, indent=1)


main(sys.argv[-1], '-w' in sys.argv[1:-1])
