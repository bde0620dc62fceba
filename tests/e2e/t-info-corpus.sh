#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `auxrec info` on the recordings of other programs in tests/corpus: every fact that INDEX.tsv
# has of them; and `auxrec dump` on their AUX and AUXTRACE records, which it lists one by one.
set -eu
: "${AUXREC:?}" "${E2E:?}"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
python3 "$E2E/corpus.py" info
exec python3 "$E2E/corpus.py" aux
