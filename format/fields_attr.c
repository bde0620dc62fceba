/* SPDX-License-Identifier: Apache-2.0 */
/* struct perf_event_attr [uapi], of any size from 64 bytes on. */
#include "format/abi.h"
#include "format/fields_priv.h"

#define PRECISE_IP (UINT64_C(3) << FMT_ATTR_F_PRECISE_IP_SHIFT)

static void visit_flag_word(struct fmt_visit *v)
{
	uint64_t bits = fmt_take_num(v, "flags", 8);

	if (v->missing)
		return;
	fmt_give(v, &(struct fmt_field){ .name = "flags", .kind = FMT_AS_FLAGS,
					 .flags = fmt_attr_flag_names,
					 .v = bits & ~PRECISE_IP });
	fmt_give_num(v, "precise_ip", FMT_AS_DEC,
		     (bits & PRECISE_IP) >> FMT_ATTR_F_PRECISE_IP_SHIFT);
}

/* The part that every attr has. */
static void visit_oldest(struct fmt_visit *v, uint64_t flags)
{
	static const char *const types[] = { "HARDWARE", "SOFTWARE", "TRACEPOINT",
					     "HW_CACHE", "RAW",	     "BREAKPOINT" };

	fmt_visit_word(v, "type", types, sizeof(types) / sizeof(*types), 4);
	fmt_visit_num(v, "size", FMT_AS_DEC, 4);
	fmt_visit_num(v, "config", FMT_AS_HEX, 8);
	fmt_visit_num(v, flags & FMT_ATTR_F_FREQ ? "sample_freq" : "sample_period",
		      FMT_AS_DEC, 8);
	fmt_visit_flags(v, "sample_type", fmt_sample_type_flags, 8);
	fmt_visit_flags(v, "read_format", fmt_read_format_flags, 8);
	visit_flag_word(v);
	fmt_visit_num(v, flags & FMT_ATTR_F_WATERMARK ? "wakeup_watermark" : "wakeup_events",
		      FMT_AS_DEC, 4);
	fmt_visit_num(v, "bp_type", FMT_AS_HEX, 4);
	fmt_visit_num(v, "config1", FMT_AS_HEX, 8);
}

/* What was added since: in each version of the struct, some of these. */
static void visit_newer(struct fmt_visit *v)
{
	if (v->left)
		fmt_visit_num(v, "config2", FMT_AS_HEX, 8);
	if (v->left)
		fmt_visit_flags(v, "branch_sample_type", fmt_branch_type_flags, 8);
	if (v->left) {
		fmt_visit_num(v, "sample_regs_user", FMT_AS_HEX, 8);
		fmt_visit_num(v, "sample_stack_user", FMT_AS_DEC, 4);
		fmt_visit_num(v, "clockid", FMT_AS_INT, 4);
	}
	if (v->left)
		fmt_visit_num(v, "sample_regs_intr", FMT_AS_HEX, 8);
	if (v->left) {
		fmt_visit_num(v, "aux_watermark", FMT_AS_DEC, 4);
		fmt_visit_num(v, "sample_max_stack", FMT_AS_DEC, 2);
		fmt_visit_reserved(v, 2);
	}
	if (v->left) {
		fmt_visit_num(v, "aux_sample_size", FMT_AS_DEC, 4);
		fmt_visit_flags(v, "aux_action", fmt_aux_action_flags, 4);
	}
	if (v->left)
		fmt_visit_num(v, "sig_data", FMT_AS_HEX, 8);
	if (v->left)
		fmt_visit_num(v, "config3", FMT_AS_HEX, 8);
	if (v->left)
		fmt_visit_num(v, "config4", FMT_AS_HEX, 8);
	if (v->left)
		fmt_visit_bytes(v, "newer", v->left);
}

static void visit_whole(struct fmt_visit *v)
{
	uint64_t flags = v->left >= FMT_ATTR_AT_FLAGS + 8 ?
				 le_get(v->p + FMT_ATTR_AT_FLAGS, 8) : 0;

	visit_oldest(v, flags);
	if (!v->missing)
		visit_newer(v);
}

void fmt_visit_attr(struct fmt_visit *v, size_t size)
{
	size_t behind;

	if (v->missing)
		return;
	if (size > v->left) {
		v->missing = "attr";
		return;
	}
	behind = v->left - size;
	v->left = size;
	fmt_visit_open(v, "attr", FMT_AS_GROUP);
	visit_whole(v);
	fmt_visit_close(v);
	v->left += behind;
}

struct fmt_fit fmt_attr_fields(const uint8_t *attr, size_t size, fmt_field_fn *fn, void *ctx)
{
	struct fmt_visit v = { .fn = fn, .ctx = ctx, .p = attr, .left = size };

	visit_whole(&v);
	return (struct fmt_fit){ .missing = v.missing, .left = v.left, .known = true };
}
