#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `auxrec info` on the recordings of other programs in tests/corpus: its INDEX.tsv says what
# each file holds.
set -eu
: "${AUXREC:?}" "${E2E:?}"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
python3 - <<'END'
import csv, json, os, subprocess, sys

top = os.path.join(os.environ["E2E"], "../corpus")
failed = seen = 0

def complain(name, *words):
    global failed
    failed += 1
    print(name + ":", *words)

def check(row):
    run = subprocess.run([os.environ["AUXREC"], "info", "--json",
                          os.path.join(top, row["file"])],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if run.returncode not in (0, 1):
        return complain(row["file"], "status", run.returncode, run.stderr.decode())
    got = json.loads(run.stdout)
    if row["endian"] == "BE":
        if run.returncode != 1 or b"little-endian" not in run.stderr:
            complain(row["file"], "is not refused with words")
        return
    want = dict(word.rsplit("=", 1) for word in row["records"].split())
    want = {name: int(n) for name, n in want.items()}
    if not want:
        return
    if want != got["records"]:
        complain(row["file"], "records", want, got["records"])
    if int(row["events"]) != len(got["events"]):
        complain(row["file"], "events", row["events"], len(got["events"]))
    aux = sum(queue["bytes"] for queue in got["aux"])
    if row["aux_bytes"] and int(row["aux_bytes"].split()[0]) != aux:
        complain(row["file"], "AUX bytes", row["aux_bytes"], aux)
    # An interrupted recording is no damage: data.size 0, cut where the kill cut it.
    sound = row["walk"].startswith(("clean", "data.size 0"))
    if sound != (run.returncode == 0):
        complain(row["file"], "status", run.returncode, "but walk:", row["walk"])

with open(os.path.join(top, "INDEX.tsv")) as index:
    for row in csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["kind"].startswith("perf.data"):
            seen += 1
            check(row)
print(seen, "files,", failed, "complaints")
sys.exit(bool(failed or not seen))
END
