#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `auxrec info` on Intel PT, raw (--as=pt) and in recordings, and on bare records: the packets
# that tests/corpus/INDEX.tsv counts, and what a few lines of python find in the same bytes.
set -u
: "${AUXREC:?}" "${E2E:?}"
. "$E2E/lib.sh"
corpus=$E2E/../corpus

# What says nothing of itself is refused, with a hint where it has a PSB.
want 1 "$AUXREC" info "$corpus/lldb/intelpt-trace/3842849.trace"
said 'byte 0 \(0x0\): expected the magic PERFILE2'
said '--as=pt'
for f in opencsd/armv8_1m_branches.trace.bin lldb/intelpt-trace/trace.json \
	dynamorio/primary.sideband.pevent; do
	want 1 "$AUXREC" info "$corpus/$f"
	grep -q -- --as=pt err && fail "$f is taken for Intel PT"
done
# Nor is CoreSight Intel PT because somebody says so.
for f in opencsd/armv8_1m_branches.trace.bin coresight-decoder/branches-trace1.cstrace.bin; do
	want 1 "$AUXREC" info --as=pt "$corpus/$f"
	said 'expected a PSB'
done
want 2 "$AUXREC" info --as=nothing "$corpus/dynamorio/pt.bin"
want 1 "$AUXREC" info --as=pt "$corpus"
want 0 "$AUXREC" info --as=pt - <"$corpus/dynamorio/pt.bin"
grep -q 'raw Intel PT' out || fail "raw trace is not called so"

exec python3 - "$corpus" <<'END'
import csv, json, os, re, struct, subprocess, sys

TOP = sys.argv[1]
PSB = b'\x02\x82' * 8
failed = seen = 0


def same(name, what, want, got):
    global failed
    if want != got:
        failed += 1
        print(name + ':', what, 'is', got, 'instead of', want)


def info(name, *options):
    run = subprocess.run([os.environ['AUXREC'], 'info', '--json', *options, name],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20)
    return run.returncode, json.loads(run.stdout), run.stderr.decode()


def tscs(text, where=''):
    m = re.search(where + r'.*?first TSC (0x[0-9a-f]+), last TSC (0x[0-9a-f]+)', text)
    return (int(m[1], 16), int(m[2], 16)) if m else (None, None)


def check_raw(row):
    name = os.path.join(TOP, row['file'])
    status, got, err = info(name, '--as=pt')
    pt = got['aux'][0]['pt']
    facts = row['aux_facts']
    want = {k: int(n) for k, n in (w.split('=') for w in row['records'].split()[1:])}
    if '--no-sync' in row['interesting']:
        want.pop('psbend')  # it stands before the first PSB
    same(row['file'], 'packets', want, pt['packets'])
    same(row['file'], 'before PSB', int(re.search(r'first PSB at (\w+)', facts)[1], 16),
         pt['before_psb'])
    same(row['file'], 'PSB', int(re.search(r'; PSB (\d+)', facts)[1]), pt['psb'])
    same(row['file'], 'OVF', int(re.search(r'; OVF (\d+)', facts)[1]), pt['ovf'])
    same(row['file'], 'TSC', tscs(facts), (pt['first_tsc'], pt['last_tsc']))
    bad = re.match(r'([0-9a-f]+): error', row['walk'])
    same(row['file'], 'status', 1 if bad else 0, status)
    same(row['file'], 'first bad', int(bad[1], 16) if bad else None, pt['first_bad'])
    same(row['file'], 'bytes', int(row['bytes']), got['aux'][0]['bytes'])


def check_records(row):
    m = re.search(r'sample[-_]type[= ](\w+)', row['interesting'])
    as_ = '--as=records' + (',sample_type=' + m[1] if m else '')
    status, got, err = info(os.path.join(TOP, row['file']), as_)
    same(row['file'], 'status', 0, status)
    same(row['file'], 'form', 'records', got['form'])
    same(row['file'], 'records', {k: int(n) for k, n in
                                  (w.rsplit('=', 1) for w in row['records'].split())},
         got['records'])


def records(data, at=16):
    """(type, misc, bytes, payload) of a pipe, as far as they are whole."""
    while at + 8 <= len(data):
        kind, misc, size = struct.unpack_from('<IHH', data, at)
        n = 0
        if kind == 71:
            n = struct.unpack_from('<Q', data, at + 8)[0]
        elif kind == 66:
            n = struct.unpack_from('<I', data, at + 8)[0]
        yield kind, misc, data[at:at + size], data[at + size:at + size + n]
        at += size + n


def places(trace):
    """Offsets of all PSBs."""
    at, found = trace.find(PSB), []
    while at >= 0:
        found.append(at)
        at = trace.find(PSB, at + 16)
    return found


def check_queue(row, q, trace, conv):
    name = '%s, queue %d' % (row['file'], q['idx'])
    at = places(trace)
    gaps = [b - a for a, b in zip(at, at[1:])]
    same(name, 'PSB', len(at), q['pt']['psb'])
    same(name, 'before PSB', at[0], q['pt']['before_psb'])
    same(name, 'distance', {'min': min(gaps), 'max': max(gaps), 'mean': sum(gaps) // len(gaps)},
         q['pt']['psb_distance'])
    tsc = tscs(row['aux_facts'], 'queue %d:' % q['idx'])
    same(name, 'TSC', tsc, (q['pt']['first_tsc'], q['pt']['last_tsc']))
    shift, mult, zero = conv
    ns = [(zero + ((t >> shift) * mult) + ((t & ((1 << shift) - 1)) * mult >> shift)) % 2**64
          for t in tsc]
    same(name, 'time', {'first_ns': ns[0], 'last_ns': ns[1]}, q['pt']['time'])


def switch_times(data):
    """{tid: ns} from SWITCH_CPU_WIDE, cpu by cpu, and the threads whose first or last time
    on a cpu is open: all events of these files have trailers of tid, time, cpu, identifier."""
    on, since, open_ = {}, {}, set()
    for kind, misc, rec, _ in records(data):
        if kind not in (4, 15):
            continue
        pid, tid, time, cpu, _, _ = struct.unpack_from('<IIQIIQ', rec, len(rec) - 32)
        if kind == 4:  # behind it the thread has no number
            if cpu in since and since[cpu][0] == tid:
                on[tid] = on.get(tid, 0) + time - since[cpu][1]
                since[cpu] = (None, time)
            continue
        if cpu not in since:
            open_.add(tid)
        if not misc & 0x2000:
            if cpu not in since or since[cpu][0] != tid:
                since[cpu] = (tid, time)
            continue
        if cpu in since and since[cpu][0] == tid:
            on[tid] = on.get(tid, 0) + time - since[cpu][1]
        since[cpu] = (struct.unpack_from('<I', rec, 12)[0], time)
    return on, open_ | {tid for tid, _ in since.values() if tid}


def check_recording(row):
    name = os.path.join(TOP, row['file'])
    status, got, err = info(name)
    data = open(name, 'rb').read()
    trace, conv = {}, None
    for kind, misc, rec, payload in records(data):
        if kind == 71:
            trace[struct.unpack_from('<I', rec, 32)[0]] = payload
        if kind == 70:
            conv = struct.unpack_from('<QQQ', rec, 24)
    for q in got['aux']:
        check_queue(row, q, trace[q['idx']], conv)
    same(row['file'], 'queues', sorted(trace), [q['idx'] for q in got['aux']])
    want, open_ = switch_times(data)
    have = {t['tid']: t['on_cpu_ns'] for t in got['tasks']['by_time']}
    span = got['time']['last_ns'] - got['time']['first_ns']
    for tid, ns in want.items():
        if tid not in open_:
            same(row['file'], 'time of %d' % tid, ns, have[tid])
        elif not ns <= have[tid] <= ns + 4 * span:
            same(row['file'], 'time of %d' % tid, '>= %d' % ns, have[tid])
    same(row['file'], 'threads with a time', True, len(set(want) - open_) > 3)
    if sum(have.values()) > 4 * span:
        same(row['file'], 'time of all', '<= %d' % (4 * span), sum(have.values()))


with open(os.path.join(TOP, 'INDEX.tsv'), encoding='utf-8') as f:
    for row in csv.DictReader(f, delimiter='\t', quoting=csv.QUOTE_NONE):
        if row['kind'] == 'raw Intel PT':
            check_raw(row)
        elif row['kind'].startswith('bare perf records'):
            check_records(row)
        elif 'queue 0:' in row['aux_facts']:
            check_recording(row)
        else:
            continue
        seen += 1
print(seen, 'files,', failed, 'complaints')
sys.exit(bool(failed or seen < 30))
END
