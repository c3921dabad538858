/* SPDX-License-Identifier: Apache-2.0 */
/* The pair of timelines that a device's resources begin with. */
#ifndef GR_VK_PAIR_H
#define GR_VK_PAIR_H

#include "vk/device.h"

/*
 * The device's pair, which the first call makes. GR_OK with two NULLs where the device has no
 * timelines, or its resources are not to have the pair. The device keeps it.
 */
gr_status vk_pair_get(gr_vk_device *device, gr_semaphore **acquire, gr_semaphore **release,
                      const char *call);

#endif
