#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command line of `auxrec recover`: which file it writes, when it refuses to, what it says
# and how it ends; that its input stays as it is, or is mended with --in-place.
: "${AUXREC:?}" "${PROG:?}" "${E2E:?}"
# shellcheck source=tests/e2e/lib.sh
. "$E2E/lib.sh"
CORPUS=$E2E/../corpus/derived
command -v python3 >/dev/null || skip "python3 is not installed"
[ -e "$CORPUS/group_desc.interrupted" ] || skip "tests/corpus is not there"

only() { # FILES...: the folder has these and nothing else of ours
	ls >listing
	for left in "$@" out err listing; do
		sed -i "/^$left\$/d" listing
	done
	[ ! -s listing ] || fail "left behind: $(cat listing)"
}

# Usage.
want 2 "$AUXREC" recover
said usage
cp "$CORPUS/group_desc.interrupted" torn
want 2 "$AUXREC" recover torn torn
want 2 "$AUXREC" recover --in-place -o x torn
want 2 "$AUXREC" recover -
want 2 "$AUXREC" recover -o - torn
said 'never to standard output'
want 2 "$AUXREC" recover --nonsense torn
only torn

# An interrupted file: all of it is there.
sum=$(cksum <torn)
chmod 640 torn
want 0 "$AUXREC" recover torn
[ "$(cksum <torn)" = "$sum" ] || fail "the input was changed"
[ "$(stat -c %a torn.recovered)" = 640 ] || fail "another mode"
grep -q 'incomplete; data.size was never stored' out || fail "not said to be incomplete"
grep -q '50 records' out || fail "not 50 records"
grep -q 'wrote.*torn.recovered' out || fail "the name is not said"
want 1 "$AUXREC" recover torn
said 'torn.recovered'
said 'force'
want 0 "$AUXREC" recover --force torn
[ -e torn.recovered.old ] || fail "the earlier file is not kept"
want 0 "$AUXREC" recover torn -o y --json
[ "$(json out 'd["output"], d["records"]["whole"], d["state"]')" = "('y', 50, 'incomplete')" ] ||
	fail "JSON: $(cat out)"
cmp torn.recovered y || fail "two runs, two files"
want 0 "$AUXREC" recover -o z - <torn
cmp y z || fail "another file from standard input"
# shellcheck disable=SC2002,SC2016 # a real pipe
want 0 sh -c 'cat torn | "$1" recover -o p -' sh "$AUXREC"
cmp y p || fail "another file from a pipe"
want 1 "$AUXREC" recover -o torn torn
said 'in-place'
rm -f torn.recovered* y z p

# A sound one is left alone, but for -o.
want 0 "$AUXREC" recover -o sound torn
want 0 "$AUXREC" recover sound
grep -q 'sound, sound$' out || fail "not said to be sound"
only torn sound
want 0 "$AUXREC" recover --in-place sound
want 0 "$AUXREC" recover -o copy sound
cmp sound copy || fail "a copy of what recover wrote is another file"
rm copy

# A sound capture through a pipe: nothing is said to be done until there is a file to write.
cp "$CORPUS/../quipper/perf.data.piped.intel_pt-4.14" sent
sum=$(cksum <sent)
want 0 "$AUXREC" recover sent
grep -q '^file  *sent, sound, pipe form$' out || fail "a sound pipe: $(cat out)"
grep -q '^nothing  *to mend; -o OUT makes a finished file' out || fail "no advice: $(cat out)"
grep -q '^\(rebuilt\|kept\|wrote\)' out && fail "said to be done: $(cat out)"
want 0 "$AUXREC" recover --json sent
[ "$(json out 'd["features"]["rebuilt"], d["output"]')" = "([], None)" ] || fail "$(cat out)"
want 0 "$AUXREC" recover --in-place sent
[ "$(cksum <sent)" = "$sum" ] || fail "a sound pipe was changed in place"
only torn sound sent
want 0 "$AUXREC" recover -o made sent
grep -q '^rebuilt  *features: .*auxtrace' out || fail "no index: $(cat out)"
grep -q '^wrote  *made, in header form$' out || fail "not said what it is: $(cat out)"
[ "$(od -An -tu8 -j8 -N8 made | tr -d ' ')" = 104 ] || fail "not in header form"
want 0 "$AUXREC" check --json made
"$AUXREC" info --json sent >a.json && "$AUXREC" info --json made >b.json
python3 - <<'END' || fail "the file says something else than the pipe"
import json
a, b = json.load(open('a.json')), json.load(open('b.json'))
for gone in 'HEADER_ATTR', 'HEADER_FEATURE':
    a['records'].pop(gone, 0)
assert (a['form'], b['form'], b['finished']) == ('pipe', 'file', True)
assert a['records'] == b['records'], (a['records'], b['records'])
assert [q['bytes'] for q in a['aux']] == [q['bytes'] for q in b['aux']]
END
rm sent made a.json b.json

# In place: the very file, mended where it is; and one that must be written anew.
inode=$(stat -c %i torn)
want 0 "$AUXREC" recover --in-place --json torn
[ "$(json out 'd["patched"]')" = True ] || fail "not mended where it is"
[ "$(stat -c %i torn)" = "$inode" ] || fail "another file has its name"
want 0 "$AUXREC" recover torn
grep -q 'torn, sound$' out || fail "what was mended in place is not sound"
cp "$CORPUS/piped.intel_pt.killed" pipe
chmod 604 pipe
ln -s pipe link
want 4 "$AUXREC" recover --in-place --json link
[ "$(json out 'd["patched"], d["form"]')" = "(False, 'pipe')" ] || fail "a pipe was patched"
[ "$(stat -c %a pipe)" = 604 ] || fail "the mode was lost"
[ -L link ] || fail "the link was replaced"
want 0 "$AUXREC" recover link
grep -q 'link, sound$' out || fail "a pipe does not become a sound file"
only torn sound pipe link

# Where nothing is recovered nothing is written.
: >empty
want 1 "$AUXREC" recover empty
echo 'no recording, but some text of a few words' >text
want 1 "$AUXREC" recover text
said PERFILE2
printf '2ELIFREP\0\0\0\0\0\0\0\150' >big
want 1 "$AUXREC" recover big
said little-endian
head -c 300 sound >start
want 1 "$AUXREC" recover start
want 1 "$AUXREC" recover --in-place start
[ "$(wc -c <start)" = 300 ] || fail "--in-place changed what it could not mend"
mkdir dir
want 1 "$AUXREC" recover dir
said "no file 'data'"
want 1 "$AUXREC" recover missing
want 1 "$AUXREC" recover -o /nonexistent/x torn
only torn sound pipe link empty text big start dir

# Sizes that cannot be: none of them is taken for what is missing.
python3 - torn "$CORPUS/piped.intel_pt.killed" <<'EOF' || fail "cannot make the files"
import struct, sys
b = bytearray(open(sys.argv[1], 'rb').read())
struct.pack_into('<4Q', b, 72, 0, 0, 0, 0)
end = struct.unpack_from('<Q', b, 40)[0] + struct.unpack_from('<Q', b, 48)[0]
for name, size in ('ones', 2**64 - 1), ('least', 2**63 - struct.unpack_from('<Q', b, 40)[0]):
    struct.pack_into('<Q', b, 48, size)
    open(name, 'wb').write(b[:end])
b = bytearray(open(sys.argv[2], 'rb').read())
at = last = 16
while at < len(b):
    kind, size = struct.unpack_from('<IxxH', b, at)
    last = at if kind == 71 else last
    at += size + (struct.unpack_from('<Q', b, at + 8)[0] if kind == 71 else 0)
struct.pack_into('<Q', b, last + 8, 2**64 - 8)
open('trace', 'wb').write(b)
EOF
for size in ones least; do
	want 0 "$AUXREC" recover --json -o new --force $size
	[ "$(json out 'd["data"]["impossible"], d["data"]["missing"], d["state"]')" = \
		"(True, 0, 'incomplete')" ] || fail "$size: $(cat out)"
	want 0 "$AUXREC" recover $size
	grep -q 'data.size [0-9]* is more than a file can have$' out || fail "$size: $(cat out)"
	want 0 "$AUXREC" check new
done
want 4 "$AUXREC" recover --json -o new --force trace
[ "$(json out 'd["trace"]["cut"], d["trace"]["missing"]')" = "(1, 0)" ] || fail "$(cat out)"
want 4 "$AUXREC" recover -o new --force trace
grep -q 'a size of trace that a file can hold' out || fail "trace: $(cat out)"
grep -q 18446744 out && fail "what cannot be is counted: $(cat out)"
rm -f new new.old ones* least* trace

# Text that got in, as when both outputs of perf went into one file.
cp "$CORPUS/../linux-perf-data/sleep.compressed2.pipe.data" text
want 4 "$AUXREC" recover --json -o new text
[ "$(json out 'd["dropped"]')" = \
	"[{'at': 31808, 'bytes': 143, 'expected': 'a record, not text'}]" ] || fail "$(cat out)"
[ "$(json out 'd["records"]["compressed"]')" = 13 ] || fail "compressed: $(cat out)"

# A full disk.
# shellcheck disable=SC2016
want 1 sh -c 'ulimit -f 4; trap "" XFSZ; "$1" recover -o small text' sh "$AUXREC"
[ ! -e small ] || fail "half a file has a name"

# A file above 4 GiB whose recorder was killed: mended in place, in little memory.
python3 - sound huge <<'EOF' || fail "cannot make a huge file"
import struct, sys
b = open(sys.argv[1], 'rb').read()
data, = struct.unpack_from('<Q', b, 40)
size = (1 << 32) + (1 << 20) + 8
head = bytearray(b[:data])
struct.pack_into('<Q', head, 48, 0)
head[72:104] = bytes(32)
f = open(sys.argv[2], 'wb')
f.write(head)
f.write(struct.pack('<IHHQQQIIII', 71, 0, 48, size, 0, 0, 0, 2**32 - 1, 0, 0))
f.seek(size, 1)
f.write(struct.pack('<IHH', 68, 0, 8) * 11)
EOF
grep -q __asan_init "$AUXREC" && limit=unlimited || limit=6000000 # its shadow alone is larger
# shellcheck disable=SC2016
want 0 sh -c 'ulimit -v $2; exec "$1" recover --json --in-place huge' sh "$AUXREC" "$limit"
[ "$(json out 'd["records"]["whole"], d["trace"]["bytes"], d["patched"]')" = \
	"(12, 4296015880, True)" ] || fail "huge: $(cat out)"
[ "$(du -k huge | cut -f 1)" -lt 1000 ] || fail "a hole was filled"
want 0 "$AUXREC" recover huge
grep -q 'huge, sound$' out || fail "huge: not sound: $(cat out)"
