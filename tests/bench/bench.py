#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ratios of auxrec to perf record, measured in turn: A B A B ... in one run.

Absolute times on a shared machine are noise; the median of the ratios is the figure.
"""
import collections
import json
import os
import signal
import statistics
import subprocess
import sys
import time

AUXREC, PERF, PROG = sys.argv[1:4]
RUNS = 5
ROUNDS = 250000  # of the ping-pong: four switch records a round


def commands(output, *more):
    return {
        "auxrec": [AUXREC, "record", "-q", "-a", "-o", output, *more],
        "perf": [PERF, "record", "-q", "-a", "-e", "dummy:u", "--switch-events",
                 "-o", output, *more],
    }


def start_up(who):
    """Seconds from exec of the recorder to exec of its command."""
    cmd = commands(f"start.{who}", "--", f"{PROG}/now")[who]
    t0 = time.monotonic_ns()
    out = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return (int(out.stdout.split()[0]) - t0) / 1e9


def synthesised(who):
    text = subprocess.run([PERF, "script", "-i", f"start.{who}", "--show-task-events",
                           "--show-mmap-events"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=True).stdout
    return {kind: sum(f"PERF_RECORD_{kind}" in line for line in text.splitlines())
            for kind in ("FORK", "COMM", "MMAP")}


def end(child):
    """SIGINT; the peak resident KiB that the process reached by its end.

    wait4 would report the peak of this interpreter, from before the exec.
    """
    peak, told = 0, False
    while True:
        try:
            with open(f"/proc/{child.pid}/status", encoding="ascii") as status:
                lines = [line for line in status if line.startswith("VmHWM:")]
        except OSError:
            return peak
        if not lines:  # a zombie has no memory
            return peak
        peak = max(peak, int(lines[0].split()[1]))
        if not told:
            child.send_signal(signal.SIGINT)
            told = True
        time.sleep(0.002)


def load(who, rounds, *flags):
    """CPU seconds and peak KiB of a recorder, records and bytes of its file."""
    out = f"load.{who}"
    child = subprocess.Popen(commands(out, *flags)[who], stderr=subprocess.DEVNULL)
    time.sleep(2)  # perf needs more than a second to start
    if rounds:
        subprocess.run(["taskset", "-c", "0", f"{PROG}/pingpong", str(rounds)],
                       stdout=subprocess.DEVNULL, check=True)
    peak = end(child)
    _, _, use = os.wait4(child.pid, 0)
    child.returncode = 0
    info = json.loads(subprocess.run([AUXREC, "info", "--json", out], stdout=subprocess.PIPE,
                                     check=True).stdout)
    count = collections.Counter(info["records"]) + collections.Counter(info["records_inflated"])
    del count["COMPRESSED"]  # what they hold counts
    return {"cpu": use.ru_utime + use.ru_stime, "rss": peak,
            "switches": count["SWITCH_CPU_WIDE"], "lost": info["lost"]["records"],
            "bytes": info["bytes"], "records": sum(count.values())}


def turn_about(measure):
    got = {"auxrec": [], "perf": []}
    for _ in range(RUNS):
        for who in got:
            got[who].append(measure(who))
    return got


def show(what, unit, got):
    pairs = [a / b for a, b in zip(got["auxrec"], got["perf"])]
    print(f"{what:46} ratio {statistics.median(pairs):7.3f} "
          f"({min(pairs):.3f} to {max(pairs):.3f})   "
          f"auxrec {statistics.median(got['auxrec']):.4g}, "
          f"perf {statistics.median(got['perf']):.4g} {unit}")


def marginal(runs, small):
    """CPU seconds per million switches, without what start and end cost."""
    return {w: [(r["cpu"] - i["cpu"]) * 1e6 / (r["switches"] - i["switches"])
                for r, i in zip(runs[w], small[w])] for w in runs}


def per_record(runs):
    return {w: [r["bytes"] / r["records"] for r in runs[w]] for w in runs}


def print_all(who, path):
    """CPU seconds of every record of a file as text."""
    cmd = {"auxrec": [AUXREC, "dump", path], "perf": [PERF, "script", "-D", "-i", path]}[who]
    before = os.times()
    subprocess.run(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = os.times()
    return (after.children_user - before.children_user +
            after.children_system - before.children_system)


def dumps():
    load("perf", ROUNDS // 2)
    megabytes = os.path.getsize("load.perf") / 1e6
    got = turn_about(lambda who: print_all(who, "load.perf"))
    show("dump, script -D of one file: CPU s", "s", got)
    print(f"    of {megabytes:.0f} MB: auxrec {megabytes / statistics.median(got['auxrec']):.0f}"
          f", perf {megabytes / statistics.median(got['perf']):.1f} MB/s")


def losses(runs):
    for who, rows in runs.items():
        print(f"    {who}: switches {[r['switches'] for r in rows]}, "
              f"lost {[r['lost'] for r in rows]}")


def main():
    version = subprocess.run([PERF, "--version"], stdout=subprocess.PIPE, text=True,
                             check=True).stdout.strip()
    print(f"{RUNS} runs each, in turn; {version}; {os.cpu_count()} cpus; "
          f"{len([p for p in os.listdir('/proc') if p.isdigit()])} processes")
    show("start-up to the command's exec", "s", turn_about(start_up))
    print(f"    synthesised: auxrec {synthesised('auxrec')}, perf {synthesised('perf')}")
    runs = turn_about(lambda who: load(who, ROUNDS))
    small = turn_about(lambda who: load(who, 1000))
    per_million = {w: [r["cpu"] * 1e6 / r["switches"] for r in runs[w]] for w in runs}
    show("CPU s per million switches, start and end too", "s", per_million)
    show("CPU s per million switches, the load alone", "s", marginal(runs, small))
    show("peak memory beside the rings", "KiB", {w: [r["rss"] for r in runs[w]] for w in runs})
    show("file bytes per record", "bytes", per_record(runs))
    losses(runs)
    runs = turn_about(lambda who: load(who, ROUNDS, "-z"))
    small = turn_about(lambda who: load(who, 1000, "-z"))
    show("with -z: CPU s per million, the load alone", "s", marginal(runs, small))
    show("with -z: file bytes per record", "bytes", per_record(runs))
    losses(runs)
    dumps()


main()
