# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the tests of packets share. Sourced behind soft.sh and soft_begin.

# The program reads the clock, which is code of the vdso.
HOME=$PWD
export HOME
"$E2E/vdso.py" "$HOME" || soft_skip "no vdso"

# record DIR TERMS [OPTION...]: ptwrites, with its instruction carried out.
record() {
	dir=$1 terms=$2
	shift 2
	rm -rf "$dir"
	mkdir -p "$dir/ips"
	"$AUXREC" record --strict --source=soft --soft-ptwrite -e "intel_pt/$terms/u" "$@" \
		--soft-ips "$dir/ips" -o "$dir/perf.data" -- "$PROG/ptwrites" 3 >"$dir/out" \
		2>"$dir/err" || { cat "$dir/err"; soft_fail "$terms: ends with $?"; }
}

# bytes DIR: of trace.
bytes() {
	"$AUXREC" info --json "$1/perf.data" |
		python3 -c 'import json, sys; print(sum(q["bytes"] for q in json.load(sys.stdin)["aux"]))'
}

# packets DIR: all, as perf prints them.
packets() {
	"$PERF" script -D -i "$1/perf.data" 2>/dev/null
}

# has DIR PATTERN...: each is among the packets.
has() {
	dir=$1
	shift
	packets "$dir" >"$dir/packets"
	for one; do
		grep -aqE "^\\.  [0-9a-f]+:  .*  $one" "$dir/packets" ||
			soft_fail "$dir: no $one among the packets"
	done
}

# same DIR TERMS [BEFORE [OPTION...]]: all decoders find what was executed and written. BEFORE: how
# far the times of decoders may lag, in ticks.
same() {
	dir=$1 before=${3-}
	record "$1" "$2" ${4:+"$4"}
	soft_say "$dir/ptflow" "$TOOLS/ptflow" -w "$dir/perf.data" "$dir/ips" ||
		soft_fail "$2: libipt's instruction decoder disagrees"
	soft_say "$dir/ptflow-b" "$TOOLS/ptflow" -b "$dir/perf.data" "$dir/ips" ||
		soft_fail "$2: libipt's block decoder disagrees"
	soft_say "$dir/perfcmp" "$E2E/perfcmp.py" "$dir/perf.data" "$dir/ips" ||
		soft_fail "$2: perf disagrees"
	case $2 in
	*ptw*)
		soft_say "$dir/values" "$E2E/ptwrites.py" "$dir/perf.data" "$dir/out" \
			"$dir/ptflow" ${before:+"$before"} || soft_fail "$2: values or times"
		;;
	esac
	echo "$2 ${4-}: $(bytes "$dir") bytes of trace, $(sed -n 1p "$dir/ptflow-b")"
}
