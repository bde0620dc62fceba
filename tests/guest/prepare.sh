#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prepare.sh KERNEL: make what run.sh boots, unless it is there: $O/guest/tools.cpio (busybox,
# perf), $O/guest/KERNEL/{vmlinuz,modules.cpio}. Ends with 77 and a reason as the last line
# when a package cannot be had. The newest kernel is fetched once; remove the folder for a
# newer one.
here=$(cd "$(dirname "$0")" && pwd)
unset MAKEFLAGS MFLAGS MAKEOVERRIDES # the caller's O= is not the kernel's
kernel=$1
cache=$O/guest
dir=$cache/$kernel

skip() {
	echo "$*"
	exit 77
}

# Debian's archive forgets old versions: the metapackage names the one of today.
newest() {
	apt-cache depends "$1" 2>/dev/null |
		sed -n 's/.*Depends: linux-image-\([0-9][^ ]*\)-cloud-amd64$/\1/p' | head -n 1
}

download() { # metapackage, kbuild's version unless it is the kernel's
	version=$(newest "$1")
	if [ -z "$version" ] && [ "$(id -u)" = 0 ]; then
		apt-get update -qq
		version=$(newest "$1")
	fi
	[ -n "$version" ] || skip "apt does not know $1"
	rm -rf "$dir/debs.part"
	mkdir -p "$dir/debs.part" || return 1
	# As root, apt wants to drop its privileges to a user who cannot write here.
	(cd "$dir/debs.part" && apt-get -o APT::Sandbox::User=root download \
		"linux-image-$version-cloud-amd64" "linux-headers-$version-cloud-amd64" \
		"linux-headers-$version-common" "linux-kbuild-${2:-$version}") ||
		skip "apt-get download of kernel $version failed"
	mv "$dir/debs.part" "$dir/debs"
}

# The headers' makefiles include each other by absolute path.
unpack() {
	rm -rf "$dir/tree"
	mkdir -p "$dir/tree" || return 1
	for deb in "$dir"/debs/*.deb; do
		dpkg -x "$deb" "$dir/tree" || return 1
	done
	sed -i "s#/usr/src/#$dir/tree/usr/src/#g" "$dir"/tree/usr/src/linux-headers-*/Makefile &&
		cp "$dir"/tree/boot/vmlinuz-* "$dir/vmlinuz"
}

build_module() {
	rm -rf "$dir/fakept"
	cp -r "$here/fakept" "$dir/fakept" || return 1
	for headers in "$dir"/tree/usr/src/linux-headers-*-cloud-amd64; do
		# No BTF for the module: that would need pahole and the kernel's own.
		nice make -s -C "$headers" M="$dir/fakept" CONFIG_DEBUG_INFO_BTF_MODULES= modules
	done
}

pack() { # folder, archive
	(cd "$1" && find . | cpio -o -H newc -R 0:0 --quiet) >"$2.part" && mv "$2.part" "$2"
}

# What the kernel needs to reach its disk, unless it is built in, and our module.
pack_modules() {
	root=$(mktemp -d) || return 1
	mkdir "$root/mod"
	for m in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk; do
		find "$dir/tree/lib/modules" -name "$m.ko" -exec cp {} "$root/mod/" \;
		find "$dir/tree/lib/modules" -name "$m.ko.xz" -exec busybox xzcat {} \; \
			>"$root/mod/$m.xz"
		[ ! -s "$root/mod/$m.xz" ] || mv "$root/mod/$m.xz" "$root/mod/$m.ko"
		rm -f "$root/mod/$m.xz"
	done
	strip -g -o "$root/mod/fakept.ko" "$dir/fakept/fakept.ko" &&
		pack "$root" "$dir/modules.cpio"
	status=$?
	rm -rf "$root"
	return $status
}

pack_tools() {
	root=$(mktemp -d) || return 1
	mkdir -p "$root/bin" "$root/sbin" "$root/proc" "$root/sys" "$root/dev" "$root/etc" "$root/root"
	echo root:x:0:0:root:/root:/bin/sh >"$root/etc/passwd"
	cp /bin/busybox "$root/bin/"
	for applet in $(/bin/busybox --list); do
		[ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"
	done
	perf=$(command -v perf) && "$here/with-libs.sh" "$root" /usr/bin "$perf"
	pack "$root" "$cache/tools.cpio"
	status=$?
	rm -rf "$root"
	return $status
}

# Is a source newer than what was made of it?
stale() { # product, source...
	product=$1
	shift
	[ ! -f "$product" ] || [ -n "$(find "$@" -newer "$product")" ]
}

case $kernel in
cloud61) meta=linux-image-cloud-amd64 kbuild=6.1 ;;
cloud612) meta=linux-image-6.12-cloud-amd64 kbuild='' ;;
*) echo "prepare.sh: no kernel '$kernel'" >&2; exit 2 ;;
esac
[ -d "$dir/debs" ] || download "$meta" "$kbuild" || exit 1
# The makefiles were changed for the place that they are at.
[ "$(cat "$dir/unpacked" 2>/dev/null)" = "$dir" ] || {
	unpack && echo "$dir" >"$dir/unpacked" || exit 1
}
if stale "$dir/modules.cpio" "$here/fakept" "$here/prepare.sh"; then
	build_module && pack_modules || exit 1
fi
if stale "$cache/tools.cpio" "$here/prepare.sh"; then
	pack_tools || exit 1
fi
