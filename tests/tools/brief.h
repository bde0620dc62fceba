/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools end right behind their work and leave their memory to the system: no leak, which
 * a LeakSanitizer in the build asks here.
 */
#ifndef TESTS_TOOLS_BRIEF_H
#define TESTS_TOOLS_BRIEF_H

int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

#endif
