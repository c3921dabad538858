/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Opens the Vulkan loader, for programs that do not use Vulkan themselves. */
#ifndef GR_VK_DEVICE_LOADER_H
#define GR_VK_DEVICE_LOADER_H

#include <grinterop/vk.h>

/* Opens the loader. GR_ERR_UNSUPPORTED: it is not installed. */
gr_status vk_loader_open(PFN_vkGetInstanceProcAddr *get, const char *call);

/*
 * Returns advice, a static sentence, for the case that the loader finds no driver for the CUDA
 * device.
 */
const char *vk_driver_hint(void);

#endif
