#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `auxrec check` on the recordings of other programs in tests/corpus: no false alarm, and no
# damage that it misses.
set -eu
: "${AUXREC:?}" "${E2E:?}"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
exec python3 "$E2E/checkcorpus.py"
