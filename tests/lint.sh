#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Slips that have bitten others: the sign of an error, a missing licence line, shell traps,
# files that grew too long.
cd "$(dirname "$0")/.." || exit 1
bad=0

complain() {
	[ -z "$2" ] && return
	echo "$1:"
	echo "$2"
	bad=1
}

py=$(git ls-files '*.py' 2>/dev/null)
src=$(git ls-files '*.c' '*.h' 2>/dev/null || find . -name '*.[ch]' -not -path './build*')
# shellcheck disable=SC2086 # lists of words, throughout
{
complain "an error returned with the wrong sign" "$(grep -nE 'return E[A-Z0-9]+;|errno = -' $src)"
complain "-1 for an error" "$(grep -nE 'return -1;' format/*.c perfio/*.c perfio/soft/*.c)"
complain "a // comment" "$(grep -nE '(^|[;{}])[[:space:]]*//' $src)"
complain "no SPDX line" "$(grep -LE 'SPDX-License-Identifier: Apache-2.0' $src Makefile .ci/run tests/*.sh tests/*/*.sh $py 2>/dev/null)"
complain "over 800 lines" "$(wc -l $src | awk '$2 != "total" && $1 > 800')"
complain "over 100 columns" "$(for f in $src; do
	expand "$f" | awk -v f="$f" 'length > 100 { print f ": line " FNR }'
done)"
complain "a function over 80 lines" "$(awk '/^\{/ { s = FNR }
	/^\}/ && s { if (FNR - s > 81) print FILENAME ": line " FNR; s = 0 }' $src)"
complain "shellcheck" "$(shellcheck -x .ci/run tests/*.sh tests/*/*.sh 2>&1)"
}
exit $bad
