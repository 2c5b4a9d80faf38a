// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * verbs: the rules of the verbs, one assertion each, as TAP.
 *
 *	verbs DEVICE GID_INDEX DEVICE GID_INDEX [GROUP...]
 *
 * One process drives both ends; the devices may be in different namespaces (in
 * shared mode they are visible from everywhere), or be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "verbs.h"

static const struct {
	const char *name;
	void (*run)(void);
} groups[] = {
	{ "limits", test_limits },
	{ "objects", test_objects },
	{ "in_flight", test_in_flight },
	{ "regions", test_regions },
	{ "memory", test_memory },
	{ "fork", test_fork },
	{ "windows", test_windows },
	{ "dmabuf", test_dmabuf },
	{ "atomic_write", test_atomic_write },
	{ "flush", test_flush },
	{ "reregistration", test_reregistration },
	{ "contention", test_contention },
	{ "attributes", test_attributes },
	{ "arguments", test_arguments },
	{ "attribute_masks", test_attribute_masks },
	{ "states", test_states },
	{ "completions", test_completion_queues },
	{ "srq", test_shared_receive_queues },
	{ "datagrams", test_datagrams },
	{ "multicast", test_multicast },
	{ "local", test_local_errors },
	{ "remote", test_remote_errors },
	{ "retries", test_retries },
	{ "neglect", test_neglect },
	{ "counters", test_counters },
	{ "moving_dmabuf", test_moving_dmabuf },
	{ "changing_mtu", test_changing_mtu },
};

/* The last ones need exporter.ko and a command: they run only if they are asked for. */
#define BY_NAME_ONLY	(ARRAY_SIZE(groups) - 2)

static bool wanted(unsigned int group, char **list)
{
	if (!*list)
		return group < BY_NAME_ONLY;
	for (; *list; list++)
		if (!strcmp(groups[group].name, *list))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct port a, b;
	unsigned int i, ran = 0;

	if (argc < 5)
		die("usage: verbs DEVICE GID_INDEX DEVICE GID_INDEX [GROUP...]");
	setvbuf(stdout, NULL, _IOLBF, 0);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	port_open(&a, argv[1], atoi(argv[2]));
	port_open(&b, argv[3], atoi(argv[4]));
	duo_ports(&a, &b);
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		if (!wanted(i, argv + 5))
			continue;
		alarm(2 * PATIENCE_MS / 1000);	/* a test that hangs ends here */
		printf("# %s\n", groups[i].name);
		groups[i].run();
		ran++;
	}
	if (!ran)
		die("no such group");
	port_close(&a);
	port_close(&b);
	return tap_end();
}
