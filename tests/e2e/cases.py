#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every case of tests/corpus/CASES.md, which are public fault reports: the recipes for files are
made here and given to the commands; those for recordings are tests elsewhere, which are
looked up. No case is without one.

Exit: 0 all as it must be, 1 a difference, 2 a case without a test.
"""
import os
import re
import sys
import time

import casekit
import casesaux
import casesfile
from casekit import TOP, complain, corpus

# Case: where its tests are, as (file, what stands in it).
ELSEWHERE = {
    7: [('unit/test_auxtrace.c', 'id_index_is_split_after_1364_ids'),
        ('unit/test_auxtrace.c', 'thread_map_takes_2729_threads_and_no_more'),
        ('unit/test_auxtrace.c', 'header_attr_takes_8174_ids_and_no_more'),
        ('unit/test_writer.c', 'a_feature_too_long_for_a_record_stays_out_of_a_stream'),
        ('unit/test_writer.c', 'an_event_too_long_for_a_record_is_refused')],
    14: [('unit/test_snapshot.c', 'each_cpu_is_written_and_goes_on'),
         ('unit/test_ring.c', 'a_snapshot_is_the_newest_bytes_oldest_first')],
    18: [('unit/test_limits.c', 'the_budget_is_mlock_kb_for_each_cpu_plus_rlimit'),
         ('e2e/t-user.sh', '64 MiB rings were allowed'),
         ('e2e/t-user.sh', 'a file was left behind'),
         ('e2e/t-user.sh', 'three at once')],
    19: [('unit/test_cpus.c', '"0,2-3\\n"'),
         ('unit/test_hotplug.c', 'the_list_tells_who_left_and_who_came'),
         ('unit/test_evset_hotplug.c', 'a_cpu_that_comes_back_goes_on_in_its_old_place'),
         ('guest/g-hotplug.sh', 'leaves')],
    22: [('unit/test_snapshot.c', 'the_last_snapshot_leaves_the_events_alone'),
         ('unit/test_snapshot.c', 'nothing_is_written_between_snapshots'),
         ('e2e/t-control.sh', 'In flight: a snapshot for a word'),
         ('guest/g-sample.sh', 'kill -USR2')],
}


def table():
    """{case: function}"""
    found = {}
    for module in (casesfile, casesaux):
        for name in dir(module):
            if re.fullmatch(r'case_\d+', name):
                found[int(name[5:])] = getattr(module, name)
    return found


def look_up(tests):
    for name, words in tests:
        with open(os.path.join(TOP, name), encoding='utf-8') as f:
            if words not in f.read():
                complain(name, 'has no', words)


def main():
    with open(corpus('CASES.md'), encoding='utf-8') as f:
        wanted = {int(n) for n in re.findall(r'^(\d+)\. \*\*', f.read(), re.M)}
    here = table()
    if wanted != set(here) | set(ELSEWHERE) or len(wanted) != 23:
        print('cases without a test:', sorted(wanted - set(here) - set(ELSEWHERE)),
              'tests without a case:', sorted((set(here) | set(ELSEWHERE)) - wanted))
        return 2
    only = {int(n) for n in sys.argv[1:]}
    for n in sorted(only or wanted):
        casekit.case = n
        start = time.monotonic()
        if n in here:
            here[n]()
        look_up(ELSEWHERE.get(n, ()))
        print('case %d: %.1f s' % (n, time.monotonic() - start))
    print(len(only or wanted), 'cases,', casekit.failed, 'complaints')
    return 1 if casekit.failed else 0


if __name__ == '__main__':
    sys.exit(main())
