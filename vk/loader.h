/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Opens the Vulkan loader, for programs without their own Vulkan. */
#ifndef GR_VK_LOADER_H
#define GR_VK_LOADER_H

#include <grinterop/vk.h>

/* GR_ERR_UNSUPPORTED: the loader is not installed. */
gr_status vk_loader_open(PFN_vkGetInstanceProcAddr *get, const char *call);

/* Advice if the loader finds no driver for the CUDA device; a static sentence. */
const char *vk_driver_hint(void);

#endif
