# SPDX-License-Identifier: Apache-2.0
"""What the tests of tests/corpus/CASES.md share: they run in a scratch folder and write what
they make there."""
import json
import os
import resource
import subprocess

AUXREC = os.environ['AUXREC']
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
CORPUS = os.path.join(TOP, 'corpus')
TIMEOUT = 60
with open(AUXREC, 'rb') as _f:
    SANITIZED = b'__asan_init' in _f.read()

case = None  # the number of the one that runs
failed = 0


def complain(*words):
    global failed
    failed += 1
    print('case', case, *words)


def same(what, want, got):
    if want != got:
        complain(what, 'is', repr(got)[:400], 'instead of', repr(want)[:400])


def holds(what, truth, *words):
    if not truth:
        complain(what, *words)


def store(name, data):
    with open(name, 'wb') as f:
        f.write(data)
    return name


def corpus(name):
    return os.path.join(CORPUS, name)


def no_more_memory(limit):
    """Of its own (RLIMIT_DATA): pages of the mapped file are not counted."""
    def preexec():
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    return None if SANITIZED else preexec


def run(*words, want=0, memory=256 << 20):
    """(stdout, stderr) of auxrec; it ends with status `want`, or one of these."""
    done = subprocess.run([AUXREC, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=TIMEOUT,
                          preexec_fn=no_more_memory(memory))
    out, err = (b.decode(errors='replace') for b in (done.stdout, done.stderr))
    if done.returncode not in (want if isinstance(want, tuple) else (want,)):
        complain(*words, 'ended with', done.returncode, 'instead of', want, out[-300:], err)
    return out, err


def info(name, want=0):
    """The parsed JSON, and the words on stderr."""
    out, err = run('info', '--json', name, want=want)
    return json.loads(out), err


def check(name, want=0):
    """{kind: finding}"""
    out, _ = run('check', '--json', name, want=want)
    return {f['kind']: f for f in json.loads(out)['findings']}


def dump(name, *options, want=0):
    """The lines, parsed."""
    out, _ = run('dump', '--json', *options, name, want=want)
    return [json.loads(line) for line in out.splitlines()]


def says(text, *words):
    for word in words:
        holds('says', word in text, 'nothing of', repr(word), 'but', text[:600])
