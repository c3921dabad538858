/* SPDX-License-Identifier: Apache-2.0 */
/* The instance of Vulkan without a window, and what its validation layer says. */
#ifndef GR_VK_HEADLESS_INSTANCE_H
#define GR_VK_HEADLESS_INSTANCE_H

#include "vk/headless_functions.h"

/*
 * Makes handles->instance by handles->get_instance_proc_addr, and finds the functions on the way.
 * *version is the newest version of Vulkan that the instance's devices may be used as.
 * `options` has to last as long as the instance, whose messages go where it says.
 */
gr_status vk_headless_create_instance(gr_vk_headless_options *options,
                                      struct vk_headless_functions *vk,
                                      gr_vk_headless_info *handles, uint32_t *version,
                                      const char *call);

/* Makes the messenger, if the options ask for validation. `options` has to outlive it. */
gr_status vk_headless_create_messenger(gr_vk_headless_options *options,
                                       const struct vk_headless_functions *vk, VkInstance instance,
                                       VkDebugUtilsMessengerEXT *messenger);

#endif
