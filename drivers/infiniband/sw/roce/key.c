// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
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
 * @dev: has no regions and windows any more
 */
void roce_key_table_destroy(struct roce_device *dev)
{
	rhashtable_destroy(&dev->keys);
}

/* 0 is what a program has where it has no key. */
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
 * @key: of the object, which can be found from now on
 *
 * The key cannot be guessed: what a peer learns of one object tells it nothing
 * about another.
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
 * roce_key_unpublish() - let a region or window not be found any more
 * @dev: the device
 * @key: published; who has found it already may use it until its section ends
 */
void roce_key_unpublish(struct roce_device *dev, struct roce_key *key)
{
	rhashtable_remove_fast(&dev->keys, &key->node, key_table_params);
}

/**
 * roce_key_find() - what a key names
 * @dev: the device
 * @value: L_Key or R_Key
 *
 * In a section, to the end of which the object stays. That it has this very key
 * now, and that the key may be used, is to be checked still.
 *
 * Return: the key of a region or window, or NULL.
 */
struct roce_key *roce_key_find(struct roce_device *dev, u32 value)
{
	u32 index = value >> ROCE_KEY_INDEX_SHIFT;

	return rhashtable_lookup(&dev->keys, &index, key_table_params);
}
