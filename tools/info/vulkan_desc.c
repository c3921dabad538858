/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/vulkan_desc.h"

gr_vk_device_desc vulkan_desc(const gr_vk_headless_info *made)
{
    return GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = made->get_instance_proc_addr,
                   .instance = made->instance, .physical_device = made->physical_device,
                   .device = made->device, .queue = made->graphics,
                   .queue_family = made->graphics_family,
                   .synchronization2 = made->synchronization2);
}
