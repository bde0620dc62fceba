/* SPDX-License-Identifier: Apache-2.0 */
/* PERF_RECORD_AUXTRACE_INFO: words whose meaning each kind of trace defines. */
#include "format/abi.h"
#include "format/fields_priv.h"

/* Magic words of CoreSight's per-cpu blocks (tools/perf/util/cs-etm.h). */
#define CS_ETMV3 UINT64_C(0x3030303030303030)
#define CS_ETMV4 UINT64_C(0x4040404040404040)
#define CS_ETE	 UINT64_C(0x5050505050505050)

static const char *const kinds[] = {
	[FMT_AUXTRACE_INTEL_PT] = "INTEL_PT",	  [FMT_AUXTRACE_INTEL_BTS] = "INTEL_BTS",
	[FMT_AUXTRACE_CS_ETM] = "CS_ETM",	  [FMT_AUXTRACE_ARM_SPE] = "ARM_SPE",
	[FMT_AUXTRACE_S390_CPUMSF] = "S390_CPUMSF", [FMT_AUXTRACE_HISI_PTT] = "HISI_PTT",
};
enum { NR_KINDS = sizeof(kinds) / sizeof(*kinds) };

const char *fmt_auxtrace_name(uint64_t kind)
{
	return kind < NR_KINDS ? kinds[kind] : NULL;
}

/* As many of the named words as are there; perf 3.x wrote fewer. */
static void visit_words(struct fmt_visit *v, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr && v->left >= 8; i++)
		fmt_visit_num(v, names[i], FMT_AS_HEX, 8);
}

static void visit_more(struct fmt_visit *v)
{
	if (v->left >= 8)
		fmt_visit_nums(v, "words", FMT_AS_HEX, v->left / 8, 8);
}

static void visit_pt(struct fmt_visit *v)
{
	static const char *const names[] = {
		"pmu_type",	  "time_shift",	  "time_mult",	   "time_zero",
		"cap_user_time_zero", "tsc_bit",  "noretcomp_bit", "have_sched_switch",
		"snapshot_mode",  "per_cpu_mmaps", "mtc_bit",	   "mtc_freq_bits",
		"tsc_ctc_n",	  "tsc_ctc_d",	  "cyc_bit",	   "max_nonturbo_ratio",
	};
	static const char *const tail[] = { "cap_event_trace" };
	uint64_t n;

	visit_words(v, names, sizeof(names) / sizeof(*names));
	if (v->left < 8)
		return;
	n = fmt_visit_num(v, "filter_str_len", FMT_AS_DEC, 8);
	if (n >= v->left && n) {
		v->missing = "filter";
		return;
	}
	if (n)
		fmt_visit_text(v, "filter", ((size_t)n + 8) & ~(size_t)7);
	visit_words(v, tail, 1);
}

static void visit_bts(struct fmt_visit *v)
{
	static const char *const names[] = { "pmu_type",  "time_shift",
					     "time_mult", "time_zero",
					     "cap_user_time_zero", "snapshot_mode" };

	visit_words(v, names, sizeof(names) / sizeof(*names));
}

/* Since perf 6.13 there are per-cpu blocks; before, just two words. */
static void visit_spe(struct fmt_visit *v)
{
	static const char *const v1[] = { "pmu_type", "per_cpu_mmaps" };
	static const char *const v2[] = { "header_version", "header_size", "pmu_type",
					  "nr_cpus" };
	static const char *const cpu[] = { "magic", "cpu", "nr_params" };
	uint64_t n;

	if (v->left <= 16) {
		visit_words(v, v1, 2);
		return;
	}
	visit_words(v, v2, 4);
	if (v->left < 24)
		return;
	fmt_visit_open(v, "cpus", FMT_AS_LIST);
	while (v->left >= 24 && !v->missing) {
		n = fmt_load(v->p + 16, 8);
		fmt_visit_open(v, NULL, FMT_AS_GROUP);
		visit_words(v, cpu, 3);
		fmt_visit_nums(v, "params", FMT_AS_HEX, n, 8);
		fmt_visit_close(v);
	}
	fmt_visit_close(v);
}

static void visit_cs_params(struct fmt_visit *v, uint64_t magic, uint64_t n)
{
	static const char *const etmv3[] = { "etmcr", "etmtraceidr", "etmccer", "etmidr" };
	static const char *const etmv4[] = { "trcconfigr", "trctraceidr", "trcidr0",
					     "trcidr1",	   "trcidr2",	  "trcidr8",
					     "trcauthstatus", "ts_source" };
	static const char *const ete[] = { "trcconfigr", "trctraceidr", "trcidr0",
					   "trcidr1",	 "trcidr2",	"trcidr8",
					   "trcauthstatus", "trcdevarch", "ts_source" };
	const char *const *names = NULL;
	size_t nr = 0, named;

	if (magic == CS_ETMV3) {
		names = etmv3;
		nr = sizeof(etmv3) / sizeof(*etmv3);
	} else if (magic == CS_ETMV4) {
		names = etmv4;
		nr = sizeof(etmv4) / sizeof(*etmv4);
	} else if (magic == CS_ETE) {
		names = ete;
		nr = sizeof(ete) / sizeof(*ete);
	}
	named = n < nr ? (size_t)n : nr;
	for (size_t i = 0; i < named; i++)
		fmt_visit_num(v, names[i], FMT_AS_HEX, 8);
	if (n > named)
		fmt_visit_nums(v, "params", FMT_AS_HEX, n - named, 8);
}

static void visit_cs_etm(struct fmt_visit *v)
{
	uint64_t version = fmt_visit_num(v, "header_version", FMT_AS_DEC, 8), word, magic, n;

	word = fmt_take_num(v, "pmu_type", 8);
	fmt_give_num(v, "pmu_type", FMT_AS_DEC, word >> 32);
	fmt_give_num(v, "nr_cpus", FMT_AS_DEC, word & UINT32_MAX);
	fmt_visit_num(v, "snapshot", FMT_AS_DEC, 8);
	if (v->missing || !version || v->left < 24)
		return; /* version 0 does not say how long its blocks are */
	fmt_visit_open(v, "cpus", FMT_AS_LIST);
	while (v->left >= 24 && !v->missing) {
		fmt_visit_open(v, NULL, FMT_AS_GROUP);
		magic = fmt_visit_num(v, "magic", FMT_AS_HEX, 8);
		fmt_visit_num(v, "cpu", FMT_AS_DEC, 8);
		n = fmt_visit_num(v, "nr_trc_params", FMT_AS_DEC, 8);
		visit_cs_params(v, magic, n);
		fmt_visit_close(v);
	}
	fmt_visit_close(v);
}

void fmt_visit_auxtrace_info(struct fmt_visit *v)
{
	uint64_t kind = fmt_visit_word(v, "type", kinds, NR_KINDS, 4);

	fmt_visit_reserved(v, 4);
	if (v->missing)
		return;
	switch (kind) {
	case FMT_AUXTRACE_INTEL_PT:
		visit_pt(v);
		break;
	case FMT_AUXTRACE_INTEL_BTS:
		visit_bts(v);
		break;
	case FMT_AUXTRACE_CS_ETM:
		visit_cs_etm(v);
		break;
	case FMT_AUXTRACE_ARM_SPE:
		visit_spe(v);
		break;
	}
	if (!v->missing)
		visit_more(v);
}
