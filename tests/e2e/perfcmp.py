#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perfcmp.py [-b] [-e] [-o] FILE... IPDIR

What stock perf decodes from FILE, or from the files of one recording in turn, thread by
thread and address by address, against the lists IPDIR/PID.TID (u64 little-endian). The perf
binary is $PERF, or perf from PATH. With -b it is the beginning of each list, with -e the end, and
with both a piece of it, which may be nothing: of trace that was taken, or begun to be kept, in the
middle. With -o trace may be lost in overflows, which perf must tell:
what it decodes between two of them must be in the list, all of it, behind what was before.

Exit: 0 all the same, 1 a difference or a trace error, 2 usage or nothing was compared.
"""
import array
import os
import re
import subprocess
import sys
import tempfile

SHOWN = 5  # messages of one kind
TOLD = re.compile(r'Warning:$|\d+ instruction trace errors?$')  # of overflows that stdout told
# Of a recording from another kernel: its code is not here, and none of it was traced.
FOREIGN = 'No kallsyms or vmlinux with build-id'


def lists(folder):
    """{(pid, tid): addresses}"""
    found = {}
    for name in sorted(os.listdir(folder)):
        m = re.fullmatch(r'(\d+)\.(\d+)', name)
        if not m:
            continue
        v = array.array('Q')
        with open(os.path.join(folder, name), 'rb') as f:
            v.frombytes(f.read())
        if sys.byteorder == 'big':
            v.byteswap()
        found[int(m[1]), int(m[2])] = v
    return found


OVERFLOW = re.compile(r'instruction trace error .* pid (\d+) tid (\d+) .* code 7: ')


def decode(data, cuts=None):
    """({(pid, tid): addresses}, messages). With e in --itrace, stdout has errors too; of them,
    where cuts is {}, overflows go there: {(pid, tid): numbers of addresses}"""
    command = [os.environ.get('PERF', 'perf'), 'script', '-i', data, '--itrace=i1ie',
               '-F', 'pid,tid,ip', '--ns']
    got, messages = {}, []
    sample = re.compile(r'\s*(-?\d+)/(-?\d+)\s+([0-9a-f]+)\s*$')
    # A file for stderr: two pipes could fill up against each other.
    with tempfile.TemporaryFile('w+', errors='replace') as err:
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=err, text=True,
                               errors='replace')
        for line in run.stdout:
            m = sample.match(line)
            if m:
                key = int(m[1]), int(m[2])
                got.setdefault(key, array.array('Q')).append(int(m[3], 16))
                continue
            m = OVERFLOW.search(line) if cuts is not None else None
            if m:
                key = int(m[1]), int(m[2])
                cuts.setdefault(key, []).append(len(got.get(key, ())))
            elif line.strip():
                messages.append(line.strip())
        if run.wait():
            messages.append('(exit status %d)' % run.returncode)
        err.seek(0)
        messages += [line.strip() for line in err if line.strip() and
                     not line.startswith(FOREIGN) and not (cuts and TOLD.match(line))]
    return got, messages


def resume(a, i, b, j, reach=2000, run=8):
    """Where both go on alike after a difference, or None."""
    for k in range(1, reach):
        if a[i:i + run] == b[j + k:j + k + run]:
            return i, j + k
        if a[i + k:i + k + run] == b[j:j + run]:
            return i + k, j
        if a[i + k:i + k + run] == b[j + k:j + k + run]:
            return i + k, j + k
    return None


def show(v, i):
    return ' '.join('%x' % ip for ip in v[max(0, i - 2):i + 4]) or '(end)'


def explain(want, got):
    i = j = shown = 0
    while shown < SHOWN and (i < len(want) or j < len(got)):
        if i < len(want) and j < len(got) and want[i] == got[j]:
            i, j = i + 1, j + 1
            continue
        print('  list[%d]: %s' % (i, show(want, i)))
        print('  perf[%d]: %s' % (j, show(got, j)))
        shown += 1
        where = resume(want, i, got, j)
        if not where:
            break
        i, j = where


def find(listed, part, pos):
    """Where, in bytes, from there on; or -1"""
    raw, part = listed.tobytes(), part.tobytes()
    pos = raw.find(part, pos)
    while pos > 0 and pos % 8:
        pos = raw.find(part, pos + 1)
    return pos


def in_parts(listed, got, cuts):
    """Is each part of got, cut there, in the list, one behind the other?"""
    pos = 0
    for begin, end in zip([0] + cuts, cuts + [len(got)]):
        pos = find(listed, got[begin:end], pos)
        if pos < 0:
            return False
        pos += 8 * (end - begin)
    return len(got) < len(listed) and bool(cuts)


def is_as(listed, got, cuts, options):
    if cuts is not None:
        return in_parts(listed, got, cuts)
    if '-b' in options and '-e' in options:
        return find(listed, got, 0) >= 0
    return (got == listed or '-b' in options and got == listed[:len(got)] or
            '-e' in options and got == listed[max(0, len(listed) - len(got)):])


def main():
    options = [a for a in sys.argv[1:] if a in ('-b', '-e', '-o')]
    for option in options:
        sys.argv.remove(option)
    cuts = {} if '-o' in options else None
    if len(sys.argv) < 3:
        print('usage: perfcmp.py FILE... IPDIR', file=sys.stderr)
        return 2
    got, messages = {}, []
    try:
        want = lists(sys.argv[-1])
        for data in sys.argv[1:-1]:
            more, words = decode(data, cuts)
            messages += words
            for key, v in more.items():
                got.setdefault(key, array.array('Q')).extend(v)
    except OSError as e:
        print(e, file=sys.stderr)
        return 2
    good = not messages  # perf exits with 0 after trace errors, and tells them
    for line in messages[:SHOWN]:
        print('perf says: ' + line)
    if len(messages) > SHOWN:
        print('perf says: ... %d lines in all' % len(messages))
    compared = 0
    for key in sorted(want.keys() | got.keys()):
        a, b = want.get(key, array.array('Q')), got.get(key, array.array('Q'))
        same = is_as(a, b, None if cuts is None else cuts.get(key, []), options)
        good &= same
        compared += len(a) and len(b) if options else len(a)
        print('pid %d tid %d: perf %d, listed %d, %s' %
              (*key, len(b), len(a), 'same' if same else 'different'))
        if not same and a and b and cuts is None:
            explain(a, b)
    if not compared:
        print('nothing was compared', file=sys.stderr)
        return 2
    print('SAME' if good else 'DIFF')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
