/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/units.h"

#include <stdio.h>

enum { SHOWN = 16 };

const char *units_bytes(uint64_t bytes, char buf[16])
{
	static const char prefix[] = "KMGTPE";
	double v = (double)bytes;
	int u = -1;

	for (; v >= 1024; v /= 1024)
		u++;
	if (u < 0)
		snprintf(buf, SHOWN, "%.0f B", v);
	else
		snprintf(buf, SHOWN, "%.1f %ciB", v, prefix[u]);
	return buf;
}
