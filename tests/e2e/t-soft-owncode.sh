#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program that writes into the code of its file, past its protection or after lifting it: what
# it wrote is what runs, and all decoders find it.
set -eu
. "$E2E/soft.sh"
soft_begin

soft_check owncode "$PROG/owncode"
soft_lists owncode 3
for dir in owncode owncode.step; do
	"$AUXREC" check --decode "$dir/perf.data" >said || { cat said; soft_fail "$dir: check"; }
	! grep '^unexplained' "$dir/err" || soft_fail "$dir: not all was understood"
done

# Those who are away, outside of a filter, come back to what was written.
SOFT_ENV=
for mode in '' --soft-step; do
	SOFT_MODE=$mode
	soft_alike "filter$mode" --filter "filter patched @ $PROG/owncode" -- "$PROG/owncode" ||
		soft_fail "filter: ends with $?"
	cmp -s plain.out "filter$mode/out" || soft_fail "filter$mode: other output"
	soft_libipt "filter$mode"
	cat "filter$mode"/ips/* | wc -c >"filter$mode/n"
	[ "$(find "filter$mode/ips" -type f -size +0 | wc -l)" = 3 ] ||
		soft_fail "filter$mode: not seen in each process: $(ls -l "filter$mode/ips")"
done
cmp filter/n filter--soft-step/n || soft_fail "filter: missed some of it"

# Code that readers have to look for elsewhere is not that of the file.
rm -rf owncode/perf.data.jit
! "$TOOLS/ptflow" owncode/perf.data owncode/ips >said || soft_fail "the file's code is good enough"
