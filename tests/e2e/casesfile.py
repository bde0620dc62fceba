# SPDX-License-Identifier: Apache-2.0
"""Cases 1 to 12 of tests/corpus/CASES.md: files."""
import os
import random
import struct
import threading
import time

import perfdata as p
from casekit import (SANITIZED, check, corpus, dump, holds, info, run, same, says, store)
from perfdata import P

FEW = [p.comm(1000 + i, cpu=i % 2) if i % 3 else p.switch(1000 + i, cpu=i % 2)
       for i in range(20)]


def counts(records):
    """As info counts them."""
    names = {p.COMM: 'COMM', p.SWITCH: 'SWITCH', p.AUX: 'AUX', p.AUXTRACE: 'AUXTRACE',
             p.INFO: 'AUXTRACE_INFO', p.SAMPLE: 'SAMPLE', p.ROUND: 'FINISHED_ROUND'}
    found = {}
    for r in records:
        name = names[struct.unpack_from('<I', r)[0]]
        found[name] = found.get(name, 0) + 1
    return found


# ---- 1: data.size stays 0 ----

def cut_at(f, n, trace_left=None):
    """Interrupted with n bytes of data: each whole record is counted, and recovered."""
    name = store('cut-%d' % n, f.interrupted(n))
    whole = [r for r, at in zip(f.records, f.places) if at + len(r) - f.data_at <= n]
    stop = f.data_at + sum(len(r) for r in whole)
    seen = whole
    if trace_left is not None:  # of the record that is cut
        seen = whole + [f.records[len(whole)]]
    got, err = info(name)
    same('records', counts(seen), got['records'])
    same('finished', False, got['finished'])
    same('whole_to', stop, got['whole_to'])
    same('not walked', f.data_at + n - stop, got['not_walked'])
    same('features', [], got['features'])
    same('words', '', err)
    found = check(name, want=4)
    same('check finds it interrupted', 'loss', found['unfinished']['severity'])
    says(found['unfinished']['found'], '%d of %d' % (stop, f.data_at + n))
    if not seen:
        _, err = run('recover', '-o', 'nothing', name, want=1)
        says(err, 'auxrec: ')
        holds('recover leaves no file', not os.path.exists('nothing'))
        return
    out, _ = run('recover', '-o', name + '.new', name, want=(0, 4))
    with open(name + '.new', 'rb') as new:
        kept = [b for _, b in p.walk(new.read())]
    if trace_left is not None:
        last = kept.pop()
        left = trace_left // 8 * 8  # whole words of trace
        same('trace kept', seen[-1][48:48 + left], last[48:])
        same('its size', left, struct.unpack_from('<Q', last, 8)[0])
    same('recovered records', whole, kept)
    check(name + '.new', want=(0, 4))


def still_growing(f):
    """A recorder appends while we read."""
    name = store('growing', f.interrupted(0))
    stop = threading.Event()

    def recorder():
        with open(name, 'ab', buffering=0) as out:
            while not stop.is_set():
                out.write(FEW[0])
                time.sleep(0.0002)

    t = threading.Thread(target=recorder)
    t.start()
    try:
        last = 0
        for _ in range(8):
            got, err = info(name)
            now = got['records'].get('COMM', 0) + got['records'].get('SWITCH', 0)
            same('words', '', err)
            holds('records only become more', now >= last, now, last)
            last = now
            check(name, want=4)
    finally:
        stop.set()
        t.join()
    holds('something was seen', last > 0)


def case_1():
    trace = b''.join(p.psb_plus(2000 + i) for i in range(20))
    f = p.File(records=FEW[:5] + [p.PT_INFO] + FEW[5:] + [p.aux(0, len(trace), time=3000),
                                                       p.auxtrace(trace), FEW[0]])
    ends = [at + len(r) - f.data_at for r, at in zip(f.records, f.places)]
    cut_at(f, 0)
    cut_at(f, 4)
    cut_at(f, ends[3])
    cut_at(f, ends[7] + 1)
    cut_at(f, ends[7] + 9)
    cut_at(f, ends[-1])
    cut_at(f, ends[-3] + 40)      # in the header of the AUXTRACE record
    cut_at(f, ends[-3] + 48 + 300, trace_left=300)
    still_growing(f)


# ---- 2: features that are garbage ----

def case_2():
    f = p.File(records=FEW)
    good = bytearray(f.bytes())

    def with_u(size, at, v):
        b = bytearray(good)
        struct.pack_into('<' + {4: 'I', 8: 'Q'}[size], b, at, v)
        return bytes(b)

    host, cmd = f.section_at(p.HOSTNAME), f.section_at(p.CMDLINE)
    text_at, list_at = (struct.unpack_from('<Q', good, at)[0] for at in (host, cmd))
    size = len(good)
    for what, b, feature in (
            ('length of a text', with_u(4, text_at, 0xb3972f84), 'hostname'),
            ('length of a list', with_u(4, list_at, 0xffffffff), 'cmdline'),
            ('length in a list', with_u(4, list_at + 4, 0xfffffff0), 'cmdline'),
            ('overflow', with_u(8, host, 2**64 - 8), 'hostname'),
            ('size overflows', with_u(8, host + 8, 2**64 - 8), 'hostname'),
            ('beyond the end', with_u(8, host, size + 8), 'hostname'),
            ('longer than the file', with_u(8, cmd + 8, size), 'cmdline')):
        name = store('feature', b)
        got, err = info(name, want=1)
        same(what + ': records', counts(FEW), got['records'])
        says(err, "feature '%s'" % feature)
        found = check(name, want=1)
        says(found['feature']['found'] + found['feature']['expected'], feature)
        dump(name, want=(0, 1))
        run('recover', '-o', 'feature.new', name, want=(0, 4))
        with open('feature.new', 'rb') as new:
            same(what + ': recovered', FEW, [b for _, b in p.walk(new.read())])
        os.unlink('feature.new')
    # The table is looked for in the bytes of records, or of features.
    for shift in (8, -8):
        name = store('shifted', with_u(8, 48, f.data_end - f.data_at + shift))
        got, err = info(name, want=1)
        whole = FEW if shift > 0 else FEW[:-1]
        holds('records of a shifted size', got['records'] in (counts(FEW), counts(whole)))
        says(err, 'expected')
        check(name, want=1)
        run('recover', '-o', 'shifted.new', name, want=(0, 4))
        with open('shifted.new', 'rb') as new:
            same('recovered', FEW, [b for _, b in p.walk(new.read())])
        os.unlink('shifted.new')


# ---- 3: beyond 4 GiB ----

def case_3():
    """Two payloads, of 4 GiB and of a little, and features behind them; full of holes."""
    little = p.psb_plus(77) * 3
    far = (4 << 30) + 4096
    first = p.auxtrace(b'', size=far)
    behind = [p.auxtrace(little, offset=far, cpu=1, idx=1), FEW[0]]
    for info_record, kind in ((p.aux_info(3, [0] * 4), 'cs_etm'), (p.PT_INFO, 'intel_pt')):
        if kind == 'intel_pt' and SANITIZED:
            continue  # a walk over each byte
        f = p.File(records=FEW + [info_record, first] + behind)
        b = bytearray(f.bytes())
        at = f.places[len(FEW) + 1] + 48  # of the hole
        struct.pack_into('<Q', b, 48, f.data_end - f.data_at + far)
        for bit in f.features:
            entry = f.section_at(bit)
            struct.pack_into('<Q', b, entry, struct.unpack_from('<Q', b, entry)[0] + far)
        with open('large', 'wb') as out:
            out.write(b[:at])
            out.seek(far, 1)
            out.write(b[at:])
        got, _ = info('large')
        same('bytes', len(b) + far, got['bytes'])
        same('whole_to', f.data_end + far, got['whole_to'])
        same('trace', [far, len(little)], [q['bytes'] for q in got['aux']])
        same('kind', kind, got['aux_type'])
        same('host', 'box', got['host']['name'])
        same('command', ['perf'], got['command'])
        if kind == 'intel_pt':
            same('PSB', [0, 3], [q['pt']['psb'] for q in got['aux']])
        lines = dump('large', '--type=AUXTRACE')
        same('places', [at - 48, f.places[len(FEW) + 2] + far], [r['pos'] for r in lines])
        same('sizes', [far, len(little)], [r['size'] for r in lines])
        same('offset', hex(far), lines[1]['offset'])
        found = check('large', want=(0, 4))
        holds('no damage', all(x['severity'] != 'damage' for x in found.values()), found)
    os.unlink('large')


# ---- 4: unknown records, a longer CPU_TOPOLOGY, a size of 0 ----

def case_4():
    st = p.ST | p.BRANCH_STACK
    branches = P('<Q', 2) + P('<QQQ', 0x1000, 0x2000, 1) + P('<QQQ', 0x3000, 0x4000, 2)
    unknown = [p.record(120, bytes(16)), p.record(61, bytes(8) + p.trailer()), p.record(120, bytes(8))]
    records = [p.record(p.TIME_CONV, P('<QQQ', 0, 1, 0)), p.record(p.THREAD_MAP, P('<Q', 0)),
               p.record(p.CPU_MAP, P('<HHHH', 0, 1, 0, 0)), p.sample(5, more=branches),
               *unknown, p.sample(6, more=branches)]
    topology = P('<I', 1) + p.text('0-1') + P('<I', 1) + p.text('0-1')
    topology += P('<4I', 0, 0, 1, 0)                       # core and socket of each cpu
    topology += P('<I', 1) + p.text('0-1') + P('<2I', 0, 0)  # dies
    topology += P('<I', 7) * 4                             # newer than known
    f = p.File([(p.attr(st), [1])], records,
               {p.NRCPUS: P('<II', 2, 2), p.CPU_TOPOLOGY: topology})
    name = store('newer', f.bytes())
    got, _ = info(name)
    same('records', {'TIME_CONV': 1, 'THREAD_MAP': 1, 'CPU_MAP': 1, 'SAMPLE': 2, 'type120': 2,
                     'type61': 1}, got['records'])
    found = check(name)
    holds('CPU_TOPOLOGY is no fault', 'feature' not in found, found)
    same('unknown types', 3, found['unknown-type']['count'])
    lines = dump(name, '--type=SAMPLE')
    same('branches', [['0x1000', '0x3000']] * 2,
         [[b['from'] for b in r['lbr']] for r in lines])
    # A record of size 0.
    f = p.File(records=FEW[:5] + [P('<IHH', p.SAMPLE, 0, 0) + bytes(40)] + FEW[5:])
    name = store('zero', f.bytes())
    got, err = info(name, want=1)
    same('records', counts(FEW[:5]), got['records'])
    same('stops', f.places[5], got['whole_to'])
    same('not walked', f.data_end - f.places[5], got['not_walked'])
    says(err, '(0x%x)' % f.places[5], 'a record size of 8 or more')
    same('check stops', f.places[5], check(name, want=1)['broken']['at'])
    run('recover', '-o', 'zero.new', name, want=(0, 4))
    with open('zero.new', 'rb') as new:
        same('recovered', FEW, [b for _, b in p.walk(new.read())])


# ---- 5: COMPRESSED2 ----

def compressed2(frame, size=None):
    return p.record(p.COMPRESSED2, P('<Q', len(frame) if size is None else size) +
                    p.padded(frame))


def inflated(name, want=0):
    got, err = info(name, want=want)
    return got['records_inflated'], err


def case_5():
    many = [p.comm(1000 + i, name=b'task%d' % i) for i in range(40)]
    data = b''.join(many)

    def frames(*pieces):
        return [p.Zstd().piece(b, end=True) for b in pieces]

    def write(name, *records):
        f = p.File(records=[FEW[0], *records, FEW[1]],
                   features={p.COMPRESSED_FEATURE: P('<5I', 1, 1, 1, 3, 65536)})
        store(name, f.bytes())
        return f

    # A record that begins in one frame and ends in the next.
    half = len(data) // 2 + 3
    write('straddle', *(compressed2(z) for z in frames(data[:half], data[half:])))
    same('across two frames', ({'COMM': 40}, ''), inflated('straddle'))
    same('dump: across two frames', 41, len(dump('straddle', '--type=COMM')))
    check('straddle')
    run('recover', '-o', 'straddle.new', 'straddle')
    with open('straddle.new', 'rb') as new:
        same('recovered', [FEW[0], *many, FEW[1]], [b for _, b in p.walk(new.read())])
    # data_size beyond the record: what is there counts.
    whole, = frames(data)
    f = write('too-large', compressed2(whole, size=70000))
    got, err = inflated('too-large', want=1)
    same('data_size too large', {'COMM': 40}, got)
    says(err, '(0x%x)' % f.places[1], 'data_size within its record')
    # data_size that covers a part of the frame only: not a byte behind it is used.
    f = write('too-small', compressed2(whole, size=len(whole) - 9))
    got, err = inflated('too-small', want=(0, 1))
    holds('data_size too small', got.get('COMM', 0) < 40, got)
    # A frame that is damaged or cut, and a sound one after it.
    for name, bad in (('broken', b'\xff' * 8 + whole[8:]), ('cut', whole[:-40])):
        f = write(name, compressed2(bad), compressed2(whole))
        got, err = inflated(name, want=1)
        says(err, '(0x%x)' % f.places[1 if name == 'broken' else 2], 'zstd')
        holds('goes on behind ' + name, name == 'cut' or got.get('COMM', 0) >= 40, got)
        same('records outside', 2, info(name, want=1)[0]['records']['COMM'] +
             info(name, want=1)[0]['records'].get('SWITCH', 0))
        check(name, want=1)
    for name in ('sleep.compressed2.data', 'sleep.compressed2.pipe.data'):
        got, _ = info(corpus('linux-perf-data/' + name), want=(0, 1))
        same(name, {'SAMPLE': 7, 'MMAP2': 4, 'COMM': 1, 'EXIT': 1}, got['records_inflated'])


# ---- 6: no rounds, times that go backwards ----

def disorder(times):
    """(late, worst distance in records, worst distance in time), by definition."""
    late, worst, worst_ns = 0, 0, 0
    newest = []  # (record, time) each time that the newest time changes
    for i, t in enumerate(times):
        if newest and t < newest[-1][1]:
            late += 1
            worst_ns = max(worst_ns, newest[-1][1] - t)
            first = next(n for n, (_, newer) in enumerate(newest) if newer > t)
            worst = max(worst, i - newest[first][0])
        else:
            newest.append((i, t))
    return late, worst, worst_ns


def case_6():
    rng = random.Random(6)
    times = [1000 + 10 * i for i in range(3000)]
    for i in range(0, 3000, 100):
        part = times[i:i + 164]
        rng.shuffle(part)
        times[i:i + 164] = part
    f = p.File(records=[p.sample(t) for t in times])
    name = store('shuffled', f.bytes())
    got, _ = info(name)
    late, worst, worst_ns = disorder(times)
    order = got['order']
    same('late', (3000, late, worst, worst_ns),
         (order['records'], order['late'], order['worst_records'], order['worst_ns']))
    found = check(name)
    same('without rounds that is a remark', 'remark', found['unsorted']['severity'])
    with open('many', 'wb') as out:  # 48 MiB of them, with a fifth of that for memory
        body = b''.join(f.records)
        b = bytearray(f.bytes()[:f.data_at])
        struct.pack_into('<Q', b, 48, 400 * len(body))
        out.write(b)
        for _ in range(400):
            out.write(body)
    for words in (('info',), ('check',), ('dump', '--type=MMAP')):
        run(*words, 'many', want=(0, 1, 4), memory=64 << 20)
    os.unlink('many')


# ---- 8: AUXTRACE_INFO of another length or kind ----

def case_8():
    etm_cpu = [0x4040404040404040, 0, 7] + [1] * 7
    for what, record, kind, odd in (
            ('longer', p.aux_info(1, p.PT_WORDS + [7] * 5), 1, True),
            ('shorter', p.aux_info(1, p.PT_WORDS[:6]), 1, False),
            ('ETM', p.aux_info(3, [1, 8 << 32 | 1, 0] + etm_cpu + [9, 9]), 3, True),
            ('ETM, shorter', p.aux_info(3, [1, 8 << 32 | 2, 0] + etm_cpu), 3, False),
            ('unknown', p.aux_info(99, [1, 2]), 99, True),
            ('kind 0', p.aux_info(0, []), 0, False)):
        records = FEW + [record, p.auxtrace(p.psb_plus(1)), FEW[0]]
        name = store('aux-info', p.File(records=records).bytes())
        got, _ = info(name, want=(0, 1))
        same(what + ': records', counts(records), got['records'])
        same(what + ': kind', kind, got['aux_info']['kind'])
        holds(what + ': not understood', (got['aux_info']['not_understood'] > 0) == odd,
              got['aux_info'])
        same(what + ': trace', 64, got['aux'][0]['bytes'])
        same(what + ': dumped', len(records), len(dump(name, want=(0, 1))))
        check(name, want=(0, 1, 4))


# ---- 9: more than one layout ----

def case_9():
    with_addr = p.ST | p.ADDR
    a = (p.attr(), [1])
    b = (p.attr(with_addr, p.ID_ALL, 1, 9), [2])
    records = [p.sample(10, cpu=3, ident=1),
               p.record(p.SAMPLE, P('<QQIIQQII', 2, 0x99, 7, 8, 11, 0xabc, 5, 0)),
               p.switch(12, cpu=4, ident=2, tid=9)]
    lines = dump(store('two', p.File([a, b], records).bytes()))
    same('layout by id', [(10, 3, None), (11, 5, '0xabc'), (12, 4, None)],
         [(r['at'], r['cpu'], r.get('addr')) for r in lines])
    # One says nothing of itself in its records, and has no trailers.
    b = (p.attr(p.IP | p.TID | p.TIME, 0, 1, 9), [2])
    records = [p.sample(10), p.record(p.SWITCH), p.switch(12)]
    name = store('untold', p.File([a, b], records).bytes())
    got, _ = info(name, want=(0, 1))
    same('untold', 3, got['records_untold'])
    same('no cpu is guessed', [], got['cpus'])
    says(run('info', name, want=(0, 1))[0], 'ambiguous')
    same('no field is guessed', [False] * 3, ['at' in r for r in dump(name, want=(0, 1))])
    same('check says so', 'damage', check(name, want=1)['layout']['severity'])


# ---- 10: samples of another size than expected ----

def case_10():
    st = p.ST | p.REGS_USER | p.STACK_USER
    a = bytearray(p.attr(st))
    struct.pack_into('<Q', a, 80, 0b101)  # sample_regs_user: ax, cx
    regs = P('<QQQ', 2, 0x11, 0x33)
    rows = [
        ('no registers, no stack', P('<Q', 0) + P('<Q', 0), {}),
        ('registers', regs + P('<Q', 0), {'user_regs': {'abi': '64', 'ax': '0x11', 'cx': '0x33'}}),
        ('stack', regs + P('<Q', 16) + bytes(range(16)) + P('<Q', 12), {'dyn_size': 12}),
        ('dyn_size above size', regs + P('<Q', 16) + bytes(16) + P('<Q', 99), {}),
        ('size beyond the record', regs + P('<Q', 4096) + bytes(16), {'short': True, 'left': 16}),
        ('bytes left over', regs + P('<Q', 0) + bytes(24), {'left': 24}),
        ('no multiple of 8', regs + P('<Q', 0) + bytes(4), {'left': 4}),
        ('ends in the registers', P('<QQ', 2, 0x11), {'short': True, 'left': 8}),
    ]
    f = p.File([(bytes(a), [1])], [p.sample(5, more=b) for _, b, _ in rows])
    name = store('odd-samples', f.bytes())
    lines = dump(name, want=1)  # some are shorter than their type says
    same('samples', len(rows), len(lines))
    for (what, _, want), line in zip(rows, lines):
        same(what + ': short', 'short' in want, 'short' in line)
        same(what + ': left', want.get('left'), line.get('left'))
        if 'dyn_size' in want:
            same(what, 12, line['user_stack']['dyn_size'] if isinstance(
                line.get('user_stack'), dict) else line.get('dyn_size'))
        same(what + ': time', 5, line['at'])
    got, _ = info(name, want=(0, 1))
    same('records', {'SAMPLE': len(rows)}, got['records'])
    found = check(name, want=1)
    same('short', 2, found['short']['count'])
    same('left over', (1, 1), (found['left-over']['count'], found['misaligned']['count']))


# ---- 11: the other byte order ----

def swapped():
    """A sound file of a big-endian machine: pid, tid and cpu, res are u32s."""
    B = struct.pack
    ident = B('>IIQIIQ', 7, 8, 1000, 3, 0, 1)
    data = B('>IHH', p.SWITCH, 0, 8 + len(ident)) + ident
    a = bytearray(B('>IIQQQQQ', 8, 128, 0, 1, p.ST, 4, p.ID_ALL).ljust(128, b'\0'))
    at = 104 + 8 + 144
    head = b'2ELIFREP' + B('>QQ', 104, 144) + B('>QQQQQQ', 112, 144, at, len(data), 0, 0)
    return head + bytes(32) + B('>Q', 1) + bytes(a) + B('>QQ', 104, 8) + data


def case_11():
    name = store('big-endian', swapped())
    for words in (('info',), ('dump',), ('recover', '-o', 'big-endian.new'),
                  ('export', '--to=libipt', '-o', 'big-endian.out')):
        says(run(*words, name, want=1)[1], 'little-endian', 'big-endian')
    says(run('check', name, want=1)[0], 'little-endian')
    holds('no file is made', not os.path.exists('big-endian.new'))
    for name in ('poc-15c4696a', 'poc-7bef7f89', 'poc-fd76c99f'):
        says(run('info', corpus('quipper-fuzz/' + name), want=1)[1], 'little-endian')


# ---- 12: newer records and features ----

def case_12():
    records = [p.record(p.KSYMBOL, P('<QIHH', 0xffffffff81000000, 64, 1, 0) + b'bpf\0' + bytes(4) +
                        p.trailer(7)),
               p.record(p.BPF_EVENT, P('<HHI', 1, 0, 5) + bytes(8) + p.trailer(8)),
               p.record(45, bytes(8) + p.trailer(9)), p.record(45, bytes(8) + p.trailer(9)),
               p.record(99, bytes(24)), p.record(40000, bytes(8)), FEW[0]]
    f = p.File(records=records, features={31: P('<I', 0), 40: bytes(8), 200: bytes(16)})
    name = store('new', f.bytes())
    got, err = info(name)
    same('records', {'KSYMBOL': 1, 'BPF_EVENT': 1, 'type45': 2, 'type99': 1, 'type40000': 1,
                     'SWITCH': 1}, got['records'])
    same('words', '', err)
    holds('features by number', {40, 200} <= set(got['features']), got['features'])
    same('types by number', ['type45', 'type45', 'type99', 'type40000'],
         [r['kind'] for r in dump(name) if r['kind'].startswith('type')])
    found = check(name)
    same('unknown types', (4, 'remark'), (found['unknown-type']['count'],
                                          found['unknown-type']['severity']))
    same('unknown features', 'remark', found['unknown-feature']['severity'])
    run('recover', '-o', 'new.new', name)
    with open('new.new', 'rb') as new:
        same('recovered', records, [b for _, b in p.walk(new.read())])
