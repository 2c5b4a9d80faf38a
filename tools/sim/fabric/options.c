// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "path.h"

struct options options = {
	.runs = 4, .paths = { 1, 4, 16, SPRAY },
	.ways = 4, .leaves = 50, .spines = 20, .hosts = 20, .ports = 16,
	.gbits = 100, .way_gbits = 10,
	.delay = 1000, .way_delay = 20000,
	.buffer = 4 << 20, .kmin = 4000, .kmax = 16000, .pmax = 0.2,
	.fails = -1, .fails_at = 0, .heals_at = UINT64_MAX,
	.flows = 10000, .senders = 16,
	.size = 1 << 20, .messages = 1, .outstanding = 1,
	.payload = 4096, .timeout = 14,
	.dcqcn = true, .seed = 1,
};

static const char usage[] =
"Usage: fabric [OPTION]... ways|leaf-spine|fat-tree\n"
"  --paths N,...      of a flow, 1 to 16, or \"spray\": switches choose for each packet;\n"
"                     a run for each (1,4,16,spray)\n"
"  --flows N          (10000; ways: one)\n"
"  --traffic permutation|incast\n"
"  --senders N        of an incast (16)\n"
"  --size BYTES       of a message, a multiple of the payload (1048576)\n"
"  --messages N       of a flow; 0: until the end (1)\n"
"  --outstanding N    messages at once (1)\n"
"  --payload BYTES    of a packet (4096)\n"
"  --ms T             the end (when all flows are done)\n"
"  --settled MS       when the figures begin, with --messages 0 (0)\n"
"  --cc dcqcn|none\n"
"  --set NAME=VALUE   a parameter of dcqcn, as in sysfs\n"
"  --fresh            the ends of a flow have yet to agree on selective repeat\n"
"  --timeout CODE     of QPs, 4.096 us * 2^CODE (14)\n"
"  --ways N           (4)\n"
"  --leaves N --spines N --hosts N   per leaf (50, 20, 20)\n"
"  --ports N          of a switch of a fat tree of N^3/4 hosts, even (16)\n"
"  --gbits C          of hosts (100)\n"
"  --uplink C         between switches (that of hosts)\n"
"  --way C            of each way (10)\n"
"  --slow C           of the first spine, core or way (that of the others)\n"
"  --delay US         of a link (1)\n"
"  --way-delay US     (20)\n"
"  --buffer BYTES     in front of each link (4194304)\n"
"  --kmin B --kmax B --pmax P   where marking begins and ends, in bytes per Gbit/s of the\n"
"                     link, and with which share (4000, 16000, 0.2)\n"
"  --fails N,MS,MS    that spine, core or way delivers nothing from then until then\n"
"  --seed N           (1)\n"
"  --json             with more figures\n";

static void refuse(const char *why)
{
	fprintf(stderr, "fabric: %s\n%s", why, usage);
	exit(2);
}

static double number(const char *text, double least, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || value < least || value > most)
		refuse(text);
	return value;
}

static u32 which(const char *text, const char *const names[])
{
	u32 i;

	for (i = 0; names[i]; i++)
		if (!strcmp(text, names[i]))
			return i;
	refuse(text);
	return 0;
}

static void parse_paths(char *list)
{
	char *word;

	options.runs = 0;
	for (word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		if (options.runs == MAX_RUNS)
			refuse("too many runs");
		options.paths[options.runs++] = !strcmp(word, "spray") ? SPRAY :
						number(word, 1, ROCE_MAX_PATHS);
	}
	if (!options.runs)
		refuse("--paths");
}

static void parse_failure(const char *text)
{
	double from, until;

	if (sscanf(text, "%d,%lf,%lf", &options.fails, &from, &until) != 3 ||
	    options.fails < 0 || from < 0 || until < from)
		refuse("--fails");
	options.fails_at = from * MSEC;
	options.heals_at = until * MSEC;
}

static void set_parameter(char *assignment)
{
	char *value = strchr(assignment, '=');
	u32 i;

	for (i = 0; value && i < DCQCN_PARAMETER_COUNT; i++) {
		const char *name = roce_dcqcn.parameters[i].name;

		if (strlen(name) == (size_t)(value - assignment) &&
		    !strncmp(name, assignment, value - assignment)) {
			options.parameters[i] = number(value + 1, 0, UINT32_MAX);
			return;
		}
	}
	refuse("--set NAME=VALUE");
}

static void check(void)
{
	if (!options.uplink_gbits)
		options.uplink_gbits = options.gbits;
	if (options.size % options.payload)
		refuse("a message is whole packets");
	if (!options.messages && !options.end)
		refuse("flows without an end need --ms");
	if (options.ports % 2)
		refuse("the number of ports is even");
	if (options.shape == WAYS)
		options.flows = 1;
}

/** options_parse() - into options; ends the program if they make no sense */
void options_parse(int argc, char **argv)
{
	static const char *const shapes[] = { "ways", "leaf-spine", "fat-tree", NULL };
	static const char *const traffics[] = { "permutation", "incast", NULL };
	static const char *const algorithms[] = { "none", "dcqcn", NULL };
	static const struct option long_options[] = {
		{ "paths", 1, NULL, 'p' }, { "flows", 1, NULL, 'f' },
		{ "traffic", 1, NULL, 't' }, { "senders", 1, NULL, 'n' },
		{ "size", 1, NULL, 's' }, { "messages", 1, NULL, 'm' },
		{ "outstanding", 1, NULL, 'o' }, { "payload", 1, NULL, 'P' },
		{ "ms", 1, NULL, 'e' }, { "settled", 1, NULL, 'E' },
		{ "cc", 1, NULL, 'c' }, { "set", 1, NULL, 'S' }, { "timeout", 1, NULL, 'T' },
		{ "ways", 1, NULL, 'w' }, { "leaves", 1, NULL, 'l' },
		{ "spines", 1, NULL, 'x' }, { "hosts", 1, NULL, 'h' },
		{ "ports", 1, NULL, 'k' }, { "gbits", 1, NULL, 'g' },
		{ "uplink", 1, NULL, 'u' }, { "way", 1, NULL, 'W' },
		{ "slow", 1, NULL, 'L' }, { "delay", 1, NULL, 'd' },
		{ "way-delay", 1, NULL, 'D' }, { "buffer", 1, NULL, 'B' },
		{ "kmin", 1, NULL, 'a' }, { "kmax", 1, NULL, 'b' }, { "pmax", 1, NULL, 'C' },
		{ "fails", 1, NULL, 'F' }, { "seed", 1, NULL, 'r' },
		{ "fresh", 0, NULL, 'N' },
		{ "json", 0, NULL, 'j' },
		{ "help", 0, NULL, 'H' },
		{ NULL }
	};
	u32 i;
	int c;

	for (i = 0; i < DCQCN_PARAMETER_COUNT; i++)
		options.parameters[i] = roce_dcqcn.parameters[i].initial;
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (c) {
		case 'p': parse_paths(optarg); break;
		case 'f': options.flows = number(optarg, 1, 1e6); break;
		case 't': options.traffic = which(optarg, traffics); break;
		case 'n': options.senders = number(optarg, 1, 1e6); break;
		case 's': options.size = number(optarg, 1, 1e12); break;
		case 'm': options.messages = number(optarg, 0, 1e9); break;
		case 'o': options.outstanding = number(optarg, 1, 1e6); break;
		case 'P': options.payload = number(optarg, 64, 4096); break;
		case 'e': options.end = number(optarg, 0.001, 1e6) * MSEC; break;
		case 'E': options.settled = number(optarg, 0, 1e6) * MSEC; break;
		case 'c': options.dcqcn = which(optarg, algorithms); break;
		case 'S': set_parameter(optarg); break;
		case 'T': options.timeout = number(optarg, 1, 31); break;
		case 'w': options.ways = number(optarg, 1, 1000); break;
		case 'l': options.leaves = number(optarg, 2, 1000); break;
		case 'x': options.spines = number(optarg, 1, 1000); break;
		case 'h': options.hosts = number(optarg, 1, 1000); break;
		case 'k': options.ports = number(optarg, 2, 64); break;
		case 'g': options.gbits = number(optarg, 0.001, 4000); break;
		case 'u': options.uplink_gbits = number(optarg, 0.001, 4000); break;
		case 'W': options.way_gbits = number(optarg, 0.001, 4000); break;
		case 'L': options.slow_gbits = number(optarg, 0.001, 4000); break;
		case 'd': options.delay = number(optarg, 0, 1e6) * 1000; break;
		case 'D': options.way_delay = number(optarg, 0, 1e6) * 1000; break;
		case 'B': options.buffer = number(optarg, 1e4, 1e12); break;
		case 'a': options.kmin = number(optarg, 0, 1e9); break;
		case 'b': options.kmax = number(optarg, 0, 1e9); break;
		case 'C': options.pmax = number(optarg, 0, 1); break;
		case 'F': parse_failure(optarg); break;
		case 'r': options.seed = number(optarg, 0, 1e9); break;
		case 'N': options.fresh = true; break;
		case 'j': options.json = true; break;
		case 'H': fputs(usage, stdout); exit(0);
		default: refuse("no such option");
		}
	}
	if (argc - optind != 1)
		refuse("which shape?");
	options.shape = which(argv[optind], shapes);
	check();
}
