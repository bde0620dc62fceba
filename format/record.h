/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel records that auxrec writes itself: what already ran when the recording began, and
 * the AUX and ITRACE_START records of a source that has no kernel behind it.
 *
 * Layouts: perf_event_open(2), include/uapi/linux/perf_event.h (Linux 6.1). Every function
 * appends one record and returns 0, -EMSGSIZE (a name too long for a record) or buf.err.
 *
 * The trailer is that of sample_type IP|TID|TIME|CPU|IDENTIFIER, the only one auxrec uses
 * (raw tracepoint data adds nothing to a trailer): pid, tid, time, cpu, 0, id = 32 bytes.
 */
#ifndef FORMAT_RECORD_H
#define FORMAT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/buf.h"

/* The sample_id trailer. All zeros means "synthesised": readers deliver such a record at
 * once, before anything queued by time, and parse it with the first event. */
struct fmt_trailer {
	uint32_t pid, tid;
	uint64_t time; /* ns of the recording's clock */
	uint32_t cpu;
	uint64_t id; /* of the event that caused the record */
};

/* A mapping. build_id_size != 0 chooses the build-id form of the union (misc bit 14). */
struct fmt_mmap2 {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0..20 */
	uint32_t prot, flags;  /* mmap(2): PROT_*, MAP_SHARED or MAP_PRIVATE */
	uint16_t misc;	       /* cpumode: FMT_MISC_KERNEL or FMT_MISC_USER */
	const char *name;
};

struct fmt_ns {
	uint64_t dev, ino;
};

int fmt_put_mmap(struct fmt_buf *b, uint16_t misc, uint32_t pid, uint32_t tid,
		 uint64_t addr, uint64_t len, uint64_t pgoff, const char *name,
		 const struct fmt_trailer *t);
int fmt_put_mmap2(struct fmt_buf *b, const struct fmt_mmap2 *m, const struct fmt_trailer *t);
/* The first 15 bytes of comm are kept, as in the kernel's own records. */
int fmt_put_comm(struct fmt_buf *b, bool exec, uint32_t pid, uint32_t tid, const char *comm,
		 const struct fmt_trailer *t);
/* type is FMT_REC_FORK or FMT_REC_EXIT. A FORK whose trailer has id 0 is marked
 * FMT_MISC_FORK_EXEC: the task was found running, it does not inherit its parent's maps. */
int fmt_put_task(struct fmt_buf *b, uint32_t type, uint32_t pid, uint32_t ppid,
		 uint32_t tid, uint32_t ptid, uint64_t time, const struct fmt_trailer *t);
/* ns: in the order net, uts, ipc, pid, user, mnt, cgroup; nr up to 7. */
int fmt_put_namespaces(struct fmt_buf *b, uint32_t pid, uint32_t tid,
		       const struct fmt_ns *ns, size_t nr, const struct fmt_trailer *t);
int fmt_put_ksymbol(struct fmt_buf *b, uint64_t addr, uint32_t len, uint16_t ksym_type,
		    uint16_t flags, const char *name, const struct fmt_trailer *t);
int fmt_put_bpf_event(struct fmt_buf *b, uint16_t type, uint16_t flags, uint32_t id,
		      const uint8_t tag[8], const struct fmt_trailer *t);
int fmt_put_aux(struct fmt_buf *b, uint64_t offset, uint64_t size, uint64_t flags,
		const struct fmt_trailer *t);
int fmt_put_itrace_start(struct fmt_buf *b, uint32_t pid, uint32_t tid,
			 const struct fmt_trailer *t);
/* SWITCH_CPU_WIDE; misc: FMT_MISC_SWITCH_OUT ..., or 0; the other task: the one that comes when
 * that of the trailer leaves, the one that left when it comes. */
int fmt_put_switch_wide(struct fmt_buf *b, uint16_t misc, uint32_t other_pid, uint32_t other_tid,
			const struct fmt_trailer *t);
int fmt_put_lost_samples(struct fmt_buf *b, uint64_t lost, const struct fmt_trailer *t);
/* A count of one thread, of the event that the trailer's id names, whose attr has that read_format:
 * of it ID and LOST (0) are known. */
int fmt_put_read(struct fmt_buf *b, uint32_t pid, uint32_t tid, uint64_t value,
		 uint64_t read_format, const struct fmt_trailer *t);
/* PERF_RECORD_LOST: `lost` records of event `id` that the recorder itself had to drop. */
int fmt_put_lost(struct fmt_buf *b, uint64_t id, uint64_t lost, const struct fmt_trailer *t);

#endif
