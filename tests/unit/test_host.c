/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "recorder/host.h"
#include "tests/unit/fixture.h"

static struct host h;
static char *args[] = { (char *)"auxrec", (char *)"record", (char *)"-a", NULL };

static int teardown(void **state)
{
	host_done(&h);
	host_done(&h);
	return fixture_done(state);
}

static void collect(const struct fixture *f)
{
	host_done(&h);
	assert_int_equal(host_collect(&h, &f->sys, "auxrec 0.1", 3, args), 0);
}

__attribute__((format(printf, 3, 4)))
static void put(struct fixture *f, const char *text, const char *fmt, ...)
{
	char path[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	fixture_file(f, path, text);
}

static void put_cpu(struct fixture *f, int cpu, const char *package, const char *core,
		    const char *die, const char *ids[3])
{
	static const char *const files[] = { "core_id", "physical_package_id", "die_id" };

	put(f, package, "sys/devices/system/cpu/cpu%d/topology/package_cpus_list", cpu);
	put(f, core, "sys/devices/system/cpu/cpu%d/topology/core_cpus_list", cpu);
	if (die)
		put(f, die, "sys/devices/system/cpu/cpu%d/topology/die_cpus_list", cpu);
	for (int i = 0; i < 3; i++)
		put(f, ids[i], "sys/devices/system/cpu/cpu%d/topology/%s", cpu, files[i]);
}

static void put_cpus(struct fixture *f, const char *present, const char *online)
{
	fixture_file(f, "sys/devices/system/cpu/present", present);
	fixture_file(f, "sys/devices/system/cpu/online", online);
}

/* Two packages of two threads each; cpu 4 is offline, its ids are unknown. */
static void cpus_are_grouped_by_package_and_core(void **state)
{
	struct fixture *f = *state;

	put_cpus(f, "0-4\n", "0-3\n");
	for (int i = 0; i < 4; i++)
		put_cpu(f, i, i < 2 ? "0-1\n" : "2-3\n", i < 2 ? "0-1\n" : "2-3\n",
			i < 2 ? "0-1\n" : "2-3\n",
			i < 2 ? (const char *[]){ "0\n", "0\n", "0\n" } :
				(const char *[]){ "7\n", "1\n", "0\n" });
	collect(f);
	assert_int_equal(h.f.nr_cpus_avail, 5);
	assert_int_equal(h.f.nr_cpus_online, 4);
	assert_int_equal(h.f.nr_core_siblings, 2);
	assert_string_equal(h.f.core_siblings[0], "0-1");
	assert_string_equal(h.f.core_siblings[1], "2-3");
	assert_int_equal(h.f.nr_thread_siblings, 2);
	assert_string_equal(h.f.thread_siblings[1], "2-3");
	assert_int_equal(h.f.nr_die_siblings, 2);
	assert_string_equal(h.f.die_siblings[0], "0-1");
	assert_int_equal(h.f.cpu_topo[3].core_id, 7);
	assert_int_equal(h.f.cpu_topo[3].socket_id, 1);
	assert_int_equal(h.f.cpu_topo[3].die_id, 0);
	assert_int_equal(h.f.cpu_topo[4].core_id, -1);
	assert_int_equal(h.f.cpu_topo[4].socket_id, -1);
	assert_int_equal(h.f.cpu_topo[4].die_id, -1);
}

static void older_kernels_have_older_names(void **state)
{
	struct fixture *f = *state;

	put_cpus(f, "0-1\n", "0-1\n");
	for (int i = 0; i < 2; i++) {
		put(f, "0-1\n",
		    "sys/devices/system/cpu/cpu%d/topology/core_siblings_list", i);
		put(f, i ? "1\n" : "0\n",
		    "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", i);
	}
	collect(f);
	assert_int_equal(h.f.nr_core_siblings, 1);
	assert_int_equal(h.f.nr_thread_siblings, 2);
	assert_string_equal(h.f.thread_siblings[1], "1");
	assert_int_equal(h.f.nr_die_siblings, 0);
	assert_non_null(h.f.cpu_topo);
}

static void put_cache(struct fixture *f, int cpu, int index, const char *level,
		      const char *type, const char *map)
{
	const struct {
		const char *file, *text;
	} all[] = {
		{ "level", level }, { "type", type }, { "shared_cpu_list", map },
		{ "size", "32K\n" }, { "coherency_line_size", "64\n" },
		{ "number_of_sets", "128\n" }, { "ways_of_associativity", "8\n" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		put(f, all[i].text, "sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu,
		    index, all[i].file);
}

static void shared_caches_stand_once_sorted_by_level(void **state)
{
	struct fixture *f = *state;

	put_cpus(f, "0-1\n", "0-1\n");
	for (int i = 0; i < 2; i++) {
		put_cache(f, i, 0, "1\n", "Data\n", i ? "1\n" : "0\n");
		put_cache(f, i, 1, "1\n", "Instruction\n", i ? "1\n" : "0\n");
		put_cache(f, i, 2, "3\n", "Unified\n", "0-1\n");
		put_cache(f, i, 3, "2\n", "Unified\n", i ? "1\n" : "0\n");
		put_cache(f, i, 4, "4\n", "Beyond what perf looks at\n", "0-1\n");
	}
	collect(f);
	assert_int_equal(h.f.nr_caches, 7);
	for (size_t i = 1; i < 7; i++)
		assert_true(h.f.caches[i - 1].level <= h.f.caches[i].level);
	assert_string_equal(h.f.caches[0].type, "Data");
	assert_string_equal(h.f.caches[0].cpu_map, "0");
	assert_string_equal(h.f.caches[1].type, "Instruction");
	assert_string_equal(h.f.caches[1].cpu_map, "0");
	assert_string_equal(h.f.caches[2].cpu_map, "1");
	assert_string_equal(h.f.caches[6].cpu_map, "0-1");
	assert_int_equal(h.f.caches[6].level, 3);
	assert_int_equal(h.f.caches[6].line, 64);
	assert_int_equal(h.f.caches[6].sets, 128);
	assert_int_equal(h.f.caches[6].ways, 8);
	assert_string_equal(h.f.caches[6].size, "32K");
}

static void a_cache_that_lacks_a_part_is_left_out(void **state)
{
	struct fixture *f = *state;
	char path[PATH_MAX];

	put_cpus(f, "0\n", "0\n");
	put_cache(f, 0, 0, "1\n", "Data\n", "0\n");
	put_cache(f, 0, 1, "1\n", "Instruction\n", "0\n");
	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu0/cache/index0/size",
		 f->sysfs);
	assert_int_equal(unlink(path), 0);
	collect(f);
	assert_int_equal(h.f.nr_caches, 1);
	assert_string_equal(h.f.caches[0].type, "Instruction");
}

static void memory_nodes_are_listed(void **state)
{
	struct fixture *f = *state;

	fixture_file(f, "sys/devices/system/node/online", "0,2\n");
	put(f, "0-3\n", "sys/devices/system/node/node%d/cpulist", 0);
	put(f, "\n", "sys/devices/system/node/node%d/cpulist", 2);
	put(f, "Node 0 MemTotal:       1000 kB\nNode 0 MemFree:         300 kB\n",
	    "sys/devices/system/node/node%d/meminfo", 0);
	put(f, "Node 2 MemTotal:       2000 kB\nNode 2 MemFree:           0 kB\n",
	    "sys/devices/system/node/node%d/meminfo", 2);
	fixture_file(f, "proc/meminfo", "MemTotal:       12345 kB\nMemFree:    1 kB\n");
	collect(f);
	assert_int_equal(h.f.nr_numa, 2);
	assert_int_equal(h.f.numa[0].node, 0);
	assert_int_equal(h.f.numa[0].total_kb, 1000);
	assert_int_equal(h.f.numa[0].free_kb, 300);
	assert_string_equal(h.f.numa[0].cpulist, "0-3");
	assert_int_equal(h.f.numa[1].node, 2);
	assert_int_equal(h.f.numa[1].total_kb, 2000);
	assert_string_equal(h.f.numa[1].cpulist, "");
	assert_int_equal(h.f.total_mem_kb, 12345);
}

static void brand_strings_lose_their_spaces(void **state)
{
	struct fixture *f = *state;

	fixture_file(f, "proc/cpuinfo", "processor\t: 0\nvendor_id\t: X\n"
					"model name\t:   AMD   EPYC\t 7\t: 3  \n"
					"processor\t: 1\nmodel name\t: other\n");
	collect(f);
	assert_string_equal(h.f.cpudesc, "AMD EPYC 7 : 3");
	fixture_file(f, "proc/cpuinfo", "model name\t:\nprocessor: 0\n");
	collect(f);
	assert_null(h.f.cpudesc);
}

static void pmus_and_their_caps_are_told(void **state)
{
	struct fixture *f = *state;

	put(f, "8\n", "sys/bus/event_source/devices/%s/type", "intel_pt");
	put(f, "1\n", "sys/bus/event_source/devices/%s/type", "software");
	put(f, "4\n", "sys/bus/event_source/devices/%s/type", "cpu");
	put(f, "32\n", "sys/bus/event_source/devices/cpu/caps/branches%s", "");
	put(f, "1\n", "sys/bus/event_source/devices/intel_pt/caps/mtc%s", "");
	put(f, "249\n", "sys/bus/event_source/devices/intel_pt/caps/mtc_periods%s", "");
	fixture_dir(f, "sys/bus/event_source/devices/software/caps");
	collect(f);
	assert_int_equal(h.f.nr_pmus, 3);
	assert_string_equal(h.f.pmus[0].name, "software");
	assert_int_equal(h.f.pmus[0].type, 1);
	assert_string_equal(h.f.pmus[2].name, "intel_pt");
	assert_int_equal(h.f.pmus[2].type, 8);
	/* cpu has a feature of its own, software has none */
	assert_int_equal(h.f.nr_pmu_caps, 1);
	assert_string_equal(h.f.pmu_caps[0].pmu, "intel_pt");
	assert_int_equal(h.f.pmu_caps[0].nr_caps, 2);
	assert_string_equal(h.f.pmu_caps[0].caps[1].name, "mtc_periods");
	assert_string_equal(h.f.pmu_caps[0].caps[1].value, "249");
}

static void the_program_is_named_by_its_path(void **state)
{
	struct fixture *f = *state;
	char path[PATH_MAX];

	collect(f);
	assert_int_equal(h.f.nr_cmdline, 3);
	assert_string_equal(h.f.cmdline[0], "auxrec");
	fixture_dir(f, "proc/self");
	snprintf(path, sizeof(path), "%s/self/exe", f->proc);
	assert_int_equal(symlink("/usr/local/bin/auxrec", path), 0);
	collect(f);
	assert_string_equal(h.f.cmdline[0], "/usr/local/bin/auxrec");
	assert_string_equal(h.f.cmdline[1], "record");
	assert_string_equal(h.f.cmdline[2], "-a");
}

static void an_empty_machine_has_only_its_names(void **state)
{
	struct fixture *f = *state;
	struct utsname u;

	assert_int_equal(uname(&u), 0);
	collect(f);
	assert_string_equal(h.f.hostname, u.nodename);
	assert_string_equal(h.f.osrelease, u.release);
	assert_string_equal(h.f.arch, u.machine);
	assert_string_equal(h.f.version, "auxrec 0.1");
	assert_int_equal(h.f.nr_cpus_online, 0);
	assert_int_equal(h.f.total_mem_kb, 0);
	assert_null(h.f.cpu_topo);
	assert_int_equal(h.f.nr_numa + h.f.nr_caches + h.f.nr_pmus + h.f.nr_pmu_caps, 0);
}

/* /proc/cpuinfo says the same in other words. */
static void cpuid_agrees_with_the_kernel(void **state)
{
	char vendor[64] = "", line[256], want[128];
	int family = -1, model = -1, stepping = -1;
	FILE *p = fopen("/proc/cpuinfo", "r");

	(void)state;
	while (p && fgets(line, sizeof(line), p)) {
		sscanf(line, "vendor_id : %63s", vendor);
		sscanf(line, "cpu family : %d", &family);
		sscanf(line, "model : %d", &model);
		if (sscanf(line, "stepping : %d", &stepping) == 1)
			break;
	}
	if (p)
		fclose(p);
	assert_int_equal(host_collect(&h, &pio_kernel, "v", 3, args), 0);
	if (stepping < 0)
		skip();
	snprintf(want, sizeof(want), "%s,%d,%d,%d", vendor, family, model, stepping);
	assert_string_equal(h.f.cpuid, want);
	assert_int_equal(h.f.nr_cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_new, teardown)
		T(cpus_are_grouped_by_package_and_core),
		T(older_kernels_have_older_names),
		T(shared_caches_stand_once_sorted_by_level),
		T(a_cache_that_lacks_a_part_is_left_out),
		T(memory_nodes_are_listed),
		T(brand_strings_lose_their_spaces),
		T(pmus_and_their_caps_are_told),
		T(the_program_is_named_by_its_path),
		T(an_empty_machine_has_only_its_names),
		T(cpuid_agrees_with_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
