#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attaching to a program that runs: threads that compute, threads that sleep in system calls, a
# stopped one, an interpreter. What the decoders find is what was executed; the program notices
# nothing, and afterwards all is as it was.
set -eu
. "$E2E/soft.sh"
. "$E2E/attach.sh"
soft_begin
attach_possible

# For a while, in both modes, and again: calls sleep on, results are right.
attach_begin "$PROG/attached"
attach_state >before
for SOFT_MODE in '' --soft-step ''; do
	attach_record "while$SOFT_MODE" ${SOFT_MODE:+"$SOFT_MODE"} -- sleep 0.5 || {
		cat "while$SOFT_MODE/err"
		soft_fail "record -p"
	}
	attach_same
	soft_libipt "while$SOFT_MODE"
done
SOFT_MODE=
soft_witness while
grep '^queue' while/ptflow

# The end of the program ends the recording; its threads wake up under our eyes.
"$AUXREC" record --source=soft --soft-ips "$(mkdir -p end/ips; echo end/ips)" -o end/perf.data \
	-p "$target" 2>end/err 3>&- &
recorder=$!
until grep -q '^TracerPid:.*[1-9]' "/proc/$target/status"; do sleep 0.05; done
echo >&3
attach_said rounds
attach_end 7
wait "$recorder" || soft_fail "the recording ends with $?"
attach_printed 'done'
soft_witness end
soft_lists end 8

# SIGINT ends the recording, not the program. Traps are blocked here.
attach_begin env ATTACHED_BLOCKS=1 "$PROG/attached" 2 4
attach_state >before
mkdir -p int/ips
"$AUXREC" record --source=soft --soft-ips int/ips -o int/perf.data -p "$target" 2>int/err 3>&- &
recorder=$!
until grep -q '^TracerPid:.*[1-9]' "/proc/$target/status"; do sleep 0.05; done
sleep 0.3
kill -INT "$recorder"
wait "$recorder" || soft_fail "the recording ends with $? on SIGINT"
attach_same
soft_witness int
attach_end 7
attach_printed 'rounds .* blocked 1 .* trap default .*'

# SIGTRAP is ignored, and still is afterwards, though traps have made the kernel forget it.
attach_begin env ATTACHED_IGNORES=1 "$PROG/attached" 1 4
attach_state >before
attach_record ignored -- sleep 0.4 || soft_fail "record -p of one that ignores SIGTRAP"
attach_same
kill -TRAP "$target"
echo >&3
attach_said rounds
attach_end 7
attach_printed 'rounds .* trap ignored .*'

# One that is stopped stays stopped, and is traced when it goes on.
attach_begin "$PROG/attached" 1 0
kill -STOP "$target"
until grep -q '^State:.*T' "/proc/$target/status"; do sleep 0.05; done
attach_state >before
attach_record stopped -- sleep 0.2 || soft_fail "record -p of a stopped program"
grep -q '^State:.T (stopped)' "/proc/$target/status" || soft_fail "it is not stopped any more"
attach_same
kill -CONT "$target"
attach_end 7

# An interpreter with threads.
cat >sums.py <<'END'
import sys, threading, time
go, rounds, wrong = True, [0, 0], 0

def work():
    return sum(i * i % 7 for i in range(200))

def add(n):
    global wrong
    want = work()
    while go:
        wrong += work() != want
        rounds[n] += 1

def nap():
    while go:
        time.sleep(0.01)

threads = [threading.Thread(target=add, args=(n,)) for n in (0, 1)] + [threading.Thread(target=nap)]
for t in threads:
    t.start()
print("ready", flush=True)
sys.stdin.read()
go = False
for t in threads:
    t.join()
print("done", min(rounds) > 0, wrong)
sys.exit(7)
END
attach_begin python3 sums.py
attach_state >before
attach_record python -- sleep 0.7 || soft_fail "record -p of python3"
attach_same
soft_libipt python
attach_end 7
attach_printed 'done True 0'
