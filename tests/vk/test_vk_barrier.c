/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Barriers between Vulkan and CUDA: 32-bit and 64-bit flags, queue families, and memory that
 * several queue families share. The validation layer is on.
 */
#include "tests/support/support_vulkan_image.h"

#include <string.h>

#define SIZE 65536

/* Copies and clears, as synchronization2 names them. */
#define WIDE_STAGES (VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT)

/* Vulkan fills a buffer between the two barriers, and CUDA reads it. */
static void check_buffer(gr_resource *resource, const gr_vk_use *use, int value)
{
    VkCommandBuffer commands = vulkan_begin();
    assert_ok(gr_vk_cmd_from_cuda(commands, &resource, 1, use));
    vk.CmdFillBuffer(commands, gr_vk_buffer(resource), 0, SIZE,
                     (uint32_t)(unsigned char)value * 0x01010101u);
    assert_ok(gr_vk_cmd_to_cuda(commands, &resource, 1, use));
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    assert_cuda_bytes(buffer, value);
    must_release(buffer);
}

GROUP("flags", add_vulkan_case, add_copied_vulkan_case)

VULKAN_TEST(barriers_of_buffers_accept_64_bit_flags)
{
    if (!vk.h->synchronization2)
        skip("this Vulkan device has no synchronization2");
    GR_AUTO(gr_resource) *resource = must_create(SIZE, GR_READ_WRITE);
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = WIDE_STAGES, .access = VK_ACCESS_2_TRANSFER_WRITE_BIT);
    check_buffer(resource, &use, 0x21);
    const gr_vk_use access =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                .access = VK_ACCESS_2_TRANSFER_WRITE_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT);
    check_buffer(resource, &access, 0x22);
}

/* More resources than grinterop puts into one barrier command. */
VULKAN_TEST(barriers_of_images_accept_64_bit_flags)
{
    if (!vk.h->synchronization2)
        skip("this Vulkan device has no synchronization2");
    gr_resource *all[40];
    struct vulkan_image image = vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 16, 16, 1,
                                             VK_IMAGE_USAGE_SAMPLED_BIT, GR_READ_WRITE);
    vulkan_image_fill(&image, 1);
    for (int i = 0; i < 39; i++)
        all[i] = must_create(256, GR_READ_WRITE);
    all[39] = image.resource;
    const VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    const VkClearColorValue colour = {.float32 = {1, 0, 1, 0}};
    const VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    const gr_vk_use use = GR_INIT(gr_vk_use, .stages = WIDE_STAGES,
                                  .access = VK_ACCESS_2_TRANSFER_WRITE_BIT, .layout = layout);
    VkCommandBuffer commands = vulkan_begin();
    assert_ok(gr_vk_cmd_from_cuda(commands, all, 40, &use));
    vk.CmdClearColorImage(commands, image.image, layout, &colour, 1, &range);
    vk.CmdFillBuffer(commands, gr_vk_buffer(all[38]), 0, 256, 0x31313131);
    assert_ok(gr_vk_cmd_to_cuda(commands, all, 40, &use));
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    gr_buffer *buffers[2];
    assert_ok(gr_map_many(all + 38, 2, fx.stream, NULL, buffers));
    assert_cuda_bytes(buffers[0], 0x31);
    unsigned char texels[16 * 16 * 4];
    const gr_linear_desc to = GR_INIT(gr_linear_desc, .host = texels);
    assert_ok(gr_buffer_copy_to_linear(buffers[1], 0, 0, &to, GR_STREAM_OF_MAP));
    CU(StreamSynchronize(fx.stream));
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(texels[i], i % 2 ? 0 : 255);
    assert_ok(gr_buffer_release_many(buffers, 2, fx.stream, NULL));
    CU(StreamSynchronize(fx.stream));
    free_resources(all, 40);
}

/* Catches: stages beyond 32 bits were truncated. */
VULKAN_TEST(flags_of_64_bits_without_synchronization2_are_refused)
{
    gr_vk_device_desc info = vulkan_desc(NULL);
    GR_AUTO(gr_vk_device) *plain = must_make(gr_vk_device_from_vk(&info));
    const VkBufferCreateInfo create = vulkan_buffer_info(SIZE);
    GR_AUTO(gr_resource) *resource = must_make(gr_create_vk_buffer(plain, &create, GR_READ_WRITE));
    gr_vk_use use = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_COPY_BIT,
                            .access = VK_ACCESS_2_TRANSFER_WRITE_BIT);
    VkCommandBuffer commands = vulkan_begin();
    assert_fails(gr_vk_cmd_to_cuda(commands, &resource, 1, &use), GR_ERR_UNSUPPORTED, 0,
                 "VkPhysicalDeviceSynchronization2Features");
    assert_fails(gr_vk_cmd_from_cuda(commands, &resource, 1, &use), GR_ERR_UNSUPPORTED, 0,
                 "gr_vk_device_desc");
    use.stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    use.access = VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
    assert_fails(gr_vk_cmd_to_cuda(commands, &resource, 1, &use), GR_ERR_UNSUPPORTED, 0,
                 "synchronization2");
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    use.access = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    check_buffer(resource, &use, 0x41);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL without_barriers(VkDevice device, const char *name)
{
    return strncmp(name, "vkCmdPipelineBarrier2", 21) == 0 ? NULL
                                                           : vulkan_device_function(device, name);
}

VULKAN_TEST(a_device_without_vkCmdPipelineBarrier2_is_refused)
{
    gr_vk_device_desc info = vulkan_desc(without_barriers);
    info.synchronization2 = true;
    assert_null_invalid(gr_vk_device_from_vk(&info), "vkCmdPipelineBarrier2");
}

GROUP("queue families", add_vulkan_case, add_copied_vulkan_case)

VULKAN_TEST(a_wrong_queue_family_is_refused)
{
    GR_AUTO(gr_resource) *resource = must_create(SIZE, GR_READ_WRITE);
    uint32_t family = vk.h->graphics_family;
    gr_vk_use use = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                            .access = VK_ACCESS_2_TRANSFER_WRITE_BIT, .queue_family = &family);
    check_buffer(resource, &use, 0x51);
    VkCommandBuffer commands = vulkan_begin();
    family = VK_QUEUE_FAMILY_EXTERNAL;
    assert_invalid(gr_vk_cmd_to_cuda(commands, &resource, 1, &use), "VK_QUEUE_FAMILY_EXTERNAL");
    family = 1000;
    assert_invalid(gr_vk_cmd_from_cuda(commands, &resource, 1, &use), "1000");
    family = VK_QUEUE_FAMILY_IGNORED;
    assert_invalid(gr_vk_cmd_from_cuda(commands, &resource, 1, &use), "families");
    use.queue_family = NULL;
    use.stages = 0;
    assert_invalid(gr_vk_cmd_from_cuda(commands, &resource, 1, &use), "`after->stages` is 0");
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
}

/*
 * Lists two different families if the device has them. Vulkan does not allow the same family twice.
 */
static uint32_t list_families(uint32_t families[2])
{
    families[0] = vk.h->graphics_family;
    families[1] = vk.h->compute != VK_NULL_HANDLE ? vk.h->compute_family : vk.h->transfer_family;
    return vk.h->compute != VK_NULL_HANDLE || vk.h->transfer != VK_NULL_HANDLE ? 2 : 1;
}

/*
 * Resources that several families share are owned by no family, so no ownership is transferred: the
 * validation layer refuses a barrier that names a family.
 */
VULKAN_TEST(barriers_of_concurrent_resources_name_no_family)
{
    uint32_t families[2];
    if (list_families(families) < 2)
        skip("this Vulkan device has one queue family");
    VkBufferCreateInfo create = vulkan_buffer_info(SIZE);
    create.sharingMode = VK_SHARING_MODE_CONCURRENT;
    create.queueFamilyIndexCount = 2;
    create.pQueueFamilyIndices = families;
    GR_AUTO(gr_resource) *resource =
        must_make(gr_create_vk_buffer(vk.wrap, &create, GR_READ_WRITE));
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                .access = VK_ACCESS_2_TRANSFER_WRITE_BIT, .queue_family = &families[0]);
    check_buffer(resource, &use, 0x61);
}

/* ---- The barriers that Vulkan receives --------------------------------------------------------
 */

struct barrier {
    char kind; /* of all memory, a buffer or an image: 'm', 'b' or 'i' */
    VkPipelineStageFlags2 from, to;
    VkAccessFlags2 written, next;
    VkImageLayout before, after;
    uint32_t source, destination;
};

static struct barrier seen[8];
static size_t seen_count;

static void note(struct barrier barrier)
{
    ck_assert_uint_lt(seen_count, sizeof(seen) / sizeof(seen[0]));
    seen[seen_count++] = barrier;
}

static VKAPI_ATTR void VKAPI_CALL note_barrier(VkCommandBuffer commands, VkPipelineStageFlags from,
                                               VkPipelineStageFlags to, VkDependencyFlags flags,
                                               uint32_t memory_count, const VkMemoryBarrier *m,
                                               uint32_t buffer_count,
                                               const VkBufferMemoryBarrier *b, uint32_t image_count,
                                               const VkImageMemoryBarrier *i)
{
    (void)commands;
    ck_assert_uint_eq(flags, 0);
    for (; memory_count--; m++)
        note((struct barrier){'m', from, to, m->srcAccessMask, m->dstAccessMask, 0, 0, 0, 0});
    for (; buffer_count--; b++)
        note((struct barrier){'b', from, to, b->srcAccessMask, b->dstAccessMask, 0, 0,
                              b->srcQueueFamilyIndex, b->dstQueueFamilyIndex});
    for (; image_count--; i++)
        note((struct barrier){'i', from, to, i->srcAccessMask, i->dstAccessMask, i->oldLayout,
                              i->newLayout, i->srcQueueFamilyIndex, i->dstQueueFamilyIndex});
}

static VKAPI_ATTR void VKAPI_CALL note_barrier2(VkCommandBuffer commands,
                                                const VkDependencyInfo *info)
{
    (void)commands;
    ck_assert(info->dependencyFlags == 0 && info->memoryBarrierCount == 0);
    const VkBufferMemoryBarrier2 *b = info->pBufferMemoryBarriers;
    for (uint32_t n = info->bufferMemoryBarrierCount; n--; b++)
        note((struct barrier){'b', b->srcStageMask, b->dstStageMask, b->srcAccessMask,
                              b->dstAccessMask, 0, 0, b->srcQueueFamilyIndex,
                              b->dstQueueFamilyIndex});
    const VkImageMemoryBarrier2 *i = info->pImageMemoryBarriers;
    for (uint32_t n = info->imageMemoryBarrierCount; n--; i++)
        note((struct barrier){'i', i->srcStageMask, i->dstStageMask, i->srcAccessMask,
                              i->dstAccessMask, i->oldLayout, i->newLayout, i->srcQueueFamilyIndex,
                              i->dstQueueFamilyIndex});
}

static VKAPI_ATTR void VKAPI_CALL skip_copy_buffer(VkCommandBuffer commands, VkBuffer from,
                                                   VkBuffer to, uint32_t n, const VkBufferCopy *c)
{
    (void)commands, (void)from, (void)to, (void)n, (void)c;
}

static VKAPI_ATTR void VKAPI_CALL skip_copy_to_image(VkCommandBuffer commands, VkBuffer from,
                                                     VkImage to, VkImageLayout layout, uint32_t n,
                                                     const VkBufferImageCopy *c)
{
    (void)commands, (void)from, (void)to, (void)layout, (void)n, (void)c;
}

static VKAPI_ATTR void VKAPI_CALL skip_copy_of_image(VkCommandBuffer commands, VkImage from,
                                                     VkImageLayout layout, VkBuffer to, uint32_t n,
                                                     const VkBufferImageCopy *c)
{
    (void)commands, (void)from, (void)to, (void)layout, (void)n, (void)c;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL noting(VkDevice device, const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } own[] = {{"vkCmdPipelineBarrier", (PFN_vkVoidFunction)note_barrier},
               {"vkCmdPipelineBarrier2", (PFN_vkVoidFunction)note_barrier2},
               {"vkCmdCopyBuffer", (PFN_vkVoidFunction)skip_copy_buffer},
               {"vkCmdCopyBufferToImage", (PFN_vkVoidFunction)skip_copy_to_image},
               {"vkCmdCopyImageToBuffer", (PFN_vkVoidFunction)skip_copy_of_image}};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(name, own[i].name) == 0)
            return own[i].function;
    return vulkan_device_function(device, name);
}

static void assert_barriers(const struct barrier expected[], size_t n)
{
    ck_assert_uint_eq(seen_count, n);
    for (size_t i = 0; i < n; i++) {
        const struct barrier *is = &seen[i], *wanted = &expected[i];
        ck_assert_msg(is->kind == wanted->kind, "barrier %zu is %c, not %c", i, is->kind,
                      wanted->kind);
#define SAME(field)                                                                                \
    ck_assert_msg(is->field == wanted->field, "barrier %zu, " #field ": 0x%llx, not 0x%llx", i,    \
                  (unsigned long long)is->field, (unsigned long long)wanted->field)
        SAME(from);
        SAME(to);
        SAME(written);
        SAME(next);
        SAME(before);
        SAME(after);
        SAME(source);
        SAME(destination);
#undef SAME
    }
    seen_count = 0;
}

#define ASSERT_BARRIERS(...)                                                                       \
    do {                                                                                           \
        const struct barrier wanted[] = {__VA_ARGS__};                                             \
        assert_barriers(wanted, sizeof(wanted) / sizeof(wanted[0]));                               \
    } while (0)

#define ALL      VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT
#define END      VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT
#define HOST     VK_PIPELINE_STAGE_2_HOST_BIT
#define TRANSFER VK_PIPELINE_STAGE_2_TRANSFER_BIT
#define NONE     VK_QUEUE_FAMILY_IGNORED
#define CUDA     VK_QUEUE_FAMILY_EXTERNAL
#define GENERAL  VK_IMAGE_LAYOUT_GENERAL
#define READS    VK_ACCESS_2_TRANSFER_READ_BIT
#define WRITES   VK_ACCESS_2_TRANSFER_WRITE_BIT

/* `own`: the queue family of the barriers; NONE if several families share the resources. */
static void check_shared(gr_resource *const both[2], const gr_vk_use *use, uint32_t own)
{
    VkCommandBuffer commands = (VkCommandBuffer)seen; /* only the functions above get it */
    const VkPipelineStageFlags2 stages = use->stages;
    const VkAccessFlags2 access = use->access;
    const VkImageLayout layout = use->layout;
    assert_ok(gr_vk_cmd_to_cuda(commands, both, 2, use));
    if (layout == GENERAL)
        ASSERT_BARRIERS({'b', stages, END, access, 0, 0, 0, own, CUDA},
                        {'i', stages, END, access, 0, GENERAL, GENERAL, own, CUDA});
    else
        ASSERT_BARRIERS({'i', stages, ALL, access, 0, layout, GENERAL, NONE, NONE},
                        {'b', ALL, END, access, 0, 0, 0, own, CUDA},
                        {'i', ALL, END, access, 0, GENERAL, GENERAL, own, CUDA});
    assert_ok(gr_vk_cmd_to_cuda(commands, both, 1, use));
    ASSERT_BARRIERS({'b', stages, END, access, 0, 0, 0, own, CUDA});
    assert_ok(gr_vk_cmd_from_cuda(commands, both, 2, use));
    ASSERT_BARRIERS({'b', stages, stages, 0, access, 0, 0, CUDA, own},
                    {'i', stages, stages, 0, access, GENERAL, layout, CUDA, own});
}

static void check_copied(gr_resource *const both[2], const gr_vk_use *use)
{
    VkCommandBuffer commands = (VkCommandBuffer)seen;
    const VkPipelineStageFlags2 stages = use->stages;
    assert_ok(gr_vk_cmd_to_cuda(commands, both, 2, use));
    ASSERT_BARRIERS({'b', stages, ALL, use->access, READS, 0, 0, NONE, NONE},
                    {'i', stages, ALL, use->access, READS, use->layout, GENERAL, NONE, NONE},
                    {'m', TRANSFER, TRANSFER, 0, 0, 0, 0, 0, 0},
                    {'m', TRANSFER, HOST, WRITES, VK_ACCESS_2_HOST_READ_BIT, 0, 0, 0, 0});
    assert_ok(gr_vk_cmd_from_cuda(commands, both, 2, use));
    ASSERT_BARRIERS(
        {'m', ALL | HOST, TRANSFER, VK_ACCESS_2_HOST_WRITE_BIT, READS | WRITES, 0, 0, 0, 0},
        {'b', stages | TRANSFER, stages, WRITES, use->access, 0, 0, NONE, NONE},
        {'i', stages | TRANSFER, stages, WRITES, use->access, GENERAL, use->layout, NONE, NONE});
}

/*
 * Runs on every device, for objects of the application. Catches: nothing noticed other stages and
 * accesses, since Mesa ignores them.
 */
VULKAN_TEST(barriers_have_the_stages_accesses_layouts_and_families_of_the_use)
{
    gr_vk_device_desc info = vulkan_desc(noting);
    info.synchronization2 = vk.h->synchronization2;
    info.transports = vk.copies;
    gr_vk_device *noted = must_make(gr_vk_device_from_vk(&info));
    struct vulkan_own own = vulkan_own(SIZE, false);
    struct vulkan_image image =
        vulkan_image_own(VK_FORMAT_R8_UNORM, "2D", 16, 16, 1, false, GR_READ_WRITE);
    gr_vk_buffer_desc buffer =
        GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .memory = own.memory,
                .memory_size = own.memory_size, .size = SIZE);
    const gr_vk_use uses[] = {
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                .access = VK_ACCESS_2_SHADER_READ_BIT, .layout = GENERAL),
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                .access = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
                .layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL),
        GR_INIT(gr_vk_use, .stages = WIDE_STAGES, .access = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                .layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL)};
    image.own.create_info = &image.info;
    for (int concurrent = 0; concurrent < 2; concurrent++) {
        buffer.sharing_mode = concurrent ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE;
        image.info.sharingMode = buffer.sharing_mode;
        gr_resource *both[] = {must_make(gr_from_vk_buffer(noted, &buffer, GR_READ_WRITE)),
                               must_make(gr_from_vk_image(noted, &image.own, GR_READ_WRITE))};
        for (int i = 0; i < (vk.h->synchronization2 ? 3 : 2); i++)
            if (vk.copies)
                check_copied(both, &uses[i]);
            else
                check_shared(both, &uses[i], concurrent ? NONE : vk.h->graphics_family);
        free_resources(both, 2);
    }
    gr_vk_device_free(noted);
    vulkan_image_own_free(&image);
    vulkan_own_free(&own);
}
