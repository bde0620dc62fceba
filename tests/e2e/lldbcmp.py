#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lldbcmp.py LLDB BUNDLE IPDIR: what that lldb decodes from a trace bundle, thread by thread and
address by address, against the lists IPDIR/PID.TID (u64 little-endian).

Exit: 0 all the same, 1 a difference or an error, 2 the bundle cannot be loaded.
"""
import array
import json
import os
import re
import subprocess
import sys
import tempfile


def run(lldb, bundle, *commands):
    words = [w for c in ('trace load ' + bundle,) + commands for w in ('-o', c)]
    return subprocess.run([lldb, '--no-lldbinit', '-b', *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300).stdout


def threads(text):
    """[(index, tid)]"""
    return [(int(i), int(t, 0)) for i, t in re.findall(r'thread #(\d+): tid = (\w+)', text)]


def main(lldb, bundle, folder):
    said = run(lldb, bundle, 'thread list')
    found = threads(said)
    if not found:
        print(said)
        return 2
    want = {int(n.split('.')[1]): open(os.path.join(folder, n), 'rb').read()
            for n in os.listdir(folder)}
    good = {t for t, v in want.items() if v} == {t for _, t in found}
    with tempfile.TemporaryDirectory() as tmp:
        run(lldb, bundle, *('thread trace dump instructions -a -f -j -F %s/%d %d' % (tmp, t, i)
                            for i, t in found))
        for _, tid in found:
            items = json.load(open('%s/%d' % (tmp, tid)))
            got = array.array('Q', (int(i['loadAddress'], 16) for i in items if 'loadAddress' in i))
            errors = [i['error'] for i in items if 'error' in i]
            same = got.tobytes() == want.get(tid, b'') and not errors
            good &= same
            print('tid %d: lldb %d, listed %d, %s%s' % (
                tid, len(got), len(want.get(tid, b'')) // 8, 'same' if same else 'different',
                ''.join('; ' + e for e in errors[:3])))
    print('SAME' if good else 'DIFF')
    return 0 if good else 1


sys.exit(main(*sys.argv[1:]))
