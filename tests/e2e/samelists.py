#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""samelists.py [-p] A B

Have the recordings in the folders A and B executed the same? Their lists ips/PID.TID (u64
little-endian) are compared in the order in which the processes were made, address by address, but
for those in the vdso: how long it reads the clock depends on the clock. With -p the one list of B
is the beginning of that of A.

Exit: 0 the same, 1 a difference or nothing to compare.
"""
import array
import os
import re
import subprocess
import sys

HALF = 16000  # process ids further apart than that have begun anew in between


def vdso(data):
    out = subprocess.run([os.environ.get('PERF', 'perf'), 'script', '-i', data, '--no-itrace',
                          '--show-mmap-events'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, errors='replace', check=True).stdout
    return {(int(a, 16), int(a, 16) + int(n, 16))
            for a, n in re.findall(r'\[(0x[0-9a-f]+)\((0x[0-9a-f]+)\).*\[vdso\]', out)}


def lists(folder):
    clock = vdso(folder + '/perf.data')
    names = [tuple(map(int, n.split('.'))) for n in os.listdir(folder + '/ips')]
    anew = names and max(names)[0] - min(names)[0] > HALF
    found = []
    for name in sorted(names, key=lambda n: [(anew and i < HALF, i) for i in n]):
        v = array.array('Q')
        with open('%s/ips/%d.%d' % (folder, *name), 'rb') as f:
            v.frombytes(f.read())
        found.append([ip for ip in v if not any(a <= ip < b for a, b in clock)])
    return found


def main():
    beginning = sys.argv[1] == '-p'
    a, b = map(lists, sys.argv[-2:])
    if beginning:
        a = [v[:len(w)] for v, w in zip(a, b)]
    print('%s instructions' % ' '.join(str(len(v)) for v in b))
    for k, (v, w) in enumerate(zip(a, b)):
        for i, (x, y) in enumerate(zip(v, w)):
            if x != y:
                sys.exit('list %d, instruction %d: %#x, and %#x' % (k, i, x, y))
    if not a or not a[0] or list(map(len, a)) != list(map(len, b)):
        sys.exit('%s instructions, and %s' % ([len(v) for v in a], [len(v) for v in b]))


main()
