/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tries Vulkan buffers and images in pairs: CUDA writes one resource of the pair, Vulkan copies it
 * to the other resource, and CUDA reads the other resource. Then the two swap roles. If the bytes
 * are right, Vulkan has read what CUDA wrote. The host waits only for the last read.
 */
#include <string.h>

#include "tools/info/finding.h"
#include "tools/info/try.h"
#include "tools/info/vulkan.h"

#define FUNCTIONS(X)                                                                               \
    X(AllocateCommandBuffers)                                                                      \
    X(BeginCommandBuffer)                                                                          \
    X(CmdCopyBuffer)                                                                               \
    X(CmdCopyBufferToImage)                                                                        \
    X(CmdCopyImageToBuffer)                                                                        \
    X(CreateCommandPool)                                                                           \
    X(DestroyCommandPool)                                                                          \
    X(EndCommandBuffer)                                                                            \
    X(QueueWaitIdle)

struct vulkan {
    gr_vk_headless *headless;
    const gr_vk_headless_info *made;
    gr_vk_device *device;
    VkCommandPool pool;
    gr_resource *both[2]; /* the two resources of the pair: a buffer or an image, and a buffer */
    gr_resource *all;     /* the buffer with all frames of a ring */
#define POINTER(name) PFN_vk##name name;
    FUNCTIONS(POINTER)
};

static bool is_vulkan_fine(struct trial *t, VkResult result, const char *call)
{
    return result == VK_SUCCESS || try_fail(t,
                                            "%s returned VkResult %d. Update the Vulkan driver; "
                                            "VK_LOADER_DEBUG=all shows which driver it is.",
                                            call, (int)result);
}

/* ---- The device ------------------------------------------------------------------------------ */

/* Loads the functions. ISO C can't convert between function pointer types by assignment. */
static bool load(struct trial *t, struct vulkan *vk)
{
    PFN_vkVoidFunction found;
#define LOAD(name)                                                                                 \
    found = vk->made->get_instance_proc_addr(vk->made->instance, "vk" #name);                      \
    if (!found)                                                                                    \
        return try_fail(t, "The Vulkan loader has no vk" #name ": reinstall it.");                 \
    memcpy(&vk->name, &found, sizeof(found));
    FUNCTIONS(LOAD)
    return true;
}

static bool open_vulkan(struct trial *t, struct vulkan *vk)
{
    const gr_vk_headless_options options =
        GR_INIT(gr_vk_headless_options, .cuda_device = t->way.device);
    say_step("a Vulkan device");
    vk->headless = gr_vk_headless_create(&options);
    if (!vk->headless) {
        t->absent = t->way.software;
        return try_error(t);
    }
    vk->made = gr_vk_headless_get(vk->headless);
    gr_vk_device_desc desc = vulkan_desc(vk->headless);
    desc.transports = strstr(t->way.what, "/copy")   ? GR_TRANSPORT_COPY
                      : strstr(t->way.what, "/peer") ? GR_TRANSPORT_PEER
                                                     : GR_TRANSPORT_EXTERNAL;
    vk->device = gr_vk_device_wrap(&desc);
    if (!vk->device)
        return try_error(t);
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = vk->made->graphics_family};
    return load(t, vk) &&
           is_vulkan_fine(t, vk->CreateCommandPool(vk->made->device, &info, NULL, &vk->pool),
                          "vkCreateCommandPool");
}

static void wait_for_vulkan(struct trial *t)
{
    const struct vulkan *vk = t->graphics;
    if (vk->QueueWaitIdle)
        vk->QueueWaitIdle(vk->made->graphics);
}

static void close_vulkan(struct trial *t, struct vulkan *vk)
{
    say_step("the end of the resources");
    wait_for_vulkan(t);
    gr_resource_free(vk->both[0]);
    gr_resource_free(vk->both[1]);
    gr_resource_free(vk->all);
    say_step("the end of the Vulkan device");
    if (vk->pool)
        vk->DestroyCommandPool(vk->made->device, vk->pool, NULL);
    gr_vk_device_free(vk->device);
    gr_vk_headless_free(vk->headless);
}

/* ---- Resources ------------------------------------------------------------------------------- */

static gr_resource *make_buffer(struct trial *t, size_t size)
{
    const struct vulkan *vk = t->graphics;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    say_step("the creation of a buffer");
    gr_resource *buffer = gr_vk_buffer_create(vk->device, &info, GR_READ_WRITE);
    if (!buffer)
        try_not_made(t);
    return buffer;
}

static gr_resource *make_image(struct trial *t)
{
    const struct vulkan *vk = t->graphics;
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UNORM,
                                    .extent = {TRY_TEXELS_WIDE, TRY_TEXELS_HIGH, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    say_step("the creation of an image");
    gr_resource *image = gr_vk_image_create(vk->device, &info, GR_READ_WRITE);
    if (!image)
        try_not_made(t);
    return image;
}

/* ---- Commands -------------------------------------------------------------------------------- */

/* Begins a command buffer. VK_NULL_HANDLE after a failure. */
static VkCommandBuffer begin(struct trial *t)
{
    const struct vulkan *vk = t->graphics;
    const VkCommandBufferAllocateInfo one = {.sType =
                                                 VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = vk->pool,
                                             .commandBufferCount = 1};
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    say_step("Vulkan commands");
    VkResult result = vk->AllocateCommandBuffers(vk->made->device, &one, &commands);
    if (!is_vulkan_fine(t, result, "vkAllocateCommandBuffers") ||
        !is_vulkan_fine(t, vk->BeginCommandBuffer(commands, &info), "vkBeginCommandBuffer"))
        return VK_NULL_HANDLE;
    return commands;
}

/*
 * Submits commands that use the resources after the last CUDA work and before the next. With
 * VK_NULL_HANDLE, only hands the resources from Vulkan to CUDA.
 */
static bool submit(struct trial *t, gr_submit *submit, VkCommandBuffer commands)
{
    const struct vulkan *vk = t->graphics;
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
    return gr_vk_submit(submit, &desc) == GR_OK || try_error(t);
}

static bool submit_for(struct trial *t, gr_resource *const *resources, size_t count,
                       VkCommandBuffer commands)
{
    GR_AUTO(gr_submit) *begun = gr_submit_begin(resources, count);
    return begun ? submit(t, begun, commands) : try_error(t);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Vulkan copies from the resource with that number to the other resource of the pair. */
static bool take_turn(struct trial *t, unsigned number, size_t bytes)
{
    const struct vulkan *vk = t->graphics;
    const VkBufferImageCopy texels = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {TRY_TEXELS_WIDE, TRY_TEXELS_HIGH, 1}};
    const VkBufferCopy all = {.size = bytes};
    gr_resource *from = vk->both[number], *to = vk->both[!number];
    VkCommandBuffer commands = try_write(t, from) ? begin(t) : VK_NULL_HANDLE;
    if (!commands)
        return false;
    if (gr_resource_get_info(from)->kind == GR_KIND_IMAGE)
        vk->CmdCopyImageToBuffer(commands, gr_vk_image(from), VK_IMAGE_LAYOUT_GENERAL,
                                 gr_vk_buffer(to), 1, &texels);
    else if (gr_resource_get_info(to)->kind == GR_KIND_IMAGE)
        vk->CmdCopyBufferToImage(commands, gr_vk_buffer(from), gr_vk_image(to),
                                 VK_IMAGE_LAYOUT_GENERAL, 1, &texels);
    else
        vk->CmdCopyBuffer(commands, gr_vk_buffer(from), gr_vk_buffer(to), 1, &all);
    return submit_for(t, vk->both, 2, commands) && try_read(t, to) &&
           try_same(t, "Vulkan's copy", "CUDA", bytes);
}

static bool exchange(struct trial *t, struct vulkan *vk)
{
    const bool image = strncmp(t->way.what, "image", strlen("image")) == 0;
    const size_t bytes = image ? TRY_IMAGE_BYTES : TRY_BUFFER_BYTES;
    vk->both[0] = image ? make_image(t) : make_buffer(t, bytes);
    vk->both[1] = vk->both[0] ? make_buffer(t, bytes) : NULL;
    bool good = vk->both[1] && submit_for(t, vk->both, 2, VK_NULL_HANDLE);
    for (unsigned i = 0; good && i < 2 * TRY_ROUNDS; i++) {
        t->by_kernel = i >= 2;
        try_pattern(t, i);
        good = take_turn(t, i % 2, bytes);
    }
    return good;
}

/* ---- Rings ----------------------------------------------------------------------------------- */

static gr_resource *make_slot(void *t)
{
    gr_resource *slot = make_buffer(t, TRY_FRAME_BYTES);
    say_step("the creation of the ring");
    return slot;
}

static bool copy_frame(struct trial *t, const gr_slot *slot, size_t frame)
{
    const struct vulkan *vk = t->graphics;
    const VkBufferCopy part = {.dstOffset = frame * TRY_FRAME_BYTES, .size = TRY_FRAME_BYTES};
    VkCommandBuffer commands = begin(t);
    if (!commands)
        return false;
    vk->CmdCopyBuffer(commands, gr_vk_buffer(slot->resource), gr_vk_buffer(vk->all), 1, &part);
    return submit(t, slot->submit, commands);
}

/* Only Vulkan has used this buffer. Hands the buffer to CUDA, which reads it. */
static bool read_frames(struct trial *t)
{
    const struct vulkan *vk = t->graphics;
    return submit_for(t, &vk->all, 1, VK_NULL_HANDLE) && try_read(t, vk->all);
}

bool try_vulkan(struct trial *t)
{
    static const struct try_reader reader = {make_slot, copy_frame, read_frames, wait_for_vulkan,
                                             "Vulkan's copy"};
    struct vulkan vk = {.headless = NULL};
    t->graphics = &vk;
    if (!try_open(t, &t->cuda, t->way.cuda_device))
        return false;
    bool good = open_vulkan(t, &vk);
    if (good && strcmp(t->way.what, "ring") == 0) {
        vk.all = make_buffer(t, TRY_BUFFER_BYTES);
        good = vk.all && try_ring(t, &reader);
    } else {
        good = good && exchange(t, &vk);
    }
    close_vulkan(t, &vk);
    return good;
}
