/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CUDA fills a buffer, Vulkan copies the buffer to another one, and CUDA reads the copy. */
#include <grinterop/vk.h>
#include <vulkan/vulkan.h>

#include "program.h"

enum { SIZE = 4096 };

static unsigned char filled(size_t place)
{
    (void)place;
    return 42;
}

static VkCommandBuffer record(VkDevice device, VkCommandPool pool, gr_resource *const both[2])
{
    VkCommandBuffer commands;
    const VkCommandBufferAllocateInfo one = {.sType =
                                                 VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = pool,
                                             .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkBufferCopy all = {.size = SIZE};
    check(!vkAllocateCommandBuffers(device, &one, &commands), "a command buffer");
    check(!vkBeginCommandBuffer(commands, &begin), "a command buffer");
    vkCmdCopyBuffer(commands, gr_vk_buffer(both[0]), gr_vk_buffer(both[1]), 1, &all);
    check(!vkEndCommandBuffer(commands), "a command buffer");
    return commands;
}

/* Runs one frame. Returns the copied bytes. */
static void frame(gr_resource *const both[2], VkCommandBuffer commands, CUstream stream,
                  unsigned char *bytes)
{
    {
        GR_AUTO(gr_buffer) *mapped = gr_map(both[0], stream);
        check(mapped, "the map");
        check(!gr_cuda()->MemsetD8Async(gr_buffer_ptr(mapped), 42, SIZE, stream), "a fill");
    }
    gr_status submitted = gr_vk_submit_commands(
        both, 2, commands, VK_PIPELINE_STAGE_2_TRANSFER_BIT,
        VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_IMAGE_LAYOUT_GENERAL);
    check(submitted == GR_OK, "the submit");
    {
        GR_AUTO(gr_buffer) *mapped = gr_map(both[1], stream);
        check(mapped, "the map");
        check(!gr_cuda()->MemcpyDtoHAsync(bytes, gr_buffer_ptr(mapped), SIZE, stream), "a copy");
    }
    check(!gr_cuda()->StreamSynchronize(stream), "the stream");
}

int main(void)
{
    static unsigned char bytes[SIZE];
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    GR_AUTO(gr_vk_headless) *headless = gr_vk_headless_create(NULL);
    check(headless, "the Vulkan device");
    const gr_vk_headless_info *vk = gr_vk_headless_get_info(headless);
    GR_AUTO(gr_vk_device) *device = gr_vk_device_from_headless(headless, 0);
    check(device, "the Vulkan device for CUDA");

    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = SIZE,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    GR_AUTO(gr_resource) *from = gr_create_vk_buffer(device, &info, GR_WRITE_DISCARD);
    check(from, "a buffer");
    GR_AUTO(gr_resource) *to = gr_create_vk_buffer(device, &info, GR_READ_ONLY);
    check(to, "a buffer");
    gr_resource *const both[] = {from, to};
    VkCommandPool pool;
    const VkCommandPoolCreateInfo create = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                            .queueFamilyIndex = vk->graphics_family};
    check(!vkCreateCommandPool(vk->device, &create, NULL, &pool), "a command pool");
    frame(both, record(vk->device, pool, both), gr_cuda_context_get_info(context)->stream, bytes);
    check_bytes(bytes, SIZE, filled);
    vkQueueWaitIdle(vk->graphics);
    vkDestroyCommandPool(vk->device, pool, NULL);
    return 0;
}
