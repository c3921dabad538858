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

static void submit(gr_resource *const both[2], VkCommandBuffer commands)
{
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = commands};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &buffer};
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                .access = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT);
    GR_AUTO(gr_submit) *begun = gr_submit_begin(both, 2);
    check(begun, "beginning a submit");
    check(gr_vk_submit(begun, &GR_INIT(gr_vk_submit_desc, .info = &info, .first = &use,
                                       .last = &use)) == GR_OK,
          "the submit");
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
    submit(both, commands);
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
    GR_AUTO(gr_vk_device) *device = gr_vk_device_from_vk(
        &GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = vk->get_instance_proc_addr,
                 .instance = vk->instance, .physical_device = vk->physical_device,
                 .device = vk->device, .queue = vk->graphics, .queue_family = vk->graphics_family));
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
    frame(both, record(vk->device, pool, both), context->stream, bytes);
    check_bytes(bytes, SIZE, filled);
    vkQueueWaitIdle(vk->graphics);
    vkDestroyCommandPool(vk->device, pool, NULL);
    return 0;
}
