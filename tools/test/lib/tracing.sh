# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The tracepoints of the driver.

TRACING=/sys/kernel/tracing

# trace EVENT...: these, too; "." is all of them
trace()
{
	local event

	for event; do
		echo 1 >"$TRACING/events/roce/$event/enable"
	done
}

# trace_anew: forget what has been traced
trace_anew() { echo >"$TRACING/trace"; }

# untrace: nothing more; fails without the driver
untrace() { echo 0 >"$TRACING/events/roce/enable"; }
