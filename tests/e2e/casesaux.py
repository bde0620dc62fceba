# SPDX-License-Identifier: Apache-2.0
"""Cases 13 to 23 of tests/corpus/CASES.md, as far as they are about files."""
import json
import struct

import perfdata as p
from casekit import check, corpus, dump, holds, info, run, same, says, store
from perfdata import P

PAGE = 4096


def trace(n, tsc=1):
    return (p.psb_plus(tsc) * (n // 64 + 1))[:n]


def recording(*records, attrs=None, features=None):
    return store('recording', p.File(attrs, [p.PT_INFO, *records], features).bytes())


# ---- 13: with OVERWRITE, aux_size is that of the ring ----

def case_13():
    end = 3 * 16 * PAGE + 1000
    name = recording(p.aux(end - 16 * PAGE, 16 * PAGE, 2, time=5),
                     p.auxtrace(trace(1000), offset=end - 1000))
    got, _ = info(name)
    same('a snapshot', True, got['snapshot'])
    same('overwrite', 1, got['aux'][0]['overwrite'])
    same('nothing lost', 0, got['lost']['trace_bytes'])
    same('causes', [], got['losses'])
    found = check(name)
    holds('no loss', all(f['severity'] == 'remark' for f in found.values()), found)


# ---- 15: AUX records and AUXTRACE do not line up ----

def case_15():
    for what, records, absent, unannounced in (
            ('several AUX for one AUXTRACE',
             [p.aux(0, 64), p.aux(64, 128), p.aux(192, 64), p.auxtrace(trace(256))], 0, 0),
            ('an AUX across two',
             [p.aux(0, 256), p.auxtrace(trace(128)), p.auxtrace(trace(128), offset=128)], 0, 0),
            ('an AUX without AUXTRACE',
             [p.aux(0, 128), p.aux(128, 512), p.auxtrace(trace(128))], 512, 0),
            ('an AUXTRACE without AUX',
             [p.aux(0, 128), p.auxtrace(trace(128)), p.auxtrace(trace(192), offset=128)], 0, 192),
            ('each queue for itself',
             [p.aux(0, 128, cpu=0, ident=1), p.aux(0, 256, cpu=1, ident=2),
              p.auxtrace(trace(128)), p.auxtrace(trace(192), idx=1, cpu=1)], 64, 0)):
        name = recording(*records, attrs=[(p.attr(), [1, 2])])
        found = check(name, want=4 if absent else 0)
        same(what + ': absent', absent, found.get('aux-absent', {}).get('sum', 0))
        same(what + ': unannounced', unannounced, found.get('aux-unannounced', {}).get('sum', 0))
    found = check(corpus('simpleperf/etm/perf_with_missing_aux_data.data'), want=4)
    same('bytes announced in vain', 1535344, found['aux-absent']['sum'])
    # 384 bytes in four records, 0x50 + 0x50 + 0x50 + 0x90 of them.
    found = check(corpus('simpleperf/etm/perf_etm.data'), want=(0, 1, 4))
    holds('no trace is missed', 'aux-absent' not in found, found)


# ---- 16: flags of AUX records ----

def case_16():
    flags = [1, 2, 4, 8, 0x100, 0x40000000, 1 | 4]
    records, at = [], 0
    for i, bits in enumerate(flags):
        records += [p.aux(at, 64, bits, time=10 + i), p.auxtrace(trace(64), offset=at)]
        at += 64
    name = recording(*records)
    same('dumped', [['TRUNCATED'], ['OVERWRITE'], ['PARTIAL'], ['COLLISION'], ['0x100'],
                    ['0x40000000'], ['TRUNCATED', 'PARTIAL']],
         [r['flags'] for r in dump(name, '--type=AUX')])
    got, _ = info(name)
    same('lost', (2, 2, 1), tuple(got['lost']['aux_' + k]
                                  for k in ('truncated', 'partial', 'collision')))
    same('each its own kind', {1: ['truncated'], 2: ['overwrite'], 4: ['partial'],
                               8: ['collision'], 0x100: [], 0x40000000: [],
                               5: ['truncated', 'partial']},
         {f['flags']: f['names'] for f in got['aux_flags']})
    same('format', [1], [f['format'] for f in got['aux_flags'] if f['flags'] == 0x100])
    same('unknown bits', [0x40000000], [f['unknown'] for f in got['aux_flags'] if f['unknown']])
    says(run('info', name)[0], '0x40000000')
    found = check(name, want=4)
    same('gaps', {'aux-truncated': 2, 'aux-partial': 2, 'aux-collision': 1},
         {k: found[k]['count'] for k in ('aux-truncated', 'aux-partial', 'aux-collision')})
    same('unknown bits are a remark', 'remark', found['aux-flags']['severity'])
    got, _ = info(corpus('simpleperf/etm/perf_with_unformatted_trace.data'), want=1)
    same('format of the corpus file', [(7, 1)], [(f['n'], f['format']) for f in got['aux_flags']])


# ---- 17: PSB without PSBEND ----

def case_17():
    """Three pieces that break off in their PSB+, behind MODE."""
    piece = b'\x02\x82' * 8 + b'\x19' + P('<Q', 7)[:7] + b'\x99\x01'
    name = store('pieces', piece * 3)
    pt = json.loads(run('info', '--json', '--as=pt', name)[0])['aux'][0]['pt']
    same('sync points', 3, pt['psb'])
    same('packets', {'psb': 3, 'tsc': 3, 'mode.exec': 3}, pt['packets'])
    same('nothing is skipped', (0, 0, 0), (pt['skipped'], pt['bad'], pt['tail']))
    same('pieces', {'min': len(piece), 'max': len(piece), 'mean': len(piece)},
         pt['psb_distance'])
    lines = dump(name, '--packets', '--as=pt')
    same('dumped', ['psb', 'tsc', 'mode.exec'] * 3, [r['kind'] for r in lines])
    same('places', [0, len(piece), 2 * len(piece)],
         [r['pos'] for r in lines if r['kind'] == 'psb'])


# ---- 20: losses are told ----

def case_20():
    lost = P('<QQ', 1, 590) + p.trailer(5, cpu=2)
    samples = P('<Q', 17) + p.trailer(6, cpu=3)
    # READ with value, id and lost (read_format 4 | 16).
    read = P('<II', 500, 500) + P('<QQQ', 1000, 1, 23) + p.trailer(7, cpu=1)
    a = bytearray(p.attr())
    struct.pack_into('<Q', a, 32, 4 | 16)
    name = recording(p.record(p.LOST, lost), p.record(p.LOST, lost),
                     p.record(p.LOST_SAMPLES, samples), p.record(p.READ_RECORD, read),
                     p.aux(0, 64, 1, time=8, cpu=1), p.auxtrace(trace(64), cpu=1),
                     attrs=[(bytes(a), [1])])
    got, _ = info(name)
    same('in all', (1180, 17, 23, 1), tuple(got['lost'][k] for k in (
        'records', 'samples', 'read_samples', 'aux_truncated')))
    same('by cpu', {1: (0, 0, 23, 1), 2: (1180, 0, 0, 0), 3: (0, 17, 0, 0)},
         {c['cpu']: tuple(c[k] for k in ('records', 'samples', 'read_samples', 'aux_truncated'))
          for c in got['lost_by_cpu']})
    text, _ = run('info', name)
    says(text, '1180', '17', '23')
    found = check(name, want=4)
    same('check', (1180, 17 + 23, 1), (found['lost']['sum'], found['lost-samples']['sum'],
                                  found['aux-truncated']['count']))
    for name, want in (('quipper/perf.data.lost_samples-4.4', (0, 2)),
                       ('simpleperf/perf_g_fp.data', (590, 0)),
                       ('simpleperf/perf_with_trace_offcpu.data', (191, 0))):
        got, _ = info(corpus(name))
        same(name, want, (got['lost']['records'], got['lost']['samples']))
        check(corpus(name), want=4)


# ---- 21: clocks ----

def case_21():
    def clock(flags, clockid, features=None):
        a = bytearray(p.attr(flags=p.ID_ALL | 1 << 26 | flags))
        struct.pack_into('<i', a, 92, clockid)
        return info(recording(p.switch(5), attrs=[(bytes(a), [1])], features=features))[0]

    same('clockid without use_clockid', 'perf', clock(0, 1)['clock'])
    same('clockid', 'monotonic', clock(p.USE_CLOCKID, 1)['clock'])
    got = clock(p.USE_CLOCKID, 1, {p.CLOCK_DATA: P('<IIQQ', 1, 1, 77, 55)})
    same('CLOCK_DATA', (1, 77, 55), tuple(got['clock_data'][k]
                                          for k in ('version', 'wall_ns', 'clock_ns')))
    got = clock(p.USE_CLOCKID, 1, {p.CLOCK_DATA: P('<IIQQQ', 2, 1, 77, 55, 9)})
    same('CLOCK_DATA of version 2', (2, False), (got['clock_data']['version'],
                                                 'wall_ns' in got['clock_data']))
    for what, mult, shift in (('mult', 0, 10), ('shift', 1024, 64), ('shift', 1024, 2**64 - 1)):
        words = p.PT_WORDS[:]
        words[1], words[2] = shift, mult
        name = store('conv', p.File(records=[
            p.record(p.TIME_CONV, P('<QQQ', shift, mult, 0)), p.aux_info(1, words),
            p.switch(5), p.auxtrace(trace(64))]).bytes())
        got, _ = info(name)
        holds('no conversion', what in (got['time_conv']['problem'] or ''), got['time_conv'])
        same('no time of trace', None, got['aux'][0]['pt']['time']['first_ns'])
        says(run('info', name)[0], 'no conversion')
        check(name, want=(0, 1, 4))
        run('check', '--decode', name, want=(0, 1, 4))
    # Trace of another time than the records.
    name = recording(p.switch(10**9), p.switch(2 * 10**9), p.auxtrace(trace(64, tsc=5)))
    window = info(name)[0]['window']
    same('both times are told', (10**9, 5), (window['records']['first_ns'],
                                             window['trace']['first_ns']))


# ---- 23: paused trace ----

def case_23():
    name = recording(p.switch(5), attrs=[(p.attr(size=136, at116=1), [1]),
                                         (p.attr(size=136, at116=2), [2]),
                                         (p.attr(size=136, at116=4), [3])])
    got, err = info(name)
    same('bits', [['aux_start_paused'], ['aux_pause'], ['aux_resume']],
         [e['aux_action'] for e in got['events']])
    same('words', '', err)
    found = check(name)
    holds('no damage', all(f['severity'] == 'remark' for f in found.values()), found)
