#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The software source from branch to branch, step by step, and gdb's record full, in turn; and with
a filter on one function.

softbench.py AUXREC PROGS. Of each way: what an instruction more costs, from runs of the same
loop with few and with many turns, so that starting and ending cost nothing. With a filter: how long
a program takes whose function is called now and then, and what a call more costs.
"""
import re
import shutil
import statistics
import subprocess
import sys
import time

AUXREC, PROG = sys.argv[1:3]
RUNS = 3
SPIN = f"{PROG}/spin"
# Turns of the short and of the long run: a second or two each.
TURNS = {"native": (1000, 40_000_000), "branches": (100, 400_000), "steps": (100, 4000),
         "gdb": (100, 2500)}
GDB = ["gdb", "-batch", "-nx", "-ex", "set pagination off", "-ex", "set confirm off",
       "-ex", "break main", "-ex", "run", "-ex", "set record full insn-number-max unlimited",
       "-ex", "record full", "-ex", "continue", "-ex", "info record", "-ex", "kill", "--args"]


def command(way, turns):
    run = [SPIN, str(turns)]
    soft = [AUXREC, "record", "-v", "--source=soft", "-o", f"{way}.data"]
    return {"native": run, "branches": [*soft, "--", *run],
            "steps": [*soft, "--soft-step", "--", *run], "gdb": [*GDB, *run]}[way]


def once(way, turns):
    """Seconds, instructions, stops; the last two where they are known."""
    begin = time.monotonic()
    done = subprocess.run(command(way, turns), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    seconds = time.monotonic() - begin
    found = [re.search(rf"(\d+) {what}", done.stdout) for what in ("instructions", "stops")]
    return (seconds, *(int(m.group(1)) if m else 0 for m in found))


def more(way, per_turn):
    """Nanoseconds of an instruction, and instructions of a stop."""
    few, many = TURNS[way]
    a, b = once(way, few), once(way, many)
    instructions = b[1] - a[1] or (many - few) * per_turn
    stops = b[2] - a[2]
    return (b[0] - a[0]) * 1e9 / instructions, instructions / stops if stops else 0


def show(way, rows, native):
    ns = statistics.median(r[0] for r in rows)
    text = f"{way:10} {1e9 / ns:12.0f} instructions/s, {ns / native:10.0f} times slower"
    if rows[0][1]:
        text += (f"; {rows[0][1]:5.2f} instructions a stop, "
                 f"{ns * rows[0][1] / 1000:.1f} us a stop")
    print(text)


CALLS = f"{PROG}/calls"
# Calls of the function, and turns outside it between two calls.
FILTERED = (2000, 200_000)


def seconds(way, calls, between):
    run = [CALLS, str(calls), str(between)]
    soft = [AUXREC, "record", "--source=soft", "-o", f"{way}.data"]
    only = ["--filter", f"filter called @ {CALLS}"]
    command = {"untraced": run, "filtered": [*soft, *only, "--", *run],
               "whole": [*soft, "--", *run]}[way]
    begin = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   stdin=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin


def filters():
    """The whole program is traced with a hundredth of the calls: it would take minutes."""
    calls, between = FILTERED
    rows = [[seconds("untraced", calls, between), seconds("filtered", calls, between),
             seconds("filtered", 1, calls * between), 100 * seconds("whole", calls // 100, between)]
            for _ in range(RUNS)]
    plain, filtered, one, whole = (statistics.median(r[i] for r in rows) for i in range(4))
    print(f"a filter on one function, {calls} calls, {between} turns outside between two, "
          f"{RUNS} runs in turn")
    print(f"untraced {plain:.2f} s, with the filter {filtered:.2f} s ({filtered / plain:.1f} times), "
          f"traced whole about {whole:.0f} s ({whole / plain:.0f} times)")
    print(f"a call more costs {(filtered - one) / (calls - 1) * 1e6:.0f} us")


def main():
    few, many = TURNS["branches"]
    per_turn = (once("branches", many)[1] - once("branches", few)[1]) / (many - few)
    ways = [w for w in TURNS if w != "gdb" or shutil.which("gdb")]
    got = {way: [] for way in ways}
    for _ in range(RUNS):
        for way in ways:
            got[way].append(more(way, per_turn))
    native = statistics.median(r[0] for r in got["native"])
    print(f"software source: a loop of {per_turn:.1f} instructions a turn, {RUNS} runs in turn")
    for way in ways:
        show(way, got[way], native)
    for way in ways[2:]:
        pairs = [b[0] / a[0] for a, b in zip(got["branches"], got[way])]
        print(f"from branch to branch is {statistics.median(pairs):.1f} times faster than {way} "
              f"({min(pairs):.1f} to {max(pairs):.1f})")
    filters()


main()
