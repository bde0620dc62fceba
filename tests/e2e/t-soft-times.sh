#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The terms about time: no decoder finds other instructions or values for them, nor a time that is
# wrong by more than the packets leave open.
set -eu
. "$E2E/soft.sh"
soft_begin
. "$E2E/packets.sh"

same mtc ptw,mtc,mtc_period=9 20480
has mtc MTC TMA
same mtc15 ptw,fup_on_ptw,mtc,mtc_period=15 1310720

same cyc ptw,cyc 0
has cyc 'CYC 0x'
same cyct ptw,fup_on_ptw,cyc,cyc_thresh=12 2048
same both ptw,cyc,mtc,mtc_period=12,psb_period=0,noretcomp 0
same dense ptw,mtc,mtc_period=0 40
same stepped ptw,cyc,mtc,mtc_period=9,psb_period=0 0 --soft-step
same timeless tsc=0,mtc,cyc
same plain ptw
# Times that are not there are missed.
! "$E2E/ptwrites.py" plain/perf.data plain/out plain/ptflow 0 >said ||
	soft_fail "times of a trace without cycles are taken for exact"
