/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The properties that identify a VkPhysicalDevice. */
#ifndef GR_VK_DEVICE_IDENTITY_H
#define GR_VK_DEVICE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include <vulkan/vulkan_core.h>

struct vk_identity {
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    uint32_t api_version;
    VkPhysicalDeviceType type;
    VkDriverId driver; /* 0 if the driver does not report it */
    unsigned char uuid[VK_UUID_SIZE];
    bool has_luid; /* Windows identifies the adapter by `luid` */
    unsigned char luid[VK_LUID_SIZE];
};

void vk_identify(PFN_vkGetPhysicalDeviceProperties2 get_properties, VkPhysicalDevice device,
                 struct vk_identity *identity);

/* Writes a description, such as "NVIDIA H200 (UUID GPU-...)". */
void vk_identity_text(const struct vk_identity *identity, char *text, size_t size);

#endif
