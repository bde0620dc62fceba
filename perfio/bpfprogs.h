/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BPF programs that are loaded already: where their machine code lies and under which
 * names the kernel would have announced it (PERF_RECORD_KSYMBOL, PERF_RECORD_BPF_EVENT).
 */
#ifndef PERFIO_BPFPROGS_H
#define PERFIO_BPFPROGS_H

#include <stddef.h>
#include <stdint.h>

struct pio_bpf_sym {
	uint64_t addr;
	uint32_t len;
	char name[128]; /* "bpf_prog_TAG_NAME", KSYM_NAME_LEN of Linux 5.0 to 6.0 */
};

struct pio_bpf_prog {
	uint32_t id;
	uint8_t tag[8];
	const struct pio_bpf_sym *syms; /* the program, then its subprograms */
	size_t nr_syms;
};

/* Returns 0, or a value that ends the walk and is returned by it. */
typedef int pio_bpf_fn(void *ctx, const struct pio_bpf_prog *p);

/* Programs without machine code (not compiled, or hidden by kernel.kptr_restrict) are
 * left out. 0, also when bpf(2) is not there or not permitted; -ENOMEM; or the callback's
 * value. */
int pio_bpf_progs(pio_bpf_fn *fn, void *ctx);

#endif
