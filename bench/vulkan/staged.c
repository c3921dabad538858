/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames of resources that are copied in the GPU, beside a resource whose memory CUDA imports: CUDA
 * writes everything, and Vulkan copies it to a buffer, as a draw would
 * read it. Both resources use the semaphores of the grinterop side.
 */
#define _GNU_SOURCE
#include <grinterop/image.h>

#include "bench/vulkan/vulkan.h"

enum { ROW_BYTES = 4 * 1920 };

static struct {
    VkImageCreateInfo image; /* of images */
    VkBufferCreateInfo buffer;
    gr_resource *to;                   /* Vulkan copies the frames to it */
    gr_resource *resources[VKB_SIDES]; /* with imported memory; copied */
    CUdeviceptr linear;                /* CUDA copies it to images */
    unsigned number;                   /* the last one that CUDA wrote */
} staged;

/* ---- The objects of a row -------------------------------------------------------------------- */

static gr_resource *make_object(const struct vkb_kind *kind)
{
    gr_resource *object;
    if (kind->image)
        GR_KEEP(object, create_vk_image, vkb.device, &staged.image, GR_WRITE_DISCARD);
    else
        GR_KEEP(object, create_vk_buffer, vkb.device, &staged.buffer, GR_WRITE_DISCARD);
    return object;
}

static gr_resource *make_copied(const struct vkb_kind *kind)
{
    const gr_resource *object = make_object(kind);
    const gr_vk_image_desc image =
        GR_INIT(gr_vk_image_desc, .create_info = &staged.image, .image = gr_vk_image(object),
                .in_flight = kind->in_flight);
    const gr_vk_buffer_desc buffer = GR_INIT(gr_vk_buffer_desc, .buffer = gr_vk_buffer(object),
                                             .size = vkb.fill, .in_flight = kind->in_flight);
    gr_resource *copied;
    if (kind->image)
        GR_KEEP(copied, from_vk_image, vkb.device, &image, GR_WRITE_DISCARD);
    else
        GR_KEEP(copied, from_vk_buffer, vkb.device, &buffer, GR_WRITE_DISCARD);
    return copied;
}

void vkb_open_staged(const struct vkb_kind *kind)
{
    const struct vkb_side *side = &vkb.sides[VKB_GRINTEROP];
    vkb.fill = kind->bytes < vkb.effort.most_bytes ? kind->bytes : vkb.effort.most_bytes;
    if (kind->image)
        vkb.fill -= vkb.fill % ROW_BYTES;
    staged.image = vkb_image_info(ROW_BYTES / 4, (uint32_t)(vkb.fill / ROW_BYTES));
    staged.image.usage |= VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    staged.buffer = (VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                         .size = vkb.fill,
                                         .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                                  VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    GR_KEEP(staged.to, create_vk_buffer, vkb.device, &staged.buffer, GR_READ_ONLY);
    staged.resources[0] = make_object(kind);
    staged.resources[1] = make_copied(kind);
    for (unsigned s = 0; s < VKB_SIDES; s++)
        GR(resource_set_sync, staged.resources[s], side->gr_acquire, side->gr_release);
    if (kind->image)
        GR(vk_hand_over, staged.resources, VKB_SIDES, VK_IMAGE_LAYOUT_UNDEFINED);
    staged.linear = bench_cuda_alloc(vkb.fill);
}

void vkb_record_staged(const struct vkb_side *side, VkCommandBuffer commands)
{
    const gr_resource *of = staged.resources[side - vkb.sides];
    const VkBufferImageCopy texels = {.imageSubresource = BENCH_VK_COLOUR,
                                      .imageExtent = staged.image.extent};
    if (gr_vk_image(of) == VK_NULL_HANDLE)
        bench_vk.CmdCopyBuffer(commands, gr_vk_buffer(of), gr_vk_buffer(staged.to), 1,
                               &(VkBufferCopy){.size = vkb.fill});
    else
        bench_vk.CmdCopyImageToBuffer(commands, gr_vk_image(of),
                                      VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, gr_vk_buffer(staged.to),
                                      1, &texels);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static void write_frame(gr_resource *resource, const struct vkb_kind *kind)
{
    const gr_linear_desc from = GR_INIT(gr_linear_desc, .device = staged.linear);
    gr_buffer *buffer;
    GR_NEW(buffer, map, resource, vkb.on.stream);
    CU(MemsetD32Async, kind->image ? staged.linear : gr_buffer_ptr(buffer), ++staged.number,
       vkb.fill / 4, vkb.on.stream);
    if (kind->image)
        GR(buffer_copy_from_linear, buffer, 0, 0, &from, GR_STREAM_OF_MAP);
    GR(buffer_release, buffer);
}

static void frame(struct vkb_side *side, const struct vkb_kind *kind)
{
    gr_resource **resource = &staged.resources[side - vkb.sides];
    const gr_vk_use use = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                                  .access = VK_ACCESS_2_TRANSFER_READ_BIT,
                                  .layout = kind->image ? VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
                                                        : VK_IMAGE_LAYOUT_UNDEFINED);
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &side->commands[side->frames % VKB_FRAMES]};
    gr_submit *submit;
    write_frame(*resource, kind);
    GR_NEW(submit, submit_begin, resource, 1);
    side->done[side->frames % VKB_FRAMES] = submit->signal_values[0];
    GR(vk_submit, submit,
       &GR_INIT(gr_vk_submit_desc, .info_v1 = &info, .first = &use, .last = &use));
    gr_submit_free(submit);
}

/* Checks the last frame. */
void vkb_check_staged(void)
{
    unsigned words[2];
    gr_buffer *buffer;
    GR_NEW(buffer, map, staged.to, vkb.on.stream);
    const CUdeviceptr at = gr_buffer_ptr(buffer);
    CU(MemcpyDtoH, &words[0], at, 4);
    CU(MemcpyDtoH, &words[1], at + vkb.fill - 4, 4);
    GR(buffer_release, buffer);
    if (words[0] != staged.number || words[1] != staged.number)
        bench_fail("Vulkan copied %u and %u where CUDA wrote %u", words[0], words[1],
                   staged.number);
}

/* ---- The rows -------------------------------------------------------------------------------- */

#define ROW(key, text, size, is_image, n)                                                          \
    {                                                                                              \
        .row = {"staged/" key, text, "Copied, beside shared memory: sustained time", vkb_measure}, \
        .part = VKB_STAGED, .frame = {frame, frame}, .resources = 1, .points = 1, .submits = 1,    \
        .copies = 1, .bytes = size, .image = is_image, .in_flight = n                              \
    }
/* The rows of a size: in order, and with frames in flight. */
#define ROWS(key, text, size, image)                                                               \
    ROW(key "/0", text ", in order", size, image, 0),                                              \
        ROW(key "/4", text ", in_flight 4", size, image, 4),                                       \
        ROW(key "/16", text ", in_flight 16", size, image, 16)

const struct vkb_kind vkb_staged_rows[] = {
    ROWS("64K", "64 KiB", 1 << 16, false),
    ROWS("1M", "1 MiB", 1 << 20, false),
    ROWS("16M", "16 MiB", 1 << 24, false),
    ROWS("image", "RGBA8 1080p", 1920 * 1080 * 4, true),
    {.part = 0},
};
