/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/probe_vulkan_device.h"

#include <string.h>

#include "tools/info/say.h"
#include "tools/info/vulkan_desc.h"

static bool is_vulkan_fine(struct probe_try *t, VkResult result, const char *call)
{
    return result == VK_SUCCESS ||
           probe_fail(t,
                      "%s answered VkResult %d. Update Vulkan's driver; VK_LOADER_DEBUG=all tells "
                      "which one it is.",
                      call, (int)result);
}

/* ---- The device ------------------------------------------------------------------------------ */

/* ISO C has no conversion between the pointers to functions of two kinds. */
static bool load(struct probe_try *t, struct probe_vulkan *vk)
{
    PFN_vkVoidFunction found;
#define LOAD(name)                                                                                 \
    found = vk->made->get_instance_proc_addr(vk->made->instance, "vk" #name);                      \
    if (!found)                                                                                    \
        return probe_fail(t, "Vulkan's loader has no vk" #name ": install it anew.");              \
    memcpy(&vk->name, &found, sizeof(found));
    PROBE_VULKAN_FUNCTIONS(LOAD)
#undef LOAD
    return true;
}

static bool make_pool(struct probe_try *t, struct probe_vulkan *vk)
{
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = vk->made->graphics_family};
    return is_vulkan_fine(t, vk->CreateCommandPool(vk->made->device, &info, NULL, &vk->pool),
                          "vkCreateCommandPool");
}

bool probe_vulkan_open(struct probe_try *t, struct probe_vulkan *vk)
{
    const gr_vk_headless_options options =
        GR_INIT(gr_vk_headless_options, .cuda_device = t->probe->device);
    *vk = (struct probe_vulkan){0};
    say_step("a Vulkan device");
    vk->headless = gr_vk_headless_create(&options);
    if (!vk->headless) {
        t->absent = t->probe->software;
        return probe_error(t);
    }
    vk->made = gr_vk_headless_get(vk->headless);
    const gr_vk_device_desc desc = vulkan_desc(vk->made);
    vk->device = gr_vk_device_wrap(&desc);
    return vk->device ? load(t, vk) && make_pool(t, vk) : probe_error(t);
}

void probe_vulkan_close(struct probe_vulkan *vk)
{
    say_step("the end of the Vulkan device");
    if (vk->pool)
        vk->DestroyCommandPool(vk->made->device, vk->pool, NULL);
    gr_vk_device_free(vk->device);
    gr_vk_headless_free(vk->headless);
}

gr_resource *probe_vulkan_buffer(struct probe_try *t, const struct probe_vulkan *vk, size_t size)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    say_step("the making of a buffer");
    gr_resource *buffer = gr_vk_buffer_create(vk->device, &info, GR_READ_WRITE);
    if (!buffer)
        probe_not_made(t);
    return buffer;
}

/* ---- Commands -------------------------------------------------------------------------------- */

VkCommandBuffer probe_vulkan_begin(struct probe_try *t, const struct probe_vulkan *vk)
{
    const VkCommandBufferAllocateInfo one = {.sType =
                                                 VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = vk->pool,
                                             .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    say_step("Vulkan's commands");
    VkResult result = vk->AllocateCommandBuffers(vk->made->device, &one, &commands);
    if (!is_vulkan_fine(t, result, "vkAllocateCommandBuffers") ||
        !is_vulkan_fine(t, vk->BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer"))
        return VK_NULL_HANDLE;
    return commands;
}

bool probe_vulkan_submit(struct probe_try *t, const struct probe_vulkan *vk, gr_submit *submit,
                         VkCommandBuffer commands)
{
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                .access = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT,
                .layout = commands ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_UNDEFINED);
    const VkCommandBufferSubmitInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                           .commandBuffer = commands};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = commands ? 1 : 0,
                                .pCommandBufferInfos = &one};
    const gr_vk_submit_desc desc =
        GR_INIT(gr_vk_submit_desc, .info = &info, .first = commands ? &use : NULL, .last = &use);
    if (commands && !is_vulkan_fine(t, vk->EndCommandBuffer(commands), "vkEndCommandBuffer"))
        return false;
    say_step("gr_vk_submit()");
    return gr_vk_submit(submit, &desc) == GR_OK || probe_error(t);
}
