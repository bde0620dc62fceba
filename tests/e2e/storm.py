#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stop and continue a process, and hold what was recorded meanwhile against that.

storm.py signals PID N MS      N times SIGSTOP, MS ms, SIGCONT, MS ms; a line for each: when it was
                               stopped and continued (CLOCK_MONOTONIC, ns)
storm.py debugger PID N MS     the same by ptrace(2), of all threads
storm.py check TIMES SCRIPT    SCRIPT: lines of perf script with times of CLOCK_MONOTONIC. While it
                               was stopped nothing was recorded, while it ran something was
"""
import ctypes
import os
import re
import signal
import sys
import time

SETTLE = 30e6  # ns: a busy machine may be slow to wake the recorder
SEIZE, INTERRUPT, CONT, DETACH = 0x4206, 0x4207, 7, 17
WALL = 0x40000000


def ptrace(request, pid):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(request, pid, None, None):
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")


def threads(pid):
    return [int(tid) for tid in os.listdir(f"/proc/{pid}/task")]


def halted(pid):
    stats = [open(f"/proc/{pid}/task/{tid}/stat").read() for tid in threads(pid)]
    return all(stat[stat.rindex(")") + 2] in "tT" for stat in stats)


def each(request, pid):
    for tid in threads(pid):
        ptrace(request, tid)


def stop(pid, traced):
    """A thread that waits for a cpu stops when it gets one."""
    if traced:
        each(INTERRUPT, pid)
        for tid in threads(pid):
            os.waitpid(tid, WALL)
    else:
        os.kill(pid, signal.SIGSTOP)
    while not halted(pid):
        time.sleep(0.001)


def go_on(pid, traced):
    if traced:
        each(CONT, pid)
    else:
        os.kill(pid, signal.SIGCONT)


def storm(pid, n, seconds, traced):
    if traced:
        each(SEIZE, pid)
    for _ in range(n):
        stop(pid, traced)
        stopped = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        time.sleep(seconds)
        print(stopped, time.clock_gettime_ns(time.CLOCK_MONOTONIC))
        go_on(pid, traced)
        time.sleep(seconds)
    if traced:
        stop(pid, traced)
        each(DETACH, pid)


def check(times, script):
    spans = [tuple(map(int, line.split())) for line in open(times)]
    seen = [float(m.group(1)) * 1e9 for m in re.finditer(r"(\d+\.\d+):", open(script).read())]
    quiet = sum(not any(a + SETTLE < t < b - 1e6 for t in seen) for a, b in spans)
    running = list(zip(spans, spans[1:]))
    busy = sum(any(b + SETTLE < t < c for t in seen) for (_, b), (c, _) in running)
    print(f"{len(seen)} records; quiet in {quiet} of {len(spans)} stops, "
          f"recorded in {busy} of {len(running)} times between")
    # One may be missed: the machine stood still for longer.
    return quiet < len(spans) - 1 or busy < len(running) - 1


def main():
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "check":
        sys.exit(check(*rest))
    storm(int(rest[0]), int(rest[1]), int(rest[2]) / 1000, what == "debugger")


main()
