/* SPDX-License-Identifier: Apache-2.0 */
/* Opening Vulkan's loader, for programs that have no Vulkan of their own. */
#ifndef GR_VK_LOADER_H
#define GR_VK_LOADER_H

#include <grinterop/vk.h>

/* GR_ERR_UNSUPPORTED: it is not installed. */
gr_status vk_loader_open(PFN_vkGetInstanceProcAddr *get, const char *call);

/* What to do where the loader finds no driver for the CUDA device; a sentence, static. */
const char *vk_driver_hint(void);

#endif
