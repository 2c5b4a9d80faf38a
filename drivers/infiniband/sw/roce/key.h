/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_KEY_H
#define ROCE_KEY_H

#include <linux/rhashtable.h>

struct roce_device;

/*
 * A key is 24 random bits that name a region or window, and 8 bits that its
 * owner may change (IBA volume 1, 10.6.3.3).
 */
#define ROCE_KEY_INDEX_SHIFT	8

/**
 * struct roce_key - what an L_Key or R_Key names
 * @node: in the device's table of keys
 * @index: upper 24 bits of the key, constant as long as the object lives
 * @value: the whole key as it is now; the object knows its state
 * @is_window: part of a &struct roce_mw, else of a &struct roce_mr
 */
struct roce_key {
	struct rhash_head node;
	u32 index;
	u32 value;
	bool is_window;
};

int roce_key_table_init(struct roce_device *dev);
void roce_key_table_destroy(struct roce_device *dev);
int roce_key_publish(struct roce_device *dev, struct roce_key *key);
void roce_key_unpublish(struct roce_device *dev, struct roce_key *key);
struct roce_key *roce_key_find(struct roce_device *dev, u32 value);

/** roce_key_has_index() - whether @value differs from @key in the lower 8 bits at most */
static inline bool roce_key_has_index(const struct roce_key *key, u32 value)
{
	return value >> ROCE_KEY_INDEX_SHIFT == key->index;
}

#endif /* ROCE_KEY_H */
