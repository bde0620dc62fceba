#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run the tests: check.sh BUILD [PART...]. Parts: layering lint man unit
# replay e2e (default: all), or the names of single e2e tests (t-output ...).
# A test ends with 0 passed, 77 skipped (its last line says why), anything else failed.
# The last line of the output is the sum.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 1
shift
[ $# -gt 0 ] || set -- layering lint man unit replay e2e
passed=0 failed=0 skipped=0
failures=
work=$(mktemp -d) || exit 1
chmod 755 "$work" # tests as an ordinary user must get in
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
export PROG="$build/prog" TOOLS="$build/tools" E2E="$here/e2e" AUXREC="$build/bin/auxrec"
# perf keeps copies of programs in the home directory, and readers find them there.
export HOME="$work/nest"
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1

note() { # name, exit status, log, seconds
	case $2 in
	0) passed=$((passed + 1)); echo "ok $1${4:+ ($4 s)}" ;;
	77) skipped=$((skipped + 1)); echo "skip $1: $(tail -n 1 "$3")" ;;
	*) failed=$((failed + 1)); failures="$failures $1"
	   echo "FAILED $1 (status $2)"; tail -n 60 "$3" | sed 's/^/    /' ;;
	esac
}

run() { # name, command...
	name=$1
	shift
	start=$(date +%s)
	mkdir "$work/d" "$work/nest"
	(cd "$work/d" && exec timeout -k 10 900 "$@") >"$work/log" 2>&1 </dev/null
	note "$name" $? "$work/log" $(($(date +%s) - start))
	rm -rf "$work/d" "$work/nest"
}

# One cmocka program holds many tests: count each, from its TAP output.
run_unit() {
	name=${1##*/}
	(cd "$work" && CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 10 300 "$1") >"$work/log" 2>&1 </dev/null
	status=$?
	[ $status -ne 77 ] || { note "$name" 77 "$work/log"; return; }
	good=$(grep -c '^ok' "$work/log")
	skips=$(grep -ciE '^(not )?ok .*# skip' "$work/log")
	bad=$(grep -E '^not ok' "$work/log" | grep -cviE '# skip')
	passed=$((passed + good - $(grep -ciE '^ok .*# skip' "$work/log")))
	skipped=$((skipped + skips))
	failed=$((failed + bad))
	if [ $status -ne 0 ] || [ "$bad" -gt 0 ] || [ "$good" -eq 0 ]; then
		[ "$bad" -gt 0 ] || failed=$((failed + 1))
		failures="$failures $name"
		echo "FAILED $name (status $status)"
		sed 's/^/    /' "$work/log"
	elif [ "$skips" -gt 0 ]; then
		echo "ok $name: $good tests, $skips skipped: $(grep -i skip "$work/log" | tail -n 1)"
	else
		echo "ok $name: $good tests"
	fi
}

# A fuzz target over the corpus, its own seeds, and mutations of both. Whole commands take
# longer; sound files must also stand 20,000 changed bytes. Each of these goes through one
# command here, and through all of them where all is sanitized.
replay() {
	set -- "$1" "$build/replay/bin/$1" "$here/corpus" "$here/fuzz/seeds/$1"
	[ "$1" != control ] || { run "replay-$1" "$2" -n 1000 "$4"; return; } # not of files
	[ "$1" = cmd ] || { run "replay-$1" "$2" -n 1000 -b 200000 "$3" "$4"; return; }
	grep -q __asan_init "$AUXREC" || export FUZZ_ONE=1
	run "replay-$1" "$2" -n 200 -b 200000 "$3" "$4"
	while read -r n f; do
		run "flips-${f##*/}" "$2" -f -n "$n" "$here/$f"
	done <<-END
	6000 fuzz/seeds/cmd/pt-pipe
	6000 fuzz/seeds/cmd/pt-file
	4000 corpus/simpleperf/perf_with_meta_info.data
	3000 corpus/quipper/perf.data.group_desc-4.14
	1000 corpus/linux-perf-data/sleep.compressed.pipe.data
	END
}

for part; do
	case $part in
	unit) for t in "$build"/bin/test_*; do run_unit "$t"; done ;;
	replay) for t in "$build"/replay/bin/*; do
		replay "${t##*/}"
	     done ;;
	e2e) for t in "$here"/e2e/t-*.sh; do
		t=${t##*/}
		run "${t%.sh}" sh "$here/e2e/$t"
	     done ;;
	layering | lint) run "$part" sh "$here/$part.sh" ;;
	man) run man sh -c "mandoc -Tlint -Wwarning '$here'/../man/*" ;;
	t-*) run "$part" sh "$here/e2e/$part.sh" ;;
	*) echo "check.sh: no part '$part'" >&2; exit 2 ;;
	esac
done
[ -z "$failures" ] || echo "failed:$failures"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
