/* SPDX-License-Identifier: Apache-2.0 */
/* A probe of a ring of Vulkan's buffers. */
#ifndef INFO_PROBE_VULKAN_RING_H
#define INFO_PROBE_VULKAN_RING_H

#include "tools/info/probe_vulkan_device.h"

bool probe_vulkan_ring(struct probe_try *t, const struct probe_vulkan *vk);

#endif
