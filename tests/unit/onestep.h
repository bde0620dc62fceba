/* SPDX-License-Identifier: Apache-2.0 */
/* A child that runs single instructions for us: what the CPU makes of chosen registers. */
#ifndef TESTS_UNIT_ONESTEP_H
#define TESTS_UNIT_ONESTEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* Pages of the child, where nothing else is. */
#define ONESTEP_CODE ((uint64_t)0x10000000)
#define ONESTEP_DATA ((uint64_t)0x20000000)
enum { ONESTEP_SIZE = 8192 };
#define ONESTEP_MIDDLE (ONESTEP_DATA + ONESTEP_SIZE / 2)

struct onestep {
	pid_t child;
	struct user_regs_struct first; /* as it stopped */
};

/* Of cmocka, with a struct onestep as the state. The data are addresses within the code. */
int onestep_begin(void **state);
int onestep_end(void **state);

/* Is all of it data? */
bool onestep_data(uint64_t addr, size_t n);
/* Memory of the child, as far as it has any there. */
bool onestep_read(const struct onestep *w, uint64_t addr, void *to, size_t n);
bool onestep_write(const struct onestep *w, uint64_t addr, const void *from, size_t n);
/* One instruction from r on, which becomes what it was thereafter. False: it faulted. */
bool onestep_run(const struct onestep *w, struct user_regs_struct *r);
/* Fails, in those words, unless all registers but orig_rax are equal. */
void onestep_same(const char *words, const struct user_regs_struct *ours,
		  const struct user_regs_struct *cpu);

#endif
