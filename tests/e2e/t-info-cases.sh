#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `auxrec info` says of files that are sound but strange: AUXTRACE_INFO of another length
# or kind, features and records of unknown number, directories, layouts that cannot be told.
set -u
: "${AUXREC:?}" "${E2E:?}"
. "$E2E/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
corpus=$E2E/../corpus

python3 - "$corpus" <<'END' || fail "cannot make the files"
import os, struct, sys

def record(kind, body, misc=0):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body

def attr(sample_type, flags, action=0, ident=1):
    a = struct.pack('<IIQQQQQ', 8, 120, 0, 1, sample_type, 4, flags).ljust(120, b'\0')
    a = a[:116] + struct.pack('<I', action)
    return record(64, a + struct.pack('<Q', ident))

def pipe(name, *records):
    with open(name, 'wb') as f:
        f.write(b'PERFILE2' + struct.pack('<Q', 16) + b''.join(records))

def aux_info(kind, words):
    return record(70, struct.pack('<II', kind, 0) + struct.pack('<%dQ' % len(words), *words))

def auxtrace(payload):
    return record(71, struct.pack('<QQQIIII', len(payload), 0, 0, 0, 0xffffffff, 0, 0)) + payload

ST, ALL = 0x10087, 1 << 18
trace = auxtrace(b'\x02\x82' * 8 + b'\0' * 8)
pt = [8, 31, 0, 5, 1] + [0] * 12
pipe('long', attr(ST, ALL), aux_info(1, pt + [0, 0, 0, 7, 7, 7, 7]), trace)
pipe('short', attr(ST, ALL), aux_info(1, pt[:3]), trace)
pipe('kind0', attr(ST, ALL), aux_info(0, [1, 2, 3]), trace)
pipe('kind99', attr(ST, ALL), aux_info(99, [1, 2, 3]), trace)
pipe('shift', attr(ST, ALL), aux_info(1, [8, 64, 3, 5, 1] + [0] * 12), trace)
pipe('paused', attr(ST, ALL, 1), attr(ST, ALL, 6, 2), attr(ST, ALL, 0x80000004, 3))
pipe('unknown', attr(ST, ALL), record(22, b'\0' * 40), record(60, b'\0' * 32), record(200, b''),
     record(200, b''), record(80, struct.pack('<QQ', 131, 0)),
     record(80, struct.pack('<QI8s', 3, 8, b'host')))
# Two layouts, and no id that tells them apart.
pipe('ambiguous', attr(0x7, ALL), attr(0x87, ALL, ident=2), record(14, b'\0' * 24),
     record(14, b'\0' * 16))
os.mkdir('dir')
with open(sys.argv[1] + '/quipper/perf.data.ctx_switch_namespaces-4.14', 'rb') as f:
    b = bytearray(f.read())
open('dir/data', 'wb').write(b)
END

info() {
	"$AUXREC" info "$1" >out 2>err || { cat err; fail "info $1 ends with $?"; }
	"$AUXREC" info --json "$1" >json || fail "info --json $1 ends with $?"
}
has() {
	grep -qE -- "$1" out || { cat out; fail "no '$1'"; }
}
is() { # EXPRESSION VALUE
	got=$(json json "$1")
	[ "$got" = "$2" ] || fail "$1 is $got, not $2"
}

info long
has '[1-9] of 24 words in AUXTRACE_INFO are not understood'
is 'd["aux_info"]["not_understood"] > 0' True
is 'd["aux_info"]["fields"]["time_shift"]' 31
is 'd["aux"][0]["pt"]["psb"]' 1
has 'no conversion to time: mult is 0 in AUXTRACE_INFO'
info short
is 'd["aux_info"]["fields"]["time_shift"]' 31
is 'd["aux"][0]["pt"]["psb"]' 1
info kind0
is 'd["aux_info"]["kind"]' 0
is 'd["aux"][0]["pt"]' None
is 'd["aux"][0]["bytes"]' 24
info kind99
has 'trace of kind 99'
is 'd["aux_info"]["words"]' 3
is 'd["aux_info"]["not_understood"]' 3
info shift
has 'no conversion to time: shift is 64 or more'
is 'd["time_conv"]["problem"]' 'shift is 64 or more'

info paused
has 'aux_start_paused$'
has 'aux_pause  aux_resume$'
has 'aux_resume  aux_action 0x80000000$'
is 'd["events"][2]["aux_action"]' "['aux_resume', 2147483648]"

info unknown
has '^ *2  type200$'
has '^ *1  type60$'
has '^ *1  CALLCHAIN_DEFERRED$'
has 'of unknown kind: 131'
is 'd["features"]' "['hostname', 131]"

info ambiguous
has 'ambiguous  of 2 records'
is 'd["records_untold"]' 2

info dir
has ', a directory'
is 'd["directory"]' dir
is 'd["parts"]' '[]'
