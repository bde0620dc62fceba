#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What auxrec list says is what stock perf meets, for root and for an ordinary user.
. "$E2E/lib.sh"
# Machines with other PMUs, limits and refusals are those of tests/unit/test_offer.c.
members='pmus software context_switches tracepoints kernel_addresses default_source limits fixes'

# check WHO COMMAND...: the command prefix that runs as that user.
check() {
	who=$1
	shift
	"$@" "$AUXREC" list --json >list.json 2>err || fail "$who: status $?"
	[ -s err ] && fail "$who: words on stderr"
	[ "$(json list.json '" ".join(d)')" = "$members" ] || fail "$who: members of the object"
	"$@" "$AUXREC" list >list.txt || fail "$who: status $? of the text"
	for word in sources limits 'context switches' perf_event_paranoid; do
		grep -q "$word" list.txt || fail "$who: no '$word' in the text"
	done
	[ "$(json list.json 'd["limits"]["uid"]')" = "$("$@" id -u)" ] || fail "$who: uid"
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	[ "$(json list.json 'd["limits"]["perf_event_paranoid"]')" = "$paranoid" ] ||
		fail "$who: perf_event_paranoid"
	agree "$who" all_tasks "$@" "$PERF" record -a -e dummy:u --switch-events -BN -o /dev/null true
	agree "$who" own_tasks "$@" "$PERF" record -e dummy:u --switch-events -BN -o /dev/null true
	every_pmu "$who"
	has_fix "$who"
}

# agree WHO TRIAL COMMAND...: perf can what we say, and cannot what we deny.
agree() {
	said_ok=$(json list.json "d['context_switches']['$2']['ok']")
	trial="$1, $2"
	shift 2
	"$@" >perf.out 2>&1 && perf_ok=True || perf_ok=False
	[ "$said_ok" = "$perf_ok" ] || {
		cat perf.out
		fail "$trial: the list says $said_ok, perf says $perf_ok"
	}
}

# Each PMU that sysfs has under a known name is there with its type.
every_pmu() {
	for name in intel_pt intel_bts cs_etm; do
		dir=/sys/bus/event_source/devices/$name
		[ -e "$dir" ] || continue
		[ "$(json list.json "[p['type'] for p in d['pmus'] if p['name'] == '$name']")" = \
			"[$(cat "$dir/type")]" ] || fail "$1: PMU $name"
	done
}

# All that was denied for want of rights has its command, and nothing else has.
has_fix() {
	denied=$(json list.json "d['context_switches']['all_tasks'].get('errno')")
	fix=$(json list.json "[f['command'] for f in d['fixes'] if '-a' in f['need'].split('(')[-1]]")
	case $denied in
	EACCES | EPERM)
		[ "$fix" != '[]' ] || fail "$1: no command for $denied"
		grep -qF "no: perf_event_open: " list.txt || fail "$1: no reason in the text" ;;
	None) [ "$(json list.json 'len(d["pmus"])')" != 0 ] || [ "$fix" = '[]' ] ||
		fail "$1: a command for what works: $fix" ;;
	esac
}

need_perf
check "$(id -un)"
if is_root; then
	[ "$(json list.json 'd["limits"]["capabilities"]["sys_admin"]')" = True ] ||
		skip "root without CAP_SYS_ADMIN: no use in looking on"
	make_user
	check user as_user
	[ "$(json list.json 'any(d["limits"]["capabilities"].values())')" = False ] ||
		fail "an ordinary user with capabilities"
fi

# Limits are those of the caller.
prlimit --nofile=50 "$AUXREC" list --json >low.json || fail "50 files"
[ "$(json low.json 'd["limits"]["nofile_hard"]')" = 50 ] || fail "nofile"
[ "$(json low.json 'any("prlimit" in f["command"] for f in d["fixes"])')" = True ] ||
	fail "no command for a low file limit"

# A full disk, a closed stdout and a stray argument are noticed.
"$AUXREC" list >/dev/full 2>/dev/null && fail "a write error went unnoticed"
"$AUXREC" list --json >/dev/full 2>/dev/null && fail "a write error went unnoticed (json)"
want 2 "$AUXREC" list nonsense
said "unexpected argument 'nonsense'"
want 2 "$AUXREC" list --nonsense
exit 0
