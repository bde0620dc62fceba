/* SPDX-License-Identifier: Apache-2.0 */
/* A mended file under its name: whole, or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "recorder/log.h"
#include "recorder/output.h"
#include "recorder/recover_job.h"

int recover_say(const struct recover *c, const char *from, const char *name, int err)
{
	if (err == -ENODATA)
		log_err(0, "nothing can be recovered of '%s': it has no %s", from,
			c->r.nr_events ? "whole record" : "event");
	else if (err)
		log_err(err, "cannot write '%s'", name);
	return err;
}

/* Is it being written, or replaced, while we read? */
static bool has_changed(const struct recover_file *f)
{
	struct stat now;

	return stat(f->from, &now) || now.st_size != f->st.st_size ||
	       now.st_ino != f->st.st_ino || now.st_dev != f->st.st_dev;
}

int recover_fill(struct recover *c, struct output *out, const struct stat *was)
{
	struct fmt_sink sink = output_sink(out, true);
	int err = recover_write(c, &sink);

	if (err)
		return err;
	if (was->st_mode && fchmod(out->fd, was->st_mode & 0777))
		return -errno;
	return sink.sync ? sink.sync(out) : 0;
}

static int put_under(const struct recover_file *f, struct output *out)
{
	int err;

	if (f->in_place && fchown(out->fd, f->st.st_uid, f->st.st_gid))
		return -errno;
	err = recover_fill(f->c, out, &f->st);
	if (err)
		return err;
	if (f->in_place && has_changed(f))
		return -ETXTBSY;
	return f->in_place ? output_replace(out) : output_publish(out);
}

static int write_file(const struct recover_file *f)
{
	struct output out = OUTPUT_INIT;
	int err = output_open(&out, f->name);

	if (!err && out.stream)
		err = -ESPIPE;
	if (!err)
		err = put_under(f, &out);
	if (!err)
		err = output_close(&out);
	output_done(&out);
	return err;
}

static int patch_file(const struct recover_file *f)
{
	struct output out = OUTPUT_INIT;
	struct fmt_sink sink;
	int err = 0;

	out.name = f->name;
	out.fd = open(f->name, O_RDWR | O_CLOEXEC);
	if (out.fd < 0)
		return -errno;
	sink = output_sink(&out, true);
	if (has_changed(f))
		err = -ETXTBSY;
	if (!err)
		err = recover_patch(f->c, &sink);
	if (!err)
		err = output_close(&out);
	output_done(&out);
	return err;
}

int recover_file(const struct recover_file *f, bool *patched)
{
	*patched = f->in_place && recover_can_patch(f->c);
	return recover_say(f->c, f->from, f->name, *patched ? patch_file(f) : write_file(f));
}
