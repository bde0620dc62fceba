#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are the switches of a software recording those that its tracer did not make?

softswitches.py FILE AUXREC [raw=RAW] [WAITS N]. RAW: all switches, as perf recorded them at the
same time, by the same clock: of each thread, as many as are in FILE, plus the pairs that FILE says
were left out. WAITS: what the program waits printed: each of its threads went to sleep N times.
"""
import collections
import json
import os
import re
import subprocess
import sys

PERF = os.environ.get("PERF", "perf")
LINE = re.compile(r"^.*?\s(\d+) +\[-?\d+\] +(\d+)\.(\d+): +PERF_RECORD_(SWITCH\S*|COMM exec)"
                  r"(?: +(IN|OUT))?( preempt)?")


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=True).stdout


def records(path):
    """Time, thread and kind of the switches, and the time of the first execve."""
    found, begin = [], 0
    for line in run(PERF, "script", "-i", path, "--no-itrace", "--ns", "--show-switch-events",
                    "--show-task-events", "-F", "comm,tid,cpu,time").splitlines():
        m = LINE.match(line)
        if not m:
            continue
        ns = int(m[2]) * 10**9 + int(m[3])
        if m[4] == "COMM exec":
            begin = begin or ns
        else:
            found.append((ns, int(m[1]), m[5] + (m[6] or "")))
    return sorted(found), begin


def counts(found, begin):
    c = collections.defaultdict(collections.Counter)
    for ns, tid, kind in found:
        if ns >= begin:
            c[tid][kind] += 1
    return c


def left_out(path, auxrec):
    """By thread, of the dump and of info: the same."""
    told = {}
    for m in re.finditer(r" READ .*? tid=(\d+) read=\{value=(\d+)", run(auxrec, "dump", path)):
        told[int(m[1])] = told.get(int(m[1]), 0) + int(m[2])
    tasks = json.loads(run(auxrec, "info", "--json", path))["tasks"]
    shown = {t["tid"]: t["switches_left_out"] for t in tasks["by_time"]
             if t.get("switches_left_out")}
    if shown != told or tasks["switches_left_out"] != sum(told.values()):
        sys.exit(f"info shows {shown}, the records tell {told}")
    return told


def compare(kept, raw, folded):
    for tid in folded:
        for kind, less in (("OUT", folded[tid]), ("IN", folded[tid]), ("OUT preempt", 0)):
            if raw[tid][kind] - less != kept[tid][kind]:
                sys.exit(f"thread {tid}, {kind}: {raw[tid][kind]} in all, of which {less} are the "
                         f"tracer's, but {kept[tid][kind]} in the recording")
    print(f"{sum(folded.values())} pairs of {len(folded)} threads were left out, "
          f"{sum(c.total() for c in kept.values())} switches were not")


def slept(found, path, n):
    for line in open(path):
        tid, begin, end = map(int, line.split())
        mine = [(ns, kind) for ns, t, kind in found if t == tid and begin < ns < end]
        outs = [k for k, r in enumerate(mine) if r[1] == "OUT"]
        if len(outs) != n:
            sys.exit(f"thread {tid} waited {len(outs)} times, not {n}")
        short = [k for k in outs if mine[k + 1][1] != "IN" or mine[k + 1][0] - mine[k][0] < 900000]
        if short:
            sys.exit(f"thread {tid}: not a sleep: {mine[short[0]:short[0] + 2]}")
        print(f"thread {tid} slept {len(outs)} times, and was preempted "
              f"{sum(r[1] == 'OUT preempt' for r in mine)} times")


def main():
    path, auxrec = sys.argv[1:3]
    rest = sys.argv[3:]
    found, begin = records(path)
    folded = left_out(path, auxrec)
    if rest and rest[0].startswith("raw="):
        raw, _ = records(rest.pop(0)[4:])
        compare(counts(found, begin), counts(raw, begin), folded)
    if rest:
        slept(found, rest[0], int(rest[1]))


main()
