/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates the headless VkInstance, and forwards the messages of the validation layer. */
#ifndef GR_VK_DEVICE_HEADLESS_INSTANCE_H
#define GR_VK_DEVICE_HEADLESS_INSTANCE_H

#include "vk/device/headless_functions.h"

/*
 * Creates handles->instance through handles->get_instance_proc_addr, and loads the functions.
 * *version receives the newest Vulkan version that devices of the instance may use. `options` must
 * live as long as the instance, because its messages use them.
 */
gr_status vk_headless_create_instance(gr_vk_headless_options *options,
                                      struct vk_headless_functions *vk,
                                      gr_vk_headless_info *handles, uint32_t *version,
                                      const char *call);

/* Creates the messenger if the options request validation. `options` must outlive the messenger. */
gr_status vk_headless_create_messenger(gr_vk_headless_options *options,
                                       const struct vk_headless_functions *vk, VkInstance instance,
                                       VkDebugUtilsMessengerEXT *messenger);

#endif
