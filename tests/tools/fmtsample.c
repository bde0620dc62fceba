/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fmtsample [--stream | --killed] writes to stdout a file, or a stream, that holds every
 * record and every feature format/ can write, with values that are easy to find again in
 * what other readers print. --killed ends in the midst of a record of the third round, as
 * kill -9 would. The file forms need a stdout that can seek.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/record.h"
#include "format/writer.h"

#define SAMPLE_TYPE                                                               \
	(FMT_SAMPLE_IP | FMT_SAMPLE_TID | FMT_SAMPLE_TIME | FMT_SAMPLE_CPU |      \
	 FMT_SAMPLE_IDENTIFIER)
#define PT_TYPE 8u
#define TP_ID	40001u /* as in the format text of put_tracing() */

static int sink_append(void *ctx, struct iovec *v, int n)
{
	(void)ctx;
	for (int i = 0; i < n; i++)
		for (size_t off = 0; off < v[i].iov_len;) {
			ssize_t put = write(STDOUT_FILENO, (char *)v[i].iov_base + off,
					    v[i].iov_len - off);

			if (put < 0)
				return -errno;
			off += (size_t)put;
		}
	return 0;
}

static int sink_patch(void *ctx, uint64_t at, const void *p, size_t n)
{
	(void)ctx;
	return pwrite(STDOUT_FILENO, p, n, (off_t)at) == (ssize_t)n ? 0 : -EIO;
}

static int sink_cut(void *ctx, uint64_t size)
{
	(void)ctx;
	if (ftruncate(STDOUT_FILENO, (off_t)size) < 0 ||
	    lseek(STDOUT_FILENO, (off_t)size, SEEK_SET) < 0)
		return -errno;
	return 0;
}

static void fill_attr(uint8_t *attr, uint32_t type, uint64_t config, uint64_t flags)
{
	le_put(attr + FMT_ATTR_AT_TYPE, type, 4);
	le_put(attr + FMT_ATTR_AT_SIZE, FMT_ATTR_SIZE, 4);
	le_put(attr + FMT_ATTR_AT_CONFIG, config, 8);
	le_put(attr + FMT_ATTR_AT_SAMPLE_PERIOD, 1, 8);
	le_put(attr + FMT_ATTR_AT_SAMPLE_TYPE, SAMPLE_TYPE, 8);
	le_put(attr + FMT_ATTR_AT_READ_FORMAT, FMT_FORMAT_ID | FMT_FORMAT_LOST, 8);
	le_put(attr + FMT_ATTR_AT_FLAGS, flags | FMT_ATTR_F_SAMPLE_ID_ALL, 8);
}

static const uint64_t pt_ids[] = { 101, 102 }, dummy_ids[] = { 201, 202 };
static const uint64_t tp_ids[] = { 301 };
static struct fmt_event events[] = {
	{ .ids = pt_ids, .nr_ids = 2, .name = "intel_pt/sample/" },
	{ .ids = dummy_ids, .nr_ids = 2, .name = "dummy:sample" },
	{ .ids = tp_ids, .nr_ids = 1, .name = "sample:sample_event" },
};
#define NR_EVENTS (sizeof(events) / sizeof(*events))

static void fill_events(void)
{
	/* tsc, pt, branch; the action word and the flag are unknown to perf 6.1. */
	fill_attr(events[0].attr, PT_TYPE, 0x2401, UINT64_C(1) << 38);
	le_put(events[0].attr + FMT_ATTR_AT_AUX_ACTION, 1, 4);
	fill_attr(events[1].attr, FMT_TYPE_SOFTWARE, FMT_COUNT_SW_DUMMY,
		  FMT_ATTR_F_EXCLUDE_KERNEL | FMT_ATTR_F_MMAP | FMT_ATTR_F_MMAP2 |
			  FMT_ATTR_F_COMM | FMT_ATTR_F_COMM_EXEC | FMT_ATTR_F_TASK |
			  FMT_ATTR_F_CONTEXT_SWITCH);
	fill_attr(events[2].attr, FMT_TYPE_TRACEPOINT, TP_ID, 0);
	le_put(events[2].attr + FMT_ATTR_AT_SAMPLE_TYPE, SAMPLE_TYPE | FMT_SAMPLE_RAW, 8);
}

static void fill_features(struct fmt_features *f)
{
	static const char *const argv[] = { "/usr/bin/auxrec", "record", "-a" };
	static const char *const sockets[] = { "0-1,3" }, *const dies[] = { "0-1", "3" };
	static const char *const threads[] = { "0-1", "3" };
	static const struct fmt_cpu_topo topo[] = {
		{ 0, 0, 0 }, { 0, 0, 0 }, { -1, -1, -1 }, { 5, 0, 1 },
	};
	static const struct fmt_numa_node numa[] = { { 0, 4000000, 1000000, "0-1" },
						     { 1, 5000000, 2000000, "3" } };
	static const struct fmt_pmu_type pmus[] = { { PT_TYPE, "intel_pt" },
						    { 1, "software" } };
	static const struct fmt_cache caches[] = {
		{ 1, 64, 64, 8, "Data", "32K", "0-1" },
		{ 2, 64, 1024, 16, "Unified", "1024K", "0-1" },
	};
	static const struct fmt_cap caps[] = { { "mtc", "1" }, { "psb_cyc", "0" } };
	static const struct fmt_pmu_caps pmu_caps[] = { { "intel_pt", caps, 2 } };
	static const struct fmt_build_id ids[] = {
		{ FMT_MISC_KERNEL, { 0xb1, 0xb1 }, 20, "[kernel.kallsyms]" },
		{ FMT_MISC_USER, { 0xb2, 0xb2 }, 20, "/usr/bin/sample" },
		{ FMT_MISC_USER, { 0xb3, 0xb3 }, 8, "/usr/lib/short.so" },
	};

	*f = (struct fmt_features){
		.build_ids = ids,
		.nr_build_ids = 3,
		.hostname = "sample-host",
		.osrelease = "6.1.0-sample",
		.version = "auxrec sample",
		.arch = "x86_64",
		.cpudesc = "Sample CPU @ 3.00GHz",
		.cpuid = "GenuineIntel,6,142,10",
		.nr_cpus_avail = 4,
		.nr_cpus_online = 3,
		.total_mem_kb = 16000000,
		.cmdline = argv,
		.nr_cmdline = 3,
		.events = events,
		.nr_events = NR_EVENTS,
		.core_siblings = sockets,
		.nr_core_siblings = 1,
		.thread_siblings = threads,
		.nr_thread_siblings = 2,
		.die_siblings = dies,
		.nr_die_siblings = 2,
		.cpu_topo = topo,
		.numa = numa,
		.nr_numa = 2,
		.pmus = pmus,
		.nr_pmus = 2,
		.caches = caches,
		.nr_caches = 2,
		.pmu_caps = pmu_caps,
		.nr_pmu_caps = 1,
		.have_aux = true,
		.have_sample_time = true,
		.first_ns = 1000000000,
		.last_ns = 2500000000,
		.have_clock = true,
		.clockid = 4,
		.clock_res_ns = 1,
		.wall_ns = UINT64_C(1700000000000000000),
		.clock_ns = 1000000000,
	};
}

/* A page in the format that trace-cmd expects, an event, and the small files. */
static int put_tracing(struct fmt_buf *b)
{
	static const char page[] =
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
	static const char event[] =
		"name: sample_event\nID: 40001\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\n"
		"\tfield:int value;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"value=%d\", REC->value\n";
	static const struct fmt_trace_format formats[] = {
		{ "sample", event, sizeof(event) - 1 },
	};
	const struct fmt_tracing t = {
		.header_page = page,
		.header_page_len = sizeof(page) - 1,
		.header_event = "",
		.cmdlines = "1 init\n",
		.cmdlines_len = 7,
		.formats = formats,
		.nr_formats = 1,
		.page_size = 4096,
	};

	return fmt_put_tracing_data(b, &t);
}

static void put_head(struct fmt_buf *b, bool stream)
{
	static const struct fmt_id ids[] = {
		{ 101, 0, 0, -1 }, { 102, 1, 1, -1 }, { 201, 0, 0, -1 },
		{ 202, 1, 1, -1 }, { 301, 1, 1, -1 },
	};
	static const struct fmt_thread all[] = { { -1, "" } };
	static const int cpus[] = { 0, 1, 3 };
	const struct fmt_time_conv conv = {
		.shift = 31,
		.mult = 0x40000000,
		.zero = 7,
		.cap_time_zero = true,
	};
	const struct fmt_pt_info pt = {
		.pmu_type = PT_TYPE,
		.time_shift = 31,
		.time_mult = 0x40000000,
		.time_zero = 7,
		.cap_user_time_zero = 1,
		.tsc_bit = 0x400,
		.noretcomp_bit = 0x800,
		.have_sched_switch = 3,
		.per_cpu_mmaps = 1,
		.max_nonturbo_ratio = 30,
		.filter = "filter 0x1000/0x100",
	};

	for (size_t i = 0; stream && i < NR_EVENTS; i++)
		(void)fmt_put_event_name(b, events[i].ids[0], events[i].name);
	(void)fmt_put_time_conv(b, &conv);
	(void)fmt_put_id_index(b, ids, 5);
	(void)fmt_put_pt_info(b, &pt);
	(void)fmt_put_thread_map(b, all, 1);
	(void)fmt_put_cpu_map(b, cpus, 3);
}

static void put_tasks(struct fmt_buf *b)
{
	static const struct fmt_trailer none;
	static const struct fmt_ns ns[FMT_NR_NAMESPACES] = { { 4, 0xf0000075 } };
	static const uint8_t tag[8] = { 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4 };
	struct fmt_mmap2 m = {
		.pid = 500,
		.tid = 500,
		.addr = 0x400000,
		.len = 0x1000,
		.maj = 8,
		.min = 1,
		.ino = 1234,
		.prot = 5,
		.flags = 2,
		.misc = FMT_MISC_USER,
		.name = "/usr/bin/sample",
	};

	(void)fmt_put_mmap(b, FMT_MISC_KERNEL, UINT32_MAX, 0, 0xffffffff81000000,
			   0xe00000, 0xffffffff81000000, "[kernel.kallsyms]_text", &none);
	(void)fmt_put_task(b, FMT_REC_FORK, 500, 1, 500, 1, 0, &none);
	(void)fmt_put_namespaces(b, 500, 500, ns, FMT_NR_NAMESPACES, &none);
	(void)fmt_put_comm(b, false, 500, 500, "sample", &none);
	(void)fmt_put_mmap2(b, &m, &none);
	m.addr = 0x500000;
	m.name = "/usr/lib/short.so";
	m.build_id_size = 8;
	memset(m.build_id, 0xb3, 2);
	(void)fmt_put_mmap2(b, &m, &none);
	(void)fmt_put_ksymbol(b, 0xffffffffc0001000, 0x80, FMT_KSYMBOL_TYPE_BPF, 0,
			      "bpf_prog_sample", &none);
	(void)fmt_put_bpf_event(b, FMT_BPF_EVENT_PROG_LOAD, 0, 77, tag, &none);
	(void)fmt_put_finished_init(b);
}

/* What the kernel writes for a tracepoint: the only sample, with value 42. */
static void put_sample(struct fmt_buf *b, uint64_t time)
{
	size_t at = fmt_record_begin(b, FMT_REC_SAMPLE, FMT_MISC_KERNEL);

	fmt_put_le(b, 301, 8); /* IDENTIFIER */
	fmt_put_le(b, 0xffffffff81000010, 8); /* IP */
	fmt_put_le(b, 500, 4);
	fmt_put_le(b, 500, 4);
	fmt_put_le(b, time, 8);
	fmt_put_le(b, 1, 4);
	fmt_put_le(b, 0, 4);
	fmt_put_le(b, 12, 4); /* RAW: size, then common_type, value */
	fmt_put_le(b, TP_ID, 8);
	fmt_put_le(b, 42, 4);
	(void)fmt_record_end(b, at);
}

static void put_timed(struct fmt_buf *b)
{
	struct fmt_trailer t = { 500, 500, 1000000000, 1, 102 };

	(void)fmt_put_itrace_start(b, 500, 500, &t);
	t.time += 500000000;
	(void)fmt_put_aux(b, 0, 24, 0, &t);
	t.id = 202;
	(void)fmt_put_lost(b, 202, 3, &t);
	(void)fmt_put_lost_samples(b, 4, &t);
	put_sample(b, t.time + 1000);
	t.time += 1000000000;
	(void)fmt_put_task(b, FMT_REC_EXIT, 500, 1, 500, 1, t.time, &t);
}

static int put_traces(struct fmt_writer *w)
{
	/* PSB and PSBEND (SDM vol. 3, 33.4.2): 18 bytes, so that padding is needed. */
	static const uint8_t psb[18] = "\x02\x82\x02\x82\x02\x82\x02\x82"
				       "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x23";
	struct fmt_auxtrace a = { .reference = 99, .tid = UINT32_MAX };
	const struct iovec v[2] = { { (void *)(uintptr_t)psb, 10 },
				    { (void *)(uintptr_t)(psb + 10), 8 } };
	int err = 0;

	for (uint32_t cpu = 0; !err && cpu < 2; cpu++) {
		a.idx = a.cpu = cpu;
		err = fmt_writer_aux(w, &a, v, 2);
	}
	return err;
}

static int write_all(struct fmt_writer *w, const struct fmt_features *f, bool stream,
		     bool killed)
{
	struct fmt_buf b = { 0 };
	int err = fmt_writer_begin(w, events, NR_EVENTS, f);

	put_head(&b, stream);
	put_tasks(&b);
	if (!err)
		err = fmt_writer_put(w, &b);
	if (!err)
		err = fmt_writer_round(w, false);
	fmt_buf_reset(&b);
	put_timed(&b);
	if (!err)
		err = fmt_writer_put(w, &b);
	if (!err)
		err = put_traces(w);
	b.len = killed ? 13 : 0;
	if (!err && killed)
		err = fmt_writer_round(w, true);
	if (!err)
		err = fmt_writer_put(w, &b);
	fmt_buf_done(&b);
	return err || killed ? err : fmt_writer_finish(w, f);
}

int main(int argc, char **argv)
{
	bool stream = argc > 1 && !strcmp(argv[1], "--stream");
	bool killed = argc > 1 && !strcmp(argv[1], "--killed");
	const struct fmt_sink sink = {
		.append = sink_append,
		.patch = stream ? NULL : sink_patch,
		.cut = stream ? NULL : sink_cut,
	};
	struct fmt_buf tracing = { 0 };
	struct fmt_features f;
	struct fmt_writer w;
	int err;

	fill_events();
	fill_features(&f);
	err = put_tracing(&tracing);
	f.tracing_data = tracing.data;
	f.tracing_data_len = tracing.len;
	fmt_writer_init(&w, &sink, stream);
	if (!err)
		err = write_all(&w, &f, stream, killed);
	if (err)
		fprintf(stderr, "fmtsample: %s\n", strerror(-err));
	fmt_writer_done(&w);
	fmt_buf_done(&tracing);
	return err ? 1 : 0;
}
