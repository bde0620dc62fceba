# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the tests of the software source share. Sourced from a scratch directory, with
# AUXREC (the program), PROG (tests/prog, built), TOOLS (tests/tools, built), E2E (this
# folder) set, and PERF where another perf than the installed one is wanted.

: "${AUXREC:?}" "${PROG:?}" "${TOOLS:?}" "${E2E:?}"
PERF=${PERF:-perf}
export PERF

soft_fail() {
	echo "FAILED: $*"
	exit 1
}

soft_skip() {
	echo "$*"
	exit 77
}

# soft_record DIR CMD...: record CMD; DIR gets perf.data, ips/, out, err. Returns CMD's
# status. SOFT_MODE=--soft-step: stepping, not from branch to branch.
soft_record() {
	soft_dir=$1
	shift
	rm -rf "$soft_dir"
	mkdir -p "$soft_dir/ips"
	"$AUXREC" record --source=soft ${SOFT_MODE:+"$SOFT_MODE"} ${SOFT_EVENT:+-e "$SOFT_EVENT"} \
		--soft-ips "$soft_dir/ips" -o "$soft_dir/perf.data" -- "$@" >"$soft_dir/out" 2>"$soft_dir/err"
}

# soft_alike DIR OPTION... -- CMD...: as soft_record, but every such run of a program that leaves
# nothing to chance executes the same: at equal addresses, in an equal environment ($SOFT_ENV).
# DIR/parent gets the number of the process that starts CMD.
soft_alike() {
	soft_dir=$1
	shift
	rm -rf "$soft_dir"
	mkdir -p "$soft_dir/ips"
	# shellcheck disable=SC2016,SC2086 # the inner shell's; words
	env -i ${SOFT_ENV-} timeout 300 sh -c 'echo $$ >"$0/parent"; exec "$@"' "$soft_dir" \
		setarch -R "$AUXREC" record --source=soft \
		${SOFT_MODE:+"$SOFT_MODE"} --soft-ips "$soft_dir/ips" -o "$soft_dir/perf.data" "$@" \
		>"$soft_dir/out" 2>"$soft_dir/err"
}

# Ends the test where there is no such run.
soft_alike_begin() {
	setarch -R true 2>/dev/null || soft_skip "setarch -R is not permitted"
}

# Ends the test where the machine has no witness, or does not let us trace.
soft_begin() {
	command -v python3 >/dev/null || soft_skip "python3 is not installed"
	"$PERF" version >/dev/null 2>&1 || soft_skip "'$PERF' does not run"
	soft_status=0
	soft_record begin "$PROG/mini" || soft_status=$?
	case $soft_status in
	7) ;;
	3) soft_skip "$(tail -n 1 begin/err)" ;;
	*)
		cat begin/err
		soft_fail "recording of mini ends with $soft_status, not 7"
		;;
	esac
}

# soft_say FILE CMD...: run CMD; its output is shown when it fails.
soft_say() {
	soft_log=$1
	shift
	"$@" >"$soft_log" 2>&1 && return 0
	cat "$soft_log"
	return 1
}

# perf exits with 0 whatever it meets, so its words count. Only those on stderr: a symbol
# of the report may well have "error" in its name.
soft_report() {
	"$PERF" report -i "$1/perf.data" --itrace=b --stdio >"$1/report" \
		2>"$1/report.err" || soft_fail "perf report ends with $?"
	grep -v '^#' "$1/report" | grep -q '[0-9]%' ||
		soft_fail "perf report shows nothing"
	if grep -Ei 'error|fail|corrupt|unknown|out of order' "$1/report.err"; then
		soft_fail "perf report complains"
	fi
}

# soft_libipt DIR: both of its decoders find what was executed.
soft_libipt() {
	soft_say "$1/ptflow" "$TOOLS/ptflow" "$1/perf.data" "$1/ips" ||
		soft_fail "libipt's instruction decoder disagrees"
	soft_say "$1/ptflow-b" "$TOOLS/ptflow" -b "$1/perf.data" "$1/ips" ||
		soft_fail "libipt's block decoder disagrees"
}

# soft_witness DIR: every decoder does.
soft_witness() {
	soft_libipt "$1"
	soft_say "$1/perfcmp" "$E2E/perfcmp.py" "$1/perf.data" "$1/ips" ||
		soft_fail "perf disagrees"
	soft_report "$1"
}

# soft_check DIR CMD...: the program behaves as without us, and the decoders agree, in both
# modes: DIR, and DIR.step.
soft_check() {
	soft_name=$1
	shift
	soft_want=0
	"$@" >plain.out 2>plain.err || soft_want=$?
	for SOFT_MODE in '' --soft-step; do
		soft_one "$soft_name${SOFT_MODE:+.step}" "$@"
	done
	SOFT_MODE=
}

soft_one() {
	soft_name=$1
	shift
	soft_status=0
	soft_record "$soft_name" "$@" || soft_status=$?
	if [ "$soft_status" != "$soft_want" ]; then
		cat "$soft_name/err"
		soft_fail "$*: exit status $soft_status when traced, $soft_want otherwise"
	fi
	! grep 'trace has gaps' "$soft_name/err" || soft_fail "$*: not all was traced"
	if ! cmp -s plain.out "$soft_name/out"; then
		diff plain.out "$soft_name/out"
		soft_fail "$*: other output when traced"
	fi
	# perf takes its time, and reads the same packets, whoever found out about the branches.
	if [ -n "$SOFT_MODE" ]; then
		soft_libipt "$soft_name"
	else
		soft_witness "$soft_name"
	fi
	grep -h '^queue' "$soft_name/ptflow"
}

# soft_lists DIR N: at least N threads were compared.
soft_lists() {
	for soft_one in "$1" "$1.step"; do
		[ -e "$soft_one" ] || continue
		soft_n=$(grep -c '^queue' "$soft_one/ptflow")
		[ "$soft_n" -ge "$2" ] ||
			soft_fail "$soft_one: $soft_n queues, expected $2 or more"
	done
}
