/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of the perf.data format, each under the name its specification uses with
 * FMT_ in place of PERF_ (and REC for RECORD).
 *
 * <linux/perf_event.h> is not included: it changes with the installed kernel headers, and
 * its bit-fields have no fixed place on disk. tests/unit/test_abi.c compares both.
 *
 * Sources: [uapi] include/uapi/linux/perf_event.h and perf_event_open(2); [perf]
 * tools/lib/perf/include/perf/event.h; [hdr] tools/perf/util/header.h and
 * tools/perf/Documentation/perf.data-file-format.txt; all of Linux 6.1 unless said.
 * Feature bits are in format/feature.h.
 */
#ifndef FORMAT_ABI_H
#define FORMAT_ABI_H

#include <stdint.h>

/* The file header [hdr]: offsets of its fields. A section is {u64 offset, u64 size}. */
#define FMT_MAGIC	      UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define FMT_MAGIC_V1	      UINT64_C(0x454c494646524550) /* "PERFFILE": before Linux 3.3 */
#define FMT_MAGIC_SWAPPED     UINT64_C(0x50455246494c4532) /* of the other byte order */
#define FMT_HEADER_SIZE	      104u
#define FMT_PIPE_HEADER_SIZE  16u
#define FMT_SECTION_SIZE      16u
#define FMT_HDR_MAGIC	      0u
#define FMT_HDR_SIZE	      8u
#define FMT_HDR_ATTR_SIZE     16u
#define FMT_HDR_ATTRS	      24u
#define FMT_HDR_DATA	      40u
#define FMT_HDR_DATA_SIZE     48u
#define FMT_HDR_EVENT_TYPES   56u
#define FMT_HDR_FEATURES      72u /* u64[4] */
#define FMT_HDR_FEATURE_WORDS 4u

/* struct perf_event_header [uapi]: u32 type, u16 misc, u16 size. */
#define FMT_REC_HEADER_SIZE 8u
#define FMT_REC_SIZE_MAX    65528u /* the largest multiple of 8 that size can say */

/* Offsets in a record, its header included, of what is read and not only written. */
#define FMT_REC_AT_MISC		    4u	/* u16 */
#define FMT_REC_AT_SIZE		    6u	/* u16 */
#define FMT_MMAP_AT_PID		    8u	/* u32; MMAP and MMAP2, up to PGOFF [uapi] */
#define FMT_MMAP_AT_ADDR	    16u /* u64 */
#define FMT_MMAP_AT_LEN		    24u /* u64 */
#define FMT_MMAP_AT_PGOFF	    32u /* u64 */
#define FMT_MMAP_AT_NAME	    40u
#define FMT_MMAP2_AT_MAJ	    40u /* u32; the file, by device and inode ... */
#define FMT_MMAP2_AT_MIN	    44u /* u32 */
#define FMT_MMAP2_AT_INO	    48u /* u64 */
#define FMT_MMAP2_AT_INO_GENERATION 56u /* u64 */
#define FMT_MMAP2_AT_ID_SIZE	    40u /* u8; ... or by build id */
#define FMT_MMAP2_AT_ID		    44u /* u8[20] */
#define FMT_MMAP2_AT_PROT	    64u /* u32 */
#define FMT_MMAP2_AT_NAME	    72u
#define FMT_COMM_AT_PID		    8u	/* u32; COMM and NAMESPACES [uapi] */
#define FMT_COMM_AT_TID		    12u /* u32 */
#define FMT_COMM_AT_COMM	    16u /* text; COMM */
#define FMT_TASK_AT_PID		    8u	/* u32; FORK and EXIT [uapi] */
#define FMT_TASK_AT_PPID	    12u /* u32 */
#define FMT_TASK_AT_TID		    16u /* u32 */
#define FMT_TASK_AT_PTID	    20u /* u32 */
#define FMT_KSYMBOL_AT_FLAGS	    22u /* u16 [uapi] */
#define FMT_BPF_EVENT_AT_ID	    12u /* u32 [uapi] */
#define FMT_READ_AT_VALUES	    16u /* by read_format [uapi] */
#define FMT_SWITCH_AT_NEXT_PID	    8u	/* u32; SWITCH_CPU_WIDE, when it leaves [uapi] */
#define FMT_SWITCH_AT_NEXT_TID	    12u /* u32 */
#define FMT_LOST_AT_LOST	    16u /* u64 [uapi] */
#define FMT_LOST_SAMPLES_AT_LOST    8u	/* u64 [uapi] */
#define FMT_AUX_AT_OFFSET	    8u	/* u64 [uapi] */
#define FMT_AUX_AT_FLAGS	    24u /* u64 */
#define FMT_AUXTRACE_INFO_AT_TYPE   8u	/* u32 [perf] */
#define FMT_AUXTRACE_INFO_AT_PRIV   16u /* u64s */
#define FMT_AUXTRACE_AT_SIZE	    8u	/* u64 [perf] */
#define FMT_AUXTRACE_AT_OFFSET	    16u /* u64 */
#define FMT_AUXTRACE_AT_REFERENCE   24u /* u64 */
#define FMT_AUXTRACE_AT_IDX	    32u /* u32 */
#define FMT_AUXTRACE_AT_TID	    36u /* u32 */
#define FMT_AUXTRACE_AT_CPU	    40u /* u32 */
#define FMT_AUXTRACE_AT_PAUSE	    44u /* u32, ours: format/auxtrace.h */
#define FMT_TIME_CONV_AT_SHIFT	    8u	/* u64 [perf] */
#define FMT_TIME_CONV_AT_MULT	    16u /* u64 */
#define FMT_TIME_CONV_AT_ZERO	    24u /* u64; the last of older recorders */

/* Record types of the kernel [uapi], below FMT_REC_USER_START. */
enum fmt_rec_type {
	FMT_REC_MMAP = 1,
	FMT_REC_LOST = 2,
	FMT_REC_COMM = 3,
	FMT_REC_EXIT = 4,
	FMT_REC_THROTTLE = 5,
	FMT_REC_UNTHROTTLE = 6,
	FMT_REC_FORK = 7,
	FMT_REC_READ = 8,
	FMT_REC_SAMPLE = 9,
	FMT_REC_MMAP2 = 10,
	FMT_REC_AUX = 11,
	FMT_REC_ITRACE_START = 12,
	FMT_REC_LOST_SAMPLES = 13,
	FMT_REC_SWITCH = 14,
	FMT_REC_SWITCH_CPU_WIDE = 15,
	FMT_REC_NAMESPACES = 16,
	FMT_REC_KSYMBOL = 17,
	FMT_REC_BPF_EVENT = 18,
	FMT_REC_CGROUP = 19,
	FMT_REC_TEXT_POKE = 20,
	FMT_REC_AUX_OUTPUT_HW_ID = 21,
	FMT_REC_CALLCHAIN_DEFERRED = 22, /* Linux 6.19 */

	/* Record types of perf itself [perf]. */
	FMT_REC_USER_START = 64,
	FMT_REC_HEADER_ATTR = 64,
	FMT_REC_HEADER_EVENT_TYPE = 65,
	FMT_REC_HEADER_TRACING_DATA = 66,
	FMT_REC_HEADER_BUILD_ID = 67,
	FMT_REC_FINISHED_ROUND = 68,
	FMT_REC_ID_INDEX = 69,
	FMT_REC_AUXTRACE_INFO = 70,
	FMT_REC_AUXTRACE = 71,
	FMT_REC_AUXTRACE_ERROR = 72,
	FMT_REC_THREAD_MAP = 73,
	FMT_REC_CPU_MAP = 74,
	FMT_REC_STAT_CONFIG = 75,
	FMT_REC_STAT = 76,
	FMT_REC_STAT_ROUND = 77,
	FMT_REC_EVENT_UPDATE = 78,
	FMT_REC_TIME_CONV = 79,
	FMT_REC_HEADER_FEATURE = 80,
	FMT_REC_COMPRESSED = 81,
	FMT_REC_FINISHED_INIT = 82, /* the last type perf 6.1 knows */
	FMT_REC_COMPRESSED2 = 83,   /* perf 6.16 */
	FMT_REC_BPF_METADATA = 84,  /* perf 6.17 */
	FMT_REC_SCHEDSTAT_CPU = 85, /* perf 7.0 */
	FMT_REC_SCHEDSTAT_DOMAIN = 86,
};

/* perf_event_header.misc [uapi]. */
#define FMT_MISC_CPUMODE_MASK		7u
#define FMT_MISC_CPUMODE_UNKNOWN	0u
#define FMT_MISC_KERNEL			1u
#define FMT_MISC_USER			2u
#define FMT_MISC_HYPERVISOR		3u
#define FMT_MISC_GUEST_KERNEL		4u
#define FMT_MISC_GUEST_USER		5u
#define FMT_MISC_PROC_MAP_PARSE_TIMEOUT (1u << 12)
#define FMT_MISC_MMAP_DATA		(1u << 13) /* MMAP, MMAP2 */
#define FMT_MISC_COMM_EXEC		(1u << 13) /* COMM */
#define FMT_MISC_FORK_EXEC		(1u << 13) /* FORK: "the task existed before" */
#define FMT_MISC_SWITCH_OUT		(1u << 13) /* SWITCH, SWITCH_CPU_WIDE */
#define FMT_MISC_EXACT_IP		(1u << 14) /* SAMPLE */
#define FMT_MISC_SWITCH_OUT_PREEMPT	(1u << 14) /* SWITCH, SWITCH_CPU_WIDE */
#define FMT_MISC_MMAP_BUILD_ID		(1u << 14) /* MMAP2 */
#define FMT_MISC_EXT_RESERVED		(1u << 15)
#define FMT_MISC_BUILD_ID_SIZE		(1u << 15) /* HEADER_BUILD_ID [perf] */

/* Flags of FMT_REC_AUX [uapi]. */
#define FMT_AUX_TRUNCATED	     UINT64_C(0x01)
#define FMT_AUX_OVERWRITE	     UINT64_C(0x02)
#define FMT_AUX_PARTIAL		     UINT64_C(0x04)
#define FMT_AUX_COLLISION	     UINT64_C(0x08)
#define FMT_AUX_PMU_FORMAT_TYPE_MASK UINT64_C(0xff00)

/* Kinds of FMT_REC_KSYMBOL and its flag; kinds of FMT_REC_BPF_EVENT [uapi]. */
#define FMT_KSYMBOL_TYPE_BPF	     1u
#define FMT_KSYMBOL_TYPE_OOL	     2u
#define FMT_KSYMBOL_FLAGS_UNREGISTER 1u
#define FMT_BPF_EVENT_PROG_LOAD	     1u
#define FMT_BPF_EVENT_PROG_UNLOAD    2u

/* FMT_REC_NAMESPACES: net, uts, ipc, pid, user, mnt, cgroup [uapi]. */
#define FMT_NR_NAMESPACES 7u

/* attr.type [uapi]. */
#define FMT_TYPE_HARDWARE   0u
#define FMT_TYPE_SOFTWARE   1u
#define FMT_TYPE_TRACEPOINT 2u
#define FMT_TYPE_RAW	    4u
#define FMT_COUNT_SW_DUMMY  9u /* attr.config of the software event that counts nothing */

/* attr.sample_type [uapi]. */
#define FMT_SAMPLE_IP		  (UINT64_C(1) << 0)
#define FMT_SAMPLE_TID		  (UINT64_C(1) << 1)
#define FMT_SAMPLE_TIME		  (UINT64_C(1) << 2)
#define FMT_SAMPLE_ADDR		  (UINT64_C(1) << 3)
#define FMT_SAMPLE_READ		  (UINT64_C(1) << 4)
#define FMT_SAMPLE_CALLCHAIN	  (UINT64_C(1) << 5)
#define FMT_SAMPLE_ID		  (UINT64_C(1) << 6)
#define FMT_SAMPLE_CPU		  (UINT64_C(1) << 7)
#define FMT_SAMPLE_PERIOD	  (UINT64_C(1) << 8)
#define FMT_SAMPLE_STREAM_ID	  (UINT64_C(1) << 9)
#define FMT_SAMPLE_RAW		  (UINT64_C(1) << 10)
#define FMT_SAMPLE_BRANCH_STACK	  (UINT64_C(1) << 11)
#define FMT_SAMPLE_REGS_USER	  (UINT64_C(1) << 12)
#define FMT_SAMPLE_STACK_USER	  (UINT64_C(1) << 13)
#define FMT_SAMPLE_WEIGHT	  (UINT64_C(1) << 14)
#define FMT_SAMPLE_DATA_SRC	  (UINT64_C(1) << 15)
#define FMT_SAMPLE_IDENTIFIER	  (UINT64_C(1) << 16)
#define FMT_SAMPLE_TRANSACTION	  (UINT64_C(1) << 17)
#define FMT_SAMPLE_REGS_INTR	  (UINT64_C(1) << 18)
#define FMT_SAMPLE_PHYS_ADDR	  (UINT64_C(1) << 19)
#define FMT_SAMPLE_AUX		  (UINT64_C(1) << 20)
#define FMT_SAMPLE_CGROUP	  (UINT64_C(1) << 21)
#define FMT_SAMPLE_DATA_PAGE_SIZE (UINT64_C(1) << 22)
#define FMT_SAMPLE_CODE_PAGE_SIZE (UINT64_C(1) << 23)
#define FMT_SAMPLE_WEIGHT_STRUCT  (UINT64_C(1) << 24)

/* attr.read_format [uapi]. */
#define FMT_FORMAT_TOTAL_TIME_ENABLED (UINT64_C(1) << 0)
#define FMT_FORMAT_TOTAL_TIME_RUNNING (UINT64_C(1) << 1)
#define FMT_FORMAT_ID		      (UINT64_C(1) << 2)
#define FMT_FORMAT_GROUP	      (UINT64_C(1) << 3)
#define FMT_FORMAT_LOST		      (UINT64_C(1) << 4) /* Linux 6.0 */

/* struct perf_event_attr as stored [uapi]: offsets of its fields. */
#define FMT_ATTR_AT_TYPE	       0u  /* u32 */
#define FMT_ATTR_AT_SIZE	       4u  /* u32 */
#define FMT_ATTR_AT_CONFIG	       8u  /* u64 */
#define FMT_ATTR_AT_SAMPLE_PERIOD      16u /* u64 */
#define FMT_ATTR_AT_SAMPLE_TYPE	       24u /* u64 */
#define FMT_ATTR_AT_READ_FORMAT	       32u /* u64 */
#define FMT_ATTR_AT_FLAGS	       40u /* u64, FMT_ATTR_F_* */
#define FMT_ATTR_AT_WAKEUP	       48u /* u32 */
#define FMT_ATTR_AT_BP_TYPE	       52u /* u32 */
#define FMT_ATTR_AT_CONFIG1	       56u /* u64 */
#define FMT_ATTR_AT_CONFIG2	       64u /* u64 */
#define FMT_ATTR_AT_BRANCH_SAMPLE_TYPE 72u /* u64 */
#define FMT_ATTR_AT_SAMPLE_REGS_USER   80u /* u64 */
#define FMT_ATTR_AT_SAMPLE_STACK_USER  88u /* u32 */
#define FMT_ATTR_AT_CLOCKID	       92u /* s32 */
#define FMT_ATTR_AT_SAMPLE_REGS_INTR   96u /* u64 */
#define FMT_ATTR_AT_AUX_WATERMARK      104u /* u32 */
#define FMT_ATTR_AT_SAMPLE_MAX_STACK   108u /* u16 */
#define FMT_ATTR_AT_RESERVED_2	       110u /* u16 */
#define FMT_ATTR_AT_AUX_SAMPLE_SIZE    112u /* u32 */
#define FMT_ATTR_AT_AUX_ACTION	       116u /* u32; reserved_3 before Linux 6.13 */
#define FMT_ATTR_AT_SIG_DATA	       120u /* u64 */

/* The bit-fields of perf_event_attr as one little-endian word [uapi]. */
#define FMT_ATTR_F_DISABLED		    (UINT64_C(1) << 0)
#define FMT_ATTR_F_INHERIT		    (UINT64_C(1) << 1)
#define FMT_ATTR_F_PINNED		    (UINT64_C(1) << 2)
#define FMT_ATTR_F_EXCLUSIVE		    (UINT64_C(1) << 3)
#define FMT_ATTR_F_EXCLUDE_USER		    (UINT64_C(1) << 4)
#define FMT_ATTR_F_EXCLUDE_KERNEL	    (UINT64_C(1) << 5)
#define FMT_ATTR_F_EXCLUDE_HV		    (UINT64_C(1) << 6)
#define FMT_ATTR_F_EXCLUDE_IDLE		    (UINT64_C(1) << 7)
#define FMT_ATTR_F_MMAP			    (UINT64_C(1) << 8)
#define FMT_ATTR_F_COMM			    (UINT64_C(1) << 9)
#define FMT_ATTR_F_FREQ			    (UINT64_C(1) << 10)
#define FMT_ATTR_F_INHERIT_STAT		    (UINT64_C(1) << 11)
#define FMT_ATTR_F_ENABLE_ON_EXEC	    (UINT64_C(1) << 12)
#define FMT_ATTR_F_TASK			    (UINT64_C(1) << 13)
#define FMT_ATTR_F_WATERMARK		    (UINT64_C(1) << 14)
#define FMT_ATTR_F_PRECISE_IP_SHIFT	    15u /* two bits */
#define FMT_ATTR_F_MMAP_DATA		    (UINT64_C(1) << 17)
#define FMT_ATTR_F_SAMPLE_ID_ALL	    (UINT64_C(1) << 18)
#define FMT_ATTR_F_EXCLUDE_HOST		    (UINT64_C(1) << 19)
#define FMT_ATTR_F_EXCLUDE_GUEST	    (UINT64_C(1) << 20)
#define FMT_ATTR_F_EXCLUDE_CALLCHAIN_KERNEL (UINT64_C(1) << 21)
#define FMT_ATTR_F_EXCLUDE_CALLCHAIN_USER   (UINT64_C(1) << 22)
#define FMT_ATTR_F_MMAP2		    (UINT64_C(1) << 23)
#define FMT_ATTR_F_COMM_EXEC		    (UINT64_C(1) << 24)
#define FMT_ATTR_F_USE_CLOCKID		    (UINT64_C(1) << 25)
#define FMT_ATTR_F_CONTEXT_SWITCH	    (UINT64_C(1) << 26)
#define FMT_ATTR_F_WRITE_BACKWARD	    (UINT64_C(1) << 27)
#define FMT_ATTR_F_NAMESPACES		    (UINT64_C(1) << 28)
#define FMT_ATTR_F_KSYMBOL		    (UINT64_C(1) << 29)
#define FMT_ATTR_F_BPF_EVENT		    (UINT64_C(1) << 30)
#define FMT_ATTR_F_AUX_OUTPUT		    (UINT64_C(1) << 31)
#define FMT_ATTR_F_CGROUP		    (UINT64_C(1) << 32)
#define FMT_ATTR_F_TEXT_POKE		    (UINT64_C(1) << 33)
#define FMT_ATTR_F_BUILD_ID		    (UINT64_C(1) << 34)
#define FMT_ATTR_F_INHERIT_THREAD	    (UINT64_C(1) << 35)
#define FMT_ATTR_F_REMOVE_ON_EXEC	    (UINT64_C(1) << 36)
#define FMT_ATTR_F_SIGTRAP		    (UINT64_C(1) << 37)
/* Every flag perf 6.1 knows: it drops EVENT_DESC when it meets another one. */
#define FMT_ATTR_F_KNOWN ((UINT64_C(1) << 38) - 1)

/* FMT_REC_AUXTRACE_INFO: kinds of trace (tools/perf/util/auxtrace.h, Linux 6.1). */
#define FMT_AUXTRACE_INTEL_PT	  1u
#define FMT_AUXTRACE_INTEL_BTS	  2u
#define FMT_AUXTRACE_CS_ETM	  3u
#define FMT_AUXTRACE_ARM_SPE	  4u
#define FMT_AUXTRACE_S390_CPUMSF  5u
#define FMT_AUXTRACE_HISI_PTT	  6u
#define FMT_AUXTRACE_RECORD_SIZE  48u /* of FMT_REC_AUXTRACE, without the trace */

/* FMT_REC_HEADER_BUILD_ID: readers up to perf 6.12 take the padded name, 4 bytes short of
 * a multiple of 8, into char[PATH_MAX] without looking at its length (header.c). */
#define FMT_BUILD_ID_NAME_MAX 4091u
#define FMT_BUILD_ID_AT_ID    12u /* u8[20] */
#define FMT_BUILD_ID_AT_SIZE  32u /* u8, with FMT_MISC_BUILD_ID_SIZE; else 20 is meant */
#define FMT_BUILD_ID_AT_NAME  36u

/* FMT_REC_EVENT_UPDATE and FMT_REC_CPU_MAP [perf]. */
#define FMT_EVENT_UPDATE_UNIT  0u
#define FMT_EVENT_UPDATE_SCALE 1u
#define FMT_EVENT_UPDATE_NAME  2u
#define FMT_EVENT_UPDATE_CPUS  3u
#define FMT_CPU_MAP_CPUS       0u
#define FMT_CPU_MAP_MASK       1u
#define FMT_CPU_MAP_RANGE      2u

#endif
