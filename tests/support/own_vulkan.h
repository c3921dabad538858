/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates Vulkan devices that gr_vk_headless_create() would not create, because CUDA cannot see
 * them: the CPU of a machine with a GPU, by Mesa, or a GPU that is hidden from CUDA.
 */
#ifndef GR_TESTS_OWN_VULKAN_H
#define GR_TESTS_OWN_VULKAN_H

#include <grinterop/vk.h>

/* A function of the instance: OWN_VULKAN(on, vkDestroyInstance)(on->instance, NULL). */
#define OWN_VULKAN(on, name) ((PFN_##name)(on)->get_instance_proc_addr((on)->instance, #name))

/*
 * Creates an instance, and a device on the first physical device for which is(), which finds it in
 * `on`, returns true. Returns NULL on success, or the reason of the failure, after which there is
 * nothing to close.
 */
const char *own_vulkan_open(gr_vk_device_desc *on, bool (*is)(const gr_vk_device_desc *on));

/*
 * Creates a device with one queue of the family that `on` names. If `on` names transports, the
 * device has their extensions.
 */
const char *own_vulkan_make_device(gr_vk_device_desc *on);
bool own_vulkan_is_software(const gr_vk_device_desc *on);

/* Destroys the device and the instance, unless they are NULL. */
void own_vulkan_close(gr_vk_device_desc *on);

#endif
