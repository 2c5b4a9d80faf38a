/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_TRAIN_LIMITS_H
#define ROCE_TRAIN_LIMITS_H

/*
 * Limits of a train: the size that UDP segmentation accepts (64 KiB with headers), and
 * the usual maximum of segments for receivers.
 */
#define ROCE_TRAIN_MAX_BYTES	65000
#define ROCE_TRAIN_MAX_PACKETS	64

#endif /* ROCE_TRAIN_LIMITS_H */
