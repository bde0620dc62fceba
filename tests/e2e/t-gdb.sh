#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The snippets for gdb (and for lldb, where there is one with Python) in auxrec-ctl(1), as they
# stand there: a flight recording is paused while the program is stopped, and its records say so.
. "$E2E/lib.sh"
need_root "records all cpus"
gdb -nx -batch -ex 'print 6 * 7' 2>/dev/null | grep -q 42 || skip "no working gdb"
MAN=$E2E/../../man/auxrec-ctl.1

# The literal displays of the page, undone.
sed -n '/^define hook-stop/,/^\.Ed/p' "$MAN" | sed '/^\.Ed/d' >words.gdb
sed -n '/^python$/,/^\.Ed/p' "$MAN" | sed '/^\.Ed/d' >python.gdb
[ -s words.gdb ] || fail "the page has no snippet of commands"
[ -s python.gdb ] || fail "the page has no snippet in Python"
! grep -n '^[.]' words.gdb python.gdb || fail "mark-up inside the snippets"

mkdir bin
ln -s "$AUXREC" bin/auxrec
PATH=$PWD/bin:$PATH
export XDG_RUNTIME_DIR="$PWD" # where the snippets look for the socket
load='' rec=''
trap 'kill $rec $load 2>/dev/null' EXIT
python3 -c 'import time
while True:
    time.sleep(0.001)' &
load=$!
"$AUXREC" record -a --source=none --flight=16M --socket -k monotonic -o f 2>err &
rec=$!
for _ in $(seq 100); do
	auxrec ctl ping 2>/dev/null && break
	sleep 0.1
done

cat >mono <<'END'
#!/bin/sh
exec python3 -c 'import time; print(time.monotonic_ns())'
END
cat >paused <<'END'
#!/bin/sh
auxrec ctl --json status | python3 -c 'import json, sys; print(json.load(sys.stdin)["paused"])'
END
chmod +x mono paused

# drive SNIPPET: a program is stopped twice and goes on.
drive() {
	sleep 0.2 # for records before it
	gdb -nx -batch -x "$1" -ex 'break main' -ex run \
		-ex 'shell ./mono >began; ./paused >first; sleep 0.3; ./mono >ended' \
		-ex 'shell ./paused >still' -ex 'tbreak exit' -ex continue \
		-ex 'shell ./paused >second' -ex continue \
		--args "$PROG/spin" 1000 </dev/null >gdb.out 2>&1
	./paused >after
	sleep 0.2
	cat first still second after | tr '\n' ' ' >states
	[ "$(cat states)" = "True True True False " ] || {
		cat gdb.out
		fail "$1: paused at the stops and afterwards: $(cat states)"
	}
	auxrec ctl snapshot -o snap >/dev/null || fail "$1: no snapshot"
	"$AUXREC" dump snap >records || fail "$1: dump"
	python3 - "$(cat began)" "$(cat ended)" <<'END' || fail "$1: the trace went on"
import re, sys
began, ended = map(int, sys.argv[1:])
at = [int(t[1] + t[2]) for t in (re.search(r" at=(\d+)\.(\d{9})", line)
                                 for line in open("records") if " SWITCH_CPU_WIDE " in line) if t]
assert at and not [t for t in at if began < t < ended], "recorded while it was stopped"
assert [t for t in at if t < began] and [t for t in at if t > ended]
END
}

drive words.gdb
if gdb -nx -batch -ex 'python print(42)' 2>/dev/null | grep -q 42; then
	drive python.gdb
	# A signal: a snapshot with its name.
	# shellcheck disable=SC2016 # for the inner shell
	gdb -nx -batch -x python.gdb -ex run -ex kill --args sh -c 'kill -SEGV $$' \
		</dev/null >gdb.out 2>&1
	[ -s SIGSEGV.data ] || { cat gdb.out; fail "no SIGSEGV.data"; }
	perf_accepts SIGSEGV.data
fi
if lldb -b -o 'script print(6 * 7)' 2>/dev/null | grep -q '^42'; then
	echo './paused >first' >told # "platform shell" knows no redirection
	{
		echo "target create $PROG/spin"
		sed -n '/^target stop-hook/,/^\.Ed/p' "$MAN" | sed '/^\.Ed/d'
		echo 'breakpoint set -n main'
		echo 'process launch'
		echo 'platform shell sh told'
		echo go
	} >words.lldb
	rm first
	lldb --no-lldbinit -b -s words.lldb </dev/null >lldb.out 2>&1
	[ "$(cat first)$(./paused)" = TrueFalse ] || { cat lldb.out; fail "lldb"; }
fi
auxrec ctl stop || fail "stop"
wait $rec || { cat err; fail "recording ended with $?"; }
rec=
