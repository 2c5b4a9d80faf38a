// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * L_Keys and R_Keys: the table in which the data path finds regions and windows.
 */
#include <linux/random.h>

#include "device.h"
#include "key.h"

static const struct rhashtable_params key_table_params = {
	.key_len = sizeof_field(struct roce_key, index),
	.key_offset = offsetof(struct roce_key, index),
	.head_offset = offsetof(struct roce_key, node),
	.automatic_shrinking = true,
};

/**
 * roce_key_table_init() - make a device's table of keys
 * @dev: under construction
 *
 * Return: 0 or -ENOMEM.
 */
int roce_key_table_init(struct roce_device *dev)
{
	return rhashtable_init(&dev->keys, &key_table_params);
}

/**
 * roce_key_table_destroy() - free a device's table of keys
 * @dev: without regions and windows
 */
void roce_key_table_destroy(struct roce_device *dev)
{
	rhashtable_destroy(&dev->keys);
}

/* Never 0: programs pass 0 where they have no key. */
static u32 random_value(void)
{
	u32 value;

	do {
		value = get_random_u32();
	} while (!(value >> ROCE_KEY_INDEX_SHIFT));
	return value;
}

/**
 * roce_key_publish() - give a region or window its key
 * @dev: the device
 * @key: of the object; roce_key_find() finds it from now on
 *
 * The key is random, so that a peer cannot guess it from the keys of other objects.
 *
 * Return: 0 or -ENOMEM.
 */
int roce_key_publish(struct roce_device *dev, struct roce_key *key)
{
	int err;

	do {
		key->value = random_value();
		key->index = key->value >> ROCE_KEY_INDEX_SHIFT;
		err = rhashtable_lookup_insert_fast(&dev->keys, &key->node,
						    key_table_params);
	} while (err == -EEXIST);

	return err;
}

/**
 * roce_key_unpublish() - remove the key of a region or window from the table
 * @dev: the device
 * @key: published; running sections may still use it
 */
void roce_key_unpublish(struct roce_device *dev, struct roce_key *key)
{
	rhashtable_remove_fast(&dev->keys, &key->node, key_table_params);
}

/**
 * roce_key_find() - look up a key
 * @dev: the device
 * @value: L_Key or R_Key
 *
 * In a section, which keeps the object alive. Only the index is compared:
 * the caller must check the whole key and its state.
 *
 * Return: the key of a region or window, or NULL.
 */
struct roce_key *roce_key_find(struct roce_device *dev, u32 value)
{
	u32 index = value >> ROCE_KEY_INDEX_SHIFT;

	return rhashtable_lookup(&dev->keys, &index, key_table_params);
}
