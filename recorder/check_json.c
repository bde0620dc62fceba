/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/check.h"

static json_t *found(const struct check_report *r, enum check_kind k, int *err)
{
	const struct check_found *f = &r->found[k];
	json_t *o = json_object();

	jtree_set(o, "kind", json_string(check_kind_name(k)), err);
	jtree_set(o, "severity", json_string(check_severity_name(check_severity_of(k))),
		  err);
	jtree_set(o, "file", jtree_text(f->path), err);
	jtree_set(o, "at", f->has_at ? jtree_number(f->at) : json_null(), err);
	jtree_set(o, "found", jtree_text(f->found), err);
	jtree_set(o, "expected", jtree_text(f->expected), err);
	jtree_set(o, "count", jtree_number(f->n), err);
	jtree_set(o, "sum", f->sum ? jtree_number(f->sum) : json_null(), err);
	return o;
}

static const char *verdict(const struct check_report *r)
{
	static const char *const words[] = {
		[CHECK_REMARK] = "sound",
		[CHECK_LOSS] = "losses",
		[CHECK_DAMAGE] = "damaged",
	};

	return words[check_verdict(r)];
}

json_t *check_json(const struct check_report *r, const char *path, int *err)
{
	json_t *o = json_object(), *a = json_array();
	enum check_kind order[CHECK_NR_KINDS];
	size_t n;

	check_order(r, order, &n);
	for (size_t i = 0; i < n; i++)
		jtree_append(a, found(r, order[i], err), err);
	jtree_set(o, "file", jtree_text(path), err);
	jtree_set(o, "bytes", jtree_number(r->bytes), err);
	jtree_set(o, "records", jtree_number(r->records), err);
	jtree_set(o, "verdict", json_string(verdict(r)), err);
	jtree_set(o, "unfinished", json_boolean(r->found[CHECK_UNFINISHED].n), err);
	jtree_set(o, "findings", a, err);
	return o;
}
