/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks that parts lie within the imported memory, and that CUDA supports their images. */
#include "lib/external/external.h"

#include <stdint.h>
#include <string.h>

#include "lib/cuda/array_format.h"
#include "lib/base/error.h"
#include "lib/cuda/import_handle.h"

#define BUFFER_CALL "(CUDA driver API, cuExternalMemoryGetMappedBuffer)"
#define ARRAY_CALL  "(CUDA driver API, cuExternalMemoryGetMappedMipmappedArray)"
#define CREATE_CALL "(CUDA driver API, cuMipmappedArrayCreate)"

static gr_status check_shape(const gr_external_image_desc *image)
{
    GR_REFUSE_IF(image->width == 0 || (image->height == 0 && image->depth != 0),
                 "The image is %zu x %zu x %zu texels. A width is required, and a depth requires a "
                 "height " CREATE_CALL ". Set height and depth to 0 in 1D, depth in 2D.",
                 image->width, image->height, image->depth);
    GR_REFUSE_IF(image->layers > 0 && image->depth > 0,
                 "The image has a depth of %zu and %u layer%s. The number of layers takes the "
                 "place of the depth, so a 3D image has no layers " CREATE_CALL
                 ". Set one of them to 0.",
                 image->depth, image->layers, gr_s(image->layers));
    if (!image->cube)
        return GR_OK;
    GR_REFUSE_IF(image->width != image->height,
                 "The cube's faces are %zu x %zu texels. Faces are square " CREATE_CALL
                 ". Set width and height to the same value, or `cube` to false.",
                 image->width, image->height);
    GR_REFUSE_IF(
        image->layers == 0 || image->layers % 6 != 0,
        "The cube has %u layer%s. A cube has six, an array of cubes a multiple of six " CREATE_CALL
        ". Count each face as a layer, or set `cube` to false.",
        image->layers, gr_s(image->layers));
    return GR_OK;
}

static gr_status check_texel(const gr_external_image_desc *image)
{
    const unsigned packed = gr_packed_channels(image->format);
    GR_REFUSE_IF(
        gr_format_element(image->format, 1).bytes == 0,
        "The image's format is 0x%x. The format describes one channel " CREATE_CALL
        ". Pass an integer of 8, 16 or 32 bits, half or float (GR_FORMAT_UNSIGNED_INT8 and so on), "
        "and set `normalized` and `srgb`; or a packed or compressed GR_FORMAT.",
        (unsigned)image->format);
    GR_REFUSE_IF(packed && image->channels != packed,
                 "The image has %u channel%s. Format 0x%x has %u " CREATE_CALL ". Pass that.",
                 image->channels, gr_s(image->channels), image->format, packed);
    GR_REFUSE_IF(!packed && image->channels != 1 && image->channels != 2 && image->channels != 4,
                 "The image has %u channel%s. The number must be 1, 2 or 4 " CREATE_CALL
                 ". Use a format of four channels if the graphics API has three.",
                 image->channels, gr_s(image->channels));
    GR_REFUSE_IF(image->color_attachment && image->depth_texture,
                 "The image is both a colour attachment and a depth texture. The flags describe "
                 "how the texels are stored " ARRAY_CALL ". Set only one of them.");
    return GR_OK;
}

unsigned gr_whole_chain(size_t width, size_t height, size_t depth)
{
    size_t longest = width > height ? width : height;
    if (depth > longest)
        longest = depth;
    unsigned levels = 0;
    for (; longest > 0; longest /= 2)
        levels++;
    return levels;
}

static gr_status check_levels(const gr_external_image_desc *image, CUexternalMemoryHandleType type)
{
    unsigned most = gr_whole_chain(image->width, image->height, image->depth);
    GR_REFUSE_IF(image->levels > most,
                 "The image has %u mip level%s. An image of %zu x %zu x %zu texels has at most "
                 "%u " CREATE_CALL ". Pass the number that the image was created with.",
                 image->levels, gr_s(image->levels), image->width, image->height, image->depth,
                 most);
    if (image->placed_levels &&
        (image->placed_levels > most || image->layers == 0 || image->placed_levels < image->levels))
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "placed_levels is %u: for an image with layers it must lie between `levels` "
                       "(%u) and the length of the full mip chain (%u).",
                       image->placed_levels, image->levels, most);
    GR_REFUSE_IF(
        type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF && image->levels > 1,
        "The image in NVSCIBUF memory has %u mip level%s. There must be one level " ARRAY_CALL
        ". Pass 1, and create a resource for each level that you need.",
        image->levels, gr_s(image->levels));
    return GR_OK;
}

/* Returns a * b, or SIZE_MAX if the product overflows. */
static size_t times(size_t a, size_t b)
{
    return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

/* Returns the size of the texels of level 0, which is a lower bound for every layout. */
static size_t least_bytes(const gr_external_image_desc *image)
{
    const struct gr_element element = gr_format_element(image->format, image->channels);
    size_t bytes = times(element.bytes, gr_elements_across(element, image->width));
    bytes = times(bytes, gr_elements_across(element, image->height ? image->height : 1));
    bytes = times(bytes, image->depth ? image->depth : 1);
    return times(bytes, image->layers ? image->layers : 1);
}

static gr_status check_image(const gr_external_part_desc *part, size_t size,
                             CUexternalMemoryHandleType type)
{
    const gr_external_image_desc *image = part->image;
    GR_REFUSE_IF((int)type == GR_DMABUF_FD,
                 "An image was described in memory of the type DMABUF_FD. Images in a dma_buf are "
                 "not supported " ARRAY_CALL ". Use a buffer (`image` NULL).");
    GR_REFUSE_IF(part->size != 0,
                 "The image was given a size of %zu byte%s. The size of an image follows from its "
                 "description " ARRAY_CALL
                 ". Set the part's size to 0; the size of the memory has its own field.",
                 part->size, gr_s(part->size));
    GR_TRY(check_shape(image));
    GR_TRY(check_texel(image));
    GR_TRY(check_levels(image, type));
    GR_REFUSE_IF(least_bytes(image) > size - part->offset,
                 "The image at offset %zu does not fit into the memory of %zu byte%s: its texels "
                 "need at least %zu byte%s. The first level begins at the offset " ARRAY_CALL
                 ". Pass the size of the whole allocation.",
                 part->offset, size, gr_s(size), least_bytes(image), gr_s(least_bytes(image)));
    return GR_OK;
}

gr_status gr_external_check_part(const gr_external_part_desc *part, size_t size, bool dedicated,
                                 CUexternalMemoryHandleType type)
{
    GR_REFUSE_IF(part->offset >= size,
                 "The offset %zu is not within the memory of %zu byte%s. The offset counts bytes "
                 "from the start of the memory %s.",
                 part->offset, size, gr_s(size), part->image ? ARRAY_CALL : BUFFER_CALL);
    GR_REFUSE_IF(dedicated && part->offset != 0,
                 "The offset is %zu in dedicated memory. The exporter defines what dedicated means "
                 "(CUDA driver API, cuImportExternalMemory). In Vulkan (vkBindBufferMemory, "
                 "vkBindImageMemory) dedicated memory holds one object, at offset 0. Set the "
                 "offset to 0, or, if the memory is not dedicated, `dedicated` to false.",
                 part->offset);
    if (part->image)
        return check_image(part, size, type);
    GR_REFUSE_IF(part->size > size - part->offset,
                 "The buffer of %zu byte%s at offset %zu does not end within the memory of %zu "
                 "byte%s. Offset and size must be a range within the memory " BUFFER_CALL
                 ". A size of 0 means up to the end of the memory.",
                 part->size, gr_s(part->size), part->offset, size, gr_s(size));
    return GR_OK;
}

void gr_external_array_desc(const gr_external_part_desc *part, unsigned flags,
                            CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc)
{
    const gr_external_image_desc *image = part->image;
    memset(desc, 0, sizeof(*desc));
    desc->offset = part->offset;
    desc->numLevels = image->placed_levels ? image->placed_levels
                      : image->levels      ? image->levels
                                           : 1;
    desc->arrayDesc.Width = image->width;
    desc->arrayDesc.Height = image->height;
    desc->arrayDesc.Depth = image->layers ? image->layers : image->depth;
    gr_array_set_format(&desc->arrayDesc, image->format, image->channels);
    /* six layers of a cube are one cube; more layers are an array of cubes */
    desc->arrayDesc.Flags = (image->cube ? CUDA_ARRAY3D_CUBEMAP : 0) |
                            (image->layers > (image->cube ? 6u : 0u) ? CUDA_ARRAY3D_LAYERED : 0);
    if (flags & GR_SURFACE_LOAD_STORE)
        desc->arrayDesc.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
    if (flags & GR_TEXTURE_GATHER)
        desc->arrayDesc.Flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
    if (image->color_attachment)
        desc->arrayDesc.Flags |= CUDA_ARRAY3D_COLOR_ATTACHMENT;
    if (image->depth_texture)
        desc->arrayDesc.Flags |= CUDA_ARRAY3D_DEPTH_TEXTURE;
}
