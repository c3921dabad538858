/* SPDX-License-Identifier: Apache-2.0 */
/* Resources from Vulkan's images: the application's, and those that grinterop makes. */
#include "vk/resource.h"

#include "lib/error.h"
#include "lib/external/memory_part.h"
#include "lib/flags.h"
#include "vk/error.h"
#include "vk/image_rules.h"

#define IMAGE_FLAGS (GR_READ_ONLY | GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE | GR_TEXTURE_GATHER)

VkImage gr_vk_image(const gr_resource *resource)
{
    const struct vk_resource *r = vk_resource_of(resource);
    return r ? r->binding.image : VK_NULL_HANDLE;
}

/* ---- The image as CUDA sees it --------------------------------------------------------------- */

/*
 * NVIDIA's Vulkan places the layers of an image that has mip levels as if the chain were whole, but
 * CUDA by the levels that it is told of (seen with driver 580): so it is told of all.
 */
static uint32_t placed_levels(const gr_vk_image_desc *info)
{
    bool mipmapped = info->mip_levels > 1, layered = info->array_layers > 1;
    return mipmapped && layered ? gr_whole_chain(info->extent.width, info->extent.height, 1) : 0;
}

static gr_external_image_desc seen_by_cuda(const gr_vk_image_desc *info,
                                           const gr_vk_format_info *format)
{
    return (gr_external_image_desc){
        .width = info->extent.width,
        .height = info->type == VK_IMAGE_TYPE_1D ? 0 : info->extent.height,
        .depth = info->type == VK_IMAGE_TYPE_3D ? info->extent.depth : 0,
        .levels = vk_at_least_one(info->mip_levels),
        .placed_levels = placed_levels(info),
        .layers = info->array_layers > 1 ? info->array_layers : 0,
        .cube = info->flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT,
        .format = format->format,
        .channels = format->channels,
        .color_attachment = info->usage & VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        .srgb = format->srgb,
        .normalized = format->normalized,
    };
}

static void note_image(struct vk_resource *r, const gr_vk_image_desc *info,
                       const gr_vk_format_info *format)
{
    r->aspect = format->depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
    r->format = format->name;
    r->extent = info->extent;
    r->levels = vk_at_least_one(info->mip_levels);
    r->layers = vk_at_least_one(info->array_layers);
}

static gr_resource *register_image(struct vk_resource *r, const gr_vk_image_desc *info,
                                   const gr_vk_format_info *format, VkDeviceSize offset,
                                   unsigned flags, const char *call)
{
    const gr_external_image_desc image = seen_by_cuda(info, format);
    const gr_external_part_desc part = {.offset = (size_t)offset, .image = &image};
    /* What Vulkan's shaders store to, CUDA's kernels may as well. */
    if (info->usage & VK_IMAGE_USAGE_STORAGE_BIT)
        flags |= GR_SURFACE_LOAD_STORE;
    return vk_resource_register(r, &part, flags, call);
}

/* ---- The application's ----------------------------------------------------------------------- */

gr_resource *gr_from_vk_image(gr_vk_device *device, const gr_vk_image_desc *info, unsigned flags)
{
    const char *call = __func__;
    gr_vk_format_info format;
    if (vk_check_arguments(device, info, call) != GR_OK ||
        gr_flags_check(flags, IMAGE_FLAGS, call) != GR_OK)
        return NULL;
    if (!info->image) {
        gr_fail(GR_ERR_INVALID_VALUE, call, "`image` is VK_NULL_HANDLE: pass the VkImage.");
        return NULL;
    }
    if (vk_image_check(info, call) != GR_OK || gr_vk_format(info->format, &format) != GR_OK)
        return NULL;
    struct vk_resource *r = vk_resource_begin(device, call);
    if (!r)
        return NULL;
    r->binding.image = info->image;
    r->binding.memory = info->memory;
    r->binding.memory_size = info->memory_size;
    r->binding.dedicated = info->dedicated;
    note_image(r, info, &format);
    if (vk_memory_check(&r->binding, info->offset, call) != GR_OK)
        return vk_resource_discard(r);
    return register_image(r, info, &format, info->offset, flags, call);
}

/* ---- Made here ------------------------------------------------------------------------------- */

static gr_status check_limits(const gr_vk_device *device, const gr_vk_image_desc *info,
                              const VkImageFormatProperties *limits, const char *name,
                              const char *call)
{
    const VkExtent3D *e = &info->extent, *most = &limits->maxExtent;
    if (e->width <= most->width && e->height <= most->height && e->depth <= most->depth &&
        info->mip_levels <= limits->maxMipLevels && info->array_layers <= limits->maxArrayLayers)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "%s has images of %s with at most %ux%ux%u texels, %u levels and %u layers, not "
                   "%ux%ux%u with %u and %u.",
                   device->identity.name, name, most->width, most->height, most->depth,
                   limits->maxMipLevels, limits->maxArrayLayers, e->width, e->height, e->depth,
                   vk_at_least_one(info->mip_levels), vk_at_least_one(info->array_layers));
}

static gr_status refuse_format(const gr_vk_device *device, const gr_vk_image_desc *info,
                               VkResult result, const char *name)
{
    const char *query = "vkGetPhysicalDeviceImageFormatProperties2";
    if (result != VK_ERROR_FORMAT_NOT_SUPPORTED)
        return vk_fail(result, query, "%s could not be asked about images of %s.",
                       device->identity.name, name);
    return gr_fail_code(GR_ERR_UNSUPPORTED, (int)result, vk_result_name(result), query,
                        "%s has no images of %s with usage 0x%x, flags 0x%x and tiling %d that it "
                        "can export as " GR_VK_HANDLE_NAME ": leave out usages, or use another "
                        "format, for example VK_FORMAT_R8G8B8A8_UNORM.",
                        device->identity.name, name, info->usage, info->flags, info->tiling);
}

static gr_status check_exportable(const gr_vk_device *device, const gr_vk_image_desc *info,
                                  const char *name, VkExternalMemoryFeatureFlags *features,
                                  const char *call)
{
    const VkPhysicalDeviceExternalImageFormatInfo external = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
        .handleType = GR_VK_MEMORY_HANDLE,
    };
    const VkPhysicalDeviceImageFormatInfo2 wanted = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .pNext = &external,
        .format = info->format,
        .type = info->type,
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
    *features = shared.externalMemoryProperties.externalMemoryFeatures;
    if (result == VK_SUCCESS && !(*features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT))
        result = VK_ERROR_FORMAT_NOT_SUPPORTED;
    if (result != VK_SUCCESS)
        return refuse_format(device, info, result, name);
    return check_limits(device, info, &found.imageFormatProperties, name, call);
}

static gr_status create_image(struct vk_resource *r, const gr_vk_image_desc *wish)
{
    const VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = GR_VK_MEMORY_HANDLE,
    };
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .pNext = &external,
        .flags = wish->flags,
        .imageType = wish->type,
        .format = wish->format,
        .extent = wish->extent,
        .mipLevels = r->levels,
        .arrayLayers = r->layers,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = wish->tiling,
        .usage = wish->usage,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
    };
    r->owned = true;
    VkResult result = r->binding.device->vk.vkCreateImage(r->binding.device->device, &info, NULL,
                                                          &r->binding.image);
    if (result == VK_SUCCESS)
        return GR_OK;
    r->binding.image = VK_NULL_HANDLE;
    return vk_fail(result, "vkCreateImage",
                   "An image of %s, %ux%ux%u, %u levels, %u layers, usage 0x%x, was refused.",
                   r->format, info.extent.width, info.extent.height, info.extent.depth, r->levels,
                   r->layers, info.usage);
}

static gr_status check_wish(const gr_vk_device *device, const gr_vk_image_desc *info,
                            gr_vk_format_info *format, unsigned flags, const char *call)
{
    gr_status status = vk_check_arguments(device, info, call);
    if (status == GR_OK)
        status = gr_flags_check(flags, IMAGE_FLAGS, call);
    if (status == GR_OK)
        status = vk_image_check(info, call);
    if (status == GR_OK)
        status = gr_vk_format(info->format, format);
    if (status == GR_OK && info->usage == 0)
        status = gr_fail(GR_ERR_INVALID_VALUE, call,
                         "`usage` is 0: say what Vulkan does with the image, for example "
                         "VK_IMAGE_USAGE_SAMPLED_BIT. Grinterop adds none.");
    return status;
}

gr_resource *gr_vk_image_create(gr_vk_device *device, const gr_vk_image_desc *info, unsigned flags)
{
    const char *call = __func__;
    gr_vk_format_info format;
    VkExternalMemoryFeatureFlags features;
    if (check_wish(device, info, &format, flags, call) != GR_OK ||
        check_exportable(device, info, format.name, &features, call) != GR_OK)
        return NULL;
    struct vk_resource *r = vk_resource_begin(device, call);
    if (!r)
        return NULL;
    note_image(r, info, &format);
    if (create_image(r, info) != GR_OK ||
        vk_memory_allocate(&r->binding, features, false, call) != GR_OK)
        return vk_resource_discard(r);
    return register_image(r, info, &format, 0, flags, call);
}
