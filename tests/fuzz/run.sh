#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run every libFuzzer target for FUZZ_SECONDS: run.sh BUILD [TARGET...]. BUILD/corpus keeps
# what was learnt for the next run. What is found is written to BUILD/found, and replayed by
# BUILD/bin/TARGET FILE; once the fault is mended it belongs to seeds/TARGET.
here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
[ $# -gt 0 ] || for t in "$build"/bin/*; do set -- "$@" "${t##*/}"; done
status=0
mkdir -p "$build/found"
for t; do
	mkdir -p "$build/corpus/$t" "$here/seeds/$t"
	echo "$t: ${FUZZ_SECONDS:=60} seconds"
	"$build/bin/$t" -max_total_time="$FUZZ_SECONDS" -max_len=65536 -timeout=10 \
		-rss_limit_mb=1024 -artifact_prefix="$build/found/$t-" -print_final_stats=1 \
		-verbosity=0 "$build/corpus/$t" "$here/seeds/$t" "$here/../corpus" \
		>"$build/$t.log" 2>&1 || {
		status=1
		echo "FAILED $t"
		grep -E 'ERROR|SUMMARY|not so|Test unit' "$build/$t.log"
	}
	sed -n 's/^stat::number_of_executed_units: */  inputs /p' "$build/$t.log"
done
exit $status
