/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads [N]: four threads that share a mutex and a condition variable. One loads a library that
 * others call into. It also maps this program's text a second time while another thread
 * spins in user space and calls into the copy with no system call between: a decoder can
 * learn of that mapping in time only by a timestamp in the spinning thread's trace.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char __executable_start; /* by the linker: file offset 0 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static double (*cube_root)(double);
static double (*copied)(double);
static int spinning, loaded, sum, times = 20;

/* Position independent by nature: it is called at an address where it was not linked. */
__attribute__((noinline, aligned(64))) static double triple(double x)
{
	return x + x + x;
}

static void *map_copy(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	long off = (char *)triple - &__executable_start, page = off & ~4095L;
	char *m = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, page);

	if (m == MAP_FAILED || memcmp(m + (off - page), triple, 16))
		_exit(2);
	return m + (off - page);
}

static void announce(int *what)
{
	pthread_mutex_lock(&lock);
	*what = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void await(int *what)
{
	pthread_mutex_lock(&lock);
	while (!*what)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void add(double x)
{
	for (int i = 0; i < times; i++) {
		pthread_mutex_lock(&lock);
		sum += (int)x;
		pthread_mutex_unlock(&lock);
	}
}

static void *spinner(void *unused)
{
	double (*f)(double);

	announce(&spinning);
	while (!(f = __atomic_load_n(&copied, __ATOMIC_ACQUIRE)))
		__builtin_ia32_pause();
	add(f(2.0));
	return unused;
}

static void *loader(void *unused)
{
	void *lib;

	await(&spinning);
	__atomic_store_n(&copied, map_copy(), __ATOMIC_RELEASE);
	lib = dlopen("libm.so.6", RTLD_NOW);
	cube_root = lib ? dlsym(lib, "cbrt") : triple;
	announce(&loaded);
	return unused;
}

static void *caller(void *unused)
{
	await(&loaded);
	add(cube_root(27.0));
	return unused;
}

int main(int argc, char **argv)
{
	void *(*body[])(void *) = { spinner, loader, caller, caller };
	pthread_t t[4];

	if (argc > 1)
		times = atoi(argv[1]);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&t[i], 0, body[i], 0))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	printf("sum %d\n", sum);
	return sum == times * 6 + 2 * times * 3 ? 4 : 1;
}
