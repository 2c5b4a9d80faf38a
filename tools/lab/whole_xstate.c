// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Preloaded into user mode linux, which sets the floating-point state of its processes by
 * ptrace(). It knows 2696 bytes of that state. A host with AMX has more, and takes all or
 * nothing. So the rest, which the processes do not use, is added here.
 */
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

typedef long (*ptrace_function)(enum __ptrace_request request, pid_t pid, void *address,
				void *data);

static ptrace_function host_ptrace;
static uint8_t whole[65536];
static size_t size;

static __attribute__((constructor)) void find_ptrace(void)
{
	host_ptrace = (ptrace_function)dlsym(RTLD_NEXT, "ptrace");
}

static long set_state(pid_t pid, void *type, const struct iovec *part)
{
	struct iovec all = { whole, sizeof(whole) };

	if (!size) {
		if (host_ptrace(PTRACE_GETREGSET, pid, type, &all))
			return -1;
		memset(whole, 0, sizeof(whole));
		size = all.iov_len;
	}
	all.iov_len = size;
	memcpy(whole, part->iov_base, part->iov_len < size ? part->iov_len : size);
	return host_ptrace(PTRACE_SETREGSET, pid, type, &all);
}

long ptrace(enum __ptrace_request request, ...)
{
	void *address, *data;
	va_list arguments;
	pid_t pid;

	va_start(arguments, request);
	pid = va_arg(arguments, pid_t);
	address = va_arg(arguments, void *);
	data = va_arg(arguments, void *);
	va_end(arguments);
	if (request == PTRACE_SETREGSET && (uintptr_t)address == NT_X86_XSTATE)
		return set_state(pid, address, data);
	return host_ptrace(request, pid, address, data);
}
