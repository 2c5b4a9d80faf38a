// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * odp: on-demand paging, as TAP.
 *
 *	odp DEVICE GID_INDEX DEVICE GID_INDEX GROUP...
 *
 * One process drives both ends, as in tools/test/verbs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "odp.h"

static const struct {
	const char *name;
	void (*run)(void);
} groups[] = {
	{ "operations", test_operations },
	{ "changes", test_changes },
	{ "failures", test_failures },
	{ "secret", test_secret },
	{ "advice", test_advice },
	{ "frozen", test_frozen },
	{ "neighbour", test_neighbour },
	{ "statistics", test_statistics },
	{ "exit", test_exit },
	{ "rates", print_rates },
};

static void run(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		if (strcmp(groups[i].name, name))
			continue;
		printf("# %s\n", name);
		alarm(2 * PATIENCE_MS / 1000);	/* a test that hangs ends here */
		groups[i].run();
		return;
	}
	die("no group %s", name);
}

int main(int argc, char **argv)
{
	struct port a, b;

	if (argc < 6)
		die("usage: odp DEVICE GID_INDEX DEVICE GID_INDEX GROUP...");
	setvbuf(stdout, NULL, _IOLBF, 0);
	port_open(&a, argv[1], atoi(argv[2]));
	port_open(&b, argv[3], atoi(argv[4]));
	duo_ports(&a, &b);
	for (argv += 5; *argv; argv++)
		run(*argv);
	port_close(&a);
	port_close(&b);
	return tap_end();
}
