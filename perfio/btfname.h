/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a type in a blob of BTF, of which nothing else is needed here: the
 * functions of a BPF program are named by it (Documentation/bpf/btf.rst).
 */
#ifndef PERFIO_BTFNAME_H
#define PERFIO_BTFNAME_H

#include <stddef.h>
#include <stdint.h>

/* Points into btf (native byte order, aligned to 4); NULL: no such type, no name,
 * damaged. */
const char *pio_btf_name(const void *btf, size_t len, uint32_t type);

#endif
