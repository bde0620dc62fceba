#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Boot a Debian kernel with the fakept module in QEMU (no KVM needed) and run tests in it.
#
#   run.sh [-k cloud61|cloud612] [-s VCPUS] [-m MIB] [-o OUTDIR] -t TEST.sh [-t TEST.sh ...]
#
# A test has two halves, see lib.sh; any other script just runs in the guest. What it leaves in
# its directory there comes back as OUTDIR/TEST (default: under $O/guest). Exit status: of the
# first test that failed; 77 and a reason when QEMU or the kernel cannot be had.
#
# Packages, module and file systems are kept under $O/guest ($O: build). Nothing but QEMU,
# busybox and cpio is installed; kernels are unpacked there, from Debian packages of apt's.
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
kernel=cloud61 vcpus=2 mem=1024 tests='' names='' out=''
while getopts k:s:m:t:o: opt; do
	case $opt in
	k) kernel=$OPTARG ;;
	s) vcpus=$OPTARG ;;
	m) mem=$OPTARG ;;
	t) tests="$tests $OPTARG" ;;
	o) out=$OPTARG ;;
	*) exit 2 ;;
	esac
done
[ -n "$tests" ] || { echo "run.sh: no -t" >&2; exit 2; }
mkdir -p "${O:-$top/build}/guest" || exit 1
O=$(cd "${O:-$top/build}" && pwd)
cache=$O/guest
export TOOLS="$O/tools" PROG="$O/prog" AUXREC="$O/bin/auxrec" PERF="${PERF:-perf}"
export GUEST="$here" O
: "${out:=$cache/out-$kernel}"
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/guest.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
qemu=
trap 'kill $qemu 2>/dev/null; exit 1' INT TERM

skip() {
	echo "$*"
	exit 77
}

"$top/tests/deps.sh" qemu-system-x86 busybox-static cpio ||
	skip "QEMU, busybox or cpio cannot be installed"
[ -x "$AUXREC" ] || { echo "run.sh: no $AUXREC: run make first" >&2; exit 1; }
# Two runs must not fill the same cache at the same time.
flock "$cache" sh "$here/prepare.sh" "$kernel" >"$work/prepare.log" 2>&1
case $? in
0) ;;
77) skip "$(tail -n 1 "$work/prepare.log")" ;;
*) cat "$work/prepare.log"; exit 1 ;;
esac

# ---- what differs from run to run: the program, the tests, what they carry along ----
root=$work/root
mkdir -p "$root/test" "$root/carry" "$root/usr/bin" "$root$PROG"
cp "$here/init" "$root/init"
cp "$here/lib.sh" "$root/test/"
cp -r "$PROG/." "$root$PROG/" # at the same path: files name it, decoders look for it
"$here/with-libs.sh" "$root" /usr/bin "$AUXREC"
for t in $tests; do
	[ -f "$t" ] || t=$here/$t
	[ -f "$t" ] || { echo "run.sh: no test $t" >&2; exit 2; }
	name=${t##*/}
	cp "$t" "$root/test/$name"
	names="$names $name"
	rm -rf "${out:?}/${name%.sh}"
	if grep -q '^prepare()' "$t"; then
		mkdir "$root/carry/${name%.sh}"
		(cd "$root/carry/${name%.sh}" && sh "$root/test/$name" prepare) || exit
	fi
done
echo "$names" >"$root/test/list"
echo "$PROG" >"$root/test/prog"
(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet) >"$work/run.cpio" || exit 1
cat "$cache/tools.cpio" "$cache/$kernel/modules.cpio" "$work/run.cpio" >"$work/initrd"

# ---- the boot ----
# GenuineIntel: perf asks the vendor before it believes in a PMU named intel_pt.
# tsc=reliable: the perf clock is then one that the TSC converts to.
# An emulated kernel may hang before its first process, whatever runs there: boot it again then.
boot() {
	truncate -s 0 "$work/disk"
	truncate -s 1G "$work/disk"
	timeout -k 10 "${GUEST_TIMEOUT:-400}" qemu-system-x86_64 -M pc -accel tcg,thread=multi \
		-cpu max,vendor=GenuineIntel,family=6,model=94,stepping=3 \
		-smp "$vcpus" -m "$mem" -nodefaults -no-reboot -display none -serial stdio \
		-kernel "$cache/$kernel/vmlinuz" -initrd "$work/initrd" -append "console=ttyS0 \
		quiet mitigations=off nokaslr panic=-1 no_timer_check tsc=reliable" \
		-drive "file=$work/disk,format=raw,if=none,id=o,cache=unsafe" \
		-device virtio-blk-pci,drive=o </dev/null >"$out/serial" 2>&1 &
	qemu=$!
	for _ in $(seq 100); do
		if grep -q '^== ' "$out/serial" || [ ! -e "/proc/$qemu/exe" ]; then
			break
		fi
		sleep 1
	done
	grep -q '^== ' "$out/serial" || kill $qemu 2>/dev/null
	wait $qemu 2>/dev/null
	tr -d '\r' <"$out/serial" >"$out/console"
	grep -q '^== ' "$out/console"
}

boot || { echo "no word of the guest within 100 s: again"; boot; }
cat "$out/console"
if ! grep -q '^== guest is done' "$out/console" || ! tar xf "$work/disk" -C "$out"; then
	echo "the guest did not come to its end"
	exit 1
fi
if grep -E 'WARNING:|BUG:|Oops|Call Trace' "$out/dmesg"; then
	echo "the guest's kernel complained: $out/dmesg"
	exit 1
fi

# ---- the host's halves ----
status=0
for t in $names; do
	name=${t%.sh}
	got=$(cat "$out/$name/status" 2>/dev/null) || got=1
	if [ "$got" = 0 ] && grep -q '^host()' "$root/test/$t"; then
		echo "== $name, on the host"
		(cd "$out/$name" && sh "$root/test/$t" host) 2>&1
		got=$?
	fi
	echo "$name: status $got"
	[ "$status" != 0 ] || status=$got
done
exit "$status"
