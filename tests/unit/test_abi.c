/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format/abi.h against the installed <linux/perf_event.h>. What only perf's own headers
 * name, and what older kernel headers lack, is not here.
 */
#include "format/abi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "format/event.h"

#define SAME(ours, theirs)                                           \
	_Static_assert((unsigned long long)(ours) == (unsigned long long)(theirs), \
		       #ours " is not " #theirs)
#define REC(name)    SAME(FMT_REC_##name, PERF_RECORD_##name)
#define MISC(name)   SAME(FMT_MISC_##name, PERF_RECORD_MISC_##name)
#define AUX(name)    SAME(FMT_AUX_##name, PERF_AUX_FLAG_##name)
#define SAMPLE(name) SAME(FMT_SAMPLE_##name, PERF_SAMPLE_##name)
#define FORMAT(name) SAME(FMT_FORMAT_##name, PERF_FORMAT_##name)
#define AT(name, field) SAME(FMT_ATTR_AT_##name, offsetof(struct perf_event_attr, field))

/* clang-format off */
REC(MMAP);
REC(LOST);
REC(COMM);
REC(EXIT);
REC(THROTTLE);
REC(UNTHROTTLE);
REC(FORK);
REC(READ);
REC(SAMPLE);
REC(MMAP2);
REC(AUX);
REC(ITRACE_START);
REC(LOST_SAMPLES);
REC(SWITCH);
REC(SWITCH_CPU_WIDE);
REC(NAMESPACES);
REC(KSYMBOL);
REC(BPF_EVENT);
REC(CGROUP);
REC(TEXT_POKE);
REC(AUX_OUTPUT_HW_ID);

MISC(CPUMODE_MASK);
MISC(CPUMODE_UNKNOWN);
MISC(KERNEL);
MISC(USER);
MISC(HYPERVISOR);
MISC(GUEST_KERNEL);
MISC(GUEST_USER);
MISC(PROC_MAP_PARSE_TIMEOUT);
MISC(MMAP_DATA);
MISC(COMM_EXEC);
MISC(FORK_EXEC);
MISC(SWITCH_OUT);
MISC(EXACT_IP);
MISC(SWITCH_OUT_PREEMPT);
MISC(MMAP_BUILD_ID);
MISC(EXT_RESERVED);

AUX(TRUNCATED);
AUX(OVERWRITE);
AUX(PARTIAL);
AUX(COLLISION);
AUX(PMU_FORMAT_TYPE_MASK);

SAME(FMT_KSYMBOL_TYPE_BPF, PERF_RECORD_KSYMBOL_TYPE_BPF);
SAME(FMT_KSYMBOL_TYPE_OOL, PERF_RECORD_KSYMBOL_TYPE_OOL);
SAME(FMT_KSYMBOL_FLAGS_UNREGISTER, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
SAME(FMT_BPF_EVENT_PROG_LOAD, PERF_BPF_EVENT_PROG_LOAD);
SAME(FMT_BPF_EVENT_PROG_UNLOAD, PERF_BPF_EVENT_PROG_UNLOAD);
SAME(FMT_TYPE_HARDWARE, PERF_TYPE_HARDWARE);
SAME(FMT_TYPE_SOFTWARE, PERF_TYPE_SOFTWARE);
SAME(FMT_TYPE_TRACEPOINT, PERF_TYPE_TRACEPOINT);
SAME(FMT_TYPE_RAW, PERF_TYPE_RAW);
SAME(FMT_COUNT_SW_DUMMY, PERF_COUNT_SW_DUMMY);

SAMPLE(IP);
SAMPLE(TID);
SAMPLE(TIME);
SAMPLE(ADDR);
SAMPLE(READ);
SAMPLE(CALLCHAIN);
SAMPLE(ID);
SAMPLE(CPU);
SAMPLE(PERIOD);
SAMPLE(STREAM_ID);
SAMPLE(RAW);
SAMPLE(BRANCH_STACK);
SAMPLE(REGS_USER);
SAMPLE(STACK_USER);
SAMPLE(WEIGHT);
SAMPLE(DATA_SRC);
SAMPLE(IDENTIFIER);
SAMPLE(TRANSACTION);
SAMPLE(REGS_INTR);
SAMPLE(PHYS_ADDR);
SAMPLE(AUX);
SAMPLE(CGROUP);
SAMPLE(DATA_PAGE_SIZE);
SAMPLE(CODE_PAGE_SIZE);
SAMPLE(WEIGHT_STRUCT);

FORMAT(TOTAL_TIME_ENABLED);
FORMAT(TOTAL_TIME_RUNNING);
FORMAT(ID);
FORMAT(GROUP);
FORMAT(LOST);

AT(TYPE, type);
AT(SIZE, size);
AT(CONFIG, config);
AT(SAMPLE_PERIOD, sample_period);
AT(SAMPLE_TYPE, sample_type);
AT(READ_FORMAT, read_format);
AT(WAKEUP, wakeup_events);
AT(BP_TYPE, bp_type);
AT(CONFIG1, config1);
AT(CONFIG2, config2);
AT(BRANCH_SAMPLE_TYPE, branch_sample_type);
AT(SAMPLE_REGS_USER, sample_regs_user);
AT(SAMPLE_STACK_USER, sample_stack_user);
AT(CLOCKID, clockid);
AT(SAMPLE_REGS_INTR, sample_regs_intr);
AT(AUX_WATERMARK, aux_watermark);
AT(SAMPLE_MAX_STACK, sample_max_stack);
AT(AUX_SAMPLE_SIZE, aux_sample_size);
AT(SIG_DATA, sig_data);
/* Reserved until Linux 6.13 named the second one. */
SAME(FMT_ATTR_AT_RESERVED_2, offsetof(struct perf_event_attr, sample_max_stack) + 2);
SAME(FMT_ATTR_AT_AUX_ACTION, offsetof(struct perf_event_attr, aux_sample_size) + 4);
/* The bit-fields have no offset of their own. */
SAME(FMT_ATTR_AT_FLAGS, offsetof(struct perf_event_attr, read_format) + 8);
SAME(FMT_ATTR_AT_WAKEUP, FMT_ATTR_AT_FLAGS + 8);
SAME(FMT_ATTR_SIZE, PERF_ATTR_SIZE_VER7);
SAME(FMT_REC_HEADER_SIZE, sizeof(struct perf_event_header));
/* clang-format on */

static uint64_t flags_of(const struct perf_event_attr *a)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)a + FMT_ATTR_AT_FLAGS, sizeof(word));
	return word;
}

#define FLAG(name, field)                                                            \
	do {                                                                         \
		const struct perf_event_attr a = { .field = 1 };                     \
									     \
		assert_true(flags_of(&a) == FMT_ATTR_F_##name);                      \
		all |= FMT_ATTR_F_##name;                                            \
	} while (0)

static void every_flag_stands_at_its_bit(void **state)
{
	const struct perf_event_attr precise = { .precise_ip = 3 };
	uint64_t all = UINT64_C(3) << FMT_ATTR_F_PRECISE_IP_SHIFT;

	(void)state;
	assert_true(flags_of(&precise) == all);
	FLAG(DISABLED, disabled);
	FLAG(INHERIT, inherit);
	FLAG(PINNED, pinned);
	FLAG(EXCLUSIVE, exclusive);
	FLAG(EXCLUDE_USER, exclude_user);
	FLAG(EXCLUDE_KERNEL, exclude_kernel);
	FLAG(EXCLUDE_HV, exclude_hv);
	FLAG(EXCLUDE_IDLE, exclude_idle);
	FLAG(MMAP, mmap);
	FLAG(COMM, comm);
	FLAG(FREQ, freq);
	FLAG(INHERIT_STAT, inherit_stat);
	FLAG(ENABLE_ON_EXEC, enable_on_exec);
	FLAG(TASK, task);
	FLAG(WATERMARK, watermark);
	FLAG(MMAP_DATA, mmap_data);
	FLAG(SAMPLE_ID_ALL, sample_id_all);
	FLAG(EXCLUDE_HOST, exclude_host);
	FLAG(EXCLUDE_GUEST, exclude_guest);
	FLAG(EXCLUDE_CALLCHAIN_KERNEL, exclude_callchain_kernel);
	FLAG(EXCLUDE_CALLCHAIN_USER, exclude_callchain_user);
	FLAG(MMAP2, mmap2);
	FLAG(COMM_EXEC, comm_exec);
	FLAG(USE_CLOCKID, use_clockid);
	FLAG(CONTEXT_SWITCH, context_switch);
	FLAG(WRITE_BACKWARD, write_backward);
	FLAG(NAMESPACES, namespaces);
	FLAG(KSYMBOL, ksymbol);
	FLAG(BPF_EVENT, bpf_event);
	FLAG(AUX_OUTPUT, aux_output);
	FLAG(CGROUP, cgroup);
	FLAG(TEXT_POKE, text_poke);
	FLAG(BUILD_ID, build_id);
	FLAG(INHERIT_THREAD, inherit_thread);
	FLAG(REMOVE_ON_EXEC, remove_on_exec);
	FLAG(SIGTRAP, sigtrap);
	assert_true(all == FMT_ATTR_F_KNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_flag_stands_at_its_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
