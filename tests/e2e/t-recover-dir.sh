#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `auxrec recover` of a recording that is a directory, as perf record --threads makes them: every
# part is mended, the head says that there are parts, and stock perf reads what comes out.
. "$E2E/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
need_perf
# Enough samples for each of the parts; a cpu that has none leaves its part empty.
"$PERF" record -q --threads -F 2000 -e cpu-clock:u -o good -- "$PROG/spin" 20000000 \
	>/dev/null 2>err || skip "perf cannot record with threads: $(tail -n 1 err)"
[ -s good/data.0 ] || [ -s good/data.1 ] || skip "perf made no parts"
big=$(find good -name 'data.*' -size +2k | sort | head -n 1)
[ -n "$big" ] || skip "no part has enough records"
part=${big#good/}

samples() { # DIR: how many stock perf finds
	"$PERF" script -i "$1" 2>/dev/null | wc -l
}
n=$(samples good)
[ "$n" -gt 10 ] || skip "only $n samples"

# hold NEW FROM TO: the file has the records of the good part but those that have a byte of FROM
# to TO, told by a walk of its own.
hold() {
	python3 - "$big" "$@" <<'END'
import struct, sys
good, new = (open(p, 'rb').read() for p in sys.argv[1:3])
hole, end = map(int, sys.argv[3:5])
want, at = b'', 0
while at < len(good):
    size = struct.unpack_from('<H', good, at + 6)[0]
    if at + size <= hole or at >= end:
        want += good[at:at + size]
    at += size
assert want == new, (len(want), len(new))
END
}

# Parts that are taken away are missed by check, whichever they are.
want 0 "$AUXREC" check good
for gone in good/data.*; do
	rm -rf less
	cp -r good less
	rm "less/${gone#good/}"
	want 1 "$AUXREC" check less
	grep -q '^damage  *part-missing' out || fail "without ${gone#good/}: $(cat out)"
done

# So is one in whose place something else stands, which perf passes over; one that cannot be
# opened is named.
rm -rf less
cp -r good less
rm "less/$part"
mkfifo "less/$part"
want 1 "$AUXREC" check less
grep -q '^damage  *part-missing' out || fail "a fifo: $(cat out)"
rm "less/$part"
ln -s nowhere "less/$part"
for cmd in info check dump recover 'export --to=libipt -o x'; do
	# shellcheck disable=SC2086
	want 1 "$AUXREC" $cmd less
	said "cannot read 'less/$part': No such file or directory"
done

# Sound: nothing is written.
want 0 "$AUXREC" recover good
grep -q '^nothing  *to mend' out || fail "sound: $(cat out)"
[ ! -e good.recovered ] || fail "a sound directory was written anew"
want 0 "$AUXREC" recover -o copy good/
for f in good/data.*; do
	cmp "$f" "copy/${f#good/}" || fail "a sound part is another"
done
[ "$(samples copy)" = "$n" ] || fail "a copy has $(samples copy) samples, not $n"

# Cut: every whole record of the part, and the others as they were.
size=$(wc -c <"$big")
half=$((size / 2))
for cut in 1 $((half - half % 8 + 4)) $((size - 5)); do
	rm -rf cut cut.recovered
	cp -r good cut
	truncate -s "$cut" "cut/$part"
	chmod 640 "cut/$part"
	chmod 750 cut
	find cut -type f -exec cksum {} + | sort >before
	# The other commands name the part, and the place in it.
	for cmd in info dump; do
		want 1 "$AUXREC" $cmd cut
		said "^auxrec: 'cut/$part' at byte [0-9]+ .*: expected "
	done
	place=$(sed -n "s/^auxrec: 'cut.* at byte \([0-9]*\) .*/\1/p" err)
	want 1 "$AUXREC" info --json cut
	[ "$(json out '[(f["file"], f["at"]) for f in d["faults"]]')" = \
		"[('cut/$part', $place)]" ] || fail "info: $(tail -n 9 out)"
	want 1 "$AUXREC" check cut
	grep -q "^damage .*in cut/$part at byte $place " out || fail "check: $(cat out)"
	want 4 "$AUXREC" recover cut
	find cut -type f -exec cksum {} + | sort | cmp - before || fail "the input was changed"
	grep -q "^part  *cut/$part, damaged" out || fail "the part is not named: $(cat out)"
	grep -q "^wrote  *cut.recovered$" out || fail "not said what was written: $(cat out)"
	hold "cut.recovered/$part" "$cut" "$size" || fail "cut at $cut"
	[ "$(stat -c %a cut.recovered "cut.recovered/$part" | tr '\n' ' ')" = "750 640 " ] ||
		fail "other modes"
	want 0 "$AUXREC" check cut.recovered
	perf_accepts cut.recovered
done
want 1 "$AUXREC" recover cut
said "cannot write 'cut.recovered'"
# A directory that is named by what is in it.
mkdir there
cp -r cut there/
(cd there/cut && exec "$AUXREC" recover ./) >out 2>err
[ -d there/cut.recovered ] || fail "beside '.': $(cat err; find there)"
[ "$(find there/cut | wc -l)" = "$(find cut | wc -l)" ] || fail "in it: $(find there)"
want 4 "$AUXREC" recover --force --json cut/
[ -d cut.recovered.old ] || fail "the earlier directory is not kept"
[ "$(json out '[p["file"] for p in d["parts"] if p["state"] == "damaged"]')" = \
	"['cut/$part']" ] || fail "JSON: $(cat out)"
[ "$(json out 'd["output"], d["directory"]')" = "('cut.recovered', 'cut')" ] ||
	fail "JSON: $(cat out)"

# A hole of two records and the header of a third, mended in place; a part that is sound is not
# touched.
rm -rf hole
cp -r good hole
python3 - "hole/$part" >where <<'END'
import struct, sys
b, at = bytearray(open(sys.argv[1], 'rb').read()), [0]
while at[-1] < len(b):
    at.append(at[-1] + struct.unpack_from('<H', b, at[-1] + 6)[0])
k = len(at) // 2
b[at[k]:at[k + 2] + 8] = bytes(at[k + 2] + 8 - at[k])
open(sys.argv[1], 'wb').write(b)
print(at[k], at[k + 2] + 8)
END
inodes=$(stat -c %i hole/data hole/data.* | tr '\n' ' ')
want 4 "$AUXREC" recover --in-place hole
read -r from to <where
hold "hole/$part" "$from" "$to" || fail "a hole"
same=0
for i in $(stat -c %i hole/data hole/data.*); do
	case " $inodes " in *" $i "*) same=$((same + 1)) ;; esac
done
[ "$same" = "$(($(echo "$inodes" | wc -w) - 1))" ] || fail "sound files were replaced"
want 0 "$AUXREC" check hole

# perf was killed: no data.size, no features, and nobody knows of the parts.
rm -rf killed
cp -r good killed
python3 - killed/data <<'END'
import struct, sys
b = bytearray(open(sys.argv[1], 'rb').read())
at, size = struct.unpack_from('<QQ', b, 40)
struct.pack_into('<Q', b, 48, 0)
open(sys.argv[1], 'wb').write(b[:at + size])
END
# The other commands read them all the same.
want 0 "$AUXREC" info --json good
whole=$(json out 'd["records"], len(d["parts"])')
want 0 "$AUXREC" info --json killed
[ "$(json out 'd["records"], len(d["parts"])')" = "$whole" ] || fail "info: $(cat out)"
want 0 "$AUXREC" info killed
end=$(wc -c <killed/data)
grep -q "^finished  *no; .* byte $end of $end of 'data'$" out || fail "info: $(cat out)"
want 4 "$AUXREC" check killed
grep -q "^remark  *parts " out || fail "check: $(cat out)"
[ "$("$AUXREC" dump killed | grep -c SAMPLE)" = "$("$AUXREC" dump good | grep -c SAMPLE)" ] ||
	fail "dump leaves out samples"
mkdir killed/kcore_dir
echo code >killed/kcore_dir/kcore
want 0 "$AUXREC" recover -o alive killed
grep -q '^rebuilt .*dir format' out || fail "no mark of parts: $(cat out)"
[ "$(samples alive)" = "$n" ] || fail "$(samples alive) samples, not $n"
cmp killed/kcore_dir/kcore alive/kcore_dir/kcore || fail "the kernel's code is not copied"
want 0 "$AUXREC" recover --in-place killed
[ "$(samples killed)" = "$n" ] || fail "in place: $(samples killed) samples, not $n"

# One file of a directory is not the recording.
for file in data "$part"; do
	want 1 "$AUXREC" recover "cut/$file"
	said "'cut/$file' is one file of the recording 'cut'"
	said "auxrec recover 'cut'"
	[ ! -e "cut/$file.recovered" ] || fail "half of a recording was written"
done
mkdir other
want 1 "$AUXREC" recover other
said "no file 'data'"
want 1 "$AUXREC" recover --in-place other
want 1 "$AUXREC" recover -o cut cut
said 'is the directory itself'
[ -z "$(find . -name '*.tmp')" ] || fail "left behind: $(ls)"
