/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The pair of timeline semaphores that a device's new resources use. */
#ifndef GR_VK_PAIR_H
#define GR_VK_PAIR_H

#include "vk/device.h"

/*
 * Returns the device's pair, which the first call creates. GR_OK with two NULLs if the device has
 * no timeline semaphores, or its resources should not have the pair. The device owns the pair.
 */
gr_status vk_pair_get(gr_vk_device *device, gr_semaphore **acquire, gr_semaphore **release,
                      const char *call);

#endif
