#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who may include whom: format/ and perfio/ know nobody, each external library has one place.
cd "$(dirname "$0")/.." || exit 1
bad=0

refuse() { # what, then grep arguments
	what=$1
	shift
	if out=$(grep -nE "$@"); then
		echo "$what:"
		echo "$out"
		bad=1
	fi
}

only() { # header, file that may include it
	out=$(grep -lE "#include <$1>" perfio/*.[ch] perfio/soft/*.[ch] format/*.[ch] recorder/*.[ch] recorder/*/*.[ch] |
		grep -vE "^($2)$")
	[ -z "$out" ] || { echo "<$1> belongs to $2, but is included by:"; echo "$out"; bad=1; }
}

refuse "format/ includes a neighbour" '#include "(perfio|recorder)/' format/*.[ch]
refuse "perfio/ includes a neighbour" '#include "(format|recorder)/' perfio/*.[ch] perfio/soft/*.[ch]
refuse "format/ includes a header that changes with the kernel" '#include <linux/' format/*.[ch]
refuse "a library prints" '\b(printf|puts|perror|fprintf)\(' format/*.c perfio/*.c perfio/soft/*.c
only 'jansson\.h' 'recorder/jtree\.[ch]'
only 'libelf\.h|gelf\.h' 'perfio/(buildid|elfsym)\.c'
only 'intel-pt\.h' 'perfio/soft/ptput\.c|recorder/decode/[a-z_]*\.[ch]'
only 'zstd\.h' 'format/(unz|zip)\.c'
only '(traceevent/)?event-parse\.h' 'recorder/tepfields\.c'
only 'Zydis/.*' 'perfio/soft/(insn|opdecode|stubdecode|isa)\.[ch]'
exit $bad
