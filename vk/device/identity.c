/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "vk/device/identity.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/uuid_text.h"

void vk_identify(PFN_vkGetPhysicalDeviceProperties2 get_properties, VkPhysicalDevice device,
                 struct vk_identity *identity)
{
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    get_properties(device, &properties);
    /* Devices older than Vulkan 1.2 may not be queried for the driver. */
    if (properties.properties.apiVersion >= VK_API_VERSION_1_2) {
        properties.pNext = &driver;
        get_properties(device, &properties);
    }
    *identity = (struct vk_identity){.api_version = properties.properties.apiVersion,
                                     .type = properties.properties.deviceType,
                                     .driver = driver.driverID,
                                     .has_luid = id.deviceLUIDValid};
    snprintf(identity->name, sizeof(identity->name), "%s", properties.properties.deviceName);
    memcpy(identity->uuid, id.deviceUUID, sizeof(identity->uuid));
    memcpy(identity->luid, id.deviceLUID, sizeof(identity->luid));
}

void vk_identity_text(const struct vk_identity *identity, char *text, size_t size)
{
    char uuid[GR_UUID_TEXT_SIZE];
    gr_uuid_text(identity->uuid, uuid);
    snprintf(text, size, "%.80s (UUID %s)", identity->name, uuid);
}
