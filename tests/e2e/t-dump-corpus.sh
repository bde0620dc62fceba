#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `auxrec dump` of the recordings of other programs in tests/corpus: text and JSON say the
# same, and `perf script -D` finds the same records at the same places with the same fields.
. "$E2E/lib.sh"
need_perf
command -v python3 >/dev/null || skip "python3 is not installed"
exec python3 "$E2E/dumpcheck.py" corpus
