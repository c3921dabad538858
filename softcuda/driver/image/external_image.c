/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Mipmapped arrays over external memory. The rows of a lavapipe image, of either tiling, and of an
 * llvmpipe texture are linear, like those of an array of this driver, but with other pitches. Their
 * layout was found with vkGetImageSubresourceLayout and from the bytes after copies (Mesa 22.3, and
 * 25.0 for 2D; 1D, 2D, 3D, cubes and arrays of them, 1 to 16 bytes per element, with and without
 * mip levels):
 * - A row has the width rounded up to 4 elements, then to 64 bytes. On AArch64 it is rounded up to
 *   8 bytes instead (Mesa 22.3): Mesa rounds to the CPU's cache line, whose size it does not know
 *   on AArch64.
 * - A slice has the height rounded up to 4 rows, or 1 row in a 1D image.
 * - Compressed blocks are elements whose rows and slices are not rounded up (Mesa 22.3).
 * - A slice is a layer, a face, or one z of a 3D image. Slices are contiguous.
 * - All slices of a level precede those of the next level, which begins at a multiple of 64 bytes.
 *   The end of the last level is the size in VkMemoryRequirements.
 */
#include "softcuda/driver/image/array.h"
#include "softcuda/driver/memory/device_memory.h"
#include "softcuda/driver/memory/external_memory.h"

#define TILE 4 /* llvmpipe draws in squares of this size */

#ifdef __x86_64__
#define ROW_ALIGNMENT 64
#else
#define ROW_ALIGNMENT sizeof(void *)
#endif

#define LEVEL_ALIGNMENT 64

/* The alignment that lavapipe requires for the offset of an image. */
#define OFFSET_ALIGNMENT 16

static size_t round_up(size_t number, size_t multiple)
{
    return (number + multiple - 1) / multiple * multiple;
}

/* The extents were checked, so neither product overflows. */
static size_t lay_out(const CUDA_ARRAY3D_DESCRIPTOR *level, soft_array_place *place)
{
    const bool is_compressed = soft_array_side(level->Format) > 1;
    const size_t tile = is_compressed ? 1 : TILE;
    const size_t width = round_up(soft_array_elements(level->Format, level->Width), tile);
    const size_t height = round_up(soft_array_elements(level->Format, level->Height), tile);
    const size_t element = soft_array_element(level->Format, level->NumChannels);
    place->row_pitch = round_up(width * element, is_compressed ? 1 : ROW_ALIGNMENT);
    place->slice_pitch = place->row_pitch * (height ? height : 1);
    return place->slice_pitch * (level->Depth ? level->Depth : 1);
}

typedef CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC image_description;

/*
 * If the memory was allocated for an image with fewer levels than the description has, fewer than
 * this many bytes follow the last level.
 */
#define MOST_SPARE 64

/*
 * Whether the memory ends before the next level, which would begin at `end` and have `bytes` bytes.
 * The Vulkan driver of NVIDIA places layers as if the chain of levels were whole, so programs pass
 * the number of levels of a whole chain to CUDA. Levels beyond the memory are left out here.
 */
static bool ends_here(const soft_external *external, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                      uint64_t end, size_t bytes)
{
    bool layered = descriptor->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    return layered && end <= external->size && external->size - end < MOST_SPARE &&
           external->size - end < bytes;
}

static CUresult wrap(const soft_external *external, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                     uint64_t offset, unsigned count, CUmipmappedArray *handle)
{
    soft_array_place places[SOFT_MAX_LEVELS] = {{0}};
    size_t offsets[SOFT_MAX_LEVELS], size = 0;
    for (unsigned i = 0; i < count; i++) {
        const CUDA_ARRAY3D_DESCRIPTOR level = soft_array_level_descriptor(descriptor, i);
        size_t bytes = lay_out(&level, &places[i]);
        offsets[i] = round_up(size, LEVEL_ALIGNMENT);
        if (i > 0 && ends_here(external, descriptor, offset + offsets[i], bytes)) {
            count = i;
            break;
        }
        size = offsets[i] + bytes;
    }
    soft_mipmap *mipmap;
    SOFT_TRY(soft_mipmap_wrap(external->owned.context, descriptor, count, places,
                              "an array over external memory", &mipmap));
    unsigned char *bytes;
    CUresult result = soft_external_map(external, offset, size, mipmap, &bytes);
    if (result != CUDA_SUCCESS) {
        soft_mipmap_unwrap(mipmap);
        return result;
    }
    *handle = soft_mipmap_adopt(mipmap, bytes, offsets);
    return CUDA_SUCCESS;
}

SOFT_API cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray *mipmap, CUexternalMemory extMem,
                                                 const image_description *mipmapDesc)
{
    SOFT_GET(soft_external *, external, soft_external_get(extMem, &external));
    SOFT_FAIL_IF(!mipmap || !mipmapDesc || mipmapDesc->numLevels == 0 ||
                     mipmapDesc->offset % OFFSET_ALIGNMENT != 0,
                 CUDA_ERROR_INVALID_VALUE);
    if (external->is_elsewhere) {
        soft_log(SOFT_WARN, "cuExternalMemoryGetMappedMipmappedArray: the memory is on another "
                            "device than the context");
        return CUDA_ERROR_UNKNOWN;
    }
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = mipmapDesc->arrayDesc;
    SOFT_TRY(soft_array_check(&descriptor));
    unsigned count = soft_mipmap_levels(&descriptor, mipmapDesc->numLevels);
    SOFT_FAIL_IF(count == 0, CUDA_ERROR_INVALID_VALUE);
    return wrap(external, &descriptor, mipmapDesc->offset, count, mipmap);
}
