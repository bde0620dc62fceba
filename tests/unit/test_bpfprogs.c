/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perfio/bpfprogs.h"

static uint32_t wanted;
static struct pio_bpf_prog found;
static struct pio_bpf_sym sym;
static size_t told;

static int on_prog(void *ctx, const struct pio_bpf_prog *p)
{
	told++;
	if (p->id == wanted) {
		found = *p;
		sym = p->syms[0];
	}
	return *(const int *)ctx;
}

/* return 0, as a socket filter; a descriptor, or -1 where that is not permitted */
static int load(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER };

	a.insn_cnt = 2;
	a.insns = (uintptr_t)insns;
	a.license = (uintptr_t)"GPL";
	strcpy(a.prog_name, "tiny_prog");
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a));
}

static struct bpf_prog_info info_of(int fd)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr a = { 0 };

	a.info.bpf_fd = (uint32_t)fd;
	a.info.info_len = sizeof(info);
	a.info.info = (uintptr_t)&info;
	assert_int_equal(syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &a, sizeof(a)), 0);
	return info;
}

static void a_loaded_program_is_told(void **state)
{
	struct bpf_prog_info info;
	int fd = load(), go_on = 0, stop = 9;
	char want[64];

	(void)state;
	if (fd < 0) {
		print_message("skip: this user may not load BPF programs\n");
		skip();
	}
	info = info_of(fd);
	wanted = info.id;
	assert_int_equal(pio_bpf_progs(on_prog, &go_on), 0);
	if (!info.jited_prog_len || !found.id) {
		close(fd);
		print_message("skip: BPF programs are interpreted, or hidden\n");
		skip();
	}
	assert_memory_equal(found.tag, info.tag, 8);
	assert_int_equal(found.nr_syms, 1);
	snprintf(want, sizeof(want),
		 "bpf_prog_%02x%02x%02x%02x%02x%02x%02x%02x_tiny_prog", info.tag[0],
		 info.tag[1], info.tag[2], info.tag[3], info.tag[4], info.tag[5],
		 info.tag[6], info.tag[7]);
	assert_string_equal(sym.name, want);
	assert_true(sym.addr != 0 && sym.len != 0);
	told = 0;
	assert_int_equal(pio_bpf_progs(on_prog, &stop), 9);
	assert_int_equal(told, 1);
	close(fd);
}

/* Whoever asks: it is never an error. */
static void having_no_right_is_no_error(void **state)
{
	int go_on = 0;

	(void)state;
	assert_int_equal(pio_bpf_progs(on_prog, &go_on), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loaded_program_is_told),
		cmocka_unit_test(having_no_right_is_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
