/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of Vulkan's buffers and images, in pairs: CUDA writes one, Vulkan copies it to the other,
 * CUDA reads that one; and back. What CUDA reads, Vulkan has read where CUDA wrote it. Nothing
 * waits on the host but the last read.
 */
#include "tools/info/probe_vulkan.h"

#include <string.h>

#include "tools/info/probe_cuda.h"
#include "tools/info/probe_vulkan_ring.h"
#include "tools/info/say.h"

/* The first is a buffer or an image, the second a buffer. */
struct pair {
    gr_resource *both[2];
    size_t bytes;
};

static gr_resource *make_image(struct probe_try *t, const struct probe_vulkan *vk)
{
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UNORM,
                                    .extent = {PROBE_TEXELS_WIDE, PROBE_TEXELS_HIGH, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    say_step("the making of an image");
    gr_resource *image = gr_vk_image_create(vk->device, &info, GR_READ_WRITE);
    if (!image)
        probe_not_made(t);
    return image;
}

static bool make_pair(struct probe_try *t, const struct probe_vulkan *vk, struct pair *pair)
{
    const bool image = strcmp(t->probe->what, "image") == 0;
    pair->bytes = image ? PROBE_IMAGE_BYTES : PROBE_BUFFER_BYTES;
    pair->both[0] = image ? make_image(t, vk) : probe_vulkan_buffer(t, vk, pair->bytes);
    if (!pair->both[0])
        return false;
    pair->both[1] = probe_vulkan_buffer(t, vk, pair->bytes);
    return pair->both[1];
}

static void record(const struct probe_vulkan *vk, VkCommandBuffer commands, gr_resource *from,
                   gr_resource *to, size_t bytes)
{
    const VkBufferImageCopy texels = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {PROBE_TEXELS_WIDE, PROBE_TEXELS_HIGH, 1}};
    const VkBufferCopy all = {.size = bytes};
    if (gr_resource_kind(from) == GR_KIND_IMAGE)
        vk->CmdCopyImageToBuffer(commands, gr_vk_image(from), VK_IMAGE_LAYOUT_GENERAL,
                                 gr_vk_buffer(to), 1, &texels);
    else if (gr_resource_kind(to) == GR_KIND_IMAGE)
        vk->CmdCopyBufferToImage(commands, gr_vk_buffer(from), gr_vk_image(to),
                                 VK_IMAGE_LAYOUT_GENERAL, 1, &texels);
    else
        vk->CmdCopyBuffer(commands, gr_vk_buffer(from), gr_vk_buffer(to), 1, &all);
}

static bool submit(struct probe_try *t, const struct probe_vulkan *vk, const struct pair *pair,
                   VkCommandBuffer commands)
{
    GR_AUTO(gr_submit) *begun = gr_submit_begin(pair->both, 2);
    return begun ? probe_vulkan_submit(t, vk, begun, commands) : probe_error(t);
}

/* From the one with that number to the other one. */
static bool take_turn(struct probe_try *t, const struct probe_vulkan *vk, const struct pair *pair,
                      unsigned number)
{
    gr_resource *from = pair->both[number], *to = pair->both[!number];
    if (!probe_write(t, from))
        return false;
    VkCommandBuffer commands = probe_vulkan_begin(t, vk);
    if (!commands)
        return false;
    record(vk, commands, from, to, pair->bytes);
    return submit(t, vk, pair, commands) && probe_read(t, to) &&
           probe_same(t, "Vulkan's copy", "CUDA", pair->bytes);
}

static bool exchange(struct probe_try *t, const struct probe_vulkan *vk)
{
    struct pair pair = {{NULL, NULL}, 0};
    bool good = make_pair(t, vk, &pair) && submit(t, vk, &pair, VK_NULL_HANDLE);
    for (unsigned i = 0; good && i < 2 * PROBE_ROUNDS; i++) {
        t->by_kernel = i >= 2;
        probe_pattern(t, i);
        good = take_turn(t, vk, &pair, i % 2);
    }
    say_step("the end of the resources");
    if (vk->QueueWaitIdle)
        vk->QueueWaitIdle(vk->made->graphics);
    gr_resource_free(pair.both[0]);
    gr_resource_free(pair.both[1]);
    return good;
}

bool probe_vulkan(struct probe_try *t)
{
    struct probe_vulkan vk;
    if (!probe_cuda(t))
        return false;
    bool good = probe_vulkan_open(t, &vk);
    if (good && strcmp(t->probe->what, "ring") == 0)
        good = probe_vulkan_ring(t, &vk);
    else
        good = good && exchange(t, &vk);
    probe_vulkan_close(&vk);
    return good;
}
