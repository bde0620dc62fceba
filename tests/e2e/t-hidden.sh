#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Processes whose maps cannot be read are named with the reason, and are a loss unless nobody
# could have read them. Which they are is asked of /proc with the same privilege: a security
# module may hide some even from root, and old kernels hide those of others from who lacks
# CAP_SYS_PTRACE.
. "$E2E/lib.sh"
need_root "events of all tasks"
command -v setpriv >/dev/null || skip "setpriv is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"
"$AUXREC" record -a --source=none -o probe -- true 2>err || skip "$(head -n 1 err)"
make_user

as_user sleep 30 &
runner=$!
trap 'kill "$(pgrep -u "$USER_NAME-$$" -x sleep)"; wait "$runner"; drop_user' EXIT

cat >hidden.py <<'END'
import glob, os
for path in sorted(glob.glob("/proc/[0-9]*/maps"), key=lambda p: int(p.split("/")[2])):
    try:
        if os.readlink(os.path.dirname(path) + "/exe"):
            pass
    except FileNotFoundError:
        continue # a kernel thread, or gone
    except OSError:
        pass
    try:
        open(path).close()
    except PermissionError:
        print(path.split("/")[2])
    except OSError:
        pass
END

# recorded STATUS COMMAND...: those of the file `pids` are named, as far as they go.
recorded() {
	status=$1
	shift
	want "$status" "$@" "$AUXREC" record -a -m 512 --source=none --strict -o all -- true
	sed -n 's/^ *no maps of process \([0-9]*\) (.*): Permission denied$/\1/p' err >told
	head -n 8 pids | cmp -s - told || fail "hidden: $(cat pids); named: $(cat told)"
	n=$(wc -l <pids)
	[ "$n" -le 8 ] || said "and of $((n - 8)) more"
}

python3 hidden.py >pids
recorded 0 env
grep -q 'without maps' err && fail "a loss although nobody could have it: $(cat err)"

less() {
	setpriv --inh-caps=-sys_ptrace --bounding-set=-sys_ptrace -- "$@"
}
less python3 hidden.py >pids
case $(wc -l <pids) in
0) skip "no process here hides its maps" ;;
1)
	recorded 4 less
	said 'recorded with losses: 1 process without maps$'
	;;
*)
	recorded 4 less
	said "recorded with losses: $(wc -l <pids) processes without maps\$"
	;;
esac
exit 0
