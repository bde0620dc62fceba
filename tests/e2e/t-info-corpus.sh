#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `auxrec info` on the recordings of other programs in tests/corpus: every fact that INDEX.tsv
# has of them.
set -eu
: "${AUXREC:?}" "${E2E:?}"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
exec python3 "$E2E/corpus.py" info
