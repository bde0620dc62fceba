/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No libc, some fifty instructions: one of each kind of branch, a string move, two system
 * calls, and what swallows the single-step trap: a move to ss by the architecture, cpuid
 * under some hypervisors. Prints "mini", exits with 7.
 */
	.globl	_start
	.text
_start:
	mov	$3, %ecx
1:	dec	%ecx
	jnz	1b
	call	leaf
	lea	hop(%rip), %rax
	call	*%rax
	jrcxz	2f
	nop
2:	mov	$5, %ecx
3:	loop	3b
	xor	%eax, %eax
	cpuid
	test	%eax, %eax
	js	4f
	nop
4:	mov	%ss, %ecx
	mov	%ecx, %ss
	test	%ecx, %ecx
	jz	4b
	lea	text(%rip), %rsi
	lea	copy(%rip), %rdi
	mov	$5, %ecx
	rep movsb
	lea	5f(%rip), %rdx
	jmp	*%rdx
	ud2
5:	jmp	*slot(%rip)
	ud2
6:	push	$0
	lea	7f(%rip), %rax
	push	%rax
	ret	$8
	ud2
7:	mov	$1, %eax
	mov	$1, %edi
	lea	copy(%rip), %rsi
	mov	$5, %edx
	syscall
	mov	$60, %eax
	mov	$7, %edi
	syscall
leaf:	ret
hop:	jmp	leaf

	.section .rodata
text:	.ascii	"mini\n"
	.data
slot:	.quad	6b
	.bss
copy:	.skip	5
	.section .note.GNU-stack, "", @progbits
