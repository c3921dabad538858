/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows in which CUDA copies the mesh into the array of a Vulkan image, one vertex per texel,
 * and Vulkan copies the texels to the buffer that it draws.
 */
#include "bench/frames/vulkan.h"

static const gr_vk_use READING = {.struct_size = sizeof(gr_vk_use),
                                  .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                  .access = VK_ACCESS_TRANSFER_READ_BIT,
                                  .layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};

/* CUDA can map a new image only after a submit has handed it over. */
static bool hand_over(gr_resource *image)
{
    const VkSubmitInfo2 nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    gr_vk_use last = READING;
    last.layout = VK_IMAGE_LAYOUT_GENERAL;
    GR_AUTO(gr_submit) *submit = gr_submit_begin(&image, 1);
    return (submit && gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .info = &nothing,
                                                    .last = &last)) == GR_OK) ||
           frames_grinterop_failed("gr_vk_submit");
}

static void barrier(const struct vulkan *v, VkCommandBuffer commands, VkPipelineStageFlags from,
                    VkAccessFlags written, VkPipelineStageFlags to, VkAccessFlags access)
{
    const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = written,
                                 .dstAccessMask = access};
    v->CmdPipelineBarrier(commands, from, to, 0, 1, &all, 0, NULL, 0, NULL);
}

static bool record(struct frames *f, struct frames_run *run, gr_resource *image, unsigned slot)
{
    const struct vulkan *v = &f->vulkan->vulkan;
    const VkBuffer vertices = gr_vk_buffer(run->resource);
    const VkBufferImageCopy texels = {.imageSubresource = vulkan_colour_layer(),
                                      .imageExtent = {(uint32_t)f->mesh, (uint32_t)f->mesh, 1}};
    if (!hand_over(image))
        return false;
    VkCommandBuffer commands = frames_vulkan_begin(f, image, &READING);
    run->commands[slot] = commands;
    if (!commands)
        return false;
    barrier(v, commands, VK_PIPELINE_STAGE_VERTEX_INPUT_BIT, 0, VK_PIPELINE_STAGE_TRANSFER_BIT,
            VK_ACCESS_TRANSFER_WRITE_BIT);
    v->CmdCopyImageToBuffer(commands, gr_vk_image(image), READING.layout, vertices, 1, &texels);
    barrier(v, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_VERTEX_INPUT_BIT, VK_ACCESS_VERTEX_ATTRIBUTE_READ_BIT);
    frames_vulkan_draw_points(v, &f->vulkan->draw, commands, vertices,
                              (uint32_t)(f->mesh * f->mesh));
    return frames_vulkan_end(f, commands, image, &READING);
}

bool frames_vulkan_image_open(struct frames *f, struct frames_run *run)
{
    static const struct frames_vulkan_slots slots = {
        .flags = GR_WRITE_DISCARD, .producer = GR_SIDE_CUDA, .commands = 1, .record = record};
    const VkBufferCreateInfo vertices = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                         .size = f->bytes,
                                         .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
                                                  VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    if (!frames_vulkan_available(f))
        return false;
    run->resource = gr_create_vk_buffer(f->vulkan->vulkan.shared, &vertices, GR_READ_WRITE);
    return run->resource ? frames_vulkan_make_ring(f, run, &slots)
                         : frames_grinterop_failed("gr_create_vk_buffer");
}

bool frames_vulkan_image_close(struct frames *f, struct frames_run *run)
{
    bool good = frames_vulkan_close_ring(f, run);
    gr_resource_free(run->resource);
    return good;
}
