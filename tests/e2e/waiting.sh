# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034
# What a process costs that only waits: sourced by tests on the host and in the guest.

# waited PID SECONDS: sets bytes (written, by all threads), wakeups, other_turns (lost to others,
# so that it ran), cpu_ms, memory_kib (at the end) and grown_kib.
waited() {
	look "$1"
	set -- "$1" "$2" "$written" "$woken" "$preempted" "$ticks" "$rss"
	sleep "$2"
	look "$1"
	bytes=$((written - $3))
	wakeups=$((woken - $4))
	other_turns=$((preempted - $5))
	cpu_ms=$(((ticks - $6) * 10))
	memory_kib=$rss
	grown_kib=$((rss - $7))
}

look() {
	written=$(sed -n 's/^wchar: //p' "/proc/$1/io")
	woken=0 preempted=0
	for thread in "/proc/$1/task/"*; do
		woken=$((woken + $(sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "$thread/status")))
		preempted=$((preempted +
			$(sed -n 's/^nonvoluntary_ctxt_switches:[^0-9]*//p' "$thread/status")))
	done
	rss=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status")
	# utime and stime, in ticks of 10 ms; the name in parentheses may have blanks.
	ticks=$(sed 's/.*) //' "/proc/$1/stat" | { read -r _ _ _ _ _ _ _ _ _ _ _ u s _; echo $((u + s)); })
}
