#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install the Debian packages named as arguments that are missing. Needs no network, and
# does nothing, when all are there.
missing=
for p in "$@"; do
	case $(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null) in
	installed) ;;
	*) missing="$missing $p" ;;
	esac
done
[ -n "$missing" ] || exit 0
echo "installing:$missing"
sudo=
if [ "$(id -u)" != 0 ]; then
	sudo=$(command -v sudo) || {
		echo "missing packages:$missing" >&2
		echo "as root: apt-get install$missing" >&2
		exit 1
	}
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of words
$sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1 && exit 0
# shellcheck disable=SC2086
{ $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends $missing; } >/dev/null || {
	echo "could not install:$missing" >&2
	exit 1
}
