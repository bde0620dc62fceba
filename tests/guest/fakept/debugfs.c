/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * fakept/stats: a line per cpu. fakept/feedN: what cpu N is to say with mode=1; opening it
 * with O_TRUNC (a shell's ">") forgets the old, ">>" appends.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "fakept.h"

enum { FEED_MAX = 16 << 20 };

static struct dentry *dir;

static int stats_show(struct seq_file *m, void *unused)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct fake_cpu *c = per_cpu_ptr(&fake_cpus, cpu);
		const struct fake_stats *s = &c->stats;

		seq_printf(m, "cpu=%d bytes=%llu ptw=%llu psb=%llu seq=%llu",
			   cpu, s->bytes, s->ptw, s->psb, c->stream.seq);
		seq_printf(m, " starts=%llu stops=%llu pmi=%llu trunc=%llu nospace=%llu",
			   s->starts, s->stops, s->pmi, s->trunc, s->nospace);
		seq_printf(m, " dropped=%llu ticks=%llu late=%llu feed=%zu/%zu\n",
			   s->dropped, s->ticks, s->late, c->stream.feed_pos,
			   c->stream.feed_len);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int feed_open(struct inode *inode, struct file *file)
{
	struct fake_cpu *c = inode->i_private;

	if (c->running)
		return -EBUSY;
	file->private_data = c;
	if (file->f_flags & O_TRUNC)
		c->stream.feed_len = c->stream.feed_pos = 0;
	return 0;
}

static ssize_t feed_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	struct fake_cpu *c = file->private_data;
	struct fake_stream *s = &c->stream;

	if (c->running)
		return -EBUSY;
	if (!s->feed)
		s->feed = vmalloc(FEED_MAX);
	if (!s->feed || n > FEED_MAX - s->feed_len)
		return -ENOSPC;
	if (copy_from_user(s->feed + s->feed_len, from, n))
		return -EFAULT;
	s->feed_len += n;
	return n;
}

static const struct file_operations feed_fops = {
	.owner = THIS_MODULE,
	.open = feed_open,
	.write = feed_write,
};

void fake_debugfs_init(void)
{
	char name[16];
	int cpu;

	dir = debugfs_create_dir("fakept", NULL);
	debugfs_create_file("stats", 0444, dir, NULL, &stats_fops);
	for_each_possible_cpu(cpu) {
		snprintf(name, sizeof(name), "feed%d", cpu);
		debugfs_create_file(name, 0200, dir, per_cpu_ptr(&fake_cpus, cpu),
				    &feed_fops);
	}
}

void fake_debugfs_exit(void)
{
	int cpu;

	debugfs_remove_recursive(dir);
	for_each_possible_cpu(cpu)
		vfree(per_cpu_ptr(&fake_cpus, cpu)->stream.feed);
}
