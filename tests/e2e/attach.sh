# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the tests of attaching share, beside soft.sh.

# attach_begin CMD...: the program, in the background, up to its line "ready": its number is in
# target, its output in prog.out and prog.err; what goes to descriptor 3 is its input.
attach_begin() {
	rm -f prog.in prog.out
	mkfifo prog.in
	"$@" <prog.in >prog.out 2>prog.err 3>&- &
	target=$!
	exec 3>prog.in
	attach_said ready
}

# attach_said TEXT: wait until the program has written it.
attach_said() {
	tries=0
	until grep -q "$1" prog.out 2>/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -lt 600 ] || soft_fail "the program does not say '$1'"
		sleep 0.05
	done
}

# attach_end STATUS: let the program come to its end, with this status.
attach_end() {
	exec 3>&-
	attach_status=0
	wait "$target" || attach_status=$?
	[ "$attach_status" = "$1" ] || {
		cat prog.out prog.err
		soft_fail "the program ends with $attach_status, not $1"
	}
}

# attach_freed: wait until no thread of the target is traced any more, nor anybody left who records
# it: of a recorder that was killed, the other process may only be about to attach.
attach_freed() {
	tries=0
	while pgrep -f "record .*-p $target( |\$)" >/dev/null ||
		grep -hqs '^TracerPid:.*[1-9]' /proc/"$target"/task/*/status; do
		tries=$((tries + 1))
		[ "$tries" -lt 1000 ] || soft_fail "the program stays traced"
		sleep 0.02
	done
}

# attach_state: what a tracer may leave behind, of each thread.
attach_state() {
	grep -E '^(Pid|TracerPid|SigPnd|ShdPnd|SigBlk|SigIgn|SigCgt|Cpus_allowed_list):' \
		/proc/"$target"/task/*/status
}

# attach_record DIR [OPTION...]: as soft_record, of the target.
attach_record() {
	soft_dir=$1
	shift
	rm -rf "$soft_dir"
	mkdir -p "$soft_dir/ips"
	"$AUXREC" record --source=soft --soft-ips "$soft_dir/ips" -o "$soft_dir/perf.data" \
		-p "$target" "$@" >"$soft_dir/out" 2>"$soft_dir/err" 3>&-
}

# attach_possible: to somebody else's child; ends the test where it is not.
attach_possible() {
	attach_begin "$PROG/attached" 0 0
	attach_got=0
	attach_record possible -- true || attach_got=$?
	attach_end 7
	case $attach_got in
	0) ;;
	3) soft_skip "$(grep -v '^auxrec: rec' possible/err | head -n 1)" ;;
	*)
		cat possible/err
		soft_fail "record -p ends with $attach_got"
		;;
	esac
}

# attach_printed LINE: the program has printed it.
attach_printed() {
	grep -qx "$1" prog.out || soft_fail "no '$1', but $(cat prog.out prog.err)"
}

# attach_same: code and state are as in the file `before`, which attach_state has made.
attach_same() {
	soft_say code "$E2E/samecode.py" "$target" || soft_fail "code is not as it was"
	attach_state >after
	cmp -s before after || {
		diff before after
		soft_fail "its state is not as it was"
	}
}
