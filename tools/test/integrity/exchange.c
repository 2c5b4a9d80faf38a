// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The line between client and server: a UNIX socket (an address with a slash;
 * it works across network namespaces and does not suffer from the bad link
 * that is being tested) or TCP (host:port).
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "round.h"

static int unix_socket(const char *path, struct sockaddr_un *sun)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0)
		die_errno(errno, "socket");
	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	snprintf(sun->sun_path, sizeof(sun->sun_path), "%s", path);
	return fd;
}

static struct addrinfo *resolve(const char *address, int flags)
{
	struct addrinfo hints = { .ai_flags = flags, .ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(address, ':');
	struct addrinfo *ai;
	char host[128];
	int err;

	if (!colon)
		die("%s is neither a path nor host:port", address);
	snprintf(host, sizeof(host), "%.*s", (int)(colon - address), address);
	err = getaddrinfo(*host ? host : NULL, colon + 1, &hints, &ai);
	if (err)
		die("%s: %s", address, gai_strerror(err));
	return ai;
}

static int accept_one(int fd)
{
	int line = accept(fd, NULL, NULL);

	if (line < 0)
		die_errno(errno, "accept");
	close(fd);
	return line;
}

static void no_delay(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* The path is there once somebody listens: a peer may wait for it. */
static int listen_at_path(const char *path)
{
	struct sockaddr_un sun;
	char early[sizeof(sun.sun_path)];
	int fd;

	snprintf(early, sizeof(early), "%s.early", path);
	fd = unix_socket(early, &sun);
	unlink(early);
	if (bind(fd, (struct sockaddr *)&sun, sizeof(sun)) || listen(fd, 1) ||
	    rename(early, path))
		die_errno(errno, "listen on %s", path);
	return fd;
}

int line_listen(const char *address)
{
	struct addrinfo *ai;
	int fd, one = 1;

	if (strchr(address, '/'))
		return accept_one(listen_at_path(address));
	ai = resolve(address, AI_PASSIVE);
	fd = socket(ai->ai_family, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 1))
		die_errno(errno, "listen on %s", address);
	fd = accept_one(fd);
	no_delay(fd);
	return fd;
}

int line_connect(const char *address)
{
	struct sockaddr_un sun;
	struct addrinfo *ai;
	int fd;

	if (strchr(address, '/')) {
		fd = unix_socket(address, &sun);
		if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)))
			die_errno(errno, "connect to %s", address);
		return fd;
	}
	ai = resolve(address, 0);
	fd = socket(ai->ai_family, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, ai->ai_addr, ai->ai_addrlen))
		die_errno(errno, "connect to %s", address);
	no_delay(fd);
	return fd;
}

void line_send(int fd, const void *data, size_t len)
{
	const uint8_t *at = data;
	ssize_t n;

	for (; len; at += n, len -= n) {
		n = send(fd, at, len, MSG_NOSIGNAL);
		if (n < 0)
			die_as(EXIT_GONE, errno, "the peer went away");
	}
}

void line_recv(int fd, void *data, size_t len)
{
	uint8_t *at = data;
	ssize_t n;

	for (; len; at += n, len -= n) {
		n = recv(fd, at, len, 0);
		if (n <= 0)
			die_as(EXIT_GONE, n ? errno : 0, "the peer went away");
	}
}

void line_barrier(int fd)
{
	char c = 'b';

	line_send(fd, &c, 1);
	line_recv(fd, &c, 1);
	if (c != 'b')
		die("out of step with the peer");
}

bool note_send(int fd, enum note_kind kind, uint32_t qp, uint32_t value)
{
	struct note note = { .kind = kind, .qp = qp, .value = value };
	ssize_t n = send(fd, &note, sizeof(note), MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n < 0)
		die_as(EXIT_GONE, errno, "the peer went away");
	line_send(fd, (uint8_t *)&note + n, sizeof(note) - n);
	return true;
}

void note_failure(int fd)
{
	struct note note = { .kind = NOTE_FAIL };

	/* Who is not there any more need not be told. */
	if (send(fd, &note, sizeof(note), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

bool note_poll(int fd, struct note *note)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	if (poll(&pfd, 1, 0) <= 0)
		return false;
	line_recv(fd, note, sizeof(*note));
	if (note->kind == NOTE_FAIL)
		/* The peer's own status says of what kind. */
		die_as(EXIT_GONE, 0, "the peer reports a failure");
	return true;
}
