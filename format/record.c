/* SPDX-License-Identifier: Apache-2.0 */
#include "format/record.h"

#include <assert.h>
#include <string.h>

#include "format/abi.h"

/* TASK_COMM_LEN of the kernel (include/linux/sched.h): what a reader has room for. */
#define COMM_LEN 16u

/* Fields in the order of struct sample_id, perf_event_open(2). */
static int end(struct fmt_buf *b, size_t at, const struct fmt_trailer *t)
{
	fmt_put_le(b, t->pid, 4);
	fmt_put_le(b, t->tid, 4);
	fmt_put_le(b, t->time, 8);
	fmt_put_le(b, t->cpu, 4);
	fmt_put_le(b, 0, 4);
	fmt_put_le(b, t->id, 8);
	return fmt_record_end(b, at);
}

static void put_map(struct fmt_buf *b, uint32_t pid, uint32_t tid, uint64_t addr,
		    uint64_t len, uint64_t pgoff)
{
	fmt_put_le(b, pid, 4);
	fmt_put_le(b, tid, 4);
	fmt_put_le(b, addr, 8);
	fmt_put_le(b, len, 8);
	fmt_put_le(b, pgoff, 8);
}

int fmt_put_mmap(struct fmt_buf *b, uint16_t misc, uint32_t pid, uint32_t tid,
		 uint64_t addr, uint64_t len, uint64_t pgoff, const char *name,
		 const struct fmt_trailer *t)
{
	size_t at = fmt_record_begin(b, FMT_REC_MMAP, misc);

	put_map(b, pid, tid, addr, len, pgoff);
	fmt_put_str(b, name, 8);
	return end(b, at, t);
}

/* The union of MMAP2: which file, by build id or by device and inode. */
static void put_file(struct fmt_buf *b, const struct fmt_mmap2 *m)
{
	if (m->build_id_size) {
		assert(m->build_id_size <= sizeof(m->build_id));
		fmt_put_le(b, m->build_id_size, 1);
		fmt_put_zero(b, 3);
		fmt_put(b, m->build_id, m->build_id_size);
		fmt_put_zero(b, sizeof(m->build_id) - m->build_id_size);
		return;
	}
	fmt_put_le(b, m->maj, 4);
	fmt_put_le(b, m->min, 4);
	fmt_put_le(b, m->ino, 8);
	fmt_put_le(b, m->ino_generation, 8);
}

int fmt_put_mmap2(struct fmt_buf *b, const struct fmt_mmap2 *m,
		  const struct fmt_trailer *t)
{
	unsigned misc = m->misc | (m->build_id_size ? FMT_MISC_MMAP_BUILD_ID : 0);
	size_t at = fmt_record_begin(b, FMT_REC_MMAP2, (uint16_t)misc);

	put_map(b, m->pid, m->tid, m->addr, m->len, m->pgoff);
	put_file(b, m);
	fmt_put_le(b, m->prot, 4);
	fmt_put_le(b, m->flags, 4);
	fmt_put_str(b, m->name, 8);
	return end(b, at, t);
}

int fmt_put_comm(struct fmt_buf *b, bool exec, uint32_t pid, uint32_t tid,
		 const char *comm, const struct fmt_trailer *t)
{
	size_t at = fmt_record_begin(b, FMT_REC_COMM, exec ? FMT_MISC_COMM_EXEC : 0);
	char name[COMM_LEN] = "";

	/* /proc/PID/comm may be longer than what the kernel puts into such a record. */
	memcpy(name, comm, strnlen(comm, COMM_LEN - 1));
	fmt_put_le(b, pid, 4);
	fmt_put_le(b, tid, 4);
	fmt_put_str(b, name, 8);
	return end(b, at, t);
}

int fmt_put_task(struct fmt_buf *b, uint32_t type, uint32_t pid, uint32_t ppid,
		 uint32_t tid, uint32_t ptid, uint64_t time, const struct fmt_trailer *t)
{
	/* A task that was found running may have called exec since its fork: the mark
	 * keeps readers from giving it the mappings of its parent. */
	bool found = type == FMT_REC_FORK && t->id == 0;
	size_t at = fmt_record_begin(b, type, found ? FMT_MISC_FORK_EXEC : 0);

	assert(type == FMT_REC_FORK || type == FMT_REC_EXIT);
	fmt_put_le(b, pid, 4);
	fmt_put_le(b, ppid, 4);
	fmt_put_le(b, tid, 4);
	fmt_put_le(b, ptid, 4);
	fmt_put_le(b, time, 8);
	return end(b, at, t);
}

int fmt_put_namespaces(struct fmt_buf *b, uint32_t pid, uint32_t tid,
		       const struct fmt_ns *ns, size_t nr, const struct fmt_trailer *t)
{
	size_t at = fmt_record_begin(b, FMT_REC_NAMESPACES, 0);

	assert(nr <= FMT_NR_NAMESPACES);
	fmt_put_le(b, pid, 4);
	fmt_put_le(b, tid, 4);
	fmt_put_le(b, nr, 8);
	for (size_t i = 0; i < nr; i++) {
		fmt_put_le(b, ns[i].dev, 8);
		fmt_put_le(b, ns[i].ino, 8);
	}
	return end(b, at, t);
}

int fmt_put_ksymbol(struct fmt_buf *b, uint64_t addr, uint32_t len, uint16_t ksym_type,
		    uint16_t flags, const char *name, const struct fmt_trailer *t)
{
	size_t at = fmt_record_begin(b, FMT_REC_KSYMBOL, 0);

	fmt_put_le(b, addr, 8);
	fmt_put_le(b, len, 4);
	fmt_put_le(b, ksym_type, 2);
	fmt_put_le(b, flags, 2);
	fmt_put_str(b, name, 8);
	return end(b, at, t);
}

int fmt_put_bpf_event(struct fmt_buf *b, uint16_t type, uint16_t flags, uint32_t id,
		      const uint8_t tag[8], const struct fmt_trailer *t)
{
	size_t at = fmt_record_begin(b, FMT_REC_BPF_EVENT, 0);

	fmt_put_le(b, type, 2);
	fmt_put_le(b, flags, 2);
	fmt_put_le(b, id, 4);
	fmt_put(b, tag, 8);
	return end(b, at, t);
}

int fmt_put_aux(struct fmt_buf *b, uint64_t offset, uint64_t size, uint64_t flags,
		const struct fmt_trailer *t)
{
	size_t at = fmt_record_begin(b, FMT_REC_AUX, 0);

	fmt_put_le(b, offset, 8);
	fmt_put_le(b, size, 8);
	fmt_put_le(b, flags, 8);
	return end(b, at, t);
}

int fmt_put_itrace_start(struct fmt_buf *b, uint32_t pid, uint32_t tid,
			 const struct fmt_trailer *t)
{
	size_t at = fmt_record_begin(b, FMT_REC_ITRACE_START, 0);

	fmt_put_le(b, pid, 4);
	fmt_put_le(b, tid, 4);
	return end(b, at, t);
}

int fmt_put_switch_wide(struct fmt_buf *b, uint16_t misc, uint32_t other_pid, uint32_t other_tid,
			const struct fmt_trailer *t)
{
	size_t at = fmt_record_begin(b, FMT_REC_SWITCH_CPU_WIDE, misc);

	fmt_put_le(b, other_pid, 4);
	fmt_put_le(b, other_tid, 4);
	return end(b, at, t);
}

int fmt_put_lost_samples(struct fmt_buf *b, uint64_t lost, const struct fmt_trailer *t)
{
	size_t at = fmt_record_begin(b, FMT_REC_LOST_SAMPLES, 0);

	fmt_put_le(b, lost, 8);
	return end(b, at, t);
}

int fmt_put_read(struct fmt_buf *b, uint32_t pid, uint32_t tid, uint64_t value,
		 uint64_t read_format, const struct fmt_trailer *t)
{
	size_t at = fmt_record_begin(b, FMT_REC_READ, 0);

	fmt_put_le(b, pid, 4);
	fmt_put_le(b, tid, 4);
	fmt_put_le(b, value, 8);
	if (read_format & FMT_FORMAT_ID)
		fmt_put_le(b, t->id, 8);
	if (read_format & FMT_FORMAT_LOST)
		fmt_put_le(b, 0, 8);
	return end(b, at, t);
}

int fmt_put_lost(struct fmt_buf *b, uint64_t id, uint64_t lost,
		 const struct fmt_trailer *t)
{
	size_t at = fmt_record_begin(b, FMT_REC_LOST, 0);

	fmt_put_le(b, id, 8);
	fmt_put_le(b, lost, 8);
	return end(b, at, t);
}
