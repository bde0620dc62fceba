/* SPDX-License-Identifier: Apache-2.0 */
/* sharing: a child that shares its parent's memory (vfork), and does not end before stdin does. */
#define _GNU_SOURCE
#include <unistd.h>

int main(void)
{
	char c;

	if (!vfork()) {
		if (write(STDOUT_FILENO, "ready\n", 6) != 6)
			_exit(1);
		while (read(STDIN_FILENO, &c, 1) > 0)
			;
		_exit(0);
	}
	return 7;
}
