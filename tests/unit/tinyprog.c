/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tinyprog.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Numbers of system calls: Linux 6.1 arch/x86/entry/syscalls/syscall_64.tbl. */
#define PROGRAM(name, code)                                                             \
	__asm__(".pushsection .rodata\n" #name "_begin:\n" code "\n" #name "_end:\n"    \
		".popsection\n");                                                       \
	extern const char name##_begin[], name##_end[]

#define EXIT "mov $231, %eax\n syscall\n ud2\n"
/* The child's exit status to edi. */
#define WAIT "mov %eax, %edi\n lea -16(%rsp), %rsi\n xor %edx, %edx\n xor %r10d, %r10d\n" \
	     "mov $61, %eax\n syscall\n movzbl -15(%rsp), %edi\n"
/* execve(argv[0], { argv[0], argv[0], NULL }), argc being at rbp. */
#define AGAIN "push $0\n push 8(%rbp)\n push 8(%rbp)\n mov 8(%rbp), %rdi\n" \
	      "mov %rsp, %rsi\n xor %edx, %edx\n mov $59, %eax\n syscall\n ud2\n"
/* A thread (CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM) goes to label 2. */
#define MAP "xor %edi, %edi\n mov $65536, %esi\n mov $3, %edx\n mov $0x22, %r10d\n"      \
	    "mov $-1, %r8\n xor %r9d, %r9d\n mov $9, %eax\n syscall\n"
#define THREAD MAP "lea 65536(%rax), %rsi\n mov $0x50f00, %edi\n xor %edx, %edx\n"            \
	       "xor %r10d, %r10d\n xor %r8d, %r8d\n mov $56, %eax\n syscall\n"            \
	       "test %eax, %eax\n jz 2f\n"
#define SIGACTION(sig) "mov $" #sig ", %edi\n mov %rsp, %rsi\n xor %edx, %edx\n" \
		       "mov $8, %r10d\n mov $13, %eax\n syscall\n"
#define KILL(sig) "mov %r13d, %edi\n mov $" #sig ", %esi\n mov $62, %eax\n syscall\n"

PROGRAM(tiny_flow,
	"mov $3, %ecx\n"
	"1: dec %ecx\n jnz 1b\n"
	"call 5f\n"
	"lea 6f(%rip), %rax\n call *%rax\n"
	"mov $2, %ecx\n call 7f\n"
	"7: dec %ecx\n jz 8f\n ret\n 8:\n"
	"jrcxz 2f\n nop\n"
	"2: mov $4, %ecx\n"
	"3: loop 3b\n"
	"lea -64(%rsp), %rdi\n mov %rsp, %rsi\n mov $17, %ecx\n rep movsb\n"
	"xor %eax, %eax\n cpuid\n"
	"pushfq\n pop %rdi\n shr $8, %rdi\n and $1, %edi\n"
	"lea 4f(%rip), %rax\n jmp *%rax\n ud2\n"
	"4: " EXIT
	"5: ret\n"
	"6: jmp 5b\n");

/* struct sigaction of the kernel: handler, SA_RESTORER | SA_SIGINFO, restorer, mask. */
PROGRAM(tiny_signals,
	"sub $64, %rsp\n"
	"lea 8f(%rip), %rax\n mov %rax, (%rsp)\n"
	"movq $0x04000004, 8(%rsp)\n"
	"lea 9f(%rip), %rax\n mov %rax, 16(%rsp)\n"
	"movq $-1, 24(%rsp)\n"
	SIGACTION(10) SIGACTION(4) SIGACTION(5)
	"lea 48(%rsp), %r12\n movq $0, (%r12)\n"
	"mov $39, %eax\n syscall\n mov %eax, %r13d\n"
	KILL(10)
	"ud2\n int3\n int3\n"
	KILL(5)
	"mov (%r12), %edi\n" EXIT
	"8: incq (%r12)\n cmp $4, %edi\n jne 1f\n"
	"addq $2, 168(%rdx)\n" /* uc_mcontext.gregs[REG_RIP] */
	"1: ret\n"
	"9: mov $15, %eax\n syscall\n");

PROGRAM(tiny_fork,
	"mov $57, %eax\n syscall\n test %eax, %eax\n jz 1f\n"
	WAIT EXIT
	"1: mov $3, %edi\n" EXIT);

PROGRAM(tiny_exec,
	"mov %rsp, %rbp\n cmpl $1, (%rsp)\n jne 9f\n"
	"mov $58, %eax\n syscall\n test %eax, %eax\n jz 2f\n"
	WAIT EXIT
	"2: " AGAIN
	"9: mov $7, %edi\n" EXIT);

PROGRAM(tiny_threads,
	"mov %rsp, %rbp\n movq $0, -64(%rbp)\n"
	THREAD
	"movl $1, -60(%rbp)\n"
	"1: pause\n cmpl $0, -64(%rbp)\n je 1b\n"
	"mov $4, %edi\n" EXIT
	"2: cmpl $0, -60(%rbp)\n je 2b\n" MAP
	"movl $1, -64(%rbp)\n"
	"3: test %rsp, %rsp\n jnz 3b\n");

PROGRAM(tiny_threadexec,
	"mov %rsp, %rbp\n cmpl $1, (%rsp)\n jne 9f\n"
	THREAD
	"1: test %rsp, %rsp\n jnz 1b\n"
	"2: mov $20, %ecx\n 3: loop 3b\n" AGAIN
	"9: mov $7, %edi\n" EXIT);

PROGRAM(tiny_sleep,
	"push $200000000\n push $0\n mov %rsp, %rdi\n xor %esi, %esi\n"
	"mov $35, %eax\n syscall\n"
	"mov $6, %edi\n" EXIT);

PROGRAM(tiny_spin,
	"mov $0x8000000, %ecx\n"
	"1: dec %ecx\n jnz 1b\n"
	"mov $6, %edi\n" EXIT);

PROGRAM(tiny_forever,
	"1: test %rsp, %rsp\n jnz 1b\n");

/* mov ebx, 5; mov eax, 1; int 0x80 */
PROGRAM(tiny_32,
	".byte 0xbb, 5, 0, 0, 0, 0xb8, 1, 0, 0, 0, 0xcd, 0x80\n");

PROGRAM(tiny_to_32,
	"mov 16(%rsp), %rdi\n lea 16(%rsp), %rsi\n xor %edx, %edx\n"
	"mov $59, %eax\n syscall\n"
	"mov $9, %edi\n" EXIT);

static const struct {
	const char *begin, *end;
} programs[] = {
	[TINY_FLOW] = { tiny_flow_begin, tiny_flow_end },
	[TINY_SIGNALS] = { tiny_signals_begin, tiny_signals_end },
	[TINY_FORK] = { tiny_fork_begin, tiny_fork_end },
	[TINY_EXEC] = { tiny_exec_begin, tiny_exec_end },
	[TINY_THREADS] = { tiny_threads_begin, tiny_threads_end },
	[TINY_THREADEXEC] = { tiny_threadexec_begin, tiny_threadexec_end },
	[TINY_SLEEP] = { tiny_sleep_begin, tiny_sleep_end },
	[TINY_SPIN] = { tiny_spin_begin, tiny_spin_end },
	[TINY_FOREVER] = { tiny_forever_begin, tiny_forever_end },
	[TINY_32] = { tiny_32_begin, tiny_32_end },
	[TINY_TO_32] = { tiny_to_32_begin, tiny_to_32_end },
};

enum { ADDRESS = 0x400000 };

static size_t head_64(uint8_t *to, size_t code)
{
	const size_t n = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
	const Elf64_Ehdr e = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_entry = ADDRESS + n, .e_phoff = sizeof(e), .e_ehsize = sizeof(e),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
	};
	const Elf64_Phdr p = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			       .p_vaddr = ADDRESS, .p_filesz = n + code,
			       .p_memsz = n + code, .p_align = 4096 };

	memcpy(to, &e, sizeof(e));
	memcpy(to + sizeof(e), &p, sizeof(p));
	return n;
}

static size_t head_32(uint8_t *to, size_t code)
{
	const size_t n = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr);
	const Elf32_Ehdr e = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_386, .e_version = EV_CURRENT,
		.e_entry = (Elf32_Addr)(ADDRESS + n), .e_phoff = sizeof(e),
		.e_ehsize = sizeof(e), .e_phentsize = sizeof(Elf32_Phdr), .e_phnum = 1,
	};
	const Elf32_Phdr p = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			       .p_vaddr = ADDRESS, .p_filesz = (Elf32_Word)(n + code),
			       .p_memsz = (Elf32_Word)(n + code), .p_align = 4096 };

	memcpy(to, &e, sizeof(e));
	memcpy(to + sizeof(e), &p, sizeof(p));
	return n;
}

int tinyprog_write(const char *path, enum tinyprog which)
{
	size_t code = (size_t)(programs[which].end - programs[which].begin), n;
	uint8_t file[4096] = { 0 };
	int fd, err = 0;

	n = which == TINY_32 ? head_32(file, code) : head_64(file, code);
	if (n + code > sizeof(file))
		return -EFBIG;
	memcpy(file + n, programs[which].begin, code);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0)
		return -errno;
	if (write(fd, file, n + code) != (ssize_t)(n + code))
		err = -EIO;
	if (close(fd) && !err)
		err = -errno;
	return err;
}
