# SPDX-License-Identifier: Apache-2.0
"""A client of the control socket, and bad ones.

	ctlsock.py ask SOCKET JSON...	send lines, print the answers
	ctlsock.py held SOCKET		one who never reads, one who sends half a line, one who
					comes and goes, and one who floods: all stay until stdin
					ends; says "ready" when they are there
	ctlsock.py fuzz SOCKET N SEED	N lines of junk and of almost good requests; every line
					that is answered is answered with a JSON object
"""
import json
import os
import random
import select
import socket
import sys
import threading
import time


def connect(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.connect(path)
    return s


def ask(path, *lines):
    s = connect(path)
    with s.makefile("rw") as f:
        for line in lines:
            f.write(line + "\n")
            f.flush()
            print(f.readline().rstrip("\n"))


def come_and_go(path):
    while True:
        with connect(path) as s:
            s.send(b'{"cmd":"status"}\n{"cmd":')
        time.sleep(0.005)


def flood(path):
    s = connect(path)
    while True:
        s.sendall(b'{"cmd":"status"}\n' * 50)
        while select.select([s], [], [], 0)[0]:
            s.recv(1 << 20)


def held(path):
    deaf = connect(path)
    deaf.setblocking(False)
    try:
        while True:
            deaf.send(b'{"cmd":"status"}\n' * 1000)
            time.sleep(0.01)
    except BlockingIOError:
        pass
    half = connect(path)
    half.sendall(b'{"cmd":"sta')
    for bad in (come_and_go, flood):
        threading.Thread(target=bad, args=(path,), daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()
    os._exit(0)


WORDS = ["status", "pause", "resume", "enable", "disable", "snapshot", "fetch", "rotate",
         "thread-start", "thread-stop", "ping", "dance", ""]
KEYS = ["cmd", "event", "output", "kind", "cpu", "tid", "offset", "size", "id", "cpuId", "x"]
KINDS = ["traceBuffer", "perfContextSwitchTrace", "procfsCpuInfo", "iptTrace", "no"]


def value(r):
    return r.choice([
        lambda: r.randint(-2, 9), lambda: r.choice([2**31, 2**32, 2**63 - 1, 2**70, -2**63]),
        lambda: r.choice(WORDS), lambda: r.choice(KINDS), lambda: r.random() * 1e300,
        lambda: None, lambda: True, lambda: [], lambda: {"a": [1]}, lambda: "x" * r.randint(0, 3000),
        lambda: "/dev/null", lambda: "/nowhere/there", lambda: "\u2028\x00\x1b\ud7ff"])()


def line(r):
    request = {"cmd": r.choice(WORDS)}
    for _ in range(r.randint(0, 5)):
        request[r.choice(KEYS)] = value(r)
    if r.random() < 0.5:
        request.update({"cmd": "fetch", "kind": r.choice(KINDS), "cpu": r.randint(-1, 3)})
    if request.get("cmd") == "snapshot" and str(request.get("output", "")).startswith("/"):
        request["output"] = r.choice(["/dev/null", "/nowhere/there", "relative"])
    text = bytearray(json.dumps(request).encode())
    if r.random() < 0.3:
        for _ in range(r.randint(1, 4)):
            text[r.randrange(len(text))] = r.randrange(256)
    if r.random() < 0.05:
        text = bytearray(r.randbytes(r.randint(0, 300)))
    if r.random() < 0.01:
        text = bytearray(b"[" * 60000)
    return bytes(text).replace(b"\n", b" ")


def fuzz(path, n, seed):
    r, answers = random.Random(int(seed)), 0
    s = f = None
    for _ in range(int(n)):
        if not s:
            s = connect(path)
            f = s.makefile("rb")
        text = line(r)
        if b'"stop"' in text:
            continue
        s.sendall(text + b"\n")
        if not text:
            continue
        got = f.readline()
        if not got:
            s = None
            continue
        assert isinstance(json.loads(got), dict), (text, got)
        answers += 1
    print(answers)


{"ask": ask, "held": held, "fuzz": fuzz}[sys.argv[1]](*sys.argv[2:])
