/* SPDX-License-Identifier: Apache-2.0 */
/* Feature payloads that describe the machine's shape: cpus, nodes, caches, PMUs. */
#include "format/feature_enc.h"

/*
 * The die part is written even when no die is known. Readers tell from the section's size
 * whether it is there, and would take the padding of a HEADER_FEATURE record for its
 * beginning; with the part in place nothing has to be guessed.
 */
int fmt_feat_cpu_topology(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->cpu_topo || !f->nr_cpus_avail)
		return 0;
	fmt_feat_strs(b, f->core_siblings, f->nr_core_siblings);
	fmt_feat_strs(b, f->thread_siblings, f->nr_thread_siblings);
	for (uint32_t i = 0; i < f->nr_cpus_avail; i++) {
		fmt_put_le(b, (uint32_t)f->cpu_topo[i].core_id, 4);
		fmt_put_le(b, (uint32_t)f->cpu_topo[i].socket_id, 4);
	}
	fmt_feat_strs(b, f->die_siblings, f->nr_die_siblings);
	for (uint32_t i = 0; i < f->nr_cpus_avail; i++)
		fmt_put_le(b, (uint32_t)f->cpu_topo[i].die_id, 4);
	return 1;
}

int fmt_feat_numa_topology(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->nr_numa)
		return 0;
	fmt_put_le(b, f->nr_numa, 4);
	for (size_t i = 0; i < f->nr_numa; i++) {
		fmt_put_le(b, f->numa[i].node, 4);
		fmt_put_le(b, f->numa[i].total_kb, 8);
		fmt_put_le(b, f->numa[i].free_kb, 8);
		fmt_feat_str(b, f->numa[i].cpulist);
	}
	return 1;
}

int fmt_feat_pmu_mappings(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->nr_pmus)
		return 0;
	fmt_put_le(b, f->nr_pmus, 4);
	for (size_t i = 0; i < f->nr_pmus; i++) {
		fmt_put_le(b, f->pmus[i].type, 4);
		fmt_feat_str(b, f->pmus[i].name);
	}
	return 1;
}

int fmt_feat_cache(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->nr_caches)
		return 0;
	fmt_put_le(b, 1, 4); /* version */
	fmt_put_le(b, f->nr_caches, 4);
	for (size_t i = 0; i < f->nr_caches; i++) {
		const struct fmt_cache *c = &f->caches[i];

		fmt_put_le(b, c->level, 4);
		fmt_put_le(b, c->line, 4);
		fmt_put_le(b, c->sets, 4);
		fmt_put_le(b, c->ways, 4);
		fmt_feat_str(b, c->type);
		fmt_feat_str(b, c->size);
		fmt_feat_str(b, c->cpu_map);
	}
	return 1;
}

int fmt_feat_pmu_caps(struct fmt_buf *b, const struct fmt_features *f)
{
	if (!f->nr_pmu_caps)
		return 0;
	fmt_put_le(b, f->nr_pmu_caps, 4);
	for (size_t i = 0; i < f->nr_pmu_caps; i++) {
		const struct fmt_pmu_caps *p = &f->pmu_caps[i];

		fmt_put_le(b, p->nr_caps, 4);
		for (size_t j = 0; j < p->nr_caps; j++) {
			fmt_feat_str(b, p->caps[j].name);
			fmt_feat_str(b, p->caps[j].value);
		}
		fmt_feat_str(b, p->pmu);
	}
	return 1;
}
