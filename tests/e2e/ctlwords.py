# SPDX-License-Identifier: Apache-2.0
"""Drives --control from the other end of its FIFOs, DIR/ctl and DIR/ack.

	ctlwords.py words DIR WORD...	send each, print what came back, "word: 'answer'"
	ctlwords.py pause DIR OFF ON COMMAND...
		send OFF, run the command, send ON; print the time of OFF's answer and of ON's
		sending on CLOCK_MONOTONIC, in ns
	ctlwords.py bytes DIR		odd ends and pieces of words; prints what came back
	ctlwords.py flood DIR		many words, and no answer is read
"""
import os
import select
import subprocess
import sys
import time

SILENT = {"dance", "ack", "Ping", ""}  # perf says nothing to these


def answer(wait=10):
    got = b""
    while select.select([ack], [], [], wait)[0]:
        got += os.read(ack, 4096)
        if got.endswith(b"\0"):
            break
    return got


def ask(word):
    os.write(ctl, word.encode() + b"\n")
    return answer(0.3 if word in SILENT else 10)


def words(*args):
    for word in args:
        print(f"{word}: {ask(word).decode()!r}")


def pause(off, on, *command):
    assert ask(off) == b"ack\n\0", off
    began = time.monotonic_ns()
    time.sleep(0.1)
    subprocess.run(command, stdout=subprocess.DEVNULL)
    time.sleep(0.1)
    ended = time.monotonic_ns()
    assert ask(on) == b"ack\n\0", on
    time.sleep(0.2)
    print(began, ended)


def pieces():
    for part in (b"pi", b"ng", b"\0", b"\n\0\n", b"ping\0ping\n", b"x" * 300, b"y" * 300,
                 b"\nenable \x1b[2Jz\n", b"ping\r\n"):
        os.write(ctl, part)
        time.sleep(0.1)
    got = b""
    while select.select([ack], [], [], 0.5)[0]:
        got += os.read(ack, 4096)
    for text in got.split(b"\0"):
        print(text.decode(), end="")


def flood():
    os.set_blocking(ctl, True)
    for _ in range(2000):
        os.write(ctl, b"ping\n" * 10)


folder = sys.argv[2]
ctl = os.open(folder + "/ctl", os.O_RDWR | os.O_NONBLOCK)
ack = os.open(folder + "/ack", os.O_RDWR | os.O_NONBLOCK)
{"words": words, "pause": pause, "bytes": pieces, "flood": flood}[sys.argv[1]](*sys.argv[3:])
