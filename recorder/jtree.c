/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/jtree.h"

#include <errno.h>
#include <stdio.h>

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

int jtree_print(json_t *o, int err)
{
	if (!err && !json_dumpf(o, stdout, JSON_INDENT(2)))
		putchar('\n');
	json_decref(o);
	return err;
}
