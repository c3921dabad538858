/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates Vulkan devices by hand, also of a GPU that is hidden from CUDA. */
#ifndef GR_TESTS_OWN_VULKAN_H
#define GR_TESTS_OWN_VULKAN_H

#include <grinterop/vk.h>

/* A function of the instance: OWN_VULKAN(on, vkDestroyInstance)(on->instance, NULL). */
#define OWN_VULKAN(on, name) ((PFN_##name)(on)->get_instance_proc_addr((on)->instance, #name))

/*
 * Creates an instance, and a device on the first physical device for which is(), which finds it in
 * `on`, returns true. If `on` names transports, the device has their extensions. Returns NULL, or
 * the reason of the failure, after which there is nothing to close.
 */
const char *own_vulkan_open(gr_vk_device_desc *on, bool (*is)(const gr_vk_device_desc *on));

/* Creates the device alone, with one queue of the family that `on` names. */
const char *own_vulkan_make_device(gr_vk_device_desc *on);

/* Destroys the device and the instance, unless they are NULL. */
void own_vulkan_close(gr_vk_device_desc *on);

#endif
