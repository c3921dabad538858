/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Images of the shared transport: memory of grinterop's private Vulkan device that is exported to
 * OpenGL and CUDA.
 */
#include "gl/memory/memory.h"

#include <epoxy/gl.h>
#include <grinterop/vk.h>

#include "lib/base/error.h"
#include "lib/external/external.h"
#include "lib/resource/image.h"
#include "lib/base/live_objects.h"
#include "lib/resource/resource.h"
#include "gl/context/saved_state.h"

/* ---- Formats --------------------------------------------------------------------------------- */

/* The formats that OpenGL, Vulkan and CUDA all support: 1, 2 or 4 channels of whole bytes. */
#define ROW(gl, vk)                                                                                \
    {                                                                                              \
        GL_##gl, VK_FORMAT_##vk                                                                    \
    }
/* Rows for 1, 2 and 4 channels of one type. */
#define ROWS(bits, gl, vk)                                                                         \
    ROW(R##bits##gl, R##bits##_##vk), ROW(RG##bits##gl, R##bits##G##bits##_##vk),                  \
        ROW(RGBA##bits##gl, R##bits##G##bits##B##bits##A##bits##_##vk)

static const struct format {
    GLenum internal; /* the format for glTexStorage */
    VkFormat vulkan;
} formats[] = {
    ROWS(8, , UNORM),
    ROWS(16, , UNORM),
    ROWS(8, _SNORM, SNORM),
    ROWS(16, _SNORM, SNORM),
    ROW(SRGB8_ALPHA8, R8G8B8A8_SRGB),
    ROWS(16, F, SFLOAT),
    ROWS(32, F, SFLOAT),
    ROWS(8, I, SINT),
    ROWS(8, UI, UINT),
    ROWS(16, I, SINT),
    ROWS(16, UI, UINT),
    ROWS(32, I, SINT),
    ROWS(32, UI, UINT),
};

/* Returns the row of a format. NULL if the format cannot be shared; the error says what to use. */
static const struct format *format_of(GLenum internal)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].internal == internal)
            return &formats[i];
    const struct gl_format *known = gl_format_of(internal);
    if (known && known->refused)
        gr_fail(GR_ERR_UNSUPPORTED, "%s cannot be shared: %s. Use %s.", known->name, known->refused,
                known->instead);
    else if (known)
        gr_fail(GR_ERR_UNSUPPORTED,
                "%s cannot be shared: it has 3 channels, channels smaller than a byte, or is of "
                "the compatibility profile. Use a format of 1, 2 or 4 channels, for example "
                "GL_RGBA8; or GR_TRANSPORT_INTEROP.",
                known->name);
    else
        gr_fail(GR_ERR_UNSUPPORTED,
                "0x%x is not a format that CUDA accepts from OpenGL. Use another, for example "
                "GL_RGBA8.",
                internal);
    return NULL;
}

/* ---- Vulkan ---------------------------------------------------------------------------------- */

/*
 * OpenGL may use a texture in every way that its format allows, and the driver chooses the image
 * layout by the declared usages. So the Vulkan image declares all usages that the format supports.
 */
static const VkImageUsageFlags usages[] = {
    VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_STORAGE_BIT,
    VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    VK_IMAGE_USAGE_STORAGE_BIT,
    0,
};

struct wish {
    gr_vk_device *device;
    VkImageCreateInfo *image;
    unsigned flags;
    gr_resource *made;
};

static gr_status make_with_usages(void *of, size_t i)
{
    struct wish *wish = of;
    wish->image->usage = usages[i] | VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                         VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    wish->made = gr_create_vk_image(wish->device, wish->image, wish->flags);
    return wish->made ? GR_OK : gr_last_error()->status;
}

static bool is_unsupported(void *of, size_t i, const struct gr_error_record *error)
{
    (void)of;
    (void)i;
    return error->status == GR_ERR_UNSUPPORTED;
}

/* Creates the Vulkan image, whose memory `r` keeps alive. */
static gr_status make_memory(struct gl_shared *r, const gr_gl_image_desc *info, VkFormat format,
                             unsigned flags)
{
    VkImageCreateInfo image = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .flags = info->target == GL_TEXTURE_CUBE_MAP ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0,
        .imageType = info->target == GL_TEXTURE_3D ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = {info->width, info->height, info->target == GL_TEXTURE_3D ? info->depth : 1},
        .mipLevels = info->levels ? info->levels : 1,
        .arrayLayers = info->target == GL_TEXTURE_CUBE_MAP   ? 6
                       : info->target == GL_TEXTURE_2D_ARRAY ? info->depth
                                                             : 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
    };
    struct gr_error_record before;
    gr_error_save(&before);
    struct wish wish = {.device = gl_vulkan_wrap(r->device), .image = &image, .flags = flags};
    if (wish.device)
        (void)gr_try(sizeof(usages) / sizeof(usages[0]), make_with_usages, is_unsupported, &wish);
    r->vulkan = wish.made;
    gr_vk_device_free(wish.device); /* the image keeps the device alive */
    if (!r->vulkan)
        return gr_last_error()->status == GR_ERR_INVALID_VALUE ? gr_error_set_call()
                                                               : gr_last_error()->status;
    /* it is internal, and no live object of the application */
    gr_live_remove(GR_LIVE_RESOURCE, r->vulkan);
    gr_error_restore(&before);
    return GR_OK;
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* Takes over the memory of the Vulkan resource, and closes that: CUDA uses only `r`. */
static gr_status map_into_cuda(struct gl_shared *r, const struct gr_context *cuda,
                               const gr_gl_image_desc *info)
{
    const struct gr_external *vulkan = gr_external_of(r->vulkan);
    gr_external_image_desc image = vulkan->image;
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .image = &image);
    struct gr_import *import = vulkan->memory;
    if (info->target == GL_TEXTURE_2D_ARRAY)
        image.layers = info->depth; /* an image of Vulkan with one layer is no array */
    const gr_status status =
        gr_external_make_in(&r->gl.external, import, cuda, &part, r->vulkan->flags);
    /* With 3 levels or more, the NVIDIA driver (580) wants more memory than Vulkan allocated. */
    if (status == GR_ERR_CUDA && info->target == GL_TEXTURE_2D_ARRAY && info->depth == 1 &&
        info->levels > 1)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "CUDA cannot share an array of one layer with %u level%s here. Use "
                       "GL_TEXTURE_2D, two layers or one level; or GR_TRANSPORT_INTEROP.",
                       info->levels, gr_s(info->levels));
    GR_TRY(status);
    gr_import_hold(import);
    return gr_resource_close_held(r->vulkan, CU_STREAM_LEGACY);
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

/*
 * Whether the texture has its last level. If the memory is too small, llvmpipe reports no error,
 * and the texture has no levels.
 */
static bool has_last_level(GLuint texture, const gr_gl_image_desc *info)
{
    GLint level = (GLint)info->levels - 1, width = 0, height = 0, depth = 0;
    glGetTextureLevelParameteriv(texture, level, GL_TEXTURE_WIDTH, &width);
    glGetTextureLevelParameteriv(texture, level, GL_TEXTURE_HEIGHT, &height);
    glGetTextureLevelParameteriv(texture, level, GL_TEXTURE_DEPTH, &depth);
    unsigned int slices = info->target == GL_TEXTURE_3D
                              ? gr_level_extent(info->depth, (unsigned)level)
                          : info->target == GL_TEXTURE_2D_ARRAY ? info->depth
                                                                : 1;
    return (unsigned)width == gr_level_extent(info->width, (unsigned)level) &&
           (unsigned)height == gr_level_extent(info->height, (unsigned)level) &&
           (unsigned)depth == slices;
}

static gr_status make_storage(struct gl_shared *r, const gr_gl_image_desc *info)
{
    GLsizei levels = (GLsizei)info->levels, width = (GLsizei)info->width;
    GLsizei height = (GLsizei)info->height, depth = (GLsizei)info->depth;
    struct gl_names *names = r->gl.owned;
    glCreateTextures(info->target, 1, &names->texture);
    glTextureParameteri(names->texture, GL_TEXTURE_TILING_EXT, GL_OPTIMAL_TILING_EXT);
    if (info->target == GL_TEXTURE_3D || info->target == GL_TEXTURE_2D_ARRAY)
        glTextureStorageMem3DEXT(names->texture, levels, info->internal_format, width, height,
                                 depth, names->memory, 0);
    else
        glTextureStorageMem2DEXT(names->texture, levels, info->internal_format, width, height,
                                 names->memory, 0);
    GLenum error = gl_errors_take();
    if (error == GL_NO_ERROR && has_last_level(names->texture, info))
        return GR_OK;
    GR_TRY(error == GL_NO_ERROR ? gl_errors_check_lost() : GR_OK);
    return GL_FAIL(
        error, "glTextureStorageMemEXT",
        "%s: OpenGL created no texture %s of %u x %u x %u texels with %u level%s in Vulkan memory.",
        gr_call, r->gl.format->name, info->width, info->height, info->depth, info->levels,
        gr_s(info->levels));
}

gr_status gl_memory_check_format(const gr_gl_image_desc *image)
{
    return format_of(image->internal_format) ? GR_OK : gr_last_error()->status;
}

gr_status gl_memory_make_image(struct gl_shared *r, const struct gr_context *cuda,
                               const struct gl_wish *wish)
{
    const gr_gl_image_desc *info = wish->image;
    const struct format *format = format_of(info->internal_format);
    int fd;
    r->gl.target = gl_target_of(info->target);
    r->gl.format = gl_format_of(info->internal_format);
    GR_TRY(make_memory(r, info, format->vulkan, wish->flags));
    GR_TRY(map_into_cuda(r, cuda, info));
    GR_TRY(gl_vulkan_memory_fd(r->vulkan, &fd));
    const struct gr_import *memory = r->gl.external.memory;
    GR_TRY(gl_memory_import(r->gl.owned, fd, memory->size, memory->dedicated));
    return make_storage(r, info);
}
