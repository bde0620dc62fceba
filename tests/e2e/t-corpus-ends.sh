#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every command on every file of tests/corpus, most of which some other program cannot read:
# it ends by itself, soon, and with words where it fails.
set -eu
: "${AUXREC:?}" "${E2E:?}"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
exec python3 "$E2E/corpus.py" ends
