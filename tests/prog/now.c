/* SPDX-License-Identifier: Apache-2.0 */
/* Prints CLOCK_MONOTONIC in ns: the moment at which a recorder let its command go. */
#include <stdio.h>
#include <time.h>

int main(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	printf("%lld\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
	return 0;
}
