// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Programs that open the device, and their protection domains.
 */
#include "device.h"
#include "pd.h"
#include "roce.h"

/**
 * roce_alloc_ucontext() - the alloc_ucontext verb: a program opens the device
 * @context: zeroed
 * @udata: unused
 *
 * Return: 0.
 */
int roce_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	return 0;
}

/**
 * roce_dealloc_ucontext() - the dealloc_ucontext verb
 * @context: of a program that exited or is cut off; without objects
 */
void roce_dealloc_ucontext(struct ib_ucontext *context)
{
}

/**
 * roce_disassociate_ucontext() - the disassociate_ucontext verb
 * @context: of a program that keeps running while its device goes
 *
 * Empty: the program has mapped memory, not a device. Without this verb a device
 * with users could not be unregistered.
 */
void roce_disassociate_ucontext(struct ib_ucontext *context)
{
}

/**
 * roce_alloc_pd() - the alloc_pd verb
 * @ibpd: zeroed
 * @udata: NULL for a kernel consumer
 *
 * Return: 0, or -ENOMEM if there are too many protection domains.
 */
int roce_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct roce_device *dev = to_roce_device(ibpd->device);

	return roce_object_get(&dev->objects.pd, ROCE_MAX_PD) ? 0 : -ENOMEM;
}

/**
 * roce_dealloc_pd() - the dealloc_pd verb
 * @ibpd: without objects
 * @udata: NULL for a kernel consumer
 *
 * Return: 0.
 */
int roce_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	roce_object_put(&to_roce_device(ibpd->device)->objects.pd);
	return 0;
}
