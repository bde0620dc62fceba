#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --kcore: the kernel's code, as perf copies it and as it is in memory, and what the kernel
# changes in it while it is traced.
. "$GUEST/lib.sh"

# text_page FILE: the beginning of the kernel's text out of /proc/kcore, found by its program
# headers. Prints its address.
text_page() {
	want=$(awk '$3 == "_text" { print $1; exit }' /proc/kallsyms)
	i=1
	while [ $i -lt 64 ]; do
		# p_offset and p_vaddr of the i-th program header, as the bytes lie there
		# shellcheck disable=SC2046 # they are to be split
		set -- "$1" $(dd if=/proc/kcore bs=8 skip=$((8 + 7 * i + 1)) count=2 2>/dev/null |
			od -An -v -t x1)
		vaddr=${17}${16}${15}${14}${13}${12}${11}${10}
		offset=$((0x$9$8$7$6$5$4$3$2))
		[ "$vaddr" != "$want" ] || break
		i=$((i + 1))
	done
	[ "$vaddr" = "$want" ] && [ $((offset % 4096)) = 0 ] || return 1
	dd if=/proc/kcore bs=4096 skip=$((offset / 4096)) count=64 of="$1" 2>/dev/null
	echo "$want"
}

# What the kernel patches when somebody begins to look at every wake-up.
poke='cd /sys/kernel/tracing/events/sched/sched_wakeup
echo 1 >enable; sleep 0.3; echo 0 >enable; sleep 0.2'

guest() {
	umask 022
	auxrec record --kcore -a -e intel_pt//,sched:sched_switch -o ours -- sh -c "$poke" ||
		fail "auxrec record --kcore"
	text_page page >address || fail "no text in /proc/kcore"
	ls -lR ours
	[ "$(stat -c %a ours ours/data ours/kcore_dir ours/kcore_dir/kcore | xargs)" = \
		"700 600 700 600" ] || fail "modes"
	auxrec record --kcore -z -q -e intel_pt// -o task -- true || fail "--kcore of a task"
	auxrec record --kcore -q -e intel_pt//u -o user -- true || fail "--kcore of user space"
	perf record -q -B -N --kcore -a -e intel_pt// -o theirs -- sleep 0.2 >perf.out 2>&1 ||
		{ cat perf.out; fail "perf record --kcore"; }
	# As nobody: no right to it, and nothing left.
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	echo nobody:x:65534:65534::/:/bin/sh >>/etc/passwd
	mkdir -m 777 nobody
	(cd nobody && su -s /bin/sh nobody -c 'auxrec record --kcore --source=none -o d -- true') \
		>nobody.err 2>&1
	[ -z "$(ls nobody)" ] || fail "left behind: $(ls nobody)"
}

host() {
	grep -q "'/proc/kcore'" nobody.err || { cat nobody.err; fail "nobody's message"; }
	readelf -lW ours/kcore_dir/kcore | grep -A 20 Type
	python3 "$GUEST/../e2e/kcore.py" ours/kcore_dir/kcore theirs/kcore_dir/kcore 65536 ||
		fail "not the code that perf copied"
	at=$(readelf -lW ours/kcore_dir/kcore | awk -v a="0x$(cat address)" '$3 == a { print $2 }')
	dd if=ours/kcore_dir/kcore bs=4096 skip=$((at / 4096)) count=64 2>/dev/null | cmp - page ||
		fail "the text is not that of /proc/kcore"
	"$PERF" script -i ours --show-text-poke-events >script 2>complaints ||
		{ cat complaints; fail "perf script -i DIR"; }
	grep -iE 'error|fail|unknown|out of order' complaints && fail "perf complains"
	pokes=$(grep -c 'PERF_RECORD_TEXT_POKE' script)
	echo "$pokes changes of the kernel's code"
	[ "$pokes" -gt 0 ] || fail "no TEXT_POKE"
	"$PERF" report -i ours >/dev/null 2>complaints || { cat complaints; fail "perf report"; }
	# The samples lie in the kernel: their names come from the directory's kallsyms.
	"$PERF" script -i ours -F event,ip,sym 2>/dev/null | grep -m 1 'sched_switch.*schedule' ||
		fail "no symbol of the guest's kernel"
	"$PERF" evlist -v -i task | grep 'text-poke' | grep -q 'text_poke: 1' ||
		fail "no text-poke event for a task"
	"$PERF" script -i task --show-task-events 2>/dev/null | grep 'COMM exec: true' ||
		fail "perf does not read the compressed records of a directory"
	"$PERF" evlist -i user | grep -q 'text-poke' && fail "text-poke with user space only"
	"$AUXREC" info ours | head -n 3
}

"$1"
