/* SPDX-License-Identifier: Apache-2.0 */
/* Calls between an executable at a low address and libc, many times: the addresses of a trace
 * go up and down by far more than 32 bits. */
#include <stdio.h>
#include <string.h>

int main(void)
{
	volatile unsigned seed = 1, sum = 0;
	char text[64];

	for (unsigned i = 0; i < 1200; i++) {
		memset(text, (int)i, sizeof(text));
		for (int k = 0; k < 30; k++) {
			seed = seed * 1103515245 + 12345;
			if (seed & 0x10000)
				sum += (unsigned char)text[k];
		}
	}
	printf("%u\n", sum);
	return 0;
}
