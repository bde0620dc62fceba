/* SPDX-License-Identifier: Apache-2.0 */
/* The bits that have names: [uapi] and [perf] of format/abi.h, up to Linux 6.19. */
#include "format/abi.h"
#include "format/fields_priv.h"

#define BIT(n)	      (UINT64_C(1) << (n))
#define NAMED(n, word) { BIT(n), BIT(n), word }
#define END	      { 0, 0, NULL }

const struct fmt_flag fmt_sample_type_flags[] = {
	NAMED(0, "IP"),
	NAMED(1, "TID"),
	NAMED(2, "TIME"),
	NAMED(3, "ADDR"),
	NAMED(4, "READ"),
	NAMED(5, "CALLCHAIN"),
	NAMED(6, "ID"),
	NAMED(7, "CPU"),
	NAMED(8, "PERIOD"),
	NAMED(9, "STREAM_ID"),
	NAMED(10, "RAW"),
	NAMED(11, "BRANCH_STACK"),
	NAMED(12, "REGS_USER"),
	NAMED(13, "STACK_USER"),
	NAMED(14, "WEIGHT"),
	NAMED(15, "DATA_SRC"),
	NAMED(16, "IDENTIFIER"),
	NAMED(17, "TRANSACTION"),
	NAMED(18, "REGS_INTR"),
	NAMED(19, "PHYS_ADDR"),
	NAMED(20, "AUX"),
	NAMED(21, "CGROUP"),
	NAMED(22, "DATA_PAGE_SIZE"),
	NAMED(23, "CODE_PAGE_SIZE"),
	NAMED(24, "WEIGHT_STRUCT"),
	END,
};

const struct fmt_flag fmt_read_format_flags[] = {
	NAMED(0, "TOTAL_TIME_ENABLED"),
	NAMED(1, "TOTAL_TIME_RUNNING"),
	NAMED(2, "ID"),
	NAMED(3, "GROUP"),
	NAMED(4, "LOST"),
	END,
};

const struct fmt_flag fmt_branch_type_flags[] = {
	NAMED(0, "USER"),
	NAMED(1, "KERNEL"),
	NAMED(2, "HV"),
	NAMED(3, "ANY"),
	NAMED(4, "ANY_CALL"),
	NAMED(5, "ANY_RETURN"),
	NAMED(6, "IND_CALL"),
	NAMED(7, "ABORT_TX"),
	NAMED(8, "IN_TX"),
	NAMED(9, "NO_TX"),
	NAMED(10, "COND"),
	NAMED(11, "CALL_STACK"),
	NAMED(12, "IND_JUMP"),
	NAMED(13, "CALL"),
	NAMED(14, "NO_FLAGS"),
	NAMED(15, "NO_CYCLES"),
	NAMED(16, "TYPE_SAVE"),
	NAMED(17, "HW_INDEX"),
	NAMED(18, "PRIV_SAVE"),
	NAMED(19, "COUNTERS"),
	END,
};

/* precise_ip, two bits of the same word, is a field of its own. */
const struct fmt_flag fmt_attr_flag_names[] = {
	NAMED(0, "disabled"),
	NAMED(1, "inherit"),
	NAMED(2, "pinned"),
	NAMED(3, "exclusive"),
	NAMED(4, "exclude_user"),
	NAMED(5, "exclude_kernel"),
	NAMED(6, "exclude_hv"),
	NAMED(7, "exclude_idle"),
	NAMED(8, "mmap"),
	NAMED(9, "comm"),
	NAMED(10, "freq"),
	NAMED(11, "inherit_stat"),
	NAMED(12, "enable_on_exec"),
	NAMED(13, "task"),
	NAMED(14, "watermark"),
	NAMED(17, "mmap_data"),
	NAMED(18, "sample_id_all"),
	NAMED(19, "exclude_host"),
	NAMED(20, "exclude_guest"),
	NAMED(21, "exclude_callchain_kernel"),
	NAMED(22, "exclude_callchain_user"),
	NAMED(23, "mmap2"),
	NAMED(24, "comm_exec"),
	NAMED(25, "use_clockid"),
	NAMED(26, "context_switch"),
	NAMED(27, "write_backward"),
	NAMED(28, "namespaces"),
	NAMED(29, "ksymbol"),
	NAMED(30, "bpf_event"),
	NAMED(31, "aux_output"),
	NAMED(32, "cgroup"),
	NAMED(33, "text_poke"),
	NAMED(34, "build_id"),
	NAMED(35, "inherit_thread"),
	NAMED(36, "remove_on_exec"),
	NAMED(37, "sigtrap"),
	NAMED(38, "defer_callchain"),
	NAMED(39, "defer_output"),
	END,
};

const struct fmt_flag fmt_aux_action_flags[] = {
	NAMED(0, "aux_start_paused"),
	NAMED(1, "aux_pause"),
	NAMED(2, "aux_resume"),
	END,
};

const struct fmt_flag fmt_aux_flags[] = {
	NAMED(0, "TRUNCATED"), NAMED(1, "OVERWRITE"), NAMED(2, "PARTIAL"),
	NAMED(3, "COLLISION"), END,
};

const struct fmt_flag fmt_ksymbol_flags[] = { NAMED(0, "UNREGISTER"), END };

const struct fmt_flag fmt_txn_flags[] = {
	NAMED(0, "ELISION"),	    NAMED(1, "TRANSACTION"),   NAMED(2, "SYNC"),
	NAMED(3, "ASYNC"),	    NAMED(4, "RETRY"),	       NAMED(5, "CONFLICT"),
	NAMED(6, "CAPACITY_WRITE"), NAMED(7, "CAPACITY_READ"), END,
};

/* The low bits of the third word of struct perf_branch_entry. */
const struct fmt_flag fmt_branch_flags[] = {
	NAMED(0, "mispred"), NAMED(1, "predicted"), NAMED(2, "in_tx"),
	NAMED(3, "abort"),   END,
};

#define CPUMODE(v, word) { FMT_MISC_CPUMODE_MASK, v, word }
#define MISC_COMMON                                                             \
	CPUMODE(FMT_MISC_KERNEL, "KERNEL"), CPUMODE(FMT_MISC_USER, "USER"),     \
		CPUMODE(FMT_MISC_HYPERVISOR, "HYPERVISOR"),                     \
		CPUMODE(FMT_MISC_GUEST_KERNEL, "GUEST_KERNEL"),                 \
		CPUMODE(FMT_MISC_GUEST_USER, "GUEST_USER"),                     \
		NAMED(12, "PROC_MAP_PARSE_TIMEOUT")
#define MISC_LAST NAMED(15, "EXT_RESERVED"), END

static const struct fmt_flag misc_plain[] = { MISC_COMMON, MISC_LAST };
static const struct fmt_flag misc_mmap[] = { MISC_COMMON, NAMED(13, "MMAP_DATA"),
					     MISC_LAST };
static const struct fmt_flag misc_mmap2[] = { MISC_COMMON, NAMED(13, "MMAP_DATA"),
					      NAMED(14, "MMAP_BUILD_ID"), MISC_LAST };
static const struct fmt_flag misc_comm[] = { MISC_COMMON, NAMED(13, "COMM_EXEC"),
					     MISC_LAST };
static const struct fmt_flag misc_fork[] = { MISC_COMMON, NAMED(13, "FORK_EXEC"),
					     MISC_LAST };
static const struct fmt_flag misc_switch[] = { MISC_COMMON, NAMED(13, "SWITCH_OUT"),
					       NAMED(14, "SWITCH_OUT_PREEMPT"), MISC_LAST };
static const struct fmt_flag misc_sample[] = { MISC_COMMON, NAMED(14, "EXACT_IP"),
					       MISC_LAST };
static const struct fmt_flag misc_lost[] = { MISC_COMMON, NAMED(15, "LOST_SAMPLES_BPF"),
					     END };
static const struct fmt_flag misc_build_id[] = { MISC_COMMON, NAMED(15, "BUILD_ID_SIZE"),
						 END };
static const struct fmt_flag misc_none[] = { END };

const struct fmt_flag *fmt_misc_flags(uint32_t type)
{
	switch (type) {
	case FMT_REC_MMAP:
		return misc_mmap;
	case FMT_REC_MMAP2:
		return misc_mmap2;
	case FMT_REC_COMM:
		return misc_comm;
	case FMT_REC_FORK:
		return misc_fork;
	case FMT_REC_SWITCH:
	case FMT_REC_SWITCH_CPU_WIDE:
		return misc_switch;
	case FMT_REC_SAMPLE:
		return misc_sample;
	case FMT_REC_LOST_SAMPLES:
		return misc_lost;
	case FMT_REC_HEADER_BUILD_ID:
		return misc_build_id;
	}
	/* perf 4 and older left theirs unset, whatever was in memory. */
	return type < FMT_REC_USER_START ? misc_plain : misc_none;
}

const char *fmt_flags_next(const struct fmt_flag **at, uint64_t *v)
{
	const struct fmt_flag *f = *at;

	for (; *v && f->mask; f++) {
		if ((*v & f->mask) != f->value)
			continue;
		*v &= ~f->mask;
		*at = f + 1;
		return f->name;
	}
	*at = f;
	return NULL;
}
