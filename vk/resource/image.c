/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Resources from Vulkan images: images of the application, and images that grinterop creates. */
#include "lib/base/error.h"
#include "lib/external/external.h"
#include "lib/base/flags.h"
#include "lib/base/struct_size.h"
#include "vk/resource/resource.h"

#define COPY_INSTEAD                                                                               \
    "Share a buffer (gr_create_vk_buffer()) and copy between it and the image by "                 \
    "vkCmdCopyBufferToImage, make a context of the device that draws current before "              \
    "gr_vk_device_from_vk(), or let that copy images (transports = GR_TRANSPORT_ANY)."

/* ---- The image in CUDA ----------------------------------------------------------------------- */

/* Makes a resource of `draft`, which says what the image is bound to and who owns it. */
static gr_resource *make_image(struct vk_resource *draft, const VkImageCreateInfo *info,
                               const gr_vk_format_info *format, VkDeviceSize offset, unsigned flags)
{
    /*
     * If an image has mip levels, the NVIDIA Vulkan driver lays out its layers for the whole mip
     * chain, but CUDA lays them out for the declared number of levels (observed with driver 580).
     * So all levels of the chain are declared to CUDA.
     */
    const bool whole = info->mipLevels > 1 && info->arrayLayers > 1;
    const gr_external_image_desc image = GR_INIT(
        gr_external_image_desc, .width = info->extent.width,
        .height = info->imageType == VK_IMAGE_TYPE_1D ? 0 : info->extent.height,
        .depth = info->imageType == VK_IMAGE_TYPE_3D ? info->extent.depth : 0,
        .levels = info->mipLevels,
        .placed_levels = whole ? gr_whole_chain(info->extent.width, info->extent.height, 1) : 0,
        .layers = info->arrayLayers > 1 ? info->arrayLayers : 0,
        .cube = info->flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT, .format = format->format,
        .channels = format->channels,
        .color_attachment = info->usage & VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, .srgb = format->srgb,
        .normalized = format->normalized);
    const gr_external_part_desc part =
        GR_INIT(gr_external_part_desc, .offset = (size_t)offset, .image = &image);
    draft->aspect = format->depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
    draft->format = format->name;
    draft->concurrent = info->sharingMode == VK_SHARING_MODE_CONCURRENT;
    /* If Vulkan shaders may write to the image, CUDA kernels may write to it as well. */
    if (info->usage & VK_IMAGE_USAGE_STORAGE_BIT)
        flags |= GR_SURFACE_LOAD_STORE;
    return vk_resource_make(draft, &part, flags);
}

/* ---- From the application -------------------------------------------------------------------- */

/* A copied image needs a transfer usage for each direction that the flags allow. */
static gr_status check_transfers(const struct vk_resource *draft, const VkImageCreateInfo *info,
                                 unsigned flags)
{
    const char *missing = NULL;
    if (!vk_is_copied(&draft->binding))
        return GR_OK;
    if (!(flags & GR_WRITE_DISCARD) && !(info->usage & VK_IMAGE_USAGE_TRANSFER_SRC_BIT))
        missing = "VK_IMAGE_USAGE_TRANSFER_SRC_BIT";
    else if (!(flags & GR_READ_ONLY) && !(info->usage & VK_IMAGE_USAGE_TRANSFER_DST_BIT))
        missing = "VK_IMAGE_USAGE_TRANSFER_DST_BIT";
    GR_REFUSE_IF(missing,
                 "The usage of the image is 0x%x, but its texels are copied, since %s: create it "
                 "with %s, too.",
                 info->usage, draft->why, missing);
    return GR_OK;
}

static const gr_vk_format_info *find_format(VkFormat format)
{
    const gr_vk_format_info *info = gr_vk_format_get_info(format);
    if (!info)
        gr_error_set_call();
    return info;
}

static gr_resource *make_existing(struct vk_resource *draft, const void *desc, unsigned flags)
{
    const gr_vk_image_desc *info = desc;
    const VkImageCreateInfo *create_info = info->create_info;
    if (vk_image_check(create_info, vk_is_copied(&draft->binding)) != GR_OK ||
        check_transfers(draft, create_info, flags) != GR_OK)
        return NULL;
    VkDeviceSize offset = info->offset;
    const gr_vk_format_info *format = find_format(create_info->format);
    if (!format || vk_memory_check(&draft->binding, &offset) != GR_OK)
        return NULL;
    return make_image(draft, create_info, format, offset, flags);
}

gr_resource *gr_from_vk_image(gr_vk_device *device, const gr_vk_image_desc *given, unsigned flags)
{
    GR_CALL();
    gr_vk_image_desc info;
    if (vk_check_arguments(device, given) != GR_OK ||
        GR_TAKE(gr_vk_image_desc, &info, given) != GR_OK || gr_flags_check(flags, true) != GR_OK)
        return NULL;
    if (!info.image || !info.create_info)
        return gr_null(gr_fail(
            GR_ERR_INVALID_VALUE,
            info.image ? "`create_info` is NULL: pass the struct that the image was created "
                         "with, or one with the image's type, format, extent, counts, tiling "
                         "and usage."
                       : "`image` is VK_NULL_HANDLE: pass the VkImage."));
    if (vk_check_in_flight(device, info.in_flight, flags) != GR_OK)
        return NULL;
    const struct vk_resource draft = {.binding = {device, VK_NULL_HANDLE, info.image, info.memory,
                                                  info.memory_size, info.dedicated, 0},
                                      .in_flight = info.in_flight};
    const struct vk_object object = {make_existing, &info, flags, false, "Images", COPY_INSTEAD};
    return vk_resource_choose(&draft, &object);
}

/* ---- Created by grinterop -------------------------------------------------------------------- */

/* Copies of the structs in the pNext chain of the image that affect whether it is supported. */
struct format_query {
    VkImageFormatListCreateInfo formats;
    VkImageStencilUsageCreateInfo stencil;
};

static const void *chain_for_query(const VkImageCreateInfo *info, struct format_query *query)
{
    const void *chain = NULL;
    const VkImageFormatListCreateInfo *formats =
        vk_chain_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO);
    const VkImageStencilUsageCreateInfo *stencil =
        vk_chain_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO);
    if (formats) {
        query->formats = *formats;
        query->formats.pNext = chain;
        chain = &query->formats;
    }
    if (stencil) {
        query->stencil = *stencil;
        query->stencil.pNext = chain;
        chain = &query->stencil;
    }
    return chain;
}

#define TRANSFERS (VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT)

static VkResult query_exportable(const gr_vk_device *device, const VkImageCreateInfo *info,
                                 VkImageFormatProperties *limits,
                                 VkExternalMemoryFeatureFlags *features)
{
    struct format_query query;
    const VkPhysicalDeviceExternalImageFormatInfo external = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
        .pNext = chain_for_query(info, &query),
        .handleType = GR_VK_MEMORY_HANDLE,
    };
    const VkPhysicalDeviceImageFormatInfo2 wanted = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .pNext = &external,
        .format = info->format,
        .type = info->imageType,
        .tiling = info->tiling,
        .usage = info->usage,
        .flags = info->flags,
    };
    VkExternalImageFormatProperties shared = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 found = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2,
        .pNext = &shared,
    };
    VkResult result = device->vk.vkGetPhysicalDeviceImageFormatProperties2(device->physical_device,
                                                                           &wanted, &found);
    *limits = found.imageFormatProperties;
    *features = shared.externalMemoryProperties.externalMemoryFeatures;
    return result == VK_SUCCESS && !(*features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT)
               ? VK_ERROR_FORMAT_NOT_SUPPORTED
               : result;
}

static gr_status check_format(const struct vk_binding *b, const VkImageCreateInfo *info,
                              const char *name, VkExternalMemoryFeatureFlags *features)
{
    const gr_vk_device *device = b->device;
    VkImageFormatProperties limits;
    const bool copied = vk_is_copied(b);
    const char *query = copied ? "vkGetPhysicalDeviceImageFormatProperties"
                               : "vkGetPhysicalDeviceImageFormatProperties2";
    *features = 0;
    VkResult result = copied ? device->vk.vkGetPhysicalDeviceImageFormatProperties(
                                   device->physical_device, info->format, info->imageType,
                                   info->tiling, info->usage | TRANSFERS, info->flags, &limits)
                             : query_exportable(device, info, &limits, features);
    if (result == VK_ERROR_FORMAT_NOT_SUPPORTED)
        return gr_fail_code(
            GR_ERR_UNSUPPORTED, GR_DOMAIN_VULKAN, (int)result, vk_result_name(result), query,
            "%s cannot %s images of %s with usage 0x%x, flags 0x%x and tiling %d%s: leave out "
            "usages, or use another format, for example VK_FORMAT_R8G8B8A8_UNORM.",
            device->identity.name, copied ? "create" : "export", name, info->usage, info->flags,
            info->tiling, copied ? "" : " as " GR_VK_HANDLE_NAME);
    if (result != VK_SUCCESS)
        return vk_fail(result, query, "%s could not be queried about images of %s.",
                       device->identity.name, name);
    const VkExtent3D *e = &info->extent, *most = &limits.maxExtent;
    if (e->width <= most->width && e->height <= most->height && e->depth <= most->depth &&
        info->mipLevels <= limits.maxMipLevels && info->arrayLayers <= limits.maxArrayLayers)
        return GR_OK;
    return gr_fail(
        GR_ERR_INVALID_VALUE,
        "%s supports images of this format with at most %ux%ux%u texels, %u level%s and %u "
        "layer%s. This image has %ux%ux%u texels, levels: %u, layers: %u. Make it smaller.",
        device->identity.name, most->width, most->height, most->depth, limits.maxMipLevels,
        gr_s(limits.maxMipLevels), limits.maxArrayLayers, gr_s(limits.maxArrayLayers), e->width,
        e->height, e->depth, info->mipLevels, info->arrayLayers);
}

static gr_status create_image(struct vk_binding *b, const VkImageCreateInfo *wish,
                              const char *format)
{
    const VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .pNext = wish->pNext,
        .handleTypes = GR_VK_MEMORY_HANDLE,
    };
    VkImageCreateInfo info = *wish;
    if (vk_is_copied(b))
        info.usage |= TRANSFERS;
    else if (!vk_chain_find(wish->pNext, external.sType))
        info.pNext = &external;
    VkResult result = b->device->vk.vkCreateImage(b->device->device, &info, NULL, &b->image);
    if (result == VK_SUCCESS)
        return GR_OK;
    b->image = VK_NULL_HANDLE;
    return vk_fail(result, "vkCreateImage",
                   "An image of %s, %ux%ux%u, %u level%s, %u layer%s, usage 0x%x, was refused.",
                   format, info.extent.width, info.extent.height, info.extent.depth, info.mipLevels,
                   gr_s(info.mipLevels), info.arrayLayers, gr_s(info.arrayLayers), info.usage);
}

static gr_resource *make_new(struct vk_resource *draft, const void *wish, unsigned flags)
{
    struct vk_binding *b = &draft->binding;
    const VkImageCreateInfo *info = wish;
    VkExternalMemoryFeatureFlags features;
    if (vk_image_check(info, vk_is_copied(b)) != GR_OK)
        return NULL;
    const gr_vk_format_info *format = find_format(info->format);
    return format && check_format(b, info, format->name, &features) == GR_OK &&
                   create_image(b, info, format->name) == GR_OK &&
                   vk_memory_allocate(b, features, false) == GR_OK
               ? make_image(draft, info, format, 0, flags)
               : NULL;
}

gr_resource *gr_create_vk_image(gr_vk_device *device, const VkImageCreateInfo *info, unsigned flags)
{
    GR_CALL();
    const struct vk_resource draft = {.binding.device = device, .owned = true};
    const struct vk_object object = {make_new, info, flags, false, "Images", COPY_INSTEAD};
    if (vk_check_arguments(device, info) != GR_OK || gr_flags_check(flags, true) != GR_OK ||
        vk_check_handle_types(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
                              "VkExternalMemoryImageCreateInfo") != GR_OK)
        return NULL;
    if (info->usage == 0)
        return gr_null(gr_fail(GR_ERR_INVALID_VALUE,
                               "`usage` is 0: state what Vulkan does with the image, for example "
                               "VK_IMAGE_USAGE_SAMPLED_BIT."));
    return vk_resource_choose(&draft, &object);
}
