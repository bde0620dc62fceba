#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dumpcheck.py perf FILE...    `auxrec dump` and `perf script -D` of each file: types, sizes
                             and offsets line by line, and the fields that perf prints
dumpcheck.py trace FILE...   the fields of sched:sched_switch and `perf script -F trace`
dumpcheck.py lines FILE...   text and JSON of each file say the same, in the grammar of the page
dumpcheck.py corpus          both, for each file of tests/corpus; perf's only where it succeeds

The programs are $AUXREC, and $PERF or perf from PATH. Exit: 0 all the same, 1 a difference,
2 usage or nothing was compared.
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is left beside the tests
import corpus

AUXREC, PERF = corpus.AUXREC, corpus.PERF
INFLATED = ('COMPRESSED', 'COMPRESSED2')
SHOWN = 5
ATTR = 64
failed = 0


def complain(*words):
    global failed
    failed += 1
    if failed <= 4 * SHOWN:
        print(*words)


def run(*cmd, stdin=None):
    with open(stdin or os.devnull, 'rb') as f:
        got = subprocess.run(cmd, stdin=f, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             timeout=120)
    return got.returncode, got.stdout, got.stderr


def unique(pairs):
    """An object must not say one thing twice."""
    got = dict(pairs)
    if len(got) != len(pairs):
        complain('a name twice among', [name for name, _ in pairs])
    return got


def dump(path, *more):
    """The JSON lines, and the text lines."""
    _, out, _ = run(AUXREC, 'dump', '--json', *more, path)
    _, text, _ = run(AUXREC, 'dump', *more, path)
    return ([json.loads(line, object_pairs_hook=unique) for line in out.splitlines()],
            text.decode().split('\n')[:-1])


# ---- the grammar of lines ----

ATOM = re.compile(r'[^ ,\[\]{}]+')
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_.]*=')
ESCAPES = {'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\\': '\\'}


class Data(str):
    pass


class Text(str):
    pass


def unescape(s):
    def one(m):
        if m[1][0] == 'x':
            return '\ufffd'
        return chr(int(m[1][1:], 16)) if m[1][0] == 'u' else ESCAPES[m[1]]
    return Text(re.sub(r'\\(x[0-9a-f]{2}|u[0-9a-f]{4}|.)', one, s))


class Line:
    def __init__(self, s):
        self.s, self.at = s, 0

    def take(self, pattern):
        m = pattern.match(self.s, self.at)
        if not m:
            raise ValueError('%s at %d' % (pattern.pattern, self.at))
        self.at = m.end()
        return m

    def next(self):
        return self.s[self.at:self.at + 1]

    def field(self):
        return self.take(NAME)[0][:-1], self.value()

    def several(self, one, end):
        got = []
        self.at += 1
        while self.next() != end:
            if got:
                self.take(re.compile(','))
            got.append(one())
        self.at += 1
        return got

    def value(self):
        c = self.next()
        if c == '"':
            return unescape(self.take(TEXT)[1])
        if c == '<':
            return Data(self.take(re.compile(r'<((?:[0-9a-f]{2})*(?:\+\d+)?)>'))[1])
        if c == '[':
            return self.several(self.value, ']')
        if c == '{':
            return dict(self.several(self.field, '}'))
        return self.take(ATOM)[0]

    def whole(self):
        m = self.take(re.compile(r'(0x[0-9a-f]+) (\d+) ([A-Za-z0-9_.]+)'))
        got = {'pos': int(m[1], 16), 'bytes': int(m[2]), 'kind': m[3]}
        while self.next():
            self.take(re.compile(' '))
            name, value = self.field()
            got[name] = value
        return got


def same(text, value):
    """Does a value of a line say what the JSON value says?"""
    if isinstance(text, dict):
        return (isinstance(value, dict) and list(text) == list(value) and
                all(same(text[k], value[k]) for k in text))
    if isinstance(text, list):
        return (isinstance(value, list) and len(text) == len(value) and
                all(same(a, b) for a, b in zip(text, value)))
    if isinstance(text, (Text, Data)):
        return text == value
    if isinstance(value, list):
        return value == ([] if text == '0' else text.split('|'))
    if isinstance(value, int):
        seconds = re.fullmatch(r'(\d+)\.(\d{9})', text)
        return value == int(seconds[1] + seconds[2] if seconds else text)
    if isinstance(value, float):
        return value == float(text)
    return text == value


def check_lines(path, *more):
    objects, texts = dump(path, *more)
    if len(objects) != len(texts):
        complain(path, len(objects), 'objects,', len(texts), 'lines')
    for value, s in zip(objects, texts):
        try:
            line = Line(s).whole()
        except ValueError as e:
            complain(path, e, 'in', s[:200])
            continue
        for name in ('pos', 'bytes', 'kind'):
            if line.pop(name) != value.pop(name):
                complain(path, name, 'differs in', s[:200])
        if not same(line, value):
            complain(path, 'JSON', value, 'text', s[:200])
    return len(texts)


# ---- what perf says ----

READ = re.compile(rb'^(0x[0-9a-f]+|0)@(.*?) \[(0x[0-9a-f]+)\]: event: (\d+)$', re.M)
SHOWED = re.compile(r'^(?:(-?\d+) )?(-?\d+) (0x[0-9a-f]+|0) \[(0x[0-9a-f]+)\]: '
                    r'PERF_RECORD_(\w+)(.*)$', re.M)


def number(s):
    return int(s, 0)


# Patterns of perf's, and the names of the fields that they hold.
FIELDS = {
    'COMM': (r'( exec)?: (.*):(-?\d+)/(-?\d+)', ('?COMM_EXEC', 'comm', 'pid', 'tid')),
    'FORK': (r'\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)', ('pid', 'tid', 'ppid', 'ptid')),
    'EXIT': (r'\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)', ('pid', 'tid', 'ppid', 'ptid')),
    'MMAP': (r' (-?\d+)/(-?\d+): \[(\w+)\((\w+)\) @ (\w+)\]: . (.*)',
             ('pid', 'tid', 'addr', 'len', 'pgoff', 'filename')),
    'MMAP2': (r' (-?\d+)/(-?\d+): \[(\w+)\((\w+)\) @ (\w+) .*\]: .... (.*)',
              ('pid', 'tid', 'addr', 'len', 'pgoff', 'filename')),
    'SWITCH_CPU_WIDE': (r' (?:IN|OUT).*(?:next|prev) pid/tid: +(-?\d+)/(-?\d+) *',
                        ('next_prev_pid', 'next_prev_tid')),
    'AUX': (r' offset: (\w+) size: (\w+) flags: .*', ('aux_offset', 'aux_size')),
    'AUXTRACE': (r' size: (\w+) +offset: (\w+) +ref: (\w+) +idx: (\d+) +tid: (-?\d+) +'
                 r'cpu: (-?\d+)', ('size', 'offset', 'reference', 'idx', 'tid', 'cpu')),
    'ITRACE_START': (r' pid: (-?\d+) tid: (-?\d+)', ('pid', 'tid')),
    'SAMPLE': (r'\(.*\): (-?\d+)/(-?\d+): (\w+) period: \d+ addr: .*', ('pid', 'tid', 'ip')),
}


def check_field(where, name, want, got):
    if name.startswith('?'):
        ok = (name[1:] in got['misc']) == bool(want)
    elif name not in got:  # perf shows what a sample has not got, too
        ok = got['kind'] == 'SAMPLE'
    elif isinstance(got[name], int):
        ok = got[name] == number(want)
    elif name in ('comm', 'filename'):
        ok = got[name].encode() == want.encode() or '\ufffd' in got[name]
    else:
        ok = number(got[name]) == number(want)
    if not ok:
        complain(where, got['kind'], 'at', got['pos'], name, got.get(name), 'perf:', want)


CHAIN = re.compile(r'^\.{5} +\d+: ([0-9a-f]{16})$', re.M)
BRANCH = re.compile(r'^\.{5} +\d+: ([0-9a-f]{16}) -> ([0-9a-f]{16}) ', re.M)
REG = re.compile(r'^\.{4} (\w+) +(0x[0-9a-f]{16})$', re.M)


def check_sample(where, got, block):
    """What perf prints below the line of a sample."""
    chain = ['0x%x' % int(ip, 16) for ip in CHAIN.findall(block)]
    branches = [('0x%x' % int(a, 16), '0x%x' % int(b, 16)) for a, b in BRANCH.findall(block)]
    regs = [(name.lower(), '0x%x' % int(v, 16)) for name, v in REG.findall(block)]
    for name, want, have in (
            ('ips', chain, got.get('ips')),
            ('lbr', branches, [(e['from'], e['to']) for e in got.get('lbr', [])]),
            ('user_regs', regs, list(got.get('user_regs', {}).items()))):
        if want and want != have:
            complain(where, 'SAMPLE at', got['pos'], name, have, 'perf:', want)
    return bool(chain) + bool(branches) + bool(regs)


def check_record(where, got, m):
    """A line of perf's that shows a record."""
    pattern, names = FIELDS[m[5]]
    said = re.fullmatch(pattern, m[6])
    if not said:
        return 0
    for name, want in zip(names, said.groups()):
        check_field(where, name, want, got)
    # perf takes a record of time 0 for one without.
    if got.get('at') and 'inner' not in got and got['at'] != int(m[2]):
        complain(where, got['kind'], 'at', got['pos'], 'time', got['at'], 'perf:', m[2])
    if got.get('at') and m[1] and 'cpu' in got and got['cpu'] != int(m[1]):
        complain(where, got['kind'], 'at', got['pos'], 'cpu', got['cpu'], 'perf:', m[1])
    return 1


def perf_dump(path, pipe):
    """perf 6.1 reads the trace of a stream from a real pipe only."""
    if not pipe:
        return run(PERF, 'script', '-D', '-i', path)
    with subprocess.Popen(['cat', path], stdout=subprocess.PIPE) as cat:
        got = subprocess.run([PERF, 'script', '-D', '-i', '-'], stdin=cat.stdout,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return got.returncode, got.stdout, got.stderr


def part(path):
    """Of a directory's file: data.N."""
    name = os.path.basename(path.decode())
    return name if re.fullmatch(r'data\.\d+', name) else ''


def check_perf(path, must=True):
    folder = os.path.isdir(path)
    with open(path + '/data' if folder else path, 'rb') as f:
        pipe = f.read(16)[8:] == (16).to_bytes(8, 'little')
    base = 16 if pipe else 0  # perf counts from behind the header of a stream
    status, out, err = perf_dump(path, pipe)
    if status:
        if must:
            complain(path, 'perf ended with', status, err.decode(errors='replace')[-200:])
        return 0
    objects, _ = dump(path)
    want = sorted((number(m[1].decode()) + base, number(m[3].decode()), part(m[2]), int(m[4]))
                  for m in READ.finditer(out))
    if not pipe:  # decoders of trace make up an event
        want = [w for w in want if (w[0], w[3]) != (0, ATTR)]
    # perf shows what was compressed in the place of the record that held it.
    got = sorted((o['pos'], o['bytes'], o.get('part', ''), o['kind']) for o in objects
                 if o['kind'] not in INFLATED)
    if [w[:3] for w in want] != [g[:3] for g in got]:
        complain(path, len(got), 'records, perf:', len(want), 'first difference:',
                 next(((g, w) for g, w in zip(got, want) if g[:3] != w[:3]), 'at the end'))
    names = {}
    for w, g in zip(want, got):
        if names.setdefault(w[3], g[3]) != g[3]:
            complain(path, 'type', w[3], 'is', g[3], 'and', names[w[3]])
    at = {(o['pos'], o['bytes']): o for o in objects if not {'inner', 'part'} & set(o)}
    if folder:  # where perf shows a record it does not tell of which file
        at = {}
    fields = more = 0
    out = out.decode(errors='replace')
    for m in SHOWED.finditer(out):
        o = at.get((number(m[3]) + base, number(m[4])))
        if not o or 'short' in o or m[5] not in FIELDS:
            continue
        if o['kind'] != m[5]:
            complain(path, o['kind'], 'at', o['pos'], 'perf:', m[5])
            continue
        fields += check_record(path, o, m)
        if m[5] == 'SAMPLE':
            more += check_sample(path, o, out[m.end():out.find('\n\n', m.end())])
    print('%s: %d records, fields of %d, %d chains, branch stacks and sets of registers' %
          (path, len(got), fields, more))
    return len(got)


def check_trace(path):
    """Tracepoint fields, as the kernel's own print format has them in perf's output."""
    _, out, _ = run(PERF, 'script', '-i', path, '-F', 'time,event,trace', '--ns')
    objects, _ = dump(path, '-t', 'SAMPLE', '-e', 'sched:sched_switch')
    got = {}
    for o in objects:
        f = o['fields']
        got.setdefault(o['at'], []).append(
            'prev_comm=%s prev_pid=%d prev_prio=%d next_comm=%s next_pid=%d next_prio=%d' %
            tuple(f[n] for n in ('prev_comm', 'prev_pid', 'prev_prio', 'next_comm', 'next_pid',
                                 'next_prio')))
    want = {}
    for m in re.finditer(r'(\d+)\.(\d{9}): +sched:sched_switch: (.*?) prev_state=\S+ ==> (.*)',
                         out.decode(errors='replace')):
        want.setdefault(int(m[1] + m[2]), []).append('%s %s' % (m[3], m[4]))
    if not want or sorted(want) != sorted(got):
        complain(path, len(got), 'times of tracepoints, perf:', len(want))
    for t in want:
        if sorted(want[t]) != sorted(got.get(t, [])):
            complain(path, 'at', t, got.get(t), 'perf:', want[t])
    print('%s: fields of %d tracepoints' % (path, len(objects)))
    return len(objects)


def check_corpus():
    seen = 0
    for row in corpus.rows():
        if not row['kind'].startswith('perf.data') or row['endian'] == 'BE':
            continue
        check_lines(row.path())
        seen += check_perf(row.path(), must=False) > 0
    if seen < 30:
        complain('perf succeeded with', seen, 'files only')
    return seen


def main():
    steps = {'perf': check_perf, 'trace': check_trace, 'lines': check_lines}
    if sys.argv[1:] == ['corpus']:
        seen = check_corpus()
    elif len(sys.argv) > 2 and sys.argv[1] in steps:
        seen = all([steps[sys.argv[1]](path) for path in sys.argv[2:]])
    else:
        print(__doc__)
        return 2
    print(failed, 'complaints')
    return 1 if failed else 0 if seen else 2


if __name__ == '__main__':
    sys.exit(main())
