#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""corpus.py info | aux | perf | ends

tests/corpus, whose INDEX.tsv says what each file holds, against what $AUXREC says of it
(info), the AUX and AUXTRACE records that it dumps (aux), and what stock perf ($PERF, or perf
from PATH) counts in it (perf). ends: every command on every file ends by itself, with words
where it fails.

Exit: 0 all the same, 1 a difference, 2 usage or nothing was compared.
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../corpus')
AUXREC = os.environ['AUXREC']
PERF = os.environ.get('PERF', 'perf')
TIMEOUT = 10  # seconds; none of the files takes one
# Names of perf's that are not those of its header file.
SHORT = {'HEADER_ATTR': 'ATTR', 'HEADER_FEATURE': 'FEATURE',
         'HEADER_TRACING_DATA': 'TRACING_DATA'}

# Their index of trace is not one; perf says "Failed to process auxtrace index".
BAD_INDEX = ('simpleperf/etm/perf_etm.data', 'simpleperf/etm/perf_with_unformatted_trace.data')

failed = 0


class Row(dict):
    """A line of INDEX.tsv, and whether what was found is what it says."""

    def path(self):
        return os.path.join(TOP, self['file'])

    def complain(self, *words):
        global failed
        failed += 1
        print(self['file'] + ':', *words)

    def same(self, what, want, got):
        if want != got:
            self.complain(what, 'is', got, 'instead of', want)

    def auxrec(self, *words, path=None, stdin=subprocess.DEVNULL):
        """(status, stdout, stderr) of a command on the file; it must end by itself."""
        try:
            run = subprocess.run([AUXREC, *words, path or self.path()], stdin=stdin,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self.complain(*words, 'hangs')
            return -1, '', ''
        out, err = (text.decode(errors='replace') for text in (run.stdout, run.stderr))
        # 3: trace of another kind than was asked for.
        if run.returncode not in (0, 1, 3, 4):
            self.complain(*words, 'ended with', run.returncode, err)
        # What check finds is what it was asked for.
        said = out if words[0] == 'check' else err
        if run.returncode in (1, 3) and not (said.strip() and 'expected' in said or
                                             'auxrec: ' in err):
            self.complain(*words, 'failed without a word')
        return run.returncode, out, err

    def refused(self, *words):
        """Nothing was counted, and words say what was expected."""
        status, out, err = self.auxrec('info', '--json')
        self.same('status', 1, status)
        if not all(word in err for word in words):
            self.complain('is refused with', err)
        if out and json.loads(out)['records']:
            self.complain('is refused but counted')


def rows():
    with open(os.path.join(TOP, 'INDEX.tsv'), encoding='utf-8') as f:
        for row in csv.DictReader(f, delimiter='\t', quoting=csv.QUOTE_NONE):
            yield Row(row)


def counts(text):
    """{'SAMPLE': 7, ...} of 'SAMPLE=7 ...'"""
    return {name: int(n) for name, n in (w.rsplit('=', 1) for w in text.split())}


def total(*tables):
    """The sum of several counts."""
    sums = {}
    for table in tables:
        for name, n in table.items():
            sums[name] = sums.get(name, 0) + n
    return sums


def queues(facts):
    """[(idx, tid, cpu, size)] of the AUXTRACE records in aux_facts, one by one."""
    found = re.findall(r'\(?idx (\d+) tid (\d+) cpu (\d+) offset 0x[0-9a-f]+ size (\d+)', facts)
    return [tuple(int(n) for n in q) for q in found]


# ---- what info says ----

def check_aux(row, got):
    if row['aux_kind']:
        row.same('aux_type', row['aux_kind'], got['aux_type'])
    else:
        row.same('aux_type', None, got['aux_type'])
    want = {}
    for idx, tid, cpu, size in queues(row['aux_facts']):
        _, _, chunks, total_size = want.get(idx, (tid, cpu, 0, 0))
        want[idx] = (tid, cpu, chunks + 1, total_size + size)
    here = re.match(r'(\d+) of (\d+)$', row['aux_bytes'])
    if here:  # the last payload is cut
        idx = max(want)
        tid, cpu, chunks, size = want[idx]
        want[idx] = (tid, cpu, chunks, size - int(here[2]) + int(here[1]))
    row.same('queues', want, {q['idx']: (q['tid'], q['cpu'], q['chunks'], q['bytes'])
                              for q in got['aux']})
    if row['aux_bytes']:
        row.same('AUX bytes', int(row['aux_bytes'].split()[0]),
                 sum(q['bytes'] for q in got['aux']))


def check_lost(row, got):
    m = re.match(r'LOST records (\d+), events lost (\d+); '
                 r'LOST_SAMPLES records (\d+), samples lost (\d+)$', row['lost'])
    want = tuple(int(n) for n in m.groups()) if m else (0, 0, 0, 0)
    row.same('lost', want, (got['records'].get('LOST', 0), got['lost']['records'],
                            got['records'].get('LOST_SAMPLES', 0), got['lost']['samples']))


def check_walk(row, got, status, err):
    """Where the walk over the records stops, and how much is left."""
    walk = row['walk']
    # An interrupted recording is no damage: data.size 0, cut where the kill cut it.
    sound = walk.startswith(('clean', 'data.size 0'))
    index = row['file'] in BAD_INDEX
    row.same('sound', sound, (status == 0) != index)
    row.same('fault of the index', index, "feature 'auxtrace'" in err)
    at = re.search(r' at (?:file offset )?(0x[0-9a-f]+)', walk)
    if not at:
        row.same('bytes not walked', 0, got['not_walked'])
        return
    row.same('whole_to', int(at[1], 16), got['whole_to'])
    if not sound:
        row.same('first fault', int(at[1], 16), got['faults'][0]['at'])
        if '(%s): expected ' % at[1] not in err:
            row.complain('says', err)
    left = re.search(r'(\d+) bytes not walked', walk)
    over = re.search(r'size (\d+) at 0x[0-9a-f]+ runs (\d+) bytes past', walk)
    if left:
        row.same('bytes not walked', int(left[1]), got['not_walked'])
    elif over:
        row.same('bytes not walked', int(over[1]) - int(over[2]), got['not_walked'])
    else:  # in the payload of an AUXTRACE record
        row.same('bytes not walked', 48 + int(row['aux_bytes'].split()[0]), got['not_walked'])


def check_file(row):
    if row['endian'] == 'BE':
        row.refused('little-endian')
        return
    if 'header form (fuzzer' in row['kind']:
        row.refused('expected')
        return
    status, out, err = row.auxrec('info', '--json')
    got = json.loads(out)
    row.same('format', (1, 'file') if 'v1' in row['kind'] else
             (2, 'pipe') if 'pipe form' in row['kind'] else (2, 'file'),
             (got['format_version'], got['form']))
    row.same('bytes', int(row['bytes']), got['bytes'])
    row.same('events', int(row['events']), len(got['events']))
    for event in got['events']:
        row.same('attr_size', int(row['attr_size']), event['attr_size'])
    row.same('records', counts(row['records']), got['records'])
    row.same('inflated', counts(row['records_inside_compressed']), got['records_inflated'])
    check_aux(row, got)
    check_lost(row, got)
    check_walk(row, got, status, err)


def info():
    seen = 0
    for row in rows():
        seen += 1
        if row['kind'].startswith('perf.data'):
            check_file(row)
        else:
            row.refused('expected the magic PERFILE2')
    return seen


# ---- what dump says ----

def aux():
    """AUX and AUXTRACE records one by one."""
    seen = 0
    for row in rows():
        m = re.search(r'AUX (\d+), sum of aux_size (\d+), flags (0x[0-9a-f]+) x(\d+)',
                      row['aux_facts'])
        if not m:
            continue
        seen += 1
        _, out, _ = row.auxrec('dump', '--json', '--type=AUX,AUXTRACE')
        lines = [json.loads(line) for line in out.splitlines()]
        row.same('AUXTRACE', queues(row['aux_facts']),
                 [(r['idx'], r['tid'], r['cpu'], r['size'])
                  for r in lines if r['kind'] == 'AUXTRACE'])
        found = [r for r in lines if r['kind'] == 'AUX']
        row.same('AUX', (int(m[1]), int(m[2])),
                 (len(found), sum(int(r['aux_size'], 16) for r in found)))
        # The second byte is a format, which depends on the PMU: its number.
        flags = [] if m[3] == '0x0' else [m[3]]
        row.same('AUX flags', [flags] * int(m[4]), [r['flags'] for r in found])
    return seen


# ---- what all commands do ----

COMMANDS = (
    ('info',), ('info', '--json'), ('info', '--as=pt'), ('info', '--as=records'),
    ('check',), ('check', '--json'), ('check', '--decode'),
    ('dump',), ('dump', '--json', '--hex'), ('dump', '--packets'), ('dump', '--packets', '--as=pt'),
)


def ends():
    seen = 0
    with tempfile.TemporaryDirectory() as work:
        for row in rows():
            for words in COMMANDS:
                row.auxrec(*words)
            for words in (('info',), ('check',), ('dump',)):
                with open(row.path(), 'rb') as f:
                    row.auxrec(*words, path='-', stdin=f)
            row.auxrec('recover', '-o', os.path.join(work, 'recovered-%d' % seen))
            row.auxrec('export', '--to=libipt', '-o', os.path.join(work, 'exported-%d' % seen))
            seen += 1
    return seen


# ---- what perf says ----

def perf_counts(row):
    """Records by type as perf itself counts them."""
    run = subprocess.run([PERF, 'script', '-D', '-i', row.path()],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, timeout=60)
    found = re.findall(rb'\[0x[0-9a-f]+\]: PERF_RECORD_(\w+)', run.stdout)
    counted = total(*({name.decode(): 1} for name in found))
    # A decoder of trace makes up an event, with an ATTR record that no file of this form has.
    if 'header form' in row['kind']:
        counted.pop('ATTR', None)
    return counted


def perf():
    """The files that perf reads whole."""
    seen = 0
    for row in rows():
        if 'counts as here' not in row['perf61'] or row['endian'] == 'BE':
            continue
        _, out, _ = row.auxrec('info', '--json')
        got = json.loads(out)
        got = total(got['records'], got['records_inflated'])
        got.pop('COMPRESSED', None)  # perf shows what was in it
        row.same('records', perf_counts(row), {SHORT.get(k, k): n for k, n in got.items()})
        seen += 1
    return seen


def main():
    steps = {'info': info, 'aux': aux, 'perf': perf, 'ends': ends}
    if len(sys.argv) != 2 or sys.argv[1] not in steps:
        print(__doc__)
        return 2
    seen = steps[sys.argv[1]]()
    print(seen, 'files,', failed, 'complaints')
    return 2 if not seen else 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
