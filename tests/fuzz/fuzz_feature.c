/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes at all as a feature section; the first byte says of which feature. A place that
 * is named lies in the section, and what comes behind a sound one changes nothing.
 */
#include <errno.h>

#include "format/featcheck.h"
#include "format/feature.h"
#include "tests/fuzz/fuzz.h"

static int check(unsigned feat, const uint8_t *p, size_t n)
{
	uint8_t *copy = fuzz_copy(p, n);
	const char *expected = NULL;
	uint64_t at = UINT64_MAX;
	int err = fmt_feature_check(feat, copy, n, &at, &expected);

	expect(!err || err == -EBADMSG);
	if (err)
		expect(at <= n && expected && *expected);
	free(copy);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned feat = size ? data[0] : 0;
	uint8_t *longer;

	if (!size)
		return 0;
	data++;
	size--;
	/* Build ids are rows up to the end of the section. */
	if (check(feat, data, size) || !size || feat == FMT_FEAT_BUILD_ID)
		return 0;
	longer = malloc(size + 40);
	expect(longer);
	memcpy(longer, data, size);
	memset(longer + size, (int)(size & 0xff), 40);
	for (size_t n = 1; n <= 40; n += 13)
		expect(!check(feat, longer, size + n));
	free(longer);
	return 0;
}
