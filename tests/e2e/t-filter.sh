#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Filters: names become the numbers that binutils know, and whatever is wrong is named, before
# a PMU is looked for. Expressions of tracepoints reach the kernel.
. "$E2E/lib.sh"
bin=$PROG/pingpong # static, with symbols, not position independent

# numbers FUNCTION: its offset in the file and its size, as readelf has them.
numbers() {
	readelf -sW "$bin" | awk -v f="$1" '$4 == "FUNC" && $8 == f { print "0x" $2, $3; exit }' |
		{
			read -r at size
			readelf -lW "$bin" | awk '$1 == "LOAD" { print $2, $3, $5 }' |
				while read -r off vaddr len; do
					d=$((at - vaddr))
					[ $d -lt 0 ] || [ $d -ge $((len)) ] ||
						printf '0x%x/0x%x\n' $((off + d)) $((size))
				done
		}
}

# The last word is that of the source: there may be a PMU here, or none.
shown() { # text, what it becomes
	"$AUXREC" record -v --source=none -o f --filter "$1" -- true 2>err
	said "^auxrec: address filter: $2\$"
	said 'no AUX event is recorded'
}

if command -v readelf >/dev/null; then
	[ -n "$(numbers main)" ] || fail "readelf knows no main in $bin"
	shown "filter main @$bin" "filter $(numbers main)@$bin"
	shown "tracestop main @$bin filter exit @$bin" \
		"stop $(numbers main)@$bin,filter $(numbers exit)@$bin"
fi
shown "filter * @$bin" "filter 0x0/$(printf '0x%x' "$(stat -Lc %s "$bin")")@$bin"
shown "filter 0x1000/4096" "filter 0x1000/0x1000"

refused() { # text, words
	want 2 "$AUXREC" record -o f --filter "$1" -- true
	said "$2"
}
refused 'trace 1/2' "address filter 'trace 1/2': 'trace' is no action"
refused "filter nosuch @$bin" "no function 'nosuch' in '.*/pingpong'"
refused 'filter main @nowhere' "cannot find file 'nowhere': No such file"
refused "filter main @$E2E/lib.sh" "lib.sh' is not an ELF file"
refused 'filter 1' 'needs a size'
refused '' 'it is empty'
# Two options are one list.
want 2 "$AUXREC" record -o f --filter "filter main" --filter "filter 1/2" -- true
said "no function 'main' in the kernel|addresses are hidden|symbols"

if [ ! -e /sys/bus/event_source/devices/intel_pt ]; then
	want 2 "$AUXREC" record -o f --filter 'filter 1/2' -- true
	said '0x1 is of no file: write @FILE'
	want 3 "$AUXREC" record -o f -e intel_pt/aux-action=start-paused/ -- true
	said 'the software source is paused by commands, not by events'
fi
want 2 "$AUXREC" record -o f -e intel_pt/aux-action=pause/ -- true
said 'aux-action=start-paused'
want 2 "$AUXREC" record -o f -e sched:sched_switch/aux-action=start-paused/ -- true
said 'only the AUX event itself can start paused'
want 2 "$AUXREC" record -o f -e sched:sched_switch/aux-action=stop/ -- true
said 'pause or resume'
want 2 "$AUXREC" record -o f -e sched:sched_switch/tsc/ -- true
want 2 "$AUXREC" record -o f -e sched:sched_switch/aux-action=pause -- true
want 3 "$AUXREC" record -o f -e sched:sched_switch/aux-action=pause/ -- true
said 'no AUX event of the kernel to pause or resume'
[ ! -e f ] || fail "a file was made"

is_root || skip "tracepoint filters need root"
need_perf
"$PERF" record -q -o p -e sched:sched_switch -a -- true 2>/dev/null ||
	skip "this kernel has no sched:sched_switch"
want 3 "$AUXREC" record -o f -e sched:sched_switch --filter 'nosuch == 1' -a -- true
said "PERF_EVENT_IOC_SET_FILTER failed for event 'sched:sched_switch' on cpu .*: Invalid"
said "the filter is 'nosuch == 1'"
samples() { # expression...
	for x; do
		set -- "$@" --filter "$x"
		shift
	done
	"$AUXREC" record -q -o t -e sched:sched_switch "$@" -a -- sleep 0.3 || fail "$*"
	"$PERF" script -i t 2>/dev/null | grep -c sched_switch
}
[ "$(samples 'prev_pid >= 0')" -gt 0 ] || fail "an expression that holds leaves nothing"
[ "$(samples 'prev_pid < 0')" = 0 ] || fail "an expression that never holds lets something by"
[ "$(samples 'prev_pid >= 0' 'prev_pid < 0')" = 0 ] || fail "one of two expressions is enough"
exit 0
