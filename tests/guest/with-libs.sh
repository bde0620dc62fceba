#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with-libs.sh ROOT FOLDER PROGRAM: copy a program into ROOT/FOLDER, and the shared libraries
# that it loads to where it looks for them.
root=$1 folder=$2 program=$3
mkdir -p "$root$folder"
cp -L "$program" "$root$folder/" || exit 1
ldd "$program" 2>/dev/null | sed -n 's/^[^/]*\(\/[^ ]*\).*/\1/p' | while read -r lib; do
	[ -e "$root$lib" ] && continue
	mkdir -p "$root${lib%/*}"
	cp -L "$lib" "$root$lib"
done
