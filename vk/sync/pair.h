/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The pair of timeline semaphores for the new resources of a device. */
#ifndef GR_VK_SYNC_PAIR_H
#define GR_VK_SYNC_PAIR_H

#include "lib/sync/semaphore_pair.h"
#include "vk/device/device.h"

/*
 * Returns the pair of the device, which the first call creates. If the device has no timeline
 * semaphores, or its resources should not have the pair, returns GR_OK and NULL. The device owns
 * the pair.
 */
gr_status vk_pair_get(gr_vk_device *device, struct gr_semaphore_pair **pair, const char *call);

#endif
