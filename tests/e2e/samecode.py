#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""samecode.py PID: is all code of the process, also that of no file, as it ought to be?

What is mapped from a file is compared with the file, byte by byte; the kernel's page for
processes (vdso) with our own. Prints what differs and ends with 1; ends with 2 when there was
nothing to compare."""
import os
import sys


def maps(pid):
    with open(f"/proc/{pid}/maps") as f:
        for line in f:
            w = line.split(None, 5)
            begin, end = (int(x, 16) for x in w[0].split("-"))
            yield begin, end, w[1], int(w[2], 16), w[5].strip() if len(w) > 5 else ""


def memory(pid, begin, size):
    with open(f"/proc/{pid}/mem", "rb", 0) as f:
        f.seek(begin)
        return f.read(size)


def wanted(path, offset, size):
    if path == "[vdso]":
        begin, end = next(m[:2] for m in maps("self") if m[4] == "[vdso]")
        return memory("self", begin, end - begin)
    if not path.startswith("/") or path.endswith(" (deleted)"):
        return None
    with open(path, "rb") as f:
        f.seek(offset)
        return f.read(size)


def main():
    pid, seen, differs = sys.argv[1], 0, 0
    for begin, end, perms, offset, path in maps(pid):
        if "x" not in perms or "w" in perms:
            continue
        want = wanted(path, offset, end - begin)
        if want is None:
            continue
        has = memory(pid, begin, end - begin)[:len(want)]
        seen += len(has)
        if has == want[:len(has)] and has:
            continue
        for i, (a, b) in enumerate(zip(has, want)):
            if a != b:
                differs += 1
                if differs <= 10:
                    print(f"{begin + i:#x} ({path}): {a:02x}, not {b:02x}")
    print(f"{seen} bytes of code, {differs} differ")
    return 1 if differs else 0 if seen else 2


if __name__ == "__main__":
    sys.exit(main())
