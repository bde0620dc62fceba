/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Through bpf(2) itself, not libbpf: three commands do not earn a library. A program is
 * asked about twice, first for how much there is, then with room for it.
 */
#include "perfio/bpfprogs.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perfio/btfname.h"

#define SYMS_MAX 65536u /* functions of a program: a sanity bound */

static int sys_bpf(int cmd, union bpf_attr *attr)
{
	long rc = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return rc < 0 ? -errno : (int)rc;
}

static int next_id(uint32_t *id)
{
	union bpf_attr attr = { 0 };
	int err;

	attr.start_id = *id;
	err = sys_bpf(BPF_PROG_GET_NEXT_ID, &attr);
	if (!err)
		*id = attr.next_id;
	return err;
}

static int get_info(int fd, void *info, size_t size)
{
	union bpf_attr attr = { 0 };

	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = (uint32_t)size;
	attr.info.info = (uintptr_t)info;
	return sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

/* What the kernel fills for one program. */
struct arrays {
	uint64_t *addr;
	uint32_t *len;
	uint8_t (*tag)[BPF_TAG_SIZE];
	uint8_t *func; /* struct bpf_func_info, each `rec` bytes */
	size_t n, rec;
	char *btf;
	size_t btf_len;
};

static void arrays_done(struct arrays *a)
{
	free(a->addr);
	free(a->len);
	free(a->tag);
	free(a->func);
	free(a->btf);
	*a = (struct arrays){ 0 };
}

static int arrays_get(struct arrays *a, int fd, struct bpf_prog_info *info)
{
	struct bpf_prog_info ask = { 0 };
	size_t n = info->nr_jited_ksyms;
	bool funcs = info->nr_func_info == n && info->func_info_rec_size >= 8 &&
		     info->func_info_rec_size <= 64;
	int err;

	a->n = n;
	a->addr = calloc(n, sizeof(*a->addr));
	a->len = calloc(n, sizeof(*a->len));
	a->tag = calloc(n, sizeof(*a->tag));
	if (funcs)
		a->func = calloc(n, info->func_info_rec_size);
	if (!a->addr || !a->len || !a->tag || (funcs && !a->func))
		return -ENOMEM;
	ask.nr_jited_ksyms = ask.nr_jited_func_lens = ask.nr_prog_tags = (uint32_t)n;
	ask.jited_ksyms = (uintptr_t)a->addr;
	ask.jited_func_lens = (uintptr_t)a->len;
	ask.prog_tags = (uintptr_t)a->tag;
	if (funcs) {
		ask.nr_func_info = (uint32_t)n;
		ask.func_info_rec_size = info->func_info_rec_size;
		ask.func_info = (uintptr_t)a->func;
		a->rec = info->func_info_rec_size;
	}
	err = get_info(fd, &ask, sizeof(ask));
	if (err)
		return err;
	/* jited_ksyms reads 0 when addresses are hidden from us (kernel/bpf/syscall.c) */
	if (!ask.jited_ksyms || ask.nr_jited_ksyms != n || ask.nr_jited_func_lens != n ||
	    ask.nr_prog_tags != n)
		return -ENODATA;
	*info = ask;
	return 0;
}

static int btf_get(struct arrays *a, uint32_t id)
{
	union bpf_attr attr = { 0 };
	struct bpf_btf_info info = { 0 };
	int fd, err;

	attr.btf_id = id;
	fd = sys_bpf(BPF_BTF_GET_FD_BY_ID, &attr);
	if (fd < 0)
		return fd;
	err = get_info(fd, &info, sizeof(info));
	if (err || !info.btf_size || info.btf_size > (64u << 20))
		goto out;
	a->btf = malloc(info.btf_size);
	a->btf_len = info.btf_size;
	if (!a->btf) {
		err = -ENOMEM;
		goto out;
	}
	info = (struct bpf_btf_info){ .btf = (uintptr_t)a->btf,
				      .btf_size = (uint32_t)a->btf_len };
	err = get_info(fd, &info, sizeof(info));
	if (!err && info.btf_size < a->btf_len)
		a->btf_len = info.btf_size;
out:
	close(fd);
	if (err) {
		free(a->btf);
		a->btf = NULL;
	}
	return err;
}

/* The short name as the kernel chooses it (kernel/bpf/core.c, bpf_get_prog_name). */
static const char *short_name(const struct arrays *a, const struct bpf_prog_info *info,
			      size_t i)
{
	uint32_t type;
	const char *name = NULL;

	if (a->btf && a->func) {
		/* struct bpf_func_info: u32 insn_off, u32 type_id */
		memcpy(&type, a->func + i * a->rec + 4, sizeof(type));
		name = pio_btf_name(a->btf, a->btf_len, type);
	}
	if (!name && i == 0 && a->n == 1)
		name = info->name;
	return name ? name : "F";
}

static void name_sym(struct pio_bpf_sym *s, const uint8_t tag[8], const char *name)
{
	unsigned long long t = 0;

	for (int i = 0; i < 8; i++)
		t = t << 8 | tag[i];
	snprintf(s->name, sizeof(s->name), "bpf_prog_%016llx%s%.80s", t, *name ? "_" : "",
		 name);
}

static int tell(const struct arrays *a, const struct bpf_prog_info *info, pio_bpf_fn *fn,
		void *ctx)
{
	struct pio_bpf_sym *syms = calloc(a->n, sizeof(*syms));
	struct pio_bpf_prog p = { .id = info->id, .syms = syms, .nr_syms = a->n };
	int err;

	if (!syms)
		return -ENOMEM;
	memcpy(p.tag, info->tag, sizeof(p.tag));
	for (size_t i = 0; i < a->n; i++) {
		syms[i].addr = a->addr[i];
		syms[i].len = a->len[i];
		name_sym(&syms[i], a->tag[i], short_name(a, info, i));
	}
	err = fn(ctx, &p);
	free(syms);
	return err;
}

/* A program that cannot be asked about (unloaded meanwhile, hidden) is left out. */
static int one_prog(int fd, pio_bpf_fn *fn, void *ctx)
{
	struct bpf_prog_info info = { 0 };
	struct arrays a = { 0 };
	int err;

	if (get_info(fd, &info, sizeof(info)) || !info.nr_jited_ksyms ||
	    info.nr_jited_ksyms > SYMS_MAX)
		return 0;
	err = arrays_get(&a, fd, &info);
	if (!err && info.btf_id && a.func && btf_get(&a, info.btf_id) == -ENOMEM)
		err = -ENOMEM;
	if (!err)
		err = tell(&a, &info, fn, ctx);
	else if (err != -ENOMEM)
		err = 0;
	arrays_done(&a);
	return err;
}

int pio_bpf_progs(pio_bpf_fn *fn, void *ctx)
{
	union bpf_attr attr;
	uint32_t id = 0;
	int fd, err;

	while (!next_id(&id)) {
		attr = (union bpf_attr){ 0 };
		attr.prog_id = id;
		fd = sys_bpf(BPF_PROG_GET_FD_BY_ID, &attr);
		if (fd < 0)
			continue;
		err = one_prog(fd, fn, ctx);
		close(fd);
		if (err)
			return err;
	}
	return 0;
}
