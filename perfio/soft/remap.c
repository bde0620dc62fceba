/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/remap.h"

#include <sys/mman.h>
#include <sys/syscall.h>

/* Linux 6.1 include/linux/err.h: results above are errors. */
#define MAX_ERRNO 4095

static void add(struct soft_remap *m, uint64_t begin, uint64_t len)
{
	m->v[m->nr].begin = begin;
	m->v[m->nr++].end = begin + len < begin ? UINT64_MAX : begin + len;
}

static bool fails(const struct user_regs_struct *r)
{
	return r->rax > UINT64_MAX - MAX_ERRNO;
}

/* An mmap(2) that failed may have unmapped what was in its way. */
static uint64_t result(const struct user_regs_struct *r)
{
	return fails(r) ? r->rdi : r->rax;
}

/* Pages of a file that are given back lose what was written into them. */
static bool gives_back(uint64_t advice)
{
	return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE;
}

void soft_remap(struct soft_remap *ret, const struct user_regs_struct *r, bool legacy)
{
	*ret = (struct soft_remap){ 0 };
	switch (legacy ? -1 : (long)r->orig_rax & ~(long)SOFT_X32_BIT) {
	case SYS_mmap:
		ret->code = r->rdx & PROT_EXEC;
		ret->loose = r->rdx & PROT_WRITE && !(r->r10 & MAP_ANONYMOUS);
		ret->fresh = !fails(r);
		add(ret, result(r), r->rsi);
		break;
	case SYS_munmap:
		ret->fresh = !fails(r);
		add(ret, r->rdi, r->rsi);
		break;
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		ret->code = r->rdx & PROT_EXEC;
		ret->loose = r->rdx & PROT_WRITE;
		add(ret, r->rdi, r->rsi);
		break;
	case SYS_madvise:
		if (gives_back(r->rdx))
			add(ret, r->rdi, r->rsi);
		break;
	case SYS_brk:
		add(ret, 0, 0); /* no code, but there is more to it, or less */
		break;
	case SYS_mremap:
		ret->loose = true;
		add(ret, r->rdi, r->rsi);
		ret->v[0].by = result(r) - r->rdi;
		add(ret, result(r), r->rdx);
		break;
	case -1:
	case SYS_remap_file_pages:
	case SYS_shmat:
	case SYS_shmdt:
		ret->code = true;
		add(ret, 0, UINT64_MAX);
		break;
	default:
		break;
	}
}
