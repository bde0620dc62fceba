#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The stream form, through a real pipe into stock perf; a reader that goes away.
. "$E2E/lib.sh"
need_perf

"$AUXREC" record --source=none -o - -- "$PROG/pingpong" 200 2>err >stream
head -c 8 stream | grep -q PERFILE2 || { cat err; fail "no stream"; }
said_records=$(sed -n "s/.*sent '-': .*, \([0-9]*\) records.*/\1/p" err)

# shellcheck disable=SC2002 # a pipe is the point
cat stream | "$PERF" script -i - --show-switch-events --show-task-events --show-mmap-events \
	>via-pipe 2>complaints || { cat complaints; fail "perf refuses the stream"; }
grep -q 'PERF_RECORD_SWITCH' via-pipe || fail "no switches in the stream"
grep -q 'COMM exec: pingpong' via-pipe || fail "no exec in the stream"
# shellcheck disable=SC2002
cat stream | "$PERF" report -i - --header-only >header 2>&1 || { cat header; fail "header"; }
grep -q 'auxrec' header || fail "no VERSION in the stream: $(cat header)"
# shellcheck disable=SC2002
cat stream | "$AUXREC" info --json - >j || fail "info from a pipe"
n=$(json j 'sum(v for k, v in d["records"].items() if k in
	("MMAP2", "COMM", "FORK", "EXIT", "SWITCH", "LOST", "KSYMBOL", "BPF_EVENT", "MMAP", "NAMESPACES"))')
[ "$n" -ge "$said_records" ] || fail "auxrec said $said_records records, info found $n"

# Live: perf at the other end of the pipe.
"$AUXREC" record -q --source=none -o - -- "$PROG/pingpong" 200 2>err |
	"$PERF" script -i - --show-switch-events >live 2>/dev/null
grep -q 'PERF_RECORD_SWITCH' live || fail "nothing arrived live"

# A named pipe.
mkfifo p
"$AUXREC" record -q --source=none -o p -- true &
"$PERF" script -i - --show-task-events <p >fifo 2>/dev/null
wait
grep -q 'COMM exec: true' fifo || fail "nothing through a FIFO"

# The reader goes away: said, status 1, and no SIGPIPE.
("$AUXREC" record --source=none -o - -- "$PROG/pingpong" 20000 2>err; echo $? >status) | head -c 100 >/dev/null
[ "$(cat status)" = 1 ] || fail "status $(cat status) when the reader went away"
said "Broken pipe"

# A stream with trace that was saved: through a pipe again, and as the file that recover makes of
# it, without perf's warning of pipes.
"$AUXREC" record -q --source=soft -o - -- "$PROG/spin" 200 >saved 2>err || fail "$(cat err)"
# shellcheck disable=SC2002
cat saved | "$PERF" script --itrace=i1i -F tid,ip -i - >piped 2>/dev/null
[ "$(wc -l <piped)" -gt 1000 ] || fail "$(wc -l <piped) instructions of a saved stream"
want 0 "$AUXREC" recover -o made saved
"$PERF" script --itrace=i1i -F tid,ip -i made >file 2>complaints
cmp piped file || fail "another trace in the file than in the stream"
[ ! -s complaints ] || fail "of the file: $(cat complaints)"
