/* SPDX-License-Identifier: Apache-2.0 */
/* daemon FILE: leaves a child behind that writes FILE half a second after we have ended. */
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd;

	if (argc < 2)
		return 2;
	if (fork())
		return 3;
	close(0);
	close(1);
	close(2);
	usleep(500000);
	fd = open(argv[1], O_WRONLY | O_CREAT, 0600);
	return fd < 0 || write(fd, "alive\n", 6) != 6;
}
