/* SPDX-License-Identifier: Apache-2.0 */
/* Images that a decoder of the trace would miss. */
#include <errno.h>
#include <stdlib.h>

#include "format/abi.h"
#include "format/event.h"
#include "recorder/decode/images.h"
#include "recorder/info_priv.h"

int info_images_take(struct info *i, const struct input *in, const struct fmt_rec *rec)
{
	struct image *image;
	int err;

	if (rec->type != FMT_REC_MMAP && rec->type != FMT_REC_MMAP2 &&
	    rec->type != FMT_REC_HEADER_BUILD_ID)
		return 0;
	if (!i->images.images) {
		err = images_new(&i->images.images, in->dir, NULL);
		if (err)
			return err;
		images_beside(i->images.images, in->path);
	}
	return images_take(i->images.images, rec, &image);
}

/* Is the kernel's code traced, too? Where no event can be told to be that of the trace,
 * any may be. */
static bool traces_kernel(const struct info *i, const struct fmt_reader *r)
{
	struct fmt_pt_info pt;
	bool told = i->aux.info && !fmt_get_pt_info(&pt, i->aux.info, i->aux.info_size);

	for (size_t n = 0; n < r->nr_events; n++) {
		const struct fmt_reader_event *e = &r->events[n];

		if (told && fmt_attr_type(e->attr, e->attr_size) != pt.pmu_type)
			continue;
		if (!(fmt_attr_flags(e->attr, e->attr_size) & FMT_ATTR_F_EXCLUDE_KERNEL))
			return true;
	}
	return false;
}

static int list(struct info_images *m, bool kernel)
{
	size_t nr = images_count(m->images);

	m->missing = calloc(nr < INFO_IMAGES_MAX ? nr + 1 : INFO_IMAGES_MAX,
			    sizeof(*m->missing));
	if (!m->missing)
		return -ENOMEM;
	for (size_t n = 0; n < nr; n++) {
		const struct image *v = images_at(m->images, n);

		if (!v->mappings || v->state == IMAGE_NO_CODE || (v->kernel && !kernel))
			continue;
		m->nr++;
		if (v->state == IMAGE_FOUND)
			continue;
		if (m->nr_missing < INFO_IMAGES_MAX)
			m->missing[m->nr_missing] = (struct info_image){
				.name = v->name, .id = v->id, .id_size = v->id_size,
				.why = image_words(v->state), .found = v->other_path,
			};
		m->nr_missing++;
	}
	return 0;
}

int info_images_end(struct info *i, const struct input *in)
{
	struct info_images *m = &i->images;
	int err;

	if (!i->aux.has_info || !m->images)
		return 0;
	err = images_take_feature(m->images, &in->r);
	if (!err)
		err = images_find(m->images);
	if (!err)
		err = list(m, traces_kernel(i, &in->r));
	m->looked = !err;
	return err;
}

void info_images_done(struct info_images *m)
{
	images_free(m->images);
	free(m->missing);
}
