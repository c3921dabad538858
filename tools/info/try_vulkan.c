/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The Vulkan side of a trial. The host waits only for the last read. */
#include <string.h>

#include <grinterop/vk.h>

#include "tools/info/finding.h"
#include "tools/info/try.h"

#define FUNCTIONS(X)                                                                               \
    X(AllocateCommandBuffers)                                                                      \
    X(BeginCommandBuffer)                                                                          \
    X(CmdCopyBuffer)                                                                               \
    X(CmdCopyBufferToImage)                                                                        \
    X(CmdCopyImageToBuffer)                                                                        \
    X(CreateCommandPool)                                                                           \
    X(EndCommandBuffer)

/* The process tries one way, so it has one device. */
static struct {
    const gr_vk_headless_info *made;
    gr_vk_device *device;
    VkCommandPool pool;
#define POINTER(name) PFN_vk##name name;
    FUNCTIONS(POINTER)
} vk;

static bool is_vulkan_fine(struct trial *t, VkResult result, const char *call)
{
    return result == VK_SUCCESS || try_fail(t,
                                            "%s returned VkResult %d. Update the Vulkan driver; "
                                            "VK_LOADER_DEBUG=all shows which driver it is.",
                                            call, (int)result);
}

/* ---- The device ------------------------------------------------------------------------------ */

/* Loads the functions. ISO C can't convert between function pointer types by assignment. */
static void load_functions(void)
{
    PFN_vkVoidFunction found;
#define LOAD(name)                                                                                 \
    found = vk.made->get_instance_proc_addr(vk.made->instance, "vk" #name);                        \
    memcpy(&vk.name, &found, sizeof(found));
    FUNCTIONS(LOAD)
}

static bool open_vulkan(struct trial *t)
{
    if (!try_open(t, &t->cuda))
        return false;
    say_step("a Vulkan device");
    vk.device =
        vulkan_open(t->way.device, t->transports ? t->transports : GR_TRANSPORT_EXTERNAL, &vk.made);
    t->absent = t->way.software && !vk.made;
    if (!vk.device)
        return try_error(t);
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = vk.made->graphics_family};
    load_functions();
    return is_vulkan_fine(t, vk.CreateCommandPool(vk.made->device, &info, NULL, &vk.pool),
                          "vkCreateCommandPool");
}

static gr_resource *make_buffer(struct trial *t, size_t size, unsigned flags)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    (void)t;
    return gr_create_vk_buffer(vk.device, &info, flags);
}

static gr_resource *make_image(struct trial *t)
{
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UNORM,
                                    .extent = {TRY_TEXELS_WIDE, TRY_TEXELS_HIGH, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    (void)t;
    return gr_create_vk_image(vk.device, &info, GR_READ_WRITE);
}

/* ---- Commands -------------------------------------------------------------------------------- */

/* Submits commands that use the resources after the last CUDA work and before the next. */
static bool submit(struct trial *t, gr_submit *submit, VkCommandBuffer commands)
{
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                .access = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT,
                .layout = VK_IMAGE_LAYOUT_GENERAL);
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    const gr_vk_submit_desc desc =
        GR_INIT(gr_vk_submit_desc, .info_v1 = &info, .first = &use, .last = &use);
    if (!is_vulkan_fine(t, vk.EndCommandBuffer(commands), "vkEndCommandBuffer"))
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

static bool hand_over(struct trial *t, gr_resource *const *resources, size_t count)
{
    say_step("gr_vk_hand_over()");
    return gr_vk_hand_over(resources, count, VK_IMAGE_LAYOUT_UNDEFINED) == GR_OK || try_error(t);
}

static void record_copy(VkCommandBuffer commands, gr_resource *from, gr_resource *to, size_t at,
                        size_t size)
{
    const VkBufferImageCopy texels = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {TRY_TEXELS_WIDE, TRY_TEXELS_HIGH, 1}};
    const VkBufferCopy part = {.dstOffset = at, .size = size};
    if (gr_resource_get_info(from)->kind == GR_KIND_IMAGE)
        vk.CmdCopyImageToBuffer(commands, gr_vk_image(from), VK_IMAGE_LAYOUT_GENERAL,
                                gr_vk_buffer(to), 1, &texels);
    else if (gr_resource_get_info(to)->kind == GR_KIND_IMAGE)
        vk.CmdCopyBufferToImage(commands, gr_vk_buffer(from), gr_vk_image(to),
                                VK_IMAGE_LAYOUT_GENERAL, 1, &texels);
    else
        vk.CmdCopyBuffer(commands, gr_vk_buffer(from), gr_vk_buffer(to), 1, &part);
}

static bool copy(struct trial *t, gr_resource *from, gr_resource *to, gr_submit *begun, size_t at,
                 size_t size)
{
    const VkCommandBufferAllocateInfo one = {.sType =
                                                 VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = vk.pool,
                                             .commandBufferCount = 1};
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    gr_resource *const both[] = {from, to};
    VkCommandBuffer commands;
    say_step("Vulkan commands");
    VkResult result = vk.AllocateCommandBuffers(vk.made->device, &one, &commands);
    if (!is_vulkan_fine(t, result, "vkAllocateCommandBuffers") ||
        !is_vulkan_fine(t, vk.BeginCommandBuffer(commands, &info), "vkBeginCommandBuffer"))
        return false;
    record_copy(commands, from, to, at, size);
    return begun ? submit(t, begun, commands) : submit_for(t, both, 2, commands);
}

const struct try_api try_vulkan = {"Vulkan", open_vulkan, make_buffer, make_image, copy, hand_over};
