/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_RING_H
#define ROCE_RING_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

/*
 * A ring that one side fills and the other one drains. If user space is the other side,
 * it can write anything to the mapped memory at any time: its index is masked whenever
 * it is read, the driver's index is private and only published, and no other field of
 * the header is read back.
 */
struct roce_ring {
	struct rxe_queue_buf *buf;	/* the header, then the elements */
	u32 element_size;		/* bytes, a power of two */
	u32 mask;			/* elements - 1 */
	u32 index;			/* the driver's, in [0, mask] */
	bool produced_here;		/* the driver is the producer */
	u32 consumed;			/* then: the consumer's index, checked */
	u32 produced;			/* else: the producer's, as it was last read */
	struct roce_ring_mapping *mapping; /* of user space, NULL in the kernel */
};

int roce_ring_init(struct roce_ring *ring, u32 capacity, size_t element_size,
		   bool produced_here, struct ib_udata *udata,
		   struct mminfo *info);
void roce_ring_free(struct roce_ring *ring);
int roce_ring_replace(struct roce_ring *ring, struct roce_ring *to, spinlock_t *lock);
int roce_ring_mmap(struct ib_ucontext *context, struct vm_area_struct *vma);
void roce_ring_mmap_free(struct rdma_user_mmap_entry *entry);

/*
 * Elements that always stay empty. One tells a full ring from an empty one. In a ring
 * that the driver fills, another one tells a full ring from a consumer that is one
 * element ahead of the driver.
 */
static inline u32 roce_ring_spare(bool produced_here)
{
	return produced_here ? 2 : 1;
}

/** roce_ring_capacity() - number of elements of a full ring */
static inline u32 roce_ring_capacity(const struct roce_ring *ring)
{
	return ring->mask + 1 - roce_ring_spare(ring->produced_here);
}

/** roce_ring_peer_index() - the other side's index, masked, but not trusted otherwise */
static inline u32 roce_ring_peer_index(const struct roce_ring *ring)
{
	u32 *index = ring->produced_here ? &ring->buf->consumer_index :
					   &ring->buf->producer_index;

	/* Pairs with the other side's release: its elements are read after this. */
	return smp_load_acquire(index) & ring->mask;
}

/**
 * roce_ring_ready() - number of produced elements that the driver has not taken yet
 * @ring: the caller is its only consumer
 * @taken: number of elements that it has taken, but not consumed
 *
 * Reads the producer's index only when there is nothing left: a program that goes on
 * producing writes it, so each look costs a cache miss. A program may have moved its
 * index back, to the taken elements or before them.
 *
 * Return: 0 if there is none now; else there may be more.
 */
static inline u32 roce_ring_ready(struct roce_ring *ring, u32 taken)
{
	u32 ready = (ring->produced - ring->index) & ring->mask;

	if (ready <= taken) {
		ring->produced = roce_ring_peer_index(ring);
		ready = (ring->produced - ring->index) & ring->mask;
	}
	return ready > taken ? ready - taken : 0;
}

/** roce_ring_used() - number of elements that were produced and not consumed yet */
static inline u32 roce_ring_used(const struct roce_ring *ring)
{
	u32 peer = roce_ring_peer_index(ring);

	if (ring->produced_here)
		return (ring->index - peer) & ring->mask;
	return (peer - ring->index) & ring->mask;
}

static inline bool roce_ring_empty(const struct roce_ring *ring)
{
	return roce_ring_used(ring) == 0;
}

/**
 * roce_ring_unconsumed() - number of unconsumed elements of a ring that the driver fills
 * @ring: the caller is its only producer
 *
 * A consumer cannot be ahead of the producer, but librxe before rdma-core 55 may say so:
 * ibv_end_poll() moves the index once more after ibv_next_poll() has found nothing. The
 * consumer's index is then set back to the producer's, where it continues to read.
 */
static inline u32 roce_ring_unconsumed(struct roce_ring *ring)
{
	u32 produced = (ring->index - ring->consumed) & ring->mask;
	/* Pairs like the one in roce_ring_peer_index(). */
	u32 shown = smp_load_acquire(&ring->buf->consumer_index);

	if (((shown - ring->consumed) & ring->mask) <= produced) {
		ring->consumed = shown & ring->mask;
	} else {
		/* Fails if the consumer writes it at the same time. */
		cmpxchg(&ring->buf->consumer_index, shown, ring->index);
		ring->consumed = ring->index;
	}
	return (ring->index - ring->consumed) & ring->mask;
}

/**
 * roce_ring_element() - get an element of a ring
 * @ring: the ring
 * @ahead: its position after the driver's index
 *
 * The other side can change the bytes at any time: copy them once.
 */
static inline void *roce_ring_element(const struct roce_ring *ring, u32 ahead)
{
	u32 index = (ring->index + ahead) & ring->mask;

	return ring->buf->data + (size_t)index * ring->element_size;
}

/**
 * roce_ring_copy() - copy bytes out of an element, once
 * @to: the copy; only this may be read afterwards
 * @from: in an element
 * @size: bytes
 */
static inline void roce_ring_copy(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	/* The compiler must not read the element again instead of the copy. */
	barrier();
}

/** roce_ring_advance_by() - hand produced or consumed elements to the other side */
static inline void roce_ring_advance_by(struct roce_ring *ring, u32 elements)
{
	u32 *index = ring->produced_here ? &ring->buf->producer_index :
					   &ring->buf->consumer_index;

	ring->index = (ring->index + elements) & ring->mask;
	/* After writing the elements, or reading them for the last time. */
	smp_store_release(index, ring->index);
}

/** roce_ring_advance() - the same with one element */
static inline void roce_ring_advance(struct roce_ring *ring)
{
	roce_ring_advance_by(ring, 1);
}

/** roce_ring_reset() - empty a ring that neither side is using */
static inline void roce_ring_reset(struct roce_ring *ring)
{
	ring->index = 0;
	ring->consumed = 0;
	ring->produced = 0;
	WRITE_ONCE(ring->buf->producer_index, 0);
	WRITE_ONCE(ring->buf->consumer_index, 0);
}

/** roce_ring_skip() - consume all elements of the other side without reading them */
static inline void roce_ring_skip(struct roce_ring *ring)
{
	ring->index = roce_ring_peer_index(ring);
	ring->produced = ring->index;
	WRITE_ONCE(ring->buf->consumer_index, ring->index);
}

/*
 * The other side of a ring if that is in the kernel, too: a kernel consumer produces
 * for its receive queue and consumes from its completion queue.
 */

/** roce_ring_peer_element() - the element at the other side's index */
static inline void *roce_ring_peer_element(const struct roce_ring *ring)
{
	return ring->buf->data +
	       (size_t)roce_ring_peer_index(ring) * ring->element_size;
}

/** roce_ring_peer_full() - whether the other side, the producer, has no room */
static inline bool roce_ring_peer_full(const struct roce_ring *ring)
{
	/* Pairs with the release in roce_ring_advance(): the element was read before. */
	u32 consumed = smp_load_acquire(&ring->buf->consumer_index);

	return ((ring->buf->producer_index - consumed) & ring->mask) ==
	       ring->mask;
}

/** roce_ring_peer_advance() - roce_ring_advance() for the other side */
static inline void roce_ring_peer_advance(struct roce_ring *ring)
{
	u32 *index = ring->produced_here ? &ring->buf->consumer_index :
					   &ring->buf->producer_index;

	/* After writing or reading the element, as in roce_ring_advance(). */
	smp_store_release(index, (*index + 1) & ring->mask);
}

#endif /* ROCE_RING_H */
