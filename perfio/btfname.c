/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/btfname.h"

#include <linux/btf.h>
#include <string.h>

/* Bytes behind struct btf_type, by kind (Documentation/bpf/btf.rst); 0 for the others. */
static size_t extra(const struct btf_type *t)
{
	size_t vlen = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return vlen * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return vlen * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return vlen * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return vlen * sizeof(struct btf_var_secinfo);
	case BTF_KIND_ENUM64:
		return vlen * 12; /* struct btf_enum64, Linux 6.0 */
	default:
		return 0;
	}
}

static const char *string_at(const char *strings, size_t len, uint32_t off)
{
	if (off >= len || !strings[off] || !memchr(strings + off, '\0', len - off))
		return NULL;
	return strings + off;
}

const char *pio_btf_name(const void *btf, size_t len, uint32_t type)
{
	const char *bytes = btf;
	struct btf_header h;
	struct btf_type t;
	size_t left, n;

	if (len < sizeof(h))
		return NULL;
	memcpy(&h, bytes, sizeof(h));
	if (h.magic != BTF_MAGIC || h.hdr_len > len || h.type_off > len - h.hdr_len ||
	    h.type_len > len - h.hdr_len - h.type_off || h.str_off > len - h.hdr_len ||
	    h.str_len > len - h.hdr_len - h.str_off)
		return NULL;
	bytes += h.hdr_len + h.type_off;
	left = h.type_len;
	/* ids count from 1, 0 is void */
	for (uint32_t id = 1; left >= sizeof(t); id++) {
		memcpy(&t, bytes, sizeof(t));
		if (id == type)
			return string_at((const char *)btf + h.hdr_len + h.str_off,
					 h.str_len, t.name_off);
		n = sizeof(t) + extra(&t);
		if (n > left)
			return NULL;
		bytes += n;
		left -= n;
	}
	return NULL;
}
