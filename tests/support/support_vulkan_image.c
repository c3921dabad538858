/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan images for the tests; see support_vulkan_image.h. */
#include "support_vulkan_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Formats --------------------------------------------------------------------------------- */

#define FORMAT(name, cuda, channels, element_bytes, is)                                            \
    {                                                                                              \
        "VK_FORMAT_" #name, VK_FORMAT_##name, GR_FORMAT_##cuda, channels, element_bytes, is        \
    }

/* Formats of compressed blocks. */
#define BLOCKS(name, cuda, channels, block_bytes, is)                                              \
    FORMAT(name##_BLOCK, cuda, channels, block_bytes, (is) | FORMAT_COMPRESSED)

#define COLOURS(name, cuda, bytes)                                                                 \
    BLOCKS(name##_UNORM, cuda##_UNORM, 4, bytes, FORMAT_NORMALIZED),                               \
        BLOCKS(name##_SRGB, cuda##_UNORM_SRGB, 4, bytes, FORMAT_NORMALIZED | FORMAT_SRGB)
#define CHANNELS(name, channels, bytes)                                                            \
    BLOCKS(name##_UNORM, name##_UNORM, channels, bytes, FORMAT_NORMALIZED),                        \
        BLOCKS(name##_SNORM, name##_SNORM, channels, bytes, FORMAT_NORMALIZED)

/* Formats with one, two and four channels. */
#define THREE(r, rg, rgba, kind, cuda, bytes, is)                                                  \
    FORMAT(r##_##kind, cuda, 1, bytes, is), FORMAT(rg##_##kind, cuda, 2, 2 * bytes, is),           \
        FORMAT(rgba##_##kind, cuda, 4, 4 * bytes, is)

/* Channel names for the formats with channels of 8, 16 or 32 bits. */
#define WIDTH_8                          R8, R8G8, R8G8B8A8
#define WIDTH_16                         R16, R16G16, R16G16B16A16
#define WIDTH_32                         R32, R32G32, R32G32B32A32
#define OF(width, kind, cuda, bytes, is) THREE_OF(width, kind, cuda, bytes, is)
#define THREE_OF(...)                    THREE(__VA_ARGS__)

const struct vulkan_format vulkan_formats[] = {
    OF(WIDTH_8, UNORM, UNSIGNED_INT8, 1, FORMAT_NORMALIZED),
    OF(WIDTH_8, SNORM, SIGNED_INT8, 1, FORMAT_NORMALIZED),
    OF(WIDTH_8, UINT, UNSIGNED_INT8, 1, 0),
    OF(WIDTH_8, SINT, SIGNED_INT8, 1, 0),
    OF(WIDTH_8, SRGB, UNSIGNED_INT8, 1, FORMAT_NORMALIZED | FORMAT_SRGB),
    FORMAT(B8G8R8A8_UNORM, UNSIGNED_INT8, 4, 4, FORMAT_NORMALIZED | FORMAT_SWAPPED),
    FORMAT(B8G8R8A8_SRGB, UNSIGNED_INT8, 4, 4, FORMAT_NORMALIZED | FORMAT_SRGB | FORMAT_SWAPPED),
    FORMAT(B8G8R8A8_SNORM, SIGNED_INT8, 4, 4, FORMAT_NORMALIZED | FORMAT_SWAPPED),
    FORMAT(B8G8R8A8_UINT, UNSIGNED_INT8, 4, 4, FORMAT_SWAPPED),
    FORMAT(B8G8R8A8_SINT, SIGNED_INT8, 4, 4, FORMAT_SWAPPED),
    FORMAT(A8B8G8R8_UNORM_PACK32, UNSIGNED_INT8, 4, 4, FORMAT_NORMALIZED),
    FORMAT(A8B8G8R8_SNORM_PACK32, SIGNED_INT8, 4, 4, FORMAT_NORMALIZED),
    FORMAT(A8B8G8R8_UINT_PACK32, UNSIGNED_INT8, 4, 4, 0),
    FORMAT(A8B8G8R8_SINT_PACK32, SIGNED_INT8, 4, 4, 0),
    FORMAT(A8B8G8R8_SRGB_PACK32, UNSIGNED_INT8, 4, 4, FORMAT_NORMALIZED | FORMAT_SRGB),
    OF(WIDTH_16, UNORM, UNSIGNED_INT16, 2, FORMAT_NORMALIZED),
    OF(WIDTH_16, SNORM, SIGNED_INT16, 2, FORMAT_NORMALIZED),
    OF(WIDTH_16, UINT, UNSIGNED_INT16, 2, 0),
    OF(WIDTH_16, SINT, SIGNED_INT16, 2, 0),
    OF(WIDTH_16, SFLOAT, HALF, 2, FORMAT_FLOAT),
    OF(WIDTH_32, UINT, UNSIGNED_INT32, 4, 0),
    OF(WIDTH_32, SINT, SIGNED_INT32, 4, 0),
    OF(WIDTH_32, SFLOAT, FLOAT, 4, FORMAT_FLOAT),
    FORMAT(D32_SFLOAT, FLOAT, 1, 4, FORMAT_FLOAT | FORMAT_DEPTH),
    FORMAT(A2B10G10R10_UNORM_PACK32, UNORM_INT_101010_2, 4, 4, FORMAT_NORMALIZED),
    FORMAT(A2R10G10B10_UNORM_PACK32, A2R10G10B10, 4, 4, FORMAT_NORMALIZED),
    FORMAT(B10G11R11_UFLOAT_PACK32, B10G11R11, 3, 4, FORMAT_FLOAT),
    FORMAT(E5B9G9R9_UFLOAT_PACK32, E5B9G9R9, 3, 4, FORMAT_FLOAT),
    FORMAT(R5G6B5_UNORM_PACK16, R5G6B5, 3, 2, FORMAT_NORMALIZED),
    FORMAT(B5G6R5_UNORM_PACK16, B5G6R5, 3, 2, FORMAT_NORMALIZED),
    COLOURS(BC1_RGBA, BC1, 8),
    COLOURS(BC2, BC2, 16),
    COLOURS(BC3, BC3, 16),
    CHANNELS(BC4, 1, 8),
    CHANNELS(BC5, 2, 16),
    BLOCKS(BC6H_UFLOAT, BC6H_UF16, 3, 16, 0),
    BLOCKS(BC6H_SFLOAT, BC6H_SF16, 3, 16, 0),
    COLOURS(BC7, BC7, 16),
};
const size_t vulkan_format_count = sizeof(vulkan_formats) / sizeof(vulkan_formats[0]);

const struct vulkan_format *vulkan_format(VkFormat format)
{
    for (size_t i = 0; i < vulkan_format_count; i++)
        if (vulkan_formats[i].format == format)
            return &vulkan_formats[i];
    return NULL;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

const struct vulkan_shape vulkan_shapes[] = {
    {"1D", VK_IMAGE_TYPE_1D, 1, 1, false},  {"1D array", VK_IMAGE_TYPE_1D, 3, 1, false},
    {"2D", VK_IMAGE_TYPE_2D, 1, 1, false},  {"2D array", VK_IMAGE_TYPE_2D, 3, 1, false},
    {"cube", VK_IMAGE_TYPE_2D, 6, 1, true}, {"cube array", VK_IMAGE_TYPE_2D, 12, 1, true},
    {"3D", VK_IMAGE_TYPE_3D, 1, 5, false},
};
const size_t vulkan_shape_count = sizeof(vulkan_shapes) / sizeof(vulkan_shapes[0]);

const struct vulkan_shape *vulkan_shape(const char *name)
{
    for (size_t i = 0; i < vulkan_shape_count; i++)
        if (strcmp(vulkan_shapes[i].name, name) == 0)
            return &vulkan_shapes[i];
    ck_abort_msg("the tests know no %s", name);
    return NULL;
}

/* ---- Images ---------------------------------------------------------------------------------- */

VkImageCreateInfo vulkan_image_info(const struct vulkan_format *format,
                                    const struct vulkan_shape *shape, unsigned width,
                                    unsigned height, unsigned levels, VkImageUsageFlags usage)
{
    unsigned high = shape->type == VK_IMAGE_TYPE_1D ? 1 : shape->cube ? width : height;
    return (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .flags = shape->cube ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0,
        .imageType = shape->type,
        .format = format->format,
        .extent = {width, high, shape->slices},
        .mipLevels = levels,
        .arrayLayers = shape->layers,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
}

bool vulkan_image_possible(const VkImageCreateInfo *info)
{
    const VkPhysicalDeviceExternalImageFormatInfo shared = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkPhysicalDeviceImageFormatInfo2 asked = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .pNext = &shared,
        .format = info->format,
        .type = info->imageType,
        .tiling = info->tiling,
        .usage = info->usage,
        .flags = info->flags};
    VkExternalImageFormatProperties how = {.sType =
                                               VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 has = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2,
                                    .pNext = &how};
    if (vk.GetPhysicalDeviceImageFormatProperties2(vk.h->physical_device, &asked, &has) !=
        VK_SUCCESS)
        return false;
    return (how.externalMemoryProperties.externalMemoryFeatures &
            VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) &&
           has.imageFormatProperties.maxMipLevels >= info->mipLevels &&
           has.imageFormatProperties.maxArrayLayers >= info->arrayLayers;
}

struct vulkan_image vulkan_image_try(const struct vulkan_format *format,
                                     const struct vulkan_shape *shape, unsigned width,
                                     unsigned height, unsigned levels, VkImageUsageFlags usage,
                                     unsigned flags)
{
    struct vulkan_image image = {.format = format, .shape = shape};
    image.info = vulkan_image_info(format, shape, width, height, levels, usage);
    image.resource = gr_create_vk_image(vk.wrap, &image.info, flags);
    image.image = gr_vk_image(image.resource);
    return image;
}

struct vulkan_image vulkan_image(VkFormat format, const char *shape, unsigned width,
                                 unsigned height, unsigned levels, VkImageUsageFlags usage,
                                 unsigned flags)
{
    struct vulkan_image image = vulkan_image_try(vulkan_format(format), vulkan_shape(shape), width,
                                                 height, levels, usage, flags);
    assert_made(image.resource);
    ck_assert(image.image != VK_NULL_HANDLE);
    return image;
}

struct vulkan_image vulkan_image_unregistered(VkFormat format, const char *shape, unsigned width,
                                              unsigned height, unsigned levels, bool dedicated)
{
    struct vulkan_image image = {.format = vulkan_format(format), .shape = vulkan_shape(shape)};
    static const VkExternalMemoryImageCreateInfo shared = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    image.info = vulkan_image_info(image.format, image.shape, width, height, levels, 0);
    image.info.pNext = &shared;
    VK(CreateImage(vk.h->device, &image.info, NULL, &image.image));
    VkMemoryRequirements needs;
    vk.GetImageMemoryRequirements(vk.h->device, image.image, &needs);
    gr_vk_image_desc *own = &image.own;
    *own = GR_INIT(gr_vk_image_desc, .image = image.image, .dedicated = dedicated,
                   .offset = dedicated ? 0 : needs.alignment);
    own->memory_size = needs.size + own->offset;
    own->memory = vulkan_memory(own->memory_size, needs.memoryTypeBits,
                                dedicated ? MEMORY_EXPORT | MEMORY_DEDICATED : MEMORY_EXPORT,
                                VK_NULL_HANDLE, dedicated ? image.image : VK_NULL_HANDLE);
    VK(BindImageMemory(vk.h->device, image.image, own->memory, own->offset));
    return image;
}

struct vulkan_image vulkan_image_own(VkFormat format, const char *shape, unsigned width,
                                     unsigned height, unsigned levels, bool dedicated,
                                     unsigned flags)
{
    struct vulkan_image image =
        vulkan_image_unregistered(format, shape, width, height, levels, dedicated);
    image.own.create_info = &image.info;
    image.resource = must_make(gr_from_vk_image(vk.wrap, &image.own, flags));
    image.own.create_info = NULL; /* it points to a local variable */
    return image;
}

void vulkan_image_own_free(struct vulkan_image *image)
{
    gr_resource_free(image->resource);
    vk.DestroyImage(vk.h->device, image->image, NULL);
    vulkan_memory_free(image->own.memory);
}

static unsigned halved(unsigned size, unsigned level)
{
    return size >> level ? size >> level : 1;
}

unsigned vulkan_image_width(const struct vulkan_image *image, unsigned level)
{
    return halved(image->info.extent.width, level);
}

unsigned vulkan_image_height(const struct vulkan_image *image, unsigned level)
{
    return halved(image->info.extent.height, level);
}

size_t vulkan_image_bytes(const struct vulkan_image *image, unsigned level)
{
    const size_t side = image->format->is & FORMAT_COMPRESSED ? 4 : 1;
    return (vulkan_image_width(image, level) + side - 1) / side *
           ((vulkan_image_height(image, level) + side - 1) / side) *
           halved(image->info.extent.depth, level) * image->format->element_bytes;
}

/* ---- Patterns -------------------------------------------------------------------------------- */

/*
 * Turns random bytes into floats that are finite and normal, and into depth values between 0 and 1.
 * The CPU is little-endian, like a GPU.
 */
static void make_finite(const struct vulkan_format *format, unsigned char *texels, size_t bytes)
{
    size_t channel = format->element_bytes / format->channels;
    unsigned char *top = texels + channel - 1;
    for (size_t i = 0; i < bytes; i += channel)
        top[i] = (unsigned char)(format->is & FORMAT_DEPTH ? 0x3Eu : (top[i] & 0xBFu) | 0x20u);
}

void vulkan_image_pattern(const struct vulkan_image *image, unsigned level, unsigned layer,
                          unsigned number, void *texels)
{
    size_t bytes = vulkan_image_bytes(image, level);
    pattern_fill(texels, bytes, number * 1000 + level * 100 + layer);
    if (image->format->is & FORMAT_FLOAT)
        make_finite(image->format, texels, bytes);
}

/* ---- Through Vulkan -------------------------------------------------------------------------- */

void vulkan_cmd_from_cuda(VkCommandBuffer commands, struct vulkan_image *image,
                          VkImageLayout layout, VkAccessFlags access)
{
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_TRANSFER_BIT, .access = access,
                .layout = layout, .queue_family = vulkan_queue_family());
    assert_ok(gr_vk_cmd_from_cuda(commands, &image->resource, 1, &use));
}

void vulkan_cmd_to_cuda(VkCommandBuffer commands, struct vulkan_image *image, VkImageLayout layout,
                        VkAccessFlags access)
{
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_TRANSFER_BIT, .access = access,
                .layout = layout, .queue_family = vulkan_queue_family());
    assert_ok(gr_vk_cmd_to_cuda(commands, &image->resource, 1, &use));
    image->cudas = true;
}

/*
 * Begins a use of the image by Vulkan. The first use of a new image, which CUDA has not released,
 * must initialise its layout.
 */
static void begin_use(VkCommandBuffer commands, struct vulkan_image *image, VkImageLayout layout,
                      VkAccessFlags access)
{
    if (image->cudas) {
        vulkan_cmd_from_cuda(commands, image, layout, access);
        return;
    }
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = access,
        .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
        .newLayout = layout,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image->image,
        .subresourceRange = {image->format->is & FORMAT_DEPTH ? VK_IMAGE_ASPECT_DEPTH_BIT
                                                              : VK_IMAGE_ASPECT_COLOR_BIT,
                             0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS}};
    vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                          VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

#define MOST_REGIONS 64

/* Each level and layer begins at a multiple of 16 bytes in the host buffer. */
static uint32_t regions_of(const struct vulkan_image *image, VkBufferImageCopy regions[],
                           size_t *size)
{
    uint32_t count = 0;
    *size = 0;
    for (unsigned level = 0; level < image->info.mipLevels; level++)
        for (unsigned layer = 0; layer < image->info.arrayLayers; layer++) {
            ck_assert_uint_lt(count, MOST_REGIONS);
            regions[count++] = (VkBufferImageCopy){
                .bufferOffset = *size,
                .imageSubresource = {image->format->is & FORMAT_DEPTH ? VK_IMAGE_ASPECT_DEPTH_BIT
                                                                      : VK_IMAGE_ASPECT_COLOR_BIT,
                                     level, layer, 1},
                .imageExtent = {vulkan_image_width(image, level), vulkan_image_height(image, level),
                                halved(image->info.extent.depth, level)}};
            *size += (vulkan_image_bytes(image, level) + 15) / 16 * 16;
        }
    return count;
}

void vulkan_image_fill(struct vulkan_image *image, unsigned number)
{
    VkBufferImageCopy regions[MOST_REGIONS];
    size_t size;
    uint32_t count = regions_of(image, regions, &size);
    struct vulkan_host *host = vulkan_host(size);
    for (uint32_t i = 0; i < count; i++)
        vulkan_image_pattern(image, regions[i].imageSubresource.mipLevel,
                             regions[i].imageSubresource.baseArrayLayer, number,
                             host->bytes + regions[i].bufferOffset);
    VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    VkCommandBuffer commands = vulkan_begin();
    begin_use(commands, image, layout, VK_ACCESS_TRANSFER_WRITE_BIT);
    vk.CmdCopyBufferToImage(commands, host->buffer, image->image, layout, count, regions);
    vulkan_cmd_to_cuda(commands, image, layout, VK_ACCESS_TRANSFER_WRITE_BIT);
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    vulkan_host_end(host);
}

void vulkan_image_clear(struct vulkan_image *image, const VkClearColorValue *colour)
{
    const VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    const VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_from_cuda(commands, image, layout, VK_ACCESS_TRANSFER_WRITE_BIT);
    vk.CmdClearColorImage(commands, image->image, layout, colour, 1, &all);
    vulkan_cmd_to_cuda(commands, image, layout, VK_ACCESS_TRANSFER_WRITE_BIT);
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
}

static void read_all(struct vulkan_image *image, const VkBufferImageCopy regions[], uint32_t count,
                     const struct vulkan_host *host)
{
    const VkMemoryBarrier seen = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                  .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    VkCommandBuffer commands = vulkan_begin();
    begin_use(commands, image, layout, VK_ACCESS_TRANSFER_READ_BIT);
    vk.CmdCopyImageToBuffer(commands, image->image, layout, host->buffer, count, regions);
    vulkan_cmd_to_cuda(commands, image, layout, VK_ACCESS_TRANSFER_READ_BIT);
    vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                          1, &seen, 0, NULL, 0, NULL);
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
}

/* ---- Differences ----------------------------------------------------------------------------- */

static unsigned char *allocate(size_t size)
{
    unsigned char *bytes = malloc(size);
    ck_assert_msg(bytes, "no memory for %zu bytes", size);
    return bytes;
}

static const char *level_differs(const struct vulkan_image *image, unsigned level, unsigned layer,
                                 unsigned number, const unsigned char *got, const char *where)
{
    static char text[200];
    size_t bytes = vulkan_image_bytes(image, level), i = 0;
    unsigned char *wanted = allocate(bytes);
    vulkan_image_pattern(image, level, layer, number, wanted);
    while (i < bytes && got[i] == wanted[i])
        i++;
    if (i < bytes)
        snprintf(text, sizeof(text),
                 "%s %s, level %u, layer %u: byte %zu of %zu is 0x%02x in %s, not 0x%02x",
                 image->format->name, image->shape->name, level, layer, i, bytes, got[i], where,
                 wanted[i]);
    free(wanted);
    return i < bytes ? text : NULL;
}

const char *vulkan_image_differs(struct vulkan_image *image, unsigned number)
{
    VkBufferImageCopy regions[MOST_REGIONS];
    size_t size;
    uint32_t count = regions_of(image, regions, &size);
    struct vulkan_host *host = vulkan_host(size);
    const char *difference = NULL;
    read_all(image, regions, count, host);
    for (uint32_t i = 0; i < count && !difference; i++)
        difference = level_differs(image, regions[i].imageSubresource.mipLevel,
                                   regions[i].imageSubresource.baseArrayLayer, number,
                                   host->bytes + regions[i].bufferOffset, "Vulkan");
    vulkan_host_end(host);
    return difference;
}

/* ---- Through CUDA ---------------------------------------------------------------------------- */

gr_buffer *must_map_vulkan(const struct vulkan_image *image)
{
    return must_make(gr_map(image->resource, fx.stream));
}

gr_buffer *must_hand_over(struct vulkan_image *image)
{
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_to_cuda(commands, image, VK_IMAGE_LAYOUT_UNDEFINED, 0);
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    return must_map_vulkan(image);
}

void vulkan_image_end(const struct vulkan_image *image, gr_buffer *buffer)
{
    must_release(buffer);
    gr_resource_free(image->resource);
}

void cuda_image_fill(gr_buffer *buffer, const struct vulkan_image *image, unsigned number)
{
    unsigned char *texels = allocate(vulkan_image_bytes(image, 0));
    const gr_linear_desc from = GR_INIT(gr_linear_desc, .host = texels);
    for (unsigned level = 0; level < image->info.mipLevels; level++)
        for (unsigned layer = 0; layer < image->info.arrayLayers; layer++) {
            vulkan_image_pattern(image, level, layer, number, texels);
            assert_ok(gr_buffer_copy_from_linear(buffer, level, layer, &from, GR_STREAM_OF_MAP));
            CU(StreamSynchronize(gr_buffer_get_info(buffer)->stream));
        }
    free(texels);
}

const char *cuda_image_differs(gr_buffer *buffer, const struct vulkan_image *image, unsigned number)
{
    const char *difference = NULL;
    unsigned char *texels = allocate(vulkan_image_bytes(image, 0));
    const gr_linear_desc to = GR_INIT(gr_linear_desc, .host = texels);
    for (unsigned level = 0; level < image->info.mipLevels && !difference; level++)
        for (unsigned layer = 0; layer < image->info.arrayLayers && !difference; layer++) {
            memset(texels, 0xEE, vulkan_image_bytes(image, level));
            assert_ok(gr_buffer_copy_to_linear(buffer, level, layer, &to, GR_STREAM_OF_MAP));
            CU(StreamSynchronize(gr_buffer_get_info(buffer)->stream));
            difference = level_differs(image, level, layer, number, texels, "CUDA");
        }
    free(texels);
    return difference;
}
