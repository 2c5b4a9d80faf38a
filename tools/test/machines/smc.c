// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* To be preloaded: sockets of TCP become those of SMC, which falls back to TCP. */
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#ifndef AF_SMC
#define AF_SMC	43
#endif

#define SMCPROTO_SMC	0
#define SMCPROTO_SMC6	1

#define TYPE_FLAGS	(SOCK_NONBLOCK | SOCK_CLOEXEC)

int socket(int domain, int type, int protocol)
{
	int (*next)(int, int, int) = dlsym(RTLD_NEXT, "socket");
	bool tcp = (domain == AF_INET || domain == AF_INET6) &&
		   (type & ~TYPE_FLAGS) == SOCK_STREAM &&
		   (protocol == 0 || protocol == IPPROTO_TCP);

	if (tcp)
		return next(AF_SMC, type,
			    domain == AF_INET6 ? SMCPROTO_SMC6 : SMCPROTO_SMC);
	return next(domain, type, protocol);
}
