/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/jtree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void jtree_set(json_t *o, const char *key, json_t *v, int *err)
{
	if (json_object_set_new(o, key, v))
		*err = -ENOMEM;
}

void jtree_append(json_t *a, json_t *v, int *err)
{
	if (json_array_append_new(a, v))
		*err = -ENOMEM;
}

json_t *jtree_number(uint64_t v)
{
	char buf[24];

	if (v <= INT64_MAX)
		return json_integer((json_int_t)v);
	snprintf(buf, sizeof(buf), "%" PRIu64, v);
	return json_string(buf);
}

json_t *jtree_text(const char *s)
{
	json_t *v;
	char *copy;

	if (!s)
		return json_null();
	v = json_string(s);
	if (v)
		return v;
	copy = strdup(s);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	v = json_string(copy);
	free(copy);
	return v;
}

int jtree_print(json_t *o, int err)
{
	if (!err && !json_dumpf(o, stdout, JSON_INDENT(2)))
		putchar('\n');
	json_decref(o);
	return err;
}
