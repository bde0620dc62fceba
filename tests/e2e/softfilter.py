# SPDX-License-Identifier: Apache-2.0
"""softfilter.py FULL FILTERED PROGRAM NAME... : what a filter lets through, held against a whole run.

FULL and FILTERED are folders of lists PID.TID (u64 little-endian) of two runs that execute the
same. NAME is a range: a function, @SECTION, or FROM..TO of two symbols; or +FUNCTION to start at,
-FUNCTION to stop at, !RANGE to stop at for good. Exit 0 when each list of FILTERED is what that
leaves of the list of FULL; a process that is forked begins as the first one ends, a thread as one
that has met nothing.

softfilter.py where PROGRAM NAME: prints START/SIZE of it in the file, as --filter takes it.
"""
import array
import os
import subprocess
import sys


def lists(folder):
    found = []
    for pid, tid in sorted(tuple(map(int, name.split('.'))) for name in os.listdir(folder)):
        v = array.array('Q')
        with open(os.path.join(folder, f'{pid}.{tid}'), 'rb') as f:
            v.frombytes(f.read())
        found.append((pid == tid, v))
    return found


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def ranges(program, names):
    symbols = {}
    for line in run('nm', '-S', program).splitlines():
        w = line.split()
        if len(w) == 4:
            symbols[w[3]] = int(w[0], 16), int(w[1], 16)
        elif len(w) == 3 and w[0] != 'U':
            symbols[w[2]] = int(w[0], 16), 0
    for name in names:
        if name.startswith('@'):
            for line in run('readelf', '-SW', program).splitlines():
                w = line.replace('[ ', '[').split()
                if len(w) > 5 and w[1] == name[1:]:
                    yield int(w[3], 16), int(w[3], 16) + int(w[5], 16)
        elif '..' in name:
            yield tuple(symbols[n][0] for n in name.split('..'))
        else:
            yield symbols[name][0], sum(symbols[name])


def offset(program, addr):
    for line in run('readelf', '-lW', program).splitlines():
        w = line.split()
        if w[:1] == ['LOAD'] and int(w[2], 16) <= addr < int(w[2], 16) + int(w[4], 16):
            return addr - int(w[2], 16) + int(w[1], 16)
    sys.exit('no segment has %#x' % addr)


def base(program):
    """Where setarch -R lets a position-independent program begin."""
    return 0x555555554000 if 'DYN' in run('readelf', '-h', program) else 0


class Filter:
    def __init__(self, program, names):
        self.parts = {kind: [] for kind in '=+-!'}
        for name in names:
            kind = name[0] if name[0] in '+-!' else '='
            a, b = next(ranges(program, [name.lstrip('+-!')]))
            self.parts[kind].append((a + base(program), b + base(program)))
        self.started, self.stopped = not self.parts['+'], False

    def passes(self, ip):
        self.stopped |= any(a <= ip < b for a, b in self.parts['!'])
        if any(a == ip for a, _ in self.parts['-']):
            self.started = False
        if any(a == ip for a, _ in self.parts['+']):
            self.started = True
        if not self.started or self.stopped:
            return False
        return not self.parts['='] or any(a <= ip < b for a, b in self.parts['='])


def main(full, filtered, program, *names):
    only, want = Filter(program, names), []
    for first, v in lists(full):
        of_it = only if first else Filter(program, names)
        want.append([ip for ip in v if of_it.passes(ip)])
    want = [v for v in want if v]
    got = [list(v) for _, v in lists(filtered)]
    print(f'{len(want)} lists with {[len(v) for v in want]}, of the filter {[len(v) for v in got]}')
    for k, (a, b) in enumerate(zip(want, got)):
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y:
                sys.exit(f'list {k}, instruction {i}: {x:#x}, of the filter {y:#x}')
    if not want or want != got:
        sys.exit('different numbers')


if sys.argv[1] == 'where':
    a, b = next(ranges(sys.argv[2], sys.argv[3:]))
    print('%#x/%#x' % (offset(sys.argv[2], a), b - a))
else:
    main(*sys.argv[1:])
