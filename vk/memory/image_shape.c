/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Checks which Vulkan images CUDA can use: extent, layers, levels, flags, tiling and samples.
 * format.c covers the formats.
 */
#include "lib/base/error.h"
#include "lib/external/external.h"
#include "vk/memory/memory.h"

static gr_status check_extent(const VkImageCreateInfo *info)
{
    const VkExtent3D *e = &info->extent;
    if (info->imageType != VK_IMAGE_TYPE_1D && info->imageType != VK_IMAGE_TYPE_2D &&
        info->imageType != VK_IMAGE_TYPE_3D)
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "%d is not a VkImageType: pass VK_IMAGE_TYPE_1D, _2D or _3D.",
                       info->imageType);
    GR_REFUSE_IF(e->width == 0 || e->height == 0 || e->depth == 0,
                 "The extent is %ux%ux%u: pass that of VkImageCreateInfo, with 1 for an unused "
                 "height or depth.",
                 e->width, e->height, e->depth);
    if ((info->imageType == VK_IMAGE_TYPE_1D && e->height != 1) ||
        (info->imageType != VK_IMAGE_TYPE_3D && e->depth != 1))
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "A %s image cannot have the extent %ux%ux%u: pass the type and the extent "
                       "of VkImageCreateInfo.",
                       info->imageType == VK_IMAGE_TYPE_1D ? "1D" : "2D", e->width, e->height,
                       e->depth);
    return GR_OK;
}

static gr_status check_layers_and_levels(const VkImageCreateInfo *info)
{
    const VkExtent3D *e = &info->extent;
    uint32_t layers = info->arrayLayers, most = gr_whole_chain(e->width, e->height, e->depth);
    bool cube = info->flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
    GR_REFUSE_IF(info->imageType == VK_IMAGE_TYPE_3D && layers > 1,
                 "A 3D image has no layers, but arrayLayers is %u: pass 1.", layers);
    GR_REFUSE_IF(
        cube && (info->imageType != VK_IMAGE_TYPE_2D || info->extent.width != info->extent.height),
        "The faces of a cube are square 2D images, but the extent is %ux%ux%u: leave "
        "VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT out, or make the extent square.",
        info->extent.width, info->extent.height, info->extent.depth);
    GR_REFUSE_IF(cube && layers % 6 != 0,
                 "For CUDA, each cube has 6 layers, but arrayLayers is %u: pass a multiple of 6, "
                 "or leave VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT out.",
                 layers);
    GR_REFUSE_IF(
        info->mipLevels > most,
        "An image of %ux%ux%u texels has at most %u mip level%s, not %u: pass that or less.",
        e->width, e->height, e->depth, most, gr_s(most), info->mipLevels);
    return GR_OK;
}

gr_status vk_image_check(const VkImageCreateInfo *info, bool copied)
{
    GR_REFUSE_IF(
        info->sType != VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        "The sType of VkImageCreateInfo is %d: set it to VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO.",
        info->sType);
    GR_REFUSE_IF(!info->mipLevels || !info->arrayLayers || !info->samples,
                 "mipLevels is %u, arrayLayers %u and samples %u, and none can be 0: Vulkan counts "
                 "each of them from 1.",
                 info->mipLevels, info->arrayLayers, info->samples);
    GR_TRY(check_extent(info));
    GR_TRY(check_layers_and_levels(info));
    /* CUDA cannot import images in several memory objects, or in protected memory. */
    const VkImageCreateFlags refused =
        VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT |
        VK_IMAGE_CREATE_SPARSE_ALIASED_BIT | VK_IMAGE_CREATE_DISJOINT_BIT |
        VK_IMAGE_CREATE_PROTECTED_BIT | VK_IMAGE_CREATE_SPLIT_INSTANCE_BIND_REGIONS_BIT;
    if (info->flags & refused)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "CUDA does not accept images that are sparse, disjoint, protected or split "
                       "over devices (flags 0x%x): create the image without 0x%x.",
                       info->flags, info->flags & refused);
    /* The NVIDIA driver (580) refuses most linear images, and reads wrong texels of the others. */
    if (info->tiling == VK_IMAGE_TILING_LINEAR && !copied)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "CUDA cannot access images with VK_IMAGE_TILING_LINEAR: use "
                       "VK_IMAGE_TILING_OPTIMAL, or a buffer (gr_create_vk_buffer()).");
    if (info->tiling != VK_IMAGE_TILING_LINEAR && info->tiling != VK_IMAGE_TILING_OPTIMAL)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "CUDA does not support images with tiling %d: use VK_IMAGE_TILING_OPTIMAL.",
                       info->tiling);
    if (info->samples == VK_SAMPLE_COUNT_1_BIT)
        return GR_OK;
    return gr_fail(
        GR_ERR_UNSUPPORTED,
        "CUDA does not accept multisampled images, and this one has %d samples per pixel: share an "
        "image with one sample, and resolve into it by vkCmdResolveImage, or depth by a resolve "
        "attachment (VkSubpassDescriptionDepthStencilResolve).",
        info->samples);
}
