#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# perf and auxrec are killed with -9 while they record: to a file, compressed, and into a
# pipe. What is recovered has each whole record, stock perf reads it, and what is software
# trace decodes without errors.
: "${AUXREC:?}" "${PROG:?}" "${E2E:?}"
# shellcheck source=tests/e2e/lib.sh
. "$E2E/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
need_perf
mended=0

# killed COMMAND...: run it until f has some bytes, and a while longer.
killed() {
	rm -f f f.recovered
	"$@" >/dev/null 2>words &
	rec=$!
	tries=0
	until [ "$(stat -c %s f 2>/dev/null || echo 0)" -gt 12000 ] || [ $tries -gt 100 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	sleep "0.$(($(od -An -N1 -tu1 /dev/urandom) % 4))"
	kill -9 $rec 2>/dev/null
	wait $rec 2>/dev/null
	[ -s f ]
}

# sound [same]: f is recovered; its records are those of a plain walk.
sound() {
	"$AUXREC" recover --json -o f.recovered f >j 2>err
	status=$?
	case $status in
	0 | 4) ;;
	*) fail "recover ends with $status: $(cat err)" ;;
	esac
	[ -z "${1:-}" ] || python3 "$E2E/recover.py" same f.recovered f || exit 1
	[ -n "${1:-}" ] || perf_accepts f.recovered
	"$AUXREC" recover f.recovered >again || fail "recover ends badly on what it wrote"
	grep -q 'sound$' again || fail "what recover wrote is not sound: $(cat again)"
	[ "$(json j 'd["records"]["written"]')" -gt 10 ] || fail "hardly a record: $(cat j)"
	mended=$((mended + 1))
}

spin() {
	"$PROG/spin" 2000000000 >/dev/null 2>&1 &
	spinning=$!
}

spin
trap 'kill $spinning 2>/dev/null' EXIT
"$PERF" record -q -e cpu-clock -o try -- true >/dev/null 2>&1 ||
	skip "perf cannot record here"
# A workload of its own, so that nothing outlives perf but that.
killed "$PERF" record -e cpu-clock -e task-clock -F 997 --switch-events -g \
	-p $spinning -o f && sound same
if killed "$PERF" record -z -e cpu-clock -F 2000 -p $spinning -o f; then
	sound
	echo "of these, compressed: $(json j 'd["records"]["compressed"]')"
fi
killed sh -c "exec '$PERF' record -e cpu-clock -F 997 -p $spinning -o - >f" && sound same
echo "perf: $mended files"
[ "$mended" -ge 2 ] || fail "only $mended files of perf: nothing was tested"

mended=0 instructions=0
"$AUXREC" record -q --source=soft -o try -- "$PROG/mini" >/dev/null 2>words
[ -s try ] || skip "cannot record in software: $(tail -n 1 words)"
for _ in 1 2; do
	killed "$AUXREC" record -q --source=soft -o f -- "$PROG/spin" 100000000 || continue
	sound
	"$PERF" script -i f.recovered --itrace=i1ie -F ip >flow 2>complaints ||
		{ cat complaints; fail "decode"; }
	! grep -q 'trace error' flow complaints || fail "a recovered trace has decode errors"
	instructions=$((instructions + $(wc -l <flow)))
	killed sh -c "exec '$AUXREC' record -q --source=soft -o - -- '$PROG/spin' 100000000 >f" &&
		sound same
done
echo "auxrec: $mended files, $instructions instructions"
[ "$mended" -ge 2 ] || fail "only $mended files of auxrec: nothing was tested"
[ "$instructions" -gt 1000 ] || fail "only $instructions instructions"
