#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Set-ID programs and such with file capabilities, which the kernel runs without their rights when
# an ordinary user traces them: the command itself is refused, of those that it executes each is
# told once, and nothing is said where nothing was taken away.
. "$E2E/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "the software source is for x86-64"
need_root "programs of root's are made set-user-ID"
make_user
user=$(id -u "$USER_NAME-$$")

# copy NAME OWNER MODE: a private one of id(1).
copy() {
	{ cp "$(command -v id)" "$1" && chown "$2" "$1" && chmod "$3" "$1"; } ||
		fail "cannot make $1"
}
copy raises 0:0 4755
copy groups 0:0 2755
copy capable 0:0 755
copy secret 0:0 711
copy own "$user" 4755
[ "$(as_user ./raises -u)" = 0 ] || skip "set-user-ID programs do not work in $PWD (nosuid?)"

# recorded COMMAND...: by the user; what it prints goes to out.
recorded() {
	want 0 as_user "$AUXREC" record --source=soft -o f "$@"
}

# silent WHAT: the last one was not about rights.
silent() {
	! grep -iE 'rights|capabilit|not readable' err || fail "words of rights: $1"
}

# refused PROGRAM WORDS [COMMAND...]
refused() {
	program=$1 words=$2
	shift 2
	want 3 as_user "$@" "$AUXREC" record --source=soft -o no.data -- "$program" -u
	said "cannot trace '.*$program': $words"
	said 'sudo auxrec record --source=soft -p PID'
	[ ! -e no.data ] || fail "a file was made"
}
refused ./raises 'the kernel runs it without its set-user-ID rights'
said 'auxrec record ... -- env ./raises'
refused raises 'the kernel' env PATH="/nowhere:$PWD:$PATH"
refused raises 'the kernel' env PATH=":$PATH"
refused ./groups 'the kernel runs it without its set-group-ID rights'
refused ./secret 'you may execute it, but not read it'

# cap_net_raw+ep, as capabilities(7) has it: version 2, effective.
if python3 -c 'import os, struct
os.setxattr("capable", "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))'; then
	refused ./capable 'the kernel runs it without its file capability rights'
else
	echo "no file capabilities here"
fi

# Executed later: a line for each file, and a count.
recorded -- sh -c 'for i in 1 2 3; do ./raises -u; done; ./groups -g; ./raises -u'
[ "$(sort -u out)" = "$(printf '%s\n' "$user" "$(id -g "$USER_NAME-$$")" | sort -u)" ] ||
	fail "not without its rights: $(cat out)"
[ "$(grep -c "/raises' (process .*) runs without its set-user-ID rights, because it is traced" err)" = 1 ] ||
	fail "not one line of it: $(cat err)"
said "/groups' .* runs without its set-group-ID rights"
[ "$(grep -c 'attach to it as root' err)" = 1 ] || fail "not one hint: $(cat err)"
said '  5 times a program ran without its set-ID or capability rights'

# What may not be read runs untraced.
copy hidden 0:0 711
recorded -- sh -c './secret -u; ./secret -u; ./hidden -u'
[ "$(sort -u out)" = "$user" ] || fail "$(cat out)"
[ "$(grep -c 'may not be read by you' err)" = 2 ] || fail "not one line of each: $(cat err)"
said 'process .*\(secret\) executes a program that may not be read by you: it runs untraced'
said '3 programs not traced \(of 32 bits, or not readable\)'

# By a process that was attached to.
mkfifo in
as_user sh -c 'echo ready; read -r line; ./raises -u; exit 7' <in >attached.out &
sh=$!
exec 3>in
until grep -q ready attached.out; do sleep 0.05; done
target=$(pgrep -u "$user" -x sh) || fail "where is it?"
as_user "$AUXREC" record --source=soft -o g -p "$target" 2>err 3>&- &
recorder=$!
until grep -q '^TracerPid:.*[1-9]' "/proc/$target/status"; do
	kill -0 $recorder 2>/dev/null || break
	sleep 0.05
done
echo >&3
wait $sh
wait $recorder
[ $? != 3 ] || skip "attaching is not allowed: $(cat err)"
[ "$(tail -n 1 attached.out)" = "$user" ] || fail "$(cat attached.out)"
said "/raises' .* runs without its set-user-ID rights"
said '  1 time a program ran without'

# Nothing is taken away from what has no rights to give, ...
recorded -- ./own -u
silent "own"
want 0 as_user setpriv --no-new-privs "$AUXREC" record --source=soft -o f -- ./raises -u
[ "$(cat out)" = "$user" ] || fail "no_new_privs: $(cat out)"
silent "no_new_privs"
# ... nor by root. But of what has got other rights the kernel tells nothing, and that is a loss.
want 0 "$AUXREC" record --strict --source=soft -o r -- ./secret -u
silent "root, unreadable"

# untold PROGRAM UID COMMAND...
untold() {
	program=$1 uid=$2
	shift 2
	want 4 "$AUXREC" record --strict --source=soft -o r -- "$@"
	[ "$(cat out)" = "$uid" ] || fail "traced by root: $(cat out)"
	said "/$program' .* has raised its rights, or .*: the kernel tells no more of its mappings"
	said 'losses: 1 protected program, whose mappings were not told'
	! "$PERF" script -i r --show-mmap-events 2>/dev/null | grep "/$program" ||
		fail "the kernel does tell of $program"
}
untold raises 0 runuser -u "$USER_NAME-$$" -- ./raises -u
untold own "$user" ./own -u
untold secret "$user" runuser -u "$USER_NAME-$$" -- ./secret -u
