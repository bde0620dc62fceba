#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The output file: mode, FILE.old, nothing left behind by a start that fails, bad places.
. "$E2E/lib.sh"

want 0 "$AUXREC" record --source=none -- true
[ -s perf.data ] || fail "no perf.data by default"
[ "$(stat -c %a perf.data)" = 600 ] || fail "mode $(stat -c %a perf.data)"
[ "$(stat -c %u perf.data)" = "$(id -u)" ] || fail "owner"
cp perf.data first
want 0 "$AUXREC" record --source=none -- true
cmp -s perf.data.old first || fail "perf.data.old is not the earlier file"

# A start that fails leaves the directory as it was.
ls -la >before
want 127 "$AUXREC" record --source=none -- ./no-such-command
said "cannot execute './no-such-command': No such file"
: >not-executable
chmod -x not-executable
ls -la >before
want 126 "$AUXREC" record --source=none -- ./not-executable
said "cannot execute './not-executable': Permission denied"
want 3 "$AUXREC" record -p 999999999
want 3 "$AUXREC" record -e no_such_pmu// -- true
want 2 "$AUXREC" record --no-such-option -- true
ls -la >after
cmp -s perf.data.old first || fail "perf.data.old was touched"
[ "$(ls)" = "$(printf '%s\n' after before err first not-executable out perf.data perf.data.old)" ] ||
	fail "left behind: $(ls)"

want 1 "$AUXREC" record --source=none -o no/such/dir/f -- true
said "cannot create 'no/such/dir/f': No such file"
mkdir d
want 1 "$AUXREC" record --source=none -o d -- true
said "cannot create 'd': Is a directory"
want 0 "$AUXREC" record --source=none -o /dev/null -- true
if ! is_root; then
	chmod 500 d
	want 1 "$AUXREC" record --source=none -o d/f -- true
	said "cannot create 'd/f': Permission denied"
fi

# Two recorders at once, in one directory.
"$AUXREC" record -q --source=none -o a -- "$PROG/pingpong" 500 >/dev/null &
"$AUXREC" record -q --source=none -o b -- "$PROG/pingpong" 500 >/dev/null &
wait
for f in a b; do
	"$AUXREC" info --json $f >j || fail "$f"
	[ "$(json j 'd["finished"]')" = True ] || fail "$f is not finished"
	[ "$(json j 'd["records"]["SWITCH"] > 100')" = True ] || fail "$f lacks switches"
done

# Closed stdin, stdout or stderr: no file takes its place and gets what is meant for that.
for stream in 0 1 2; do
	eval "\"\$AUXREC\" record -v --source=none -o closed -- true $stream>&-" 2>>err ||
		fail "record without descriptor $stream"
	want 0 "$AUXREC" check closed
	head -c "$(($(stat -c %s closed) - 8))" closed >mended
	cp mended other
	eval "\"\$AUXREC\" recover --in-place mended $stream>&-" 2>>err || true
	"$AUXREC" recover --in-place other >out || true
	cmp mended other || fail "recover without descriptor $stream"
done
status=0
"$AUXREC" record --source=none -o - -- true >&- 2>err || status=$?
[ $status = 1 ] || fail "-o - without stdout ends with $status"
said "Bad file descriptor"
