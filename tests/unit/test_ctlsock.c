/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket, from the other end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <setjmp.h>
#include <cmocka.h>

#include "recorder/ctlsock.h"

static struct ctlsock *server;
static char dir[] = "/tmp/auxrec-ctlsock-XXXXXX", path[64];
static unsigned asked;

static int setup(void **state)
{
	(void)state;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/s", dir);
	asked = 0;
	return ctlsock_open(&server, path);
}

static int teardown(void **state)
{
	(void)state;
	ctlsock_close(server);
	server = NULL;
	return rmdir(dir); /* the socket file is gone too */
}

/* "echo" answers with what came, "file" gives a file, "big" is long. */
static json_t *answer(void *ctx, const json_t *q, int *fd)
{
	const char *cmd = json_string_value(json_object_get(q, "cmd"));
	char *big;
	json_t *a;

	(void)ctx;
	asked++;
	if (!cmd)
		return ctlsock_refuse("no command");
	if (!strcmp(cmd, "file")) {
		*fd = memfd_create("piece", MFD_CLOEXEC);
		assert_int_equal(write(*fd, "bytes", 5), 5);
	}
	if (!strcmp(cmd, "big")) {
		big = calloc(1, 500001);
		memset(big, 'x', 500000);
		a = json_pack("{s:b, s:s}", "ok", 1, "text", big);
		free(big);
		return a;
	}
	return json_pack("{s:b, s:s}", "ok", 1, "cmd", cmd);
}

static int dial(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strcpy(a.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void turn(void)
{
	for (unsigned i = 0; i < 8; i++)
		ctlsock_work(server, answer, NULL);
}

static void say(int fd, const char *words)
{
	assert_int_equal(send(fd, words, strlen(words), MSG_NOSIGNAL), strlen(words));
	turn();
}

static const char *hear(int fd)
{
	static char buf[4096];
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, 0);

	buf[n > 0 ? n : 0] = '\0';
	return n < 0 ? "nothing" : buf;
}

static void each_line_gets_one_answer_in_order(void **state)
{
	int fd = dial();

	(void)state;
	say(fd, "{\"cmd\":\"a\"}\n{\"cmd\":\"b\",\"id\":7}\n\n{\"cmd\":\"c\"");
	assert_string_equal(hear(fd), "{\"ok\":true,\"cmd\":\"a\"}\n"
				      "{\"ok\":true,\"cmd\":\"b\",\"id\":7}\n");
	say(fd, "}\n");
	assert_string_equal(hear(fd), "{\"ok\":true,\"cmd\":\"c\"}\n");
	close(fd);
	turn();
}

static void what_is_no_request_is_refused_in_words(void **state)
{
	static const char *const bad[] = {
		"hello\n", "[1]\n", "{\"cmd\":3}\n", "{\"a\":1,\"a\":2}\n",
		"{\"cmd\":\"\xff\"}\n", "{}\n", "{\"cmd\"\n",
	};
	int fd = dial();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		say(fd, bad[i]);
		assert_non_null(strstr(hear(fd), "{\"ok\":false,\"error\":\""));
	}
	close(fd);
}

static void the_file_is_for_the_owner_alone_and_goes_with_the_server(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_descriptor_travels_with_its_answer(void **state)
{
	char buf[256], room[CMSG_SPACE(sizeof(int))];
	struct iovec v = { buf, sizeof(buf) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = room,
			    .msg_controllen = sizeof(room) };
	int fd = dial(), got;

	(void)state;
	say(fd, "{\"cmd\":\"file\"}\n{\"cmd\":\"x\"}\n");
	assert_true(recvmsg(fd, &m, 0) > 0);
	assert_non_null(CMSG_FIRSTHDR(&m));
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(got));
	assert_int_equal(pread(got, buf, sizeof(buf), 0), 5);
	close(got);
	close(fd);
}

static void a_dead_servers_file_is_replaced_and_a_living_ones_is_not(void **state)
{
	struct ctlsock *second = NULL;
	char other[80];
	int fd;

	(void)state;
	assert_int_equal(ctlsock_open(&second, path), -EADDRINUSE);
	snprintf(other, sizeof(other), "%s.dead", path);
	assert_int_equal(rename(path, other), 0);
	ctlsock_close(server);
	assert_int_equal(ctlsock_open(&server, other), 0);
	ctlsock_close(server);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(ctlsock_open(&second, path), -EEXIST);
	assert_int_equal(unlink(path), 0);
	memset(other, 'x', sizeof(other) - 1);
	assert_int_equal(ctlsock_open(&second, "/"
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), -ENAMETOOLONG);
	assert_int_equal(ctlsock_open(&server, path), 0);
}

static void a_line_without_end_is_cut_off(void **state)
{
	char *junk = malloc(1 << 20);
	int fd = dial();

	(void)state;
	memset(junk, '[', 1 << 20);
	for (unsigned i = 0; i < 64; i++) {
		(void)send(fd, junk, 4096, MSG_NOSIGNAL);
		turn();
	}
	assert_non_null(strstr(hear(fd), "a line of more than"));
	assert_string_equal(hear(fd), "");
	assert_int_equal(asked, 0);
	free(junk);
	close(fd);
}

/* Asks and never reads; the other one is served all the same. */
static void a_client_that_does_not_read_stalls_itself_only(void **state)
{
	int deaf = dial(), other = dial();

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		(void)send(deaf, "{\"cmd\":\"big\"}\n", 14, MSG_NOSIGNAL);
		turn();
	}
	assert_in_range(asked, 1, 10);
	say(other, "{\"cmd\":\"a\"}\n");
	assert_string_equal(hear(other), "{\"ok\":true,\"cmd\":\"a\"}\n");
	close(deaf);
	turn();
	say(other, "{\"cmd\":\"b\"}\n");
	assert_string_equal(hear(other), "{\"ok\":true,\"cmd\":\"b\"}\n");
	close(other);
}

static void there_is_a_greatest_number_of_clients(void **state)
{
	int fd[CTLSOCK_CLIENTS], more;

	(void)state;
	for (unsigned i = 0; i < CTLSOCK_CLIENTS; i++) {
		fd[i] = dial();
		turn();
	}
	more = dial();
	turn();
	assert_non_null(strstr(hear(more), "too many clients"));
	close(more);
	close(fd[3]);
	turn();
	fd[3] = dial();
	say(fd[3], "{\"cmd\":\"a\"}\n");
	assert_string_equal(hear(fd[3]), "{\"ok\":true,\"cmd\":\"a\"}\n");
	for (unsigned i = 0; i < CTLSOCK_CLIENTS; i++)
		close(fd[i]);
}

static void any_bytes_at_all_do_no_harm(void **state)
{
	unsigned seed = 1;
	char buf[300];

	(void)state;
	for (unsigned run = 0; run < 3000; run++) {
		int fd = dial();
		size_t n = 1 + run % sizeof(buf);

		for (size_t i = 0; i < n; i++) {
			seed = seed * 1103515245u + 12345u;
			buf[i] = "{}[]\":,\\u0\n\0cmdpause1e9 \xff"[(seed >> 16) % 26];
		}
		(void)send(fd, buf, n, MSG_NOSIGNAL);
		turn();
		close(fd);
		turn();
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_line_gets_one_answer_in_order),
		T(what_is_no_request_is_refused_in_words),
		T(the_file_is_for_the_owner_alone_and_goes_with_the_server),
		T(a_descriptor_travels_with_its_answer),
		T(a_dead_servers_file_is_replaced_and_a_living_ones_is_not),
		T(a_line_without_end_is_cut_off),
		T(a_client_that_does_not_read_stalls_itself_only),
		T(there_is_a_greatest_number_of_clients),
		T(any_bytes_at_all_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
