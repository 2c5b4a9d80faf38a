// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The rate of a sender is that of the driver's reaction point (dcqcn.c). What calls it here
 * follows flow.c of the driver.
 */
#include "options.h"
#include "rate.h"
#include "train_limits.h"

#define NSEC		1000000000ull

/* Of flow.c */
#define TRAIN_TIME	(MSEC / 2)
#define MAX_WAIT	MSEC

/** rate_is_limited() - whether there is one */
bool rate_is_limited(const struct sender *sender)
{
	return sender->cc.rate != ROCE_CC_UNLIMITED;
}

/** rate_train() - packets of a train: half a millisecond of the rate, or a single one */
u32 rate_train(const struct sender *sender)
{
	u64 bytes = ROCE_TRAIN_MAX_BYTES;

	if (rate_is_limited(sender) && sender->cc.rate / (8 * NSEC / TRAIN_TIME) < bytes)
		bytes = sender->cc.rate / (8 * NSEC / TRAIN_TIME);
	return max_of(bytes / options.payload, 1);
}

static void follow_rate(struct sender *sender, u64 before, u64 now)
{
	u64 rate = sender->cc.rate;

	if (rate == before)
		return;
	if (rate == ROCE_CC_UNLIMITED || before == ROCE_CC_UNLIMITED)
		sender->due = now;
	else if (sender->due > now)
		sender->due = now + (sender->due - now) * ((double)before / rate);
}

/** rate_wait() - nanoseconds until the rate allows a train, or until it is to be asked again */
u64 rate_wait(struct sender *sender, u64 now)
{
	u64 before = sender->cc.rate;

	if (!rate_is_limited(sender))
		return 0;
	roce_dcqcn.on_time(&sender->cc, now);
	follow_rate(sender, before, now);
	if (!rate_is_limited(sender) || sender->due <= now)
		return 0;
	return sender->due - now < MAX_WAIT ? sender->due - now : MAX_WAIT;
}

/** rate_sent() - a train of so many packets was sent */
void rate_sent(struct sender *sender, u32 packets, u64 now)
{
	u64 bytes = (u64)packets * packet_bytes, before = sender->cc.rate;

	if (!rate_is_limited(sender))
		return;
	if (sender->due < now)
		sender->due = now;
	sender->due += bytes * 8 * NSEC / before;
	roce_dcqcn.on_sent(&sender->cc, now, bytes);
	follow_rate(sender, before, now);
}

/** rate_lost() - packets were lost */
void rate_lost(struct sender *sender, enum roce_cc_loss how, u64 now)
{
	u64 before = sender->cc.rate;

	if (!options.dcqcn)
		return;
	roce_dcqcn.on_loss(&sender->cc, now, how);
	follow_rate(sender, before, now);
}

/** rate_notified() - a CNP has come */
void rate_notified(struct sender *sender, u64 now)
{
	u64 before = sender->cc.rate;

	roce_dcqcn.on_cnp(&sender->cc, now);
	follow_rate(sender, before, now);
}
