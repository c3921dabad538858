/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The Vulkan part of pingpong. share(), submit_images() and pingpong_vk_use() hand the images over
 * between CUDA and Vulkan.
 */
#include "pingpong_vk.h"

#include <string.h>

#include "pingpong_draw.h"
#include "examples/support/session.h"

/* Creates two images that CUDA reads and writes. */
static bool share(struct pingpong_vk *p)
{
    gr_vk_device *device = p->vulkan.shared;
    const VkImageCreateInfo info =
        vulkan_image_info(VK_FORMAT_R8G8B8A8_UNORM, TILE_WIDTH, IMAGE_HEIGHT,
                          VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                              VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    for (int i = 0; i < 2; i++) {
        p->images[i] = gr_vk_image_create(device, &info, GR_SURFACE_LOAD_STORE);
        if (!p->images[i])
            return failed_to("share an image with CUDA");
    }
    return true;
}

VkOffset2D pingpong_vk_place(int tile)
{
    return (VkOffset2D){MARGIN + tile % TILES_ACROSS * (TILE_WIDTH + 2 * MARGIN),
                        MARGIN + tile / TILES_ACROSS * (TILE_HEIGHT + 2 * MARGIN)};
}

/* Records the copy of the code within the image, which CUDA checks when it gets the image back. */
static void record_return(const struct pingpong_vk *p, VkCommandBuffer commands, VkImage image)
{
    const VkImageCopy row = {.srcSubresource = vulkan_colour_layer(),
                             .srcOffset = {0, SENT_ROW, 0},
                             .dstSubresource = vulkan_colour_layer(),
                             .dstOffset = {0, RETURNED_ROW, 0},
                             .extent = {TILE_WIDTH, 1, 1}};
    p->vulkan.CmdCopyImage(commands, image, VK_IMAGE_LAYOUT_GENERAL, image, VK_IMAGE_LAYOUT_GENERAL,
                           1, &row);
}

/*
 * Records a frame. A rewritten tile needs no barrier: frames that use the same image are ordered by
 * CUDA.
 */
static bool record_tile(struct pingpong_vk *p, int tile)
{
    const VkCommandBuffer commands =
        vulkan_record(&p->vulkan, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    if (!commands)
        return false;
    pingpong_draw_record(p, commands, tile);
    record_return(p, commands, gr_vk_image(p->images[tile % 2]));
    p->tiles[tile] = commands;
    return vulkan_ok(p->vulkan.EndCommandBuffer(commands), "record commands");
}

/*
 * Submits commands that use one or both images, after the last CUDA release and before the next
 * map.
 */
static bool submit_images(gr_resource *const images[], size_t n, VkCommandBuffer commands,
                          const gr_vk_use *first, const gr_vk_use *last)
{
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = commands};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &buffer};
    const gr_vk_submit_desc desc =
        GR_INIT(gr_vk_submit_desc, .info = &info, .first = first, .last = last);
    GR_AUTO(gr_submit) *submit = gr_submit_begin(images, n);
    return (submit && gr_vk_submit(submit, &desc) == GR_OK) || failed_to("submit commands");
}

/* Submits a frame. CUDA owns the image before and after the submit. */
bool pingpong_vk_use(const struct pingpong_vk *p, int frame)
{
    gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                .access = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT,
                .layout = VK_IMAGE_LAYOUT_GENERAL);
    if (p->queue != VULKAN_TRANSFER) {
        use.stages |= p->queue == VULKAN_GRAPHICS ? VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT
                                                  : VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
        use.access |= VK_ACCESS_2_SHADER_READ_BIT;
    }
    return submit_images(&p->images[frame % 2], 1, p->tiles[frame % TILES], &use, &use);
}

static VkBufferImageCopy whole_picture(const struct pingpong_vk *p)
{
    return (VkBufferImageCopy){.imageSubresource = vulkan_colour_layer(),
                               .imageExtent = {(uint32_t)p->width, (uint32_t)p->height, 1}};
}

/*
 * Runs before the first frame: clears the picture, and moves both images to the layout in which
 * CUDA may write them.
 */
static bool prepare(struct pingpong_vk *p)
{
    const struct vulkan *v = &p->vulkan;
    const VkBufferImageCopy all = whole_picture(p);
    const gr_vk_use nothing = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT);
    memset(p->pixels.bytes, 26, 4 * (size_t)p->width * (size_t)p->height);
    const VkCommandBuffer commands = vulkan_record(v, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    if (!commands)
        return false;
    vulkan_change_layout(v, commands, p->picture.image, VK_IMAGE_LAYOUT_UNDEFINED,
                         VK_IMAGE_LAYOUT_GENERAL);
    v->CmdCopyBufferToImage(commands, p->pixels.buffer, p->picture.image, VK_IMAGE_LAYOUT_GENERAL,
                            1, &all);
    vulkan_change_layout(v, commands, p->picture.image, VK_IMAGE_LAYOUT_GENERAL,
                         VK_IMAGE_LAYOUT_GENERAL);
    return vulkan_ok(v->EndCommandBuffer(commands), "record commands") &&
           submit_images(p->images, 2, commands, NULL, &nothing);
}

bool pingpong_vk_finish(const struct pingpong_vk *p)
{
    const struct vulkan *v = &p->vulkan;
    const VkBufferImageCopy all = whole_picture(p);
    const VkCommandBuffer commands = vulkan_record(v, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    if (!commands)
        return false;
    vulkan_change_layout(v, commands, p->picture.image, VK_IMAGE_LAYOUT_GENERAL,
                         VK_IMAGE_LAYOUT_GENERAL);
    v->CmdCopyImageToBuffer(commands, p->picture.image, VK_IMAGE_LAYOUT_GENERAL, p->pixels.buffer,
                            1, &all);
    vulkan_show_host(v, commands);
    return vulkan_ok(v->EndCommandBuffer(commands), "record commands") && vulkan_run(v, commands);
}

static bool make_picture(struct pingpong_vk *p)
{
    const VkImageUsageFlags usage = p->queue == VULKAN_GRAPHICS
                                        ? VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT
                                    : p->queue == VULKAN_COMPUTE ? VK_IMAGE_USAGE_STORAGE_BIT
                                                                 : 0;
    const VkDeviceSize size = 4 * (VkDeviceSize)p->width * (VkDeviceSize)p->height;
    return vulkan_image_init(&p->vulkan, VK_FORMAT_R8G8B8A8_UNORM, p->width, p->height,
                             usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                 VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                             &p->picture) &&
           vulkan_buffer_init(&p->vulkan, size,
                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                              &p->pixels);
}

bool pingpong_vk_open(struct pingpong_vk *p, enum vulkan_queue queue, bool validate)
{
    *p = (struct pingpong_vk){.queue = queue,
                              .width = TILES_ACROSS * (TILE_WIDTH + 2 * MARGIN),
                              .height = TILES_DOWN * (TILE_HEIGHT + 2 * MARGIN)};
    if (!vulkan_open(&p->vulkan, queue, validate, 0) || !make_picture(p) || !share(p) ||
        !pingpong_draw_init(p))
        return false;
    for (int tile = 0; tile < TILES; tile++)
        if (!record_tile(p, tile))
            return false;
    return prepare(p);
}

bool pingpong_vk_close(struct pingpong_vk *p)
{
    const struct vulkan *v = &p->vulkan;
    if (v->DeviceWaitIdle) {
        v->DeviceWaitIdle(v->device);
        pingpong_draw_free(p);
        vulkan_buffer_free(v, &p->pixels);
        vulkan_image_free(v, &p->picture);
    }
    for (int i = 0; i < 2; i++)
        gr_resource_free(p->images[i]);
    return vulkan_close(&p->vulkan);
}
