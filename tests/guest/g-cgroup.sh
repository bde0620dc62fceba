#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A control group on a cpu that it shares with a task outside of it: only its tasks are traced,
# and readers give every packet to one of them.
. "$GUEST/lib.sh"

# shellcheck disable=SC2016 # for the shells that it is given to
load='
sh -c "echo \$\$ >/tmp/cg/web/cgroup.procs; echo \$\$ >inside; exec taskset -c 0 sh work.sh" &
sh -c "echo \$\$ >outside; exec taskset -c 0 sh work.sh" &
wait'

guest() {
	mkdir -p /tmp/cg
	mount -t cgroup2 none /tmp/cg || fail "no cgroup2"
	mkdir /tmp/cg/web
	auxrec record -o no.data -a -G web -- true 2>no.err && fail "not refused"
	cat no.err
	grep -q "cgroup 'web' has no perf events" no.err || fail "no words"
	echo +pids >/tmp/cg/cgroup.subtree_control || fail "no controller pids"
	param bytes_per_tick 1024
	# shellcheck disable=SC2016 # for the shells that run it
	echo 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done' >work.sh
	record cg -a -G web -- sh -c "$load"
	auxrec record -o no.data -a -G nosuch -- true 2>no.err && fail "not refused"
	cat no.err
	grep -q "no cgroup 'nosuch' below '/tmp/cg'" no.err || fail "no words"
	[ ! -e no.data ] || fail "it left a file"
	rmdir /tmp/cg/web
	umount /tmp/cg
}

host() {
	account cg
	"$PERF" script --itrace=w -F pid,event -i cg.data >ptw 2>complaints || fail "perf script"
	sed -n 's/^ *\([0-9]*\) *ptwrite:.*/\1/p' ptw | sort | uniq -c >pids
	cat pids
	[ "$(awk '{ print $2 }' pids)" = "$(cat inside)" ] ||
		fail "packets of other tasks than $(cat inside)"
	"$PERF" script --show-switch-events -F pid -i cg.data 2>/dev/null |
		sed -n 's/^ *\([0-9]*\) .*PERF_RECORD_SWITCH.*/\1/p' | sort -u >switches
	grep -qxF "$(cat outside)" switches && fail "switches of the task outside"
	grep -qxF "$(cat inside)" switches || fail "no switches of the task inside"
}

"$1"
