#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where stock perf reads a recording of tests/corpus whole, it counts what `auxrec info` does.
: "${AUXREC:?}" "${E2E:?}"
# shellcheck source=tests/e2e/lib.sh
. "$E2E/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
need_perf
exec python3 "$E2E/corpus.py" perf
