/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/smallkcore.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two modules with a hole of a page, a BPF program 64 KiB behind them and one far away. */
const char kc_kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81001010 t do_one_thing\n"
			   "ffffffff81002f48 T _etext\n"
			   "ffffffff81003000 D not_code\n"
			   "ffffffffc0001000 t first\t[one]\n"
			   "ffffffffc0001800 d not_code_either\t[one]\n"
			   "ffffffffc0004100 t second\t[two]\n"
			   "ffffffffc0012000 t bpf_prog_near\t[bpf]\n"
			   "ffffffffc0080010 t bpf_prog_far\t[bpf]\n";
const char kc_modules[] = "two 8192 0 - Live 0xffffffffc0004000 (OE)\n"
			  "one 8192 1 two, Live 0xffffffffc0001000\n"
			  "hidden 4096 0 - Live 0x0000000000000000\n";

uint8_t kc_byte(uint64_t addr)
{
	return (uint8_t)(addr >> 12 ^ addr * 7);
}

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

static void put_memory(FILE *f, uint64_t addr, uint64_t len)
{
	for (uint64_t i = 0; i < len; i++)
		need(putc(kc_byte(addr + i), f) != EOF, "kcore");
}

void kc_make(struct fixture *f)
{
	Elf64_Ehdr e = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				      ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_CORE, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			 .e_phoff = sizeof(e), .e_ehsize = sizeof(e),
			 .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3 };
	const uint64_t head = sizeof(e) + 3 * sizeof(Elf64_Phdr);
	const Elf64_Phdr p[3] = {
		{ .p_type = PT_NOTE },
		{ .p_type = PT_LOAD, .p_flags = 7, .p_offset = head, .p_vaddr = KC_TEXT,
		  .p_filesz = KC_TEXT_LEN, .p_memsz = KC_TEXT_LEN },
		{ .p_type = PT_LOAD, .p_flags = 7, .p_offset = head + KC_TEXT_LEN,
		  .p_vaddr = KC_MOD, .p_filesz = KC_MOD_LEN, .p_memsz = KC_MOD_LEN },
	};
	char path[PATH_MAX];
	FILE *out;

	fixture_file(f, "proc/kallsyms", kc_kallsyms);
	fixture_file(f, "proc/modules", kc_modules);
	snprintf(path, sizeof(path), "%s/kcore", f->proc);
	out = fopen(path, "w");
	need(out && fwrite(&e, sizeof(e), 1, out) == 1 && fwrite(p, sizeof(p), 1, out) == 1,
	     path);
	put_memory(out, KC_TEXT, KC_TEXT_LEN);
	put_memory(out, KC_MOD, KC_MOD_LEN);
	need(!fclose(out), path);
}
