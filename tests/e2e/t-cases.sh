#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each of the 23 cases of tests/corpus/CASES.md, fault recipes from public reports: cases.py has
# the list, and fails when a case has no test.
set -eu
: "${AUXREC:?}" "${E2E:?}"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
exec python3 "$E2E/cases.py"
