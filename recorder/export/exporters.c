/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/export/export.h"

const struct exporter exporters[] = {
	{ "libipt", "files for ptdump and ptxed, and the lines to run them", export_libipt },
};
const size_t nr_exporters = sizeof(exporters) / sizeof(*exporters);
