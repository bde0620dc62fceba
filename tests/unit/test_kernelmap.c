/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "perfio/proc.h"
#include "tests/unit/fixture.h"

static char heard[4096];

static int setup(void **state)
{
	heard[0] = '\0';
	return fixture_new(state);
}

#define ETEXT 0xffffffff82276f48

static const char kallsyms[] =
	"0000000000000000 A fixed_percpu_data\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000010 t start\n"
	"ffffffff81000020 T my_etext\n"
	"ffffffff82276f48 T _etext\n"
	"ffffffffc0a00000 t _text\t[odd_module]\n";

static void the_text_ends_where_kallsyms_says(void **state)
{
	struct fixture *f = *state;
	struct pio_kernel_map k;

	fixture_file(f, "proc/kallsyms", kallsyms);
	assert_int_equal(pio_proc_kernel(&f->sys, &k), 0);
	assert_string_equal(k.ref_name, "_text");
	assert_true(k.ref == 0xffffffff81000000 && k.start == k.ref && k.end == ETEXT);
}

static void iomem_spares_the_long_way(void **state)
{
	struct fixture *f = *state;
	struct pio_kernel_map k;

	fixture_file(f, "proc/kallsyms", "ffffffff81000000 T _text\n"
					 "ffffffff81999999 T _etext\n");
	fixture_file(f, "proc/iomem", "00001000-0009ffff : System RAM\n"
				      "00100000-3fffffff : System RAM\n"
				      "  01000000-02276f47 : Kernel code\n"
				      "  02400000-02e0cfff : Kernel rodata\n");
	assert_int_equal(pio_proc_kernel(&f->sys, &k), 0);
	assert_true(k.end == ETEXT);
}

static void iomem_is_not_believed_when_it_is_hidden_or_odd(void **state)
{
	static const char *const odd[] = {
		"  00000000-00000000 : Kernel code\n",
		"  01001000-02276f47 : Kernel code\n",
		"  01000000-02276f47 : Kernel data\n",
		"  02000000-01000000 : Kernel code\n",
		"",
	};
	struct fixture *f = *state;
	struct pio_kernel_map k;

	fixture_file(f, "proc/kallsyms", "ffffffff81000000 T _text\n"
					 "ffffffff81999999 T _etext\n");
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		fixture_file(f, "proc/iomem", odd[i]);
		assert_int_equal(pio_proc_kernel(&f->sys, &k), 0);
		assert_true(k.end == 0xffffffff81999999);
	}
}

static void stext_stands_in_for_text(void **state)
{
	struct fixture *f = *state;
	struct pio_kernel_map k;

	fixture_file(f, "proc/kallsyms", "ffff800008010000 T _stext\n"
					 "ffff800008010040 t a\n"
					 "ffff800008010080 t b\n");
	assert_int_equal(pio_proc_kernel(&f->sys, &k), 0);
	assert_string_equal(k.ref_name, "_stext");
	assert_true(k.ref == 0xffff800008010000);
	assert_true(k.end == UINT64_MAX);
}

static void hidden_and_missing_are_two_things(void **state)
{
	struct fixture *f = *state;
	struct pio_kernel_map k = { .ref = 5 };

	assert_int_equal(pio_proc_kernel(&f->sys, &k), -ENOENT);
	fixture_file(f, "proc/kallsyms", "0000000000000000 T _stext\n"
					 "0000000000000000 T _text\n");
	assert_int_equal(pio_proc_kernel(&f->sys, &k), -EACCES);
	fixture_file(f, "proc/kallsyms", "ffffffff81000000 T startup_64\n"
					 "ffffffff81000000 T _text.unlikely\n");
	assert_int_equal(pio_proc_kernel(&f->sys, &k), -ENOENT);
	fixture_file(f, "proc/kallsyms", "");
	assert_int_equal(pio_proc_kernel(&f->sys, &k), -ENOENT);
	assert_true(k.ref == 5);
}

static int on_module(void *ctx, const struct pio_module *m)
{
	size_t n = strlen(heard);

	snprintf(heard + n, sizeof(heard) - n, "%llx+%llu %s %s\n",
		 (unsigned long long)m->start, (unsigned long long)m->len, m->name,
		 m->path);
	return *(const int *)ctx;
}

static void modules_find_their_files(void **state)
{
	struct fixture *f = *state;
	char root[80], want[PATH_MAX];
	int go_on = 0, stop = 5;

	snprintf(root, sizeof(root), "%s/lib", f->root);
	f->sys.modules = root;
	fixture_file(f, "proc/sys/kernel/osrelease", "6.1.0-test\n");
	fixture_file(f, "proc/modules",
		     "virtio_net 61440 0 - Live 0xffffffffc0300000\n"
		     "kvm_intel 376832 4 kvm,other, Live 0xffffffffc0200000 (OE)\n"
		     "nowhere 4096 0 - Live 0xffffffffc0400000\n"
		     "hidden 4096 0 - Live 0x0000000000000000\n"
		     "xen 8192 0 - Loading 0xffffffffc0100000\n"
		     "broken line\n");
	fixture_file(f, "lib/6.1.0-test/modules.dep",
		     "kernel/arch/x86/kvm/kvm-intel.ko: kernel/virt/kvm.ko\n"
		     "kernel/drivers/net/virtio_net.ko.xz:\n"
		     "kernel/nowhere.korn:\n"
		     "kernel/nowhere\n"
		     "/abs/updates/xen.ko: kernel/a.ko\n");
	assert_int_equal(pio_proc_modules(&f->sys, on_module, &go_on), 0);
	snprintf(want, sizeof(want),
		 "ffffffffc0100000+8192 xen /abs/updates/xen.ko\n"
		 "ffffffffc0200000+376832 kvm_intel "
		 "%s/6.1.0-test/kernel/arch/x86/kvm/kvm-intel.ko\n"
		 "ffffffffc0300000+61440 virtio_net "
		 "%s/6.1.0-test/kernel/drivers/net/virtio_net.ko.xz\n"
		 "ffffffffc0400000+4096 nowhere [nowhere]\n",
		 root, root);
	assert_string_equal(heard, want);
	assert_int_equal(pio_proc_modules(&f->sys, on_module, &stop), 5);
}

static void modules_need_no_files(void **state)
{
	struct fixture *f = *state;
	int go_on = 0;

	f->sys.modules = f->root;
	assert_int_equal(pio_proc_modules(&f->sys, on_module, &go_on), 0);
	assert_string_equal(heard, "");
	fixture_file(f, "proc/modules", "kvm_intel 376832 0 - Live 0xffffffffc0200000\n");
	assert_int_equal(pio_proc_modules(&f->sys, on_module, &go_on), 0);
	assert_string_equal(heard, "ffffffffc0200000+376832 kvm_intel [kvm_intel]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, fixture_done)
		T(the_text_ends_where_kallsyms_says),
		T(iomem_spares_the_long_way),
		T(iomem_is_not_believed_when_it_is_hidden_or_odd),
		T(stext_stands_in_for_text),
		T(hidden_and_missing_are_two_things),
		T(modules_find_their_files),
		T(modules_need_no_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
