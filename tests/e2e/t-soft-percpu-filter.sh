#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trace by cpu of a part of what runs, by filters. Threads of one cpu take turns, so that what ends a
# stretch of trace often comes when the trace of the cpu is another one's: it is where the packets of
# its thread are, or nowhere.
set -eu
. "$E2E/soft.sh"
. "$E2E/percpu.sh"
setarch -R true 2>/dev/null || soft_skip "setarch -R is not permitted"
command -v nm >/dev/null || soft_skip "nm is not installed"
soft_begin

# record DIR STATUS OPTION... -- CMD...: at equal addresses, in equal environments.
record() {
	dir=$1 want=$2
	shift 2
	mkdir -p "$dir/ips"
	status=0
	env -i timeout 120 setarch -R "$AUXREC" record -v --source=soft --soft-ips "$dir/ips" \
		-o "$dir/perf.data" "$@" >"$dir/out" 2>"$dir/err" || status=$?
	[ "$status" = "$want" ] || { cat "$dir/err"; soft_fail "$dir ends with $status"; }
	! grep 'trace has gaps' "$dir/err" || soft_fail "$dir: not all was traced"
}

packets() {
	"$AUXREC" dump --packets "$1/perf.data" >"$1/packets" || soft_fail "$1: dump"
}

# ends DIR: each stretch ends before the next begins, no packet of a branch is outside of one, and each
# thread that comes, by the switches that percpu_witness has found, begins with a PSB.
ends() {
	packets "$1"
	changes=$(awk '/SWITCH_CPU_WIDE IN/ { split($1, who, "/")
		if (who[2] && who[2] != on[$2]) n++
		if (who[2]) on[$2] = who[2] } END { print n + 0 }' switches)
	begun=$(grep -c ' psb queue=' "$1/packets")
	{ [ "$changes" -gt 6 ] && [ "$begun" -ge "$changes" ]; } ||
		soft_fail "$1: $begun PSBs for $changes threads that come"
	awk '{ q = $4 }
	$3 == "psb" { if (on[q]) bad = bad " " $0 }
	$3 == "tip.pge" { if (on[q]) bad = bad " " $0; on[q] = 1 }
	$3 == "tip.pgd" { if (!on[q]) bad = bad " " $0; on[q] = 0 }
	$3 == "stop" { if (on[q]) bad = bad " " $0 }
	$3 ~ /^(tnt|tip$|fup)/ { if (!on[q]) bad = bad " " $0 }
	END { print bad; exit bad != "" }' "$1/packets" >"$1/bad" ||
		soft_fail "$1: packets in no stretch: $(cat "$1/bad")"
}

# ---- filters: six threads, three on each cpu ----

turns=$PROG/turns
record whole 6 -- "$turns" 6
for SOFT_MODE in '' --soft-step; do
	filtered() {
		dir=$1$SOFT_MODE filter=$2 parts=$3
		record "$dir" 6 --per-cpu ${SOFT_MODE:+"$SOFT_MODE"} --filter "$filter" -- "$turns" 6
		cmp whole/out "$dir/out" || soft_fail "$dir: other output"
		# shellcheck disable=SC2086 # words
		soft_say "$dir/same" python3 "$E2E/softfilter.py" whole/ips "$dir/ips" "$turns" $parts ||
			soft_fail "$dir: not what the filter lets through"
		percpu_witness "$dir"
		ends "$dir"
	}
	filtered range "filter inside @$turns" inside
	filtered ranges "filter inside @$turns, filter last @$turns" 'inside last'
	filtered start "start inside @$turns stop outside @$turns" '+inside -outside'
	filtered stops "filter inside @$turns tracestop last @$turns" 'inside !last'
	# Who comes to where nothing is traced any more is told, each of the six, for whoever is.
	[ "$(grep -c ' stop queue=' "stops$SOFT_MODE/packets")" = 6 ] ||
		soft_fail "stops$SOFT_MODE: not one TraceStop for each thread"
done
SOFT_MODE=
cat range/perfcmp
