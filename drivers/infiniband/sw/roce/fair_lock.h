/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_FAIR_LOCK_H
#define ROCE_FAIR_LOCK_H

#include <linux/atomic.h>
#include <linux/bottom_half.h>
#include <linux/spinlock.h>

/*
 * A lock for many readers in softirqs, and for writers that must come to their turn.
 *
 * Readers in softirqs pass the writers that wait for an rwlock, as an interrupt may have
 * stopped another reader. Readers on many CPUs that take turns would keep a writer out
 * for ever. Here all users have BH disabled, and a reader takes no lock of this kind
 * twice. So readers can let a writer pass: one, for writers must not keep readers out
 * either.
 */

/**
 * struct roce_fair_lock - state of a lock
 * @rwlock: what users hold; for lockdep_assert_held()
 * @arrived: number of writers so far, with those that wait
 * @entered: number of them that do not wait any more
 */
struct roce_fair_lock {
	rwlock_t rwlock;
	atomic_t arrived;
	int entered;
};

static inline void roce_fair_lock_init(struct roce_fair_lock *lock)
{
	rwlock_init(&lock->rwlock);
	atomic_set(&lock->arrived, 0);
	lock->entered = 0;
}

/** roce_fair_read_lock() - wait for one of the writers that wait, if any, and enter */
static inline void roce_fair_read_lock(struct roce_fair_lock *lock)
	__acquires(&lock->rwlock)
{
	int entered = READ_ONCE(lock->entered);

	/*
	 * With PREEMPT_RT an rwlock is fair, and who polls may keep the writer from its CPU.
	 * A CPU may see a writer enter before it sees the writer arrive: nobody waits then.
	 */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT) &&
	    unlikely(atomic_read(&lock->arrived) - entered > 0))
		smp_cond_load_relaxed(&lock->entered, VAL != entered);
	read_lock_bh(&lock->rwlock);
}

static inline void roce_fair_read_unlock(struct roce_fair_lock *lock)
	__releases(&lock->rwlock)
{
	read_unlock_bh(&lock->rwlock);
}

/** roce_fair_write_lock() - wait for those that are inside, and enter */
static inline void roce_fair_write_lock(struct roce_fair_lock *lock)
	__acquires(&lock->rwlock)
{
	/* A softirq of this CPU would wait for us. */
	local_bh_disable();
	atomic_inc(&lock->arrived);
	write_lock(&lock->rwlock);
	WRITE_ONCE(lock->entered, lock->entered + 1);
}

static inline void roce_fair_write_unlock(struct roce_fair_lock *lock)
	__releases(&lock->rwlock)
{
	write_unlock(&lock->rwlock);
	local_bh_enable();
}

#endif /* ROCE_FAIR_LOCK_H */
