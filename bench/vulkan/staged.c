/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames of resources that are copied, in the GPU or through host memory, beside a resource whose
 * memory CUDA imports: CUDA writes everything, and Vulkan copies it to a buffer, as a draw would
 * read it. Both resources use the semaphores of the grinterop side.
 */
#define _GNU_SOURCE
#include <grinterop/image.h>

#include "bench/vulkan/vulkan.h"

enum { ROW_BYTES = 4 * 1920 };

static struct {
    VkImageCreateInfo image; /* of images */
    VkBufferCreateInfo buffer;
    gr_vk_device *host;       /* copies through host memory only */
    gr_resource *object, *to; /* owns the copied object; Vulkan copies the frames to `to` */
    gr_resource *resources[VKB_SIDES]; /* with imported memory; copied */
    CUdeviceptr linear;                /* CUDA copies it to images */
    unsigned number;                   /* the last one that CUDA wrote */
} staged;

/* ---- The objects of a row -------------------------------------------------------------------- */

static gr_resource *make_object(struct vkb *bench, const struct vkb_kind *kind)
{
    return kind->image ? gr_create_vk_image(bench->wrap, &staged.image, GR_WRITE_DISCARD)
                       : gr_create_vk_buffer(bench->wrap, &staged.buffer, GR_WRITE_DISCARD);
}

static gr_resource *make_copied(struct vkb *bench, const struct vkb_kind *kind)
{
    const bool by_host = kind->in_flight == VKB_HOST;
    const unsigned in_flight = by_host ? 0 : kind->in_flight;
    const gr_vk_image_desc image =
        GR_INIT(gr_vk_image_desc, .create_info = &staged.image, .image = gr_vk_image(staged.object),
                .in_flight = in_flight);
    const gr_vk_buffer_desc buffer =
        GR_INIT(gr_vk_buffer_desc, .buffer = gr_vk_buffer(staged.object), .size = bench->fill,
                .in_flight = in_flight);
    gr_vk_device *device = by_host ? staged.host : bench->wrap;
    return kind->image ? gr_from_vk_image(device, &image, GR_WRITE_DISCARD)
                       : gr_from_vk_buffer(device, &buffer, GR_WRITE_DISCARD);
}

static bool make_resources(struct vkb *bench, const struct vkb_kind *kind)
{
    const struct vkb_side *side = &bench->sides[VKB_GRINTEROP];
    if (!(staged.to = gr_create_vk_buffer(bench->wrap, &staged.buffer, GR_READ_ONLY)) ||
        !(staged.object = make_object(bench, kind)) ||
        !(staged.resources[0] = make_object(bench, kind)) ||
        !(staged.resources[1] = make_copied(bench, kind)))
        return bench_grinterop_failed("a resource");
    for (unsigned s = 0; s < VKB_SIDES; s++)
        if (gr_resource_set_sync(staged.resources[s], side->gr_acquire, side->gr_release) != GR_OK)
            return bench_grinterop_failed("gr_resource_set_sync");
    return !kind->image ||
           gr_vk_hand_over(staged.resources, VKB_SIDES, VK_IMAGE_LAYOUT_UNDEFINED) == GR_OK ||
           bench_grinterop_failed("gr_vk_hand_over");
}

bool vkb_open_staged(struct vkb *bench, const struct vkb_kind *kind)
{
    bench->fill = kind->bytes < bench->effort.most_bytes ? kind->bytes : bench->effort.most_bytes;
    if (kind->image)
        bench->fill -= bench->fill % ROW_BYTES;
    staged.image = vkb_image_info;
    staged.image.extent = (VkExtent3D){ROW_BYTES / 4, (uint32_t)(bench->fill / ROW_BYTES), 1};
    staged.image.usage |= VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    staged.buffer = (VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                         .size = bench->fill,
                                         .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                                  VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    staged.host = vkb_wrap(bench, GR_TRANSPORT_COPY);
    return staged.host && make_resources(bench, kind) &&
           bench_cuda_ok(bench->cuda->MemAlloc(&staged.linear, bench->fill), "cuMemAlloc");
}

bool vkb_record_staged(struct vkb *bench, const struct vkb_side *side, VkCommandBuffer commands)
{
    const gr_resource *of = side == bench->sides ? staged.resources[0] : staged.resources[1];
    const VkBufferImageCopy texels = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = staged.image.extent};
    if (gr_vk_image(of) == VK_NULL_HANDLE)
        bench->vk.vkCmdCopyBuffer(commands, gr_vk_buffer(of), gr_vk_buffer(staged.to), 1,
                                  &(VkBufferCopy){.size = bench->fill});
    else
        bench->vk.vkCmdCopyImageToBuffer(commands, gr_vk_image(of),
                                         VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                         gr_vk_buffer(staged.to), 1, &texels);
    return true;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static bool write_frame(struct vkb *bench, gr_resource *resource, const struct vkb_kind *kind)
{
    gr_buffer *buffer = gr_map(resource, bench->on.stream);
    if (!buffer)
        return bench_grinterop_failed("gr_map");
    bool good = bench_cuda_ok(
        bench->cuda->MemsetD32Async(kind->image ? staged.linear : gr_buffer_ptr(buffer),
                                    ++staged.number, bench->fill / 4, bench->on.stream),
        "cuMemsetD32Async");
    const gr_linear_desc from = GR_INIT(gr_linear_desc, .device = staged.linear);
    if (kind->image && gr_buffer_copy_from_linear(buffer, 0, 0, &from, GR_STREAM_OF_MAP) != GR_OK)
        good = bench_grinterop_failed("gr_buffer_copy_from_linear");
    return (gr_buffer_release(buffer) == GR_OK || bench_grinterop_failed("gr_buffer_release")) &&
           good;
}

bool vkb_staged(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    gr_resource **resource = &staged.resources[side - bench->sides];
    const gr_vk_use use = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                                  .access = VK_ACCESS_2_TRANSFER_READ_BIT,
                                  .layout = kind->image ? VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
                                                        : VK_IMAGE_LAYOUT_UNDEFINED);
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &side->commands[side->frames % VKB_FRAMES]};
    if (!write_frame(bench, *resource, kind))
        return false;
    gr_submit *submit = gr_submit_begin(resource, 1);
    if (!submit)
        return bench_grinterop_failed("gr_submit_begin");
    side->done[side->frames % VKB_FRAMES] = submit->signal_values[0];
    const gr_status status = gr_vk_submit(
        submit, &GR_INIT(gr_vk_submit_desc, .info_v1 = &info, .first = &use, .last = &use));
    gr_submit_free(submit);
    return status == GR_OK || bench_grinterop_failed("gr_vk_submit");
}

/* ---- The end of a row ------------------------------------------------------------------------ */

/* Checks the last frame, and ends the objects. */
bool vkb_close_staged(struct vkb *bench)
{
    unsigned words[2] = {0};
    gr_buffer *buffer = gr_map(staged.to, bench->on.stream);
    const CUdeviceptr at = gr_buffer_ptr(buffer);
    bench->cuda->MemcpyDtoH(&words[0], at, 4);
    bench->cuda->MemcpyDtoH(&words[1], at + bench->fill - 4, 4);
    gr_buffer_release(buffer);
    for (unsigned s = 0; s < VKB_SIDES; s++)
        gr_resource_free(staged.resources[s]);
    gr_resource_free(staged.object);
    gr_resource_free(staged.to);
    gr_vk_device_free(staged.host);
    bench->cuda->MemFree(staged.linear);
    if (words[0] == staged.number && words[1] == staged.number)
        return true;
    fprintf(stderr, "bench_vulkan: Vulkan copied %u and %u where CUDA wrote %u\n", words[0],
            words[1], staged.number);
    return false;
}
