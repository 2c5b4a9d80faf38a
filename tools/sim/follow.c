// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the driver's own reaction point makes of a flow, for tools/sim/model.
 *
 * Reads what happens, a line each, and says how the flow is then:
 *
 *	flow LINE PACKET PARAMETER...	a new one: bits per second, bytes, and as in dcqcn.h
 *	cnp | nak | timeout | look NANOSECONDS
 *	sent NANOSECONDS BYTES
 *
 * An answer is "RATE TARGET ALPHA"; RATE is 0 without a limit, ALPHA in 1/2^20. The names
 * of the parameters, with their ranges and first values, come before all that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcqcn.h"

static u32 parameters[DCQCN_PARAMETER_COUNT];
static struct roce_cc_flow flow;

static void print_parameters(void)
{
	const struct roce_cc_parameter *p = roce_dcqcn.parameters;
	u32 i;

	for (i = 0; i < DCQCN_PARAMETER_COUNT; i++)
		printf("%s %u %u %u\n", p[i].name, p[i].minimum, p[i].maximum, p[i].initial);
	printf("\n");
	fflush(stdout);
}

static void begin(void)
{
	unsigned long long line;
	u32 i;

	flow = (struct roce_cc_flow) {
		.parameters = parameters,
		.rate = ROCE_CC_UNLIMITED,
	};
	if (scanf("%llu %u", &line, &flow.packet_bytes) != 2)
		exit(2);
	flow.line_rate = line;
	for (i = 0; i < DCQCN_PARAMETER_COUNT; i++)
		if (scanf("%u", &parameters[i]) != 1)
			exit(2);
}

/* As flow.c does it: nobody looks at a flow that is not limited, or tells it of bytes. */
static void happen(const char *event, u64 now)
{
	bool limited = flow.rate != ROCE_CC_UNLIMITED;
	u32 bytes = 0;

	if (!strcmp(event, "sent") && scanf("%u", &bytes) != 1)
		exit(2);
	if (limited)
		roce_dcqcn.on_time(&flow, now);
	if (!strcmp(event, "cnp"))
		roce_dcqcn.on_cnp(&flow, now);
	else if (!strcmp(event, "nak"))
		roce_dcqcn.on_loss(&flow, now, ROCE_CC_NAK);
	else if (!strcmp(event, "timeout"))
		roce_dcqcn.on_loss(&flow, now, ROCE_CC_TIMEOUT);
	else if (bytes && flow.rate != ROCE_CC_UNLIMITED)
		roce_dcqcn.on_sent(&flow, now, bytes);
}

static void answer(void)
{
	printf("%llu %llu %u\n",
	       flow.rate == ROCE_CC_UNLIMITED ? 0ull : (unsigned long long)flow.rate,
	       (unsigned long long)dcqcn(&flow)->target, dcqcn(&flow)->alpha);
}

int main(void)
{
	unsigned long long now;
	char event[16];

	print_parameters();
	while (scanf("%15s", event) == 1) {
		if (!strcmp(event, "flow")) {
			begin();
			continue;
		}
		if (scanf("%llu", &now) != 1)
			return 2;
		happen(event, now);
		answer();
	}
	return 0;
}
