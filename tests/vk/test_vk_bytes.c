/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The bytes that Vulkan draws from CUDA memory, and that CUDA reads afterwards, by copies. On
 * Windows the program also runs under Wine; there it also shares memory and semaphores by Windows
 * handles (vk_win32.c).
 */
#include "vk_bytes.h"

#include <string.h>

#include <grinterop/image.h>
#include <grinterop/submit.h>

enum { SIDE = 64, SCALE = 4, LITTLE_SIDE = SIDE / SCALE, TEXEL = 4 };

const gr_vk_headless_info *headless;
const gr_cuda_api *cuda;
CUstream stream;

/* ---- Vulkan ---------------------------------------------------------------------------------- */

#define FUNCTIONS(X)                                                                               \
    X(AllocateCommandBuffers)                                                                      \
    X(BeginCommandBuffer)                                                                          \
    X(CmdBlitImage)                                                                                \
    X(CmdCopyBufferToImage)                                                                        \
    X(CmdCopyImageToBuffer)                                                                        \
    X(CmdPipelineBarrier)                                                                          \
    X(CreateCommandPool)                                                                           \
    X(DestroyCommandPool)                                                                          \
    X(EndCommandBuffer)                                                                            \
    X(QueueWaitIdle)

#define MEMBER(name) PFN_vk##name name;
static struct {
    FUNCTIONS(MEMBER)
} vk;

static void load_vulkan(void)
{
#define LOAD(name)                                                                                 \
    vk.name = (PFN_vk##name)headless->get_instance_proc_addr(headless->instance, "vk" #name);
    FUNCTIONS(LOAD)
}

/* The resources of a case: Vulkan scales the little image, and copies the big one. */
enum { PATTERN, LITTLE, BIG, RESULT, MOST };

static void wait_for_transfers(VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT |
                                                      VK_ACCESS_TRANSFER_WRITE_BIT};
    vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                          0, 1, &barrier, 0, NULL, 0, NULL);
}

static void record(VkCommandBuffer commands, gr_resource *const all[MOST], bool from_buffer)
{
    const VkImageSubresourceLayers level = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const VkBufferImageCopy little = {.imageSubresource = level,
                                      .imageExtent = {LITTLE_SIDE, LITTLE_SIDE, 1}};
    const VkBufferImageCopy big = {.imageSubresource = level, .imageExtent = {SIDE, SIDE, 1}};
    const VkImageBlit blit = {.srcSubresource = level,
                              .srcOffsets = {{0, 0, 0}, {LITTLE_SIDE, LITTLE_SIDE, 1}},
                              .dstSubresource = level,
                              .dstOffsets = {{0, 0, 0}, {SIDE, SIDE, 1}}};
    const VkImageLayout general = VK_IMAGE_LAYOUT_GENERAL;
    if (from_buffer) {
        vk.CmdCopyBufferToImage(commands, gr_vk_buffer(all[PATTERN]), gr_vk_image(all[LITTLE]),
                                general, 1, &little);
        wait_for_transfers(commands);
    }
    vk.CmdBlitImage(commands, gr_vk_image(all[LITTLE]), general, gr_vk_image(all[BIG]), general, 1,
                    &blit, VK_FILTER_NEAREST);
    wait_for_transfers(commands);
    vk.CmdCopyImageToBuffer(commands, gr_vk_image(all[BIG]), general, gr_vk_buffer(all[RESULT]), 1,
                            &big);
}

static const char *draw(gr_resource *const all[MOST], bool from_buffer)
{
    VkCommandPool pool;
    VkCommandBuffer commands;
    const VkCommandPoolCreateInfo create = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                            .queueFamilyIndex = headless->graphics_family};
    VkCommandBufferAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                       .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                .access = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT,
                .layout = VK_IMAGE_LAYOUT_GENERAL);
    REQUIRE(vk.CreateCommandPool(headless->device, &create, NULL, &pool) == VK_SUCCESS);
    one.commandPool = pool;
    REQUIRE(vk.AllocateCommandBuffers(headless->device, &one, &commands) == VK_SUCCESS);
    REQUIRE(vk.BeginCommandBuffer(commands, &begin) == VK_SUCCESS);
    record(commands, all, from_buffer);
    REQUIRE(vk.EndCommandBuffer(commands) == VK_SUCCESS);
    GR_AUTO(gr_submit) *submit = gr_submit_begin(all, MOST);
    SUCCEEDS(submit);
    SUCCEEDS(gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .info_v1 = &info, .first = &use,
                                           .last = &use)) == GR_OK);
    REQUIRE(vk.QueueWaitIdle(headless->graphics) == VK_SUCCESS);
    vk.DestroyCommandPool(headless->device, pool, NULL);
    return NULL;
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* CUDA writes all bytes of the resource, or reads them. The image has `side` rows and columns. */
static const char *move(gr_resource *resource, unsigned char *bytes, size_t side, bool in)
{
    const size_t row = TEXEL * side;
    GR_AUTO(gr_buffer) *buffer = gr_map(resource, stream);
    SUCCEEDS(buffer);
    if (gr_vk_image(resource)) {
        CUDA_MEMCPY3D copy = {.WidthInBytes = row, .Height = side, .Depth = 1};
        copy.srcMemoryType = in ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
        copy.dstMemoryType = in ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
        copy.srcArray = copy.dstArray = gr_buffer_array(buffer, 0, 0);
        copy.srcHost = copy.dstHost = bytes;
        copy.srcPitch = copy.dstPitch = row;
        REQUIRE(cuda->Memcpy3DAsync(&copy, stream) == CUDA_SUCCESS);
    } else {
        const CUdeviceptr ptr = gr_buffer_ptr(buffer);
        REQUIRE((in ? cuda->MemcpyHtoDAsync(ptr, bytes, row * side, stream)
                    : cuda->MemcpyDtoHAsync(bytes, ptr, row * side, stream)) == CUDA_SUCCESS);
    }
    REQUIRE(cuda->StreamSynchronize(stream) == CUDA_SUCCESS);
    return NULL;
}

static const char *check_scaled(gr_resource *resource, const unsigned char *pattern)
{
    static unsigned char bytes[TEXEL * SIDE * SIDE];
    memset(bytes, 0, sizeof(bytes));
    PASS_ON(move(resource, bytes, SIDE, false));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        const size_t texel = i / TEXEL, x = texel % SIDE / SCALE, y = texel / SIDE / SCALE;
        const unsigned char wanted = pattern[TEXEL * (y * LITTLE_SIDE + x) + i % TEXEL];
        if (bytes[i] != wanted)
            FAIL("byte %u is 0x%02x instead of 0x%02x", (unsigned)i, bytes[i], wanted);
    }
    return NULL;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static gr_resource *make_buffer(gr_vk_device *device, size_t side)
{
    return gr_create_vk_buffer(device,
                               &(VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                                     .size = TEXEL * side * side,
                                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT},
                               GR_READ_WRITE);
}

static gr_resource *make_image(gr_vk_device *device, uint32_t side)
{
    return gr_create_vk_image(device,
                              &(VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                                   .imageType = VK_IMAGE_TYPE_2D,
                                                   .format = VK_FORMAT_R8G8B8A8_UNORM,
                                                   .extent = {side, side, 1},
                                                   .mipLevels = 1,
                                                   .arrayLayers = 1,
                                                   .samples = VK_SAMPLE_COUNT_1_BIT,
                                                   .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                                            VK_IMAGE_USAGE_TRANSFER_DST_BIT},
                              GR_READ_WRITE);
}

const char *draw_all(gr_vk_device *device)
{
    unsigned char pattern[TEXEL * LITTLE_SIDE * LITTLE_SIDE];
    SUCCEEDS(device);
    gr_resource *all[MOST] = {[PATTERN] = make_buffer(device, LITTLE_SIDE),
                              [LITTLE] = make_image(device, LITTLE_SIDE),
                              [BIG] = make_image(device, SIDE),
                              [RESULT] = make_buffer(device, SIDE)};
    for (int i = 0; i < MOST; i++)
        SUCCEEDS(all[i]);
    SUCCEEDS(gr_vk_hand_over(all, MOST, VK_IMAGE_LAYOUT_UNDEFINED) == GR_OK);
    for (int turn = 0; turn < 4; turn++) {
        const bool from_buffer = turn % 2 == 0;
        for (size_t i = 0; i < sizeof(pattern); i++)
            pattern[i] = (unsigned char)(7 * i + i / 251 + 31 * turn);
        PASS_ON(move(all[from_buffer ? PATTERN : LITTLE], pattern, LITTLE_SIDE, true));
        PASS_ON(draw(all, from_buffer));
        PASS_ON(check_scaled(all[BIG], pattern));
        PASS_ON(check_scaled(all[RESULT], pattern));
    }
    for (int i = 0; i < MOST; i++)
        gr_resource_free(all[i]);
    return NULL;
}

gr_vk_device_desc describe_device(unsigned transports)
{
    return GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = headless->get_instance_proc_addr,
                   .instance = headless->instance, .physical_device = headless->physical_device,
                   .device = headless->device, .queue = headless->graphics,
                   .queue_family = headless->graphics_family, .transports = transports);
}

static const char *draw_by_copies(void)
{
    const gr_vk_device_desc desc = describe_device(GR_TRANSPORT_COPY);
    GR_AUTO(gr_vk_device) *device = gr_vk_device_from_vk(&desc);
    return draw_all(device);
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!begin_driver(argv[0]))
        return 1;
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    GR_AUTO(gr_vk_headless) *owner = context ? gr_vk_headless_create(NULL) : NULL;
    if (!owner) {
        plain_case("bytes", "headless",
                   fail_at(__FILE__, __LINE__, "%s", gr_last_error()->message));
        return plain_verdict();
    }
    headless = gr_vk_headless_get_info(owner);
    cuda = gr_cuda();
    stream = context->stream;
    load_vulkan();
    plain_case("bytes", "copies", draw_by_copies());
    handle_cases();
    return plain_verdict();
}
