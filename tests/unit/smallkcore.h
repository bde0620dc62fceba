/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A /proc/kcore of a small kernel: text of 3 pages at KC_TEXT, 1 MiB for modules at KC_MOD.
 * Each byte tells its place: kc_byte().
 */
#ifndef TESTS_UNIT_SMALLKCORE_H
#define TESTS_UNIT_SMALLKCORE_H

#include <stdint.h>

#include "tests/unit/fixture.h"

#define KC_TEXT	    UINT64_C(0xffffffff81000000)
#define KC_TEXT_LEN UINT64_C(0x3000)
#define KC_MOD	    UINT64_C(0xffffffffc0000000)
#define KC_MOD_LEN  UINT64_C(0x100000)

extern const char kc_kallsyms[], kc_modules[];

uint8_t kc_byte(uint64_t addr);
/* proc/kcore, proc/kallsyms and proc/modules of a fixture. */
void kc_make(struct fixture *f);

#endif
