/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/filter.h"
#include "tests/unit/fixture.h"
#include "tests/unit/symelf.h"

/* 0x401000 is offset 0x200. */
static const struct symelf_sym symbols[] = {
	{ "main", 0x401100, 0x30, STB_GLOBAL, STT_FUNC, SYMELF_TEXT },
	{ "helper", 0x401000, 0x10, STB_LOCAL, STT_FUNC, SYMELF_TEXT },
	{ "helper", 0x401040, 0x18, STB_LOCAL, STT_FUNC, SYMELF_TEXT },
	{ "helper", 0x401060, 0x20, STB_GLOBAL, STT_FUNC, SYMELF_TEXT },
	{ "last", 0x401200, 0x08, STB_WEAK, STT_FUNC, SYMELF_TEXT },
};

#define KALLSYMS                              \
	"ffffffff81000000 T _text\n"          \
	"ffffffff81000100 t helper\n"         \
	"ffffffff81000180 t helper\n"         \
	"ffffffff81000200 T sys_call\n"       \
	"ffffffff81000280 D data\n"           \
	"ffffffffc0000000 t mod_init\t[mod]\n"

static struct filter f;
static struct filter_why why;
static struct fixture *fix;
static char here[128];

static int setup(void **state)
{
	fixture_new(state);
	fix = *state;
	fixture_file(fix, "proc/kallsyms", KALLSYMS);
	fixture_file(fix, "script", "#!/bin/sh\n");
	fixture_file(fix, "a b", "");
	snprintf(here, sizeof(here), "%s/prog", fix->root);
	symelf_file(here, symbols, 5, SHT_SYMTAB, NULL);
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(fix->root), 0);
	f = (struct filter){ 0 };
	return 0;
}

static int teardown(void **state)
{
	filter_done(&f);
	filter_done(&f);
	if (chdir(here))
		return -1;
	return fixture_done(state);
}

/* "@" in `want` stands for the real path of prog. */
static void is(const char *text, const char *want)
{
	char full[1024] = "", *to = full;

	why.text[0] = '\0';
	if (filter_parse(&f, &fix->sys, text, &why))
		fail_msg("'%s': %s", text, why.text);
	for (; *want; want++) {
		*to++ = *want;
		if (*want == '@')
			to += sprintf(to, "%s/prog", fix->root);
	}
	*to = '\0';
	assert_string_equal(f.text, full);
	filter_done(&f);
}

/* "%" in `want` stands for the test's directory. */
static void refused(const char *text, const char *want)
{
	char full[2048] = "", *to = full;

	why.text[0] = '\0';
	assert_int_equal(filter_parse(&f, &fix->sys, text, &why), -EINVAL);
	for (; *want; want++)
		if (*want == '%')
			to += sprintf(to, "%s", fix->root);
		else
			*to++ = *want;
	*to = '\0';
	assert_string_equal(why.text, full);
	assert_null(f.text);
	assert_null(f.item);
}

static void numbers_stay_numbers(void **state)
{
	(void)state;
	is("filter 0x1000/0x200", "filter 0x1000/0x200");
	is("  filter  4096 / 512  ", "filter 0x1000/0x200");
	is("filter 010/1@prog", "filter 0x8/0x1@");
	is("filter 0x1000 / 0x200 @ ./prog", "filter 0x1000/0x200@");
	is("start 0x10@prog", "start 0x10@");
	is("stop 0x10", "stop 0x10");
	is("stop 0x10/0x20", "stop 0x10/0x20");
	is("tracestop 0x10/0x20", "stop 0x10/0x20");
}

static void several_are_separated_by_blanks_or_commas(void **state)
{
	(void)state;
	is("filter 1/2,stop 3/4 start 5@prog, filter main @prog,",
	   "filter 0x1/0x2,stop 0x3/0x4,start 0x5@,filter 0x300/0x30@");
	assert_int_equal(filter_parse(&f, &fix->sys, "filter 1/2 stop 3@prog", &why), 0);
	assert_int_equal(f.n, 2);
	assert_int_equal(f.item[0].action, FILTER_FILTER);
	assert_int_equal(f.item[0].at, 1);
	assert_int_equal(f.item[0].size, 2);
	assert_null(f.item[0].file);
	assert_int_equal(f.item[1].action, FILTER_STOP);
	assert_int_equal(f.item[1].size, 0);
	assert_non_null(f.item[1].file);
}

static void functions_become_offsets_in_their_file(void **state)
{
	(void)state;
	is("filter main @prog", "filter 0x300/0x30@");
	is("filter main @ prog", "filter 0x300/0x30@");
	is("filter main / 0x8 @prog", "filter 0x300/0x8@");
	is("filter main / last @prog", "filter 0x300/0x108@");
	is("filter 0x210 / main @prog", "filter 0x210/0x120@");
	is("tracestop main @prog", "stop 0x300/0x30@");
	is("start main @prog", "start 0x300@");
	is("stop main @prog", "stop 0x300@");
	is("filter * @prog", "filter 0x0/0x1000@");
}

static void a_hash_chooses_among_functions_of_one_name(void **state)
{
	(void)state;
	is("filter helper #1 @prog", "filter 0x200/0x10@");
	is("filter helper #2 @prog", "filter 0x240/0x18@");
	is("filter helper #g @prog", "filter 0x260/0x20@");
	is("filter helper #G @prog", "filter 0x260/0x20@");
	is("filter helper #0 @prog", "filter 0x260/0x20@");
	is("filter helper #1 / helper #3 @prog", "filter 0x200/0x80@");
	is("filter helper #2,filter helper #1 @prog",
	   "filter 0xffffffff81000180/0x80,filter 0x200/0x10@");
}

static void the_kernels_functions_come_from_kallsyms(void **state)
{
	(void)state;
	is("filter sys_call", "filter 0xffffffff81000200/0x80");
	is("filter _text / sys_call", "filter 0xffffffff81000000/0x280");
	is("filter helper #2", "filter 0xffffffff81000180/0x80");
	is("filter *", "filter 0xffffffff81000000/0x3f001000");
	is("start sys_call", "start 0xffffffff81000200");
	refused("filter mod_init", "the end of function 'mod_init' is not known: give a size");
	is("filter mod_init / 64", "filter 0xffffffffc0000000/0x40");
}

static void ambiguous_functions_are_listed(void **state)
{
	(void)state;
	refused("filter helper @prog",
		"3 functions are named 'helper' in '%/prog'\n"
		"#1 0x200 l helper, before helper\n"
		"#2 0x240 l helper, before helper\n"
		"#3 0x260 g helper, before main\n"
		"choose one with #N behind the name, as in 'helper #2', or the global one with #g");
	refused("filter 0 / helper",
		"2 functions are named 'helper' in the kernel\n"
		"#1 0xffffffff81000100 t helper, before helper\n"
		"#2 0xffffffff81000180 t helper, before sys_call\n"
		"choose one with #N behind the name, as in 'helper #2', or the global one with #g");
}

static void missing_functions_are_named(void **state)
{
	(void)state;
	refused("filter nosuch @prog", "no function 'nosuch' in '%/prog'");
	refused("filter main / nosuch @prog", "no function 'nosuch' in '%/prog'");
	refused("filter nosuch", "no function 'nosuch' in the kernel");
	refused("filter data", "no function 'data' in the kernel");
	refused("filter helper #4 @prog",
		"no function 'helper #4' in '%/prog', which has 3 of that name");
	refused("filter last #g @prog", "no global function 'last' in '%/prog'");
	refused("filter helper #g", "no global function 'helper' in the kernel");
	refused("filter main@prog", "no function 'main@prog' in the kernel\n"
		"a function's name ends with a blank, also before / and @ and #");
}

static void every_wrong_part_is_named(void **state)
{
	(void)state;
	refused("", "it is empty");
	refused("  ", "it is empty");
	refused("trace 1/2", "'trace' is no action: filter, start, stop or tracestop");
	refused("filter", "the address is missing: a number or a function");
	refused("filter /2", "the address is missing: a number or a function");
	refused("filter @prog", "the address is missing: a number or a function");
	refused("filter 1/", "the size behind '/' is missing: a number or a function");
	refused("filter 1/ @prog", "the size behind '/' is missing: a number or a function");
	refused("filter 1/2@", "no file behind '@'");
	refused("filter 1/2@,filter 3/4", "no file behind '@'");
	refused("filter 12ab/2", "'12ab' is not a number");
	refused("filter 0x/2", "'0x' is not a number");
	refused("filter 1/0xfffffffffffffffff", "number '0xfffffffffffffffff' is too large");
	refused("filter 1", "address 0x1 needs a size: ADDR/SIZE");
	refused("filter 1/0", "address 0x1 needs a size: ADDR/SIZE");
	refused("filter 2/0xffffffffffffffff",
		"0x2/0xffffffffffffffff is more than there are addresses");
	refused("filter main # @prog", "behind 'main #' stands neither a number nor g");
	refused("filter main #9999999999 @prog", "behind 'main #' stands too large a number");
	refused("filter 0x300 / helper #1 @prog",
		"function 'helper' (0x200) ends before the start (0x300)");
	refused("filter 1/2 stop", "the address is missing: a number or a function");
}

static void files_that_do_not_serve_are_named(void **state)
{
	(void)state;
	refused("filter 1/2@nowhere", "cannot find file 'nowhere': No such file or directory");
	refused("filter main @script",
		"file '%/script' is not an ELF file: it has no functions");
	is("filter 1/2@prog", "filter 0x1/0x2@"); /* numbers need no functions */
	assert_int_equal(symlink("a b", "link"), 0);
	refused("filter 1/2@link",
		"file '%/a b': the kernel takes no blank and no comma in a name");
	symelf_file("stripped", NULL, 0, 0, NULL);
	refused("filter main @stripped",
		"no function 'main': '%/stripped' has no symbols");
}

static void hidden_kernel_addresses_are_explained(void **state)
{
	(void)state;
	fixture_file(fix, "proc/kallsyms", "0000000000000000 T _text\n");
	refused("filter sys_call",
		"the kernel's addresses are hidden\n"
		"as root: sysctl kernel.kptr_restrict=0, and kernel.perf_event_paranoid=1 or less");
	is("filter 0xffffffff81000000/0x10", "filter 0xffffffff81000000/0x10");
}

static void what_the_kernel_would_cut_off_is_refused(void **state)
{
	char text[8192] = "";

	(void)state;
	for (int i = 0; i < 300; i++)
		strcat(text, "filter 0x10/0x10,");
	refused(text, "the filter is longer than the kernel takes (4095 bytes)");
}

static void check(const char *text, struct filter_event e, const char *want)
{
	assert_int_equal(filter_parse(&f, &fix->sys, text, &why), 0);
	strcpy(why.text, "-");
	assert_int_equal(filter_check(&f, &e, &why), *want ? -EINVAL : 0);
	if (*want)
		assert_string_equal(why.text, want);
	filter_done(&f);
}

static void an_event_takes_what_it_can(void **state)
{
	const struct filter_event pt = { "intel_pt", 2, true, false, false, false };
	struct filter_event e = pt;
	char want[256];

	(void)state;
	check("filter 1/2 tracestop 3/4", pt, "");
	check("filter main @prog filter sys_call", pt, "");
	check("filter 1/2 filter 3/4 filter 5/6", pt,
	      "3 address filters, but 'intel_pt' on this machine has 2");
	check("start 1", pt, "'start 0x1': 'intel_pt' filters by ranges only: use filter, or "
	      "tracestop");
	check("stop 1", pt, "'stop 0x1': 'intel_pt' stops at ranges only: use tracestop, or "
	      "give a size");
	e.most = 0;
	check("filter 1/2", e, "'intel_pt' on this machine has no address filters");
	e = pt;
	e.ranges_only = false;
	check("start 1 stop 2", e, "");
	e.whole_cpus = true;
	check("filter sys_call", e, "");
	snprintf(want, sizeof(want), "'filter 0x300@%s/prog': the kernel filters by file only "
		 "where single tasks are recorded, not with -a or -C", fix->root);
	check("filter main @prog", e, want);
	e = pt;
	e.exclude_kernel = true;
	check("filter main @prog", e, "");
	check("filter 0x401000/1", e, "");
	check("filter sys_call", e, "'filter 0xffffffff81000200' is of the kernel, but the event "
	      "records user space only: for a file, write @FILE");
	e = pt;
	e.exclude_user = true;
	check("filter sys_call", e, "");
	snprintf(want, sizeof(want), "'filter 0x300@%s/prog' is of user space, but the event "
		 "records the kernel only", fix->root);
	check("filter main @prog", e, want);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(numbers_stay_numbers),
		T(several_are_separated_by_blanks_or_commas),
		T(functions_become_offsets_in_their_file),
		T(a_hash_chooses_among_functions_of_one_name),
		T(the_kernels_functions_come_from_kallsyms),
		T(ambiguous_functions_are_listed),
		T(missing_functions_are_named),
		T(every_wrong_part_is_named),
		T(files_that_do_not_serve_are_named),
		T(hidden_kernel_addresses_are_explained),
		T(what_the_kernel_would_cut_off_is_refused),
		T(an_event_takes_what_it_can),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
