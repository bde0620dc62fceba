/* SPDX-License-Identifier: Apache-2.0 */
#include "format/kcore.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>

#include "tests/unit/hex.h"

static struct fmt_buf buf;

static int teardown(void **state)
{
	(void)state;
	fmt_buf_done(&buf);
	return 0;
}

static const struct fmt_kcore_segment two[] = {
	{ 0xffffffff81000000, 0x1277000 },
	{ 0xffffffffc0201000, 0x3000 },
};

static void headers_byte_for_byte(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_kcore_head(&buf, 62, two, 2), 0);
	assert_int_equal(buf.len, 4096);
	hex_expect(buf.data, buf.len,
		   "7f'ELF' 02 01 01 00[9]" /* 64-bit, little-endian, version 1 */
		   "0400 3e00 01000000"	    /* ET_CORE, EM_X86_64, version 1 */
		   "00[8] 4000000000000000 00[8]" /* entry, program headers, sections */
		   "00000000 4000 3800 0200 0000 0000 0000"
		   "01000000 07000000 0010000000000000" /* PT_LOAD, rwx, offset */
		   "000000 81ffffffff 00[8]"
		   "0070270100000000 0070270100000000 0010000000000000"
		   "01000000 07000000 0080270100000000"
		   "001020 c0ffffffff 00[8]"
		   "0030000000000000 0030000000000000 0010000000000000"
		   "00[3920]");
}

static void fields_agree_with_elf_h(void **state)
{
	Elf64_Ehdr e;
	Elf64_Phdr p[2];

	(void)state;
	assert_int_equal(fmt_put_kcore_head(&buf, EM_X86_64, two, 2), 0);
	memcpy(&e, buf.data, sizeof(e));
	memcpy(p, buf.data + e.e_phoff, sizeof(p));
	assert_memory_equal(e.e_ident, ELFMAG, SELFMAG);
	assert_int_equal(e.e_type, ET_CORE);
	assert_int_equal(e.e_machine, EM_X86_64);
	assert_int_equal(e.e_ehsize, sizeof(e));
	assert_int_equal(e.e_phentsize, sizeof(*p));
	assert_int_equal(e.e_phnum, 2);
	assert_int_equal(p[1].p_type, PT_LOAD);
	assert_int_equal(p[1].p_flags, PF_R | PF_W | PF_X);
	assert_true(p[1].p_vaddr == two[1].addr);
	assert_int_equal(p[1].p_offset, p[0].p_offset + p[0].p_filesz);
	assert_int_equal(p[1].p_filesz, two[1].len);
	assert_int_equal(p[1].p_memsz, two[1].len);
}

static void many_segments_take_more_pages_of_headers(void **state)
{
	struct fmt_kcore_segment s[100];

	(void)state;
	for (size_t n = 0; n < 100; n++)
		s[n] = (struct fmt_kcore_segment){ 0x1000 * n, 0x1000 };
	for (size_t n = 0; n <= 100; n++) {
		fmt_buf_reset(&buf);
		assert_int_equal(fmt_put_kcore_head(&buf, 62, s, n), 0);
		assert_int_equal(buf.len, fmt_kcore_head_size(n));
		assert_int_equal(buf.len, n <= 72 ? 4096 : 8192);
	}
}

static void odd_segments_are_refused(void **state)
{
	static const struct fmt_kcore_segment bad[] = {
		{ 0x1000, 0 }, { 0x1008, 0x1000 }, { 0x1000, 0x800 },
	};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(fmt_put_kcore_head(&buf, 62, &bad[i], 1), -EINVAL);
	assert_int_equal(fmt_put_kcore_head(&buf, 62, two, 65535), -EOVERFLOW);
	assert_int_equal(buf.len, 0);
}

#define T(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(headers_byte_for_byte),
		T(fields_agree_with_elf_h),
		T(many_segments_take_more_pages_of_headers),
		T(odd_segments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
