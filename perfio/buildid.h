/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build ids: of ELF files (NT_GNU_BUILD_ID, through libelf), of the running kernel
 * (/sys/kernel/notes) and of its modules (/sys/module/NAME/notes).
 */
#ifndef PERFIO_BUILDID_H
#define PERFIO_BUILDID_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perfio/sys.h"

#define PIO_BUILD_ID_MAX 20

/* Each returns the size of the id (1..20), -ENODATA when there is none, or -errno. */
int pio_build_id_file(const char *path, uint8_t ret[PIO_BUILD_ID_MAX]);
int pio_build_id_fd(int fd, uint8_t ret[PIO_BUILD_ID_MAX]); /* an open regular file */
int pio_build_id_kernel(const struct pio_sys *sys, uint8_t ret[PIO_BUILD_ID_MAX]);
int pio_build_id_module(const struct pio_sys *sys, const char *name,
			uint8_t ret[PIO_BUILD_ID_MAX]);
/* The vdso of this machine, from our own copy of it. */
int pio_build_id_vdso(uint8_t ret[PIO_BUILD_ID_MAX]);

#endif
