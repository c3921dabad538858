/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates the measured objects: OpenGL, CUDA and Vulkan on one device, and resources of each kind.
 */
#include <stdio.h>

#include <epoxy/gl.h>

#include "bench/scale/scale.h"

enum { INTEROP, COPY, VULKAN, SHARED, PACKED };

const char *const scale_kinds[SCALE_KINDS] = {"interop", "copy", "vulkan", "shared", "packed"};
const size_t scale_sizes[SCALE_SIZES] = {1 << 10, 64 << 10, 1 << 20};
const char *const scale_size_text[SCALE_SIZES] = {"1 KiB", "64 KiB", "1 MiB"};
const unsigned scale_numbers[SCALE_NUMBERS] = {10, 100, 1000, SCALE_MOST};

/* Opens Vulkan, which is optional: without it, the Vulkan rows have a reason instead of times. */
static void open_vulkan(struct scale *scale)
{
    scale->headless =
        gr_vk_headless_create(&GR_INIT(gr_vk_headless_options, .cuda_device = scale->on.ordinal));
    if (!scale->headless)
        return;
    const gr_vk_headless_info *h = gr_vk_headless_get(scale->headless);
    scale->device = h->device;
    scale->wait_idle =
        (PFN_vkDeviceWaitIdle)h->get_instance_proc_addr(h->instance, "vkDeviceWaitIdle");
    scale->vulkan =
        gr_vk_device_wrap(&GR_INIT(gr_vk_device_desc, h->get_instance_proc_addr, h->instance,
                                   h->physical_device, h->device, h->graphics, h->graphics_family));
}

bool scale_open(struct scale *scale)
{
    if (!bench_device_open_gl(&scale->on))
        return false;
    scale->cuda = gr_cuda();
    open_vulkan(scale);
    return true;
}

void scale_close(struct scale *scale)
{
    gr_vk_device_free(scale->vulkan);
    gr_vk_headless_free(scale->headless);
    bench_device_close(&scale->on);
}

gr_resource *scale_make(const struct scale *scale, unsigned kind, size_t size)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    const gr_gl_options options = GR_INIT(gr_gl_options,
                                          .transports = kind == INTEROP ? GR_TRANSPORT_INTEROP
                                                        : kind == COPY  ? GR_TRANSPORT_COPY
                                                                        : GR_TRANSPORT_SHARED,
                                          .packed = kind == PACKED);
    return kind == VULKAN ? gr_vk_buffer_create(scale->vulkan, &info, GR_WRITE_DISCARD)
                          : gr_gl_buffer_create(size, GR_WRITE_DISCARD, &options);
}

bool scale_drain(const struct scale *scale)
{
    glFinish();
    if (scale->vulkan && scale->wait_idle(scale->device) != VK_SUCCESS)
        return false;
    return bench_cuda_ok(scale->cuda->CtxSynchronize(), "cuCtxSynchronize");
}
