// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What this machine can do at best, to measure a driver by:
 *
 *	limits memcpy SECONDS		copies, in pieces of a packet
 *	limits crc32 SECONDS		checksums, likewise
 *	limits udp-receive SECONDS	datagrams with UDP_GRO, after the first one
 *	limits udp-send SECONDS ADDRESS BYTES
 *					as many as go out with UDP_SEGMENT, cut
 *					into packets of BYTES
 *
 * All but udp-send print bytes per second.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <isa-l/crc.h>

#include "program.h"

#define PIECE		4096		/* payload of a packet at the largest path MTU */
#define MEMORY		(8 << 20)	/* more than what stays in the fastest cache */
#define PORT		4792
#define DATAGRAM	65000

static uint8_t *memory(void)
{
	uint8_t *p = malloc(MEMORY);

	if (!p)
		err(1, "malloc");
	memset(p, 0x5a, MEMORY);
	return p;
}

static double memcpy_rate(double seconds)
{
	uint8_t *from = memory(), *to = memory();
	double start = now(), end;
	uint64_t bytes = 0;

	do {
		for (size_t i = 0; i < MEMORY; i += PIECE) {
			memcpy(to + i, from + i, PIECE);
			/* Every piece counts, whatever the compiler can see. */
			__asm__ volatile("" : : "r"(to) : "memory");
		}
		bytes += MEMORY;
		end = now();
	} while (end - start < seconds);
	return bytes / (end - start);
}

static double crc32_rate(double seconds)
{
	uint8_t *from = memory();
	double start = now(), end;
	volatile uint32_t crc = 0;
	uint64_t bytes = 0;

	do {
		for (size_t i = 0; i < MEMORY; i += PIECE)
			crc = crc32_gzip_refl(crc, from + i, PIECE);
		bytes += MEMORY;
		end = now();
	} while (end - start < seconds);
	return bytes / (end - start);
}

static int udp_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		err(1, "socket");
	return fd;
}

static double udp_receive(double seconds)
{
	struct sockaddr_in here = {
		.sin_family = AF_INET, .sin_port = htons(PORT),
	};
	struct timeval timeout = { .tv_sec = 10 };
	int fd = udp_socket(), one = 1, room = 8 << 20;
	uint8_t *buffer = memory();
	double start = 0, end = 0;
	uint64_t bytes = 0;
	ssize_t n;

	if (setsockopt(fd, SOL_UDP, UDP_GRO, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    bind(fd, (struct sockaddr *)&here, sizeof(here)))
		err(1, "UDP receiver");

	do {
		n = recv(fd, buffer, MEMORY, 0);
		if (n < 0)
			err(1, "recv");
		end = now();
		if (start)
			bytes += n;
		else
			start = end;
	} while (end - start < seconds);
	return bytes / (end - start);
}

static void udp_send(double seconds, const char *address, int segment)
{
	struct sockaddr_in there = {
		.sin_family = AF_INET, .sin_port = htons(PORT),
	};
	int size = DATAGRAM / segment * segment;
	uint8_t *buffer = memory();
	int fd = udp_socket();
	double start = now();

	/* UDP_SEGMENT takes at most 64 segments on older kernels. */
	if (size / segment > 64)
		size = 64 * segment;
	if (inet_pton(AF_INET, address, &there.sin_addr) != 1)
		errx(1, "%s is not an address", address);
	if (setsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)) ||
	    connect(fd, (struct sockaddr *)&there, sizeof(there)))
		err(1, "UDP sender");

	while (now() - start < seconds)
		if (send(fd, buffer, size, 0) < 0 && errno != ECONNREFUSED &&
		    errno != ENOBUFS)
			err(1, "send");
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	double seconds = argc > 2 ? atof(argv[2]) : 0;

	if (!strcmp(what, "memcpy"))
		printf("%.0f\n", memcpy_rate(seconds));
	else if (!strcmp(what, "crc32"))
		printf("%.0f\n", crc32_rate(seconds));
	else if (!strcmp(what, "udp-receive"))
		printf("%.0f\n", udp_receive(seconds));
	else if (!strcmp(what, "udp-send") && argc == 5)
		udp_send(seconds, argv[3], atoi(argv[4]));
	else
		errx(2, "see the head of limits.c");
	return 0;
}
