#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Address filters of the software source: what is traced is what the filters let through of a whole
# run, to the instruction, whichever way a thread goes in and out; the decoders agree; and the
# program does not notice. Outside it runs at its own speed.
set -eu
. "$E2E/soft.sh"
soft_alike_begin
for tool in nm readelf; do
	command -v $tool >/dev/null || soft_skip "$tool is not installed"
done
soft_begin

# record DIR FILTER CMD...: FILTER may be empty.
record() {
	dir=$1 filter=$2
	shift 2
	status=0
	soft_alike "$dir" ${filter:+--filter "$filter"} -- "$@" || status=$?
	echo "$status" >>"$dir/out"
	! grep 'trace has gaps' "$dir/err" || soft_fail "$dir: not all was traced"
}

where() {
	python3 "$E2E/softfilter.py" where "$@"
}

# same DIR FULL FILTER PARTS CMD...: PARTS are what softfilter.py is told.
same() {
	dir=$1 full=$2 filter=$3 parts=$4
	shift 4
	record "$dir" "$filter" "$@"
	cmp "$full/out" "$dir/out" || { cat "$dir/err"; soft_fail "$dir: other output"; }
	# shellcheck disable=SC2086 # words
	soft_say "$dir/same" python3 "$E2E/softfilter.py" "$full/ips" "$dir/ips" "$1" $parts ||
		soft_fail "$dir: not what the filter lets through"
	soft_libipt "$dir"
	soft_say "$dir/perfcmp" "$E2E/perfcmp.py" "$dir/perf.data" "$dir/ips" ||
		soft_fail "$dir: perf disagrees"
	sed "s/^/$dir: /" "$dir/same"
}

# ---- every way in and out, by address, by name, and by several ----

ways=$PROG/ways
inside="filter $(where "$ways" @inside) @ $ways"
"$ways" >plain && soft_fail "ways ends with 0"
echo 5 >>plain
record whole '' "$ways"
cmp plain whole/out || soft_fail "ways: other output"
grep -q 'branch: expect it to run hundreds of times slower$' whole/err || soft_fail "words: whole"
same range whole "$inside" @inside "$ways"
grep -q 'where the filter lets it be traced: .* hundreds of times slower there$' range/err ||
	{ cat range/err; soft_fail "words: range"; }
SOFT_MODE=--soft-step
same step whole "$inside" @inside "$ways"
grep -q 'instruction where the filter lets it be traced: .* thousands of times slower there$' \
	step/err || { cat step/err; soft_fail "words: step"; }
SOFT_MODE=
same names whole "filter factorial @$ways, filter compare @$ways" 'factorial compare' "$ways"
same walk whole "filter $(where "$ways" fall_in..fall_out) @$ways" fall_in..fall_out "$ways"

# ---- from here to there, to there for good, and of a range ----

same start whole "start catches @$ways stop on_in @$ways" '+catches -on_in' "$ways"
same open whole "start factorial @$ways" +factorial "$ways"
same stops whole "tracestop factorial @$ways" '!factorial' "$ways"
# Who comes to where tracing stops for good need not be traced then.
early="start compare @$ways stop factorial @$ways tracestop calls_out @$ways start makes @$ways"
same early whole "$early" '+compare -factorial !calls_out +makes' "$ways"
same mixed whole "$inside start helper @$ways tracestop makes @$ways" \
	'@inside +helper !makes' "$ways"
"$AUXREC" dump --packets stops/perf.data >dumped
grep -q " stop queue=0 " dumped || soft_fail "no TraceStop packet"

# ---- threads; a library that is loaded late; a file that is mapped twice ----

threads=$PROG/threads
record threads '' "$threads"
same add threads "filter add @$threads" add "$threads"
libm=$(ldconfig -p | sed -n 's/.*libm.so.6 .*x86-64.* => //p' | head -n 1)
record loaded "filter cbrt @$libm" "$threads"
soft_libipt loaded
[ "$(find loaded/ips -type f | wc -l)" = 2 ] || soft_fail "two threads call cbrt"
record copied "filter triple @$threads" "$threads"
soft_libipt copied
[ "$(find copied/ips -type f | wc -l)" = 1 ] || soft_fail "one thread calls the copy"
for dir in loaded copied; do
	cmp threads/out "$dir/out" || soft_fail "$dir: other output"
done

# One who waits within for another one, who is not.
record relay "filter waits_in @$PROG/relay" "$PROG/relay"
"$PROG/relay" | sed '$a 0' | cmp - relay/out || { cat relay/err; soft_fail "relay: other output"; }
soft_witness relay

# A file has several names.
cp "$ways" mine
ln mine other
record name "filter factorial @$PWD/mine" "$PWD/other"
soft_say name/same python3 "$E2E/softfilter.py" whole/ips name/ips "$ways" factorial ||
	soft_fail "by another name it is not found"

# ---- programs of all kinds, of which a part is traced, behave as without ----

for prog in signals traps forkexec threadexec; do
	status=0
	"$PROG/$prog" >plain 2>plain.err || status=$?
	echo "$status" >>plain
	record "$prog" "filter main @$PROG/$prog" "$PROG/$prog"
	cmp plain "$prog/out" || { cat "$prog/err"; soft_fail "$prog: other output"; }
	soft_libipt "$prog"
done

# ---- whoever is executed outside has all its cpus, also by a thread that was kept on one inside ----

for option in --soft-step --per-cpu; do
	cpus=$("$AUXREC" record -q --source=soft $option --filter "filter execute @$PROG/threadexec" \
		-o cpus.data -- "$PROG/threadexec" "$(command -v nproc)") || soft_fail "threadexec"
	[ "$cpus" = "$(nproc)" ] || soft_fail "$option: nproc finds $cpus cpus"
done

# ---- what is outside costs nothing to speak of: stepped, this would take days ----

spin=$PROG/spin
record fast "filter _start @$spin" "$spin" 300000000
[ "$(find fast/ips -type f | wc -l)" = 1 ] || soft_fail "_start was not traced"
"$spin" 300000000 | sed '$a 0' | cmp - fast/out || soft_fail "spin: other output"

# ---- what cannot be ----

! "$AUXREC" record --source=soft --filter 'filter 0x1000/16' -o none -- true 2>err ||
	soft_fail "an address of no file is taken"
grep -q 'of no file: write @FILE' err || soft_fail "$(cat err)"
[ ! -e none ] || soft_fail "there is a file"
