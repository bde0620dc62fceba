/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/eventterm.h"

#include <string.h>

bool eventterm_in(const char *name, const char *term)
{
	const char *at = strchr(name, '/'), *end = at ? strrchr(name, '/') : NULL;
	size_t len = strlen(term), n;

	if (!at || at == end)
		return false;
	for (at++; at < end; at += n + 1) {
		n = strcspn(at, ",/");
		if (n == len && !strncmp(at, term, n))
			return true;
	}
	return false;
}
