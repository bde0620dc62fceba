#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""checkcorpus.py: what `auxrec check` says of each file of tests/corpus, against the `walk` of
INDEX.tsv: what can be walked to its end is not damaged, the rest is, and where that stops.

Exit: 0 all the same, 1 a difference, 2 nothing was compared.
"""
import json
import re
import subprocess
import sys

import corpus

# A walk sees records; these files have faults of other kinds. perf says of the first two
# "Failed to process auxtrace index".
FAULTS = {
    'simpleperf/etm/perf_etm.data': 'feature',
    'simpleperf/etm/perf_with_unformatted_trace.data': 'feature',
    'quipper-fuzz/cf-48836797': 'short',
    'quipper-fuzz/poc-15c4696a': 'header',
}


def judge(row, path, stdin=None):
    run = subprocess.run([corpus.AUXREC, 'check', '--json', path],
                         stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=corpus.TIMEOUT)
    if run.stderr:
        row.complain('says', run.stderr.decode(errors='replace'))
    got = json.loads(run.stdout)
    row.same('status of its verdict', {'sound': 0, 'losses': 4, 'damaged': 1}[got['verdict']],
             run.returncode)
    return got, {f['kind']: f for f in got['findings']}


def check_lost(row, found):
    m = re.match(r'LOST records (\d+), events lost (\d+); '
                 r'LOST_SAMPLES records (\d+), samples lost (\d+)$', row['lost'])
    want = tuple(int(n) for n in m.groups()) if m else (0, 0, 0, 0)
    none = {'count': 0, 'sum': 0}
    row.same('lost', want, tuple(found.get(kind, none)[word] for kind in ('lost', 'lost-samples')
                                 for word in ('count', 'sum')))


def check_stop(row, found):
    """The walk ends at a place, and so does ours."""
    at = re.search(r' at (?:file offset )?(0x[0-9a-f]+)', row['walk'])
    if not at or 'header form (fuzzer' in row['kind'] or row['endian'] == 'BE':
        row.same('header', 1, found.get('header', {}).get('count'))
        return
    stop = found.get('broken') or found.get('cut') or {}
    row.same('stops at', int(at[1], 16), stop.get('at'))


def check_file(row):
    got, found = judge(row, row.path())
    if row['file'] in FAULTS:
        row.same('verdict', 'damaged', got['verdict'])
        row.same('its fault', [FAULTS[row['file']]],
                 [f['kind'] for f in got['findings'][:1]])
    elif row['walk'].startswith('clean'):
        worst = {f['severity'] for f in got['findings']}
        row.same('sound', False, 'damage' in worst)
        check_lost(row, found)
    elif row['walk'].startswith('data.size 0'):
        row.same('interrupted', (True, 'losses'), (got['unfinished'], got['verdict']))
    else:
        row.same('verdict', 'damaged', got['verdict'])
        check_stop(row, found)
    if 'pipe form' in row['kind'] and row['endian'] != 'BE':
        with open(row.path(), 'rb') as f, \
                subprocess.Popen(['cat'], stdin=f, stdout=subprocess.PIPE) as cat:
            streamed, _ = judge(row, '-', cat.stdout)
        for one in (got, streamed):
            del one['file']
            for finding in one['findings']:
                del finding['file']
        row.same('as a stream', got, streamed)


def main():
    seen = 0
    for row in corpus.rows():
        seen += 1
        if row['kind'].startswith('perf.data'):
            check_file(row)
        else:
            got, found = judge(row, row.path())
            row.same('no recording', ('damaged', ['header']), (got['verdict'], list(found)))
    print(seen, 'files,', corpus.failed, 'complaints')
    return 2 if not seen else 1 if corpus.failed else 0


sys.exit(main())
