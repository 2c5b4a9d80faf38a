// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * enter: a command in a network namespace, like "ip netns exec".
 *
 *	enter NAME COMMAND...
 *
 * Linked statically: where the CPU is emulated and the kernel checks everything,
 * loading libraries takes longer than all the rest.
 */
#include <errno.h>
#include <unistd.h>

#include "util.h"
#include "netns.h"

int main(int argc, char **argv)
{
	if (argc < 3)
		die("usage: enter NAME COMMAND...");
	netns_enter(argv[1]);
	execvp(argv[2], argv + 2);
	die_errno(errno, "%s", argv[2]);
}
