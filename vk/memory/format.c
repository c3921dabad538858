/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The table of Vulkan formats: what CUDA sees of each format, or why CUDA refuses it and what to
 * use instead.
 */
#include <grinterop/vk.h>

#include "lib/cuda/array_format.h"
#include "lib/base/error.h"

struct row {
    unsigned number; /* the VkFormat */
    gr_vk_format_info info;
    const char *refused; /* why CUDA does not support the format, or NULL */
    const char *instead;
};

/* clang-format off */
#define ROW(vk, type, channels, normalized, srgb, depth, swapped) \
    {VK_FORMAT_##vk, \
     {"VK_FORMAT_" #vk, type, channels, normalized, srgb, depth, swapped}, NULL, NULL}
#define PLAIN(vk, type, channels) ROW(vk, type, channels, false, false, false, false)
#define SRGB(vk, type, channels)  ROW(vk, type, channels, true, true, false, false)
/* Rows of formats that older Vulkan headers lack, with their numbers. */
#define NO_NUMBER(number, vk, why, instead) \
    {number, {"VK_FORMAT_" #vk, U8, 0, false, false, false, false}, why, instead}
#define NO(vk, why, instead) NO_NUMBER(VK_FORMAT_##vk, vk, why, instead)

/*
 * Rows for all interpretations of the same channels. `instead` is a format with channels of the
 * same size.
 */
#define INTEGERS(vk, pack, bits, channels, swapped, instead) \
    ROW(vk##_UNORM##pack, U##bits, channels, true, false, false, swapped), \
    ROW(vk##_SNORM##pack, S##bits, channels, true, false, false, swapped), \
    NO(vk##_USCALED##pack, SCALED, "VK_FORMAT_" #instead "_UINT"), \
    NO(vk##_SSCALED##pack, SCALED, "VK_FORMAT_" #instead "_SINT"), \
    ROW(vk##_UINT##pack, U##bits, channels, false, false, false, swapped), \
    ROW(vk##_SINT##pack, S##bits, channels, false, false, false, swapped)
/* The other kinds of 10:10:10:2 texels. */
#define NO_PACKED(vk) \
    NO(vk##_SNORM_PACK32, PACKED, "VK_FORMAT_R16G16B16A16_SNORM"), \
    NO(vk##_USCALED_PACK32, PACKED, "VK_FORMAT_R16G16B16A16_UINT"), \
    NO(vk##_SSCALED_PACK32, PACKED, "VK_FORMAT_R16G16B16A16_SINT"), \
    NO(vk##_UINT_PACK32, PACKED, "VK_FORMAT_R16G16B16A16_UINT"), \
    NO(vk##_SINT_PACK32, PACKED, "VK_FORMAT_R16G16B16A16_SINT")
#define NO_INTEGERS(vk, why, instead) \
    NO(vk##_UNORM, why, "VK_FORMAT_" #instead "_UNORM"), \
    NO(vk##_SNORM, why, "VK_FORMAT_" #instead "_SNORM"), \
    NO(vk##_USCALED, SCALED, "VK_FORMAT_" #instead "_UINT"), \
    NO(vk##_SSCALED, SCALED, "VK_FORMAT_" #instead "_SINT"), \
    NO(vk##_UINT, why, "VK_FORMAT_" #instead "_UINT"), \
    NO(vk##_SINT, why, "VK_FORMAT_" #instead "_SINT")
#define WORDS(vk, channels) \
    PLAIN(vk##_UINT, U32, channels), PLAIN(vk##_SINT, S32, channels), \
    PLAIN(vk##_SFLOAT, F32, channels)
#define NO_WIDE(vk, instead) \
    NO(vk##_UINT, WIDE, instead), NO(vk##_SINT, WIDE, instead), NO(vk##_SFLOAT, WIDE, instead)

/* Compressed formats that CUDA has, too. */
#define BC(vk, cuda, channels, normalized, srgb) \
    ROW(vk##_BLOCK, GR_FORMAT_##cuda, channels, normalized, srgb, false, false)
#define BC_COLOURS(vk, cuda) \
    BC(vk##_UNORM, cuda##_UNORM, 4, true, false), BC(vk##_SRGB, cuda##_UNORM_SRGB, 4, true, true)
#define BC_CHANNELS(bc, channels) \
    BC(bc##_UNORM, bc##_UNORM, channels, true, false), \
    BC(bc##_SNORM, bc##_SNORM, channels, true, false)

#define BLOCKS(vk, one, other, copy) \
    NO(vk##_##one##_BLOCK, COMPRESSED, copy), NO(vk##_##other##_BLOCK, COMPRESSED, copy)
#define ASTC(size, number) \
    BLOCKS(ASTC_##size, UNORM, SRGB, COPY_8), \
    NO_NUMBER(1000066000 + (number), ASTC_##size##_SFLOAT_BLOCK, COMPRESSED, COPY_FLOAT)

/* A row of a YCbCr format. `bits` is the channel size in the format names. */
#define CONVERTED(vk, bits) \
    NO(vk, YCBCR, "VK_FORMAT_R" #bits "G" #bits "B" #bits "A" #bits \
                  "_UNORM that a shader converts it to")
#define EACH_PLANE(bits) "an image of VK_FORMAT_R" #bits "_UNORM for each plane"
#define SUBSAMPLED(x, bits, pack4, pack3, number) \
    CONVERTED(G##x##B##x##G##x##R##x##_422_UNORM##pack4, bits), \
    CONVERTED(B##x##G##x##R##x##G##x##_422_UNORM##pack4, bits), \
    NO(G##x##_B##x##_R##x##_3PLANE_420_UNORM##pack3, YCBCR, EACH_PLANE(bits)), \
    NO(G##x##_B##x##R##x##_2PLANE_420_UNORM##pack3, YCBCR, EACH_PLANE(bits)), \
    NO(G##x##_B##x##_R##x##_3PLANE_422_UNORM##pack3, YCBCR, EACH_PLANE(bits)), \
    NO(G##x##_B##x##R##x##_2PLANE_422_UNORM##pack3, YCBCR, EACH_PLANE(bits)), \
    NO(G##x##_B##x##_R##x##_3PLANE_444_UNORM##pack3, YCBCR, EACH_PLANE(bits)), \
    NO_NUMBER(number, G##x##_B##x##R##x##_2PLANE_444_UNORM##pack3, YCBCR, EACH_PLANE(bits))
/* clang-format on */

#define A_FORMAT   "one that defines the channels of a texel, such as VK_FORMAT_R8G8B8A8_UNORM"
#define THREE      "CUDA has no arrays with 3 channels"
#define SCALED     "CUDA has no scaled formats, whose integers are read as floats of the same value"
#define PACKED     "its channels are not whole bytes"
#define OPAQUE_BC1 "CUDA reads some texels as transparent that are opaque black in Vulkan"
#define UNUSED     "some bits of its channels are unused, which CUDA does not support"
#define WIDE       "CUDA has no arrays with 64-bit channels"
#define DEPTH16    "CUDA reads it as R16, but the NVIDIA driver (580) stores it in another order"
#define DEPTH24    "CUDA has no 24-bit channels"
#define STENCIL    "CUDA has no stencil"
#define COMPRESSED "its texels are compressed in blocks that CUDA does not have"
#define YCBCR      "its colours are subsampled, or in planes"
#define COPY_8     "VK_FORMAT_R8G8B8A8_UNORM that it is decoded into"
#define COPY_FLOAT "VK_FORMAT_R16G16B16A16_SFLOAT that it is decoded into"

/* clang-format off */
static const struct row rows[] = {
    NO(UNDEFINED, "it is not a format", A_FORMAT),
    NO(R4G4_UNORM_PACK8, PACKED, "VK_FORMAT_R8G8B8A8_UNORM"),
    NO(R4G4B4A4_UNORM_PACK16, PACKED, "VK_FORMAT_R8G8B8A8_UNORM"),
    NO(B4G4R4A4_UNORM_PACK16, PACKED, "VK_FORMAT_R8G8B8A8_UNORM"),
    NO_NUMBER(1000340000, A4R4G4B4_UNORM_PACK16, PACKED, "VK_FORMAT_R8G8B8A8_UNORM"),
    NO_NUMBER(1000340001, A4B4G4R4_UNORM_PACK16, PACKED, "VK_FORMAT_R8G8B8A8_UNORM"),
    ROW(R5G6B5_UNORM_PACK16, GR_FORMAT_R5G6B5, 3, true, false, false, false),
    ROW(B5G6R5_UNORM_PACK16, GR_FORMAT_B5G6R5, 3, true, false, false, false),
    NO(R5G5B5A1_UNORM_PACK16, PACKED, "VK_FORMAT_R8G8B8A8_UNORM"),
    NO(B5G5R5A1_UNORM_PACK16, PACKED, "VK_FORMAT_R8G8B8A8_UNORM"),
    NO(A1R5G5B5_UNORM_PACK16, PACKED, "VK_FORMAT_R8G8B8A8_UNORM"),
    INTEGERS(R8, , 8, 1, false, R8),
    SRGB(R8_SRGB, U8, 1),
    INTEGERS(R8G8, , 8, 2, false, R8G8),
    SRGB(R8G8_SRGB, U8, 2),
    NO_INTEGERS(R8G8B8, THREE, R8G8B8A8),
    NO(R8G8B8_SRGB, THREE, "VK_FORMAT_R8G8B8A8_SRGB"),
    NO_INTEGERS(B8G8R8, THREE, B8G8R8A8),
    NO(B8G8R8_SRGB, THREE, "VK_FORMAT_B8G8R8A8_SRGB"),
    INTEGERS(R8G8B8A8, , 8, 4, false, R8G8B8A8),
    SRGB(R8G8B8A8_SRGB, U8, 4),
    INTEGERS(B8G8R8A8, , 8, 4, true, B8G8R8A8),
    ROW(B8G8R8A8_SRGB, U8, 4, true, true, false, true),
    INTEGERS(A8B8G8R8, _PACK32, 8, 4, false, R8G8B8A8),
    SRGB(A8B8G8R8_SRGB_PACK32, U8, 4),
    ROW(A2R10G10B10_UNORM_PACK32, GR_FORMAT_A2R10G10B10, 4, true, false, false, false),
    NO_PACKED(A2R10G10B10),
    ROW(A2B10G10R10_UNORM_PACK32, GR_FORMAT_UNORM_INT_101010_2, 4, true, false, false, false),
    NO_PACKED(A2B10G10R10),
    INTEGERS(R16, , 16, 1, false, R16),
    PLAIN(R16_SFLOAT, F16, 1),
    INTEGERS(R16G16, , 16, 2, false, R16G16),
    PLAIN(R16G16_SFLOAT, F16, 2),
    NO_INTEGERS(R16G16B16, THREE, R16G16B16A16),
    NO(R16G16B16_SFLOAT, THREE, "VK_FORMAT_R16G16B16A16_SFLOAT"),
    INTEGERS(R16G16B16A16, , 16, 4, false, R16G16B16A16),
    PLAIN(R16G16B16A16_SFLOAT, F16, 4),
    WORDS(R32, 1),
    WORDS(R32G32, 2),
    NO(R32G32B32_UINT, THREE, "VK_FORMAT_R32G32B32A32_UINT"),
    NO(R32G32B32_SINT, THREE, "VK_FORMAT_R32G32B32A32_SINT"),
    NO(R32G32B32_SFLOAT, THREE, "VK_FORMAT_R32G32B32A32_SFLOAT"),
    WORDS(R32G32B32A32, 4),
    NO_WIDE(R64, "VK_FORMAT_R32G32_UINT, whose channels are the halves"),
    NO_WIDE(R64G64, "VK_FORMAT_R32G32B32A32_UINT, whose channels are the halves"),
    NO_WIDE(R64G64B64, "two images of VK_FORMAT_R32G32B32A32_UINT, or a buffer"),
    NO_WIDE(R64G64B64A64, "two images of VK_FORMAT_R32G32B32A32_UINT, or a buffer"),
    PLAIN(B10G11R11_UFLOAT_PACK32, GR_FORMAT_B10G11R11, 3),
    PLAIN(E5B9G9R9_UFLOAT_PACK32, GR_FORMAT_E5B9G9R9, 3),
    NO(D16_UNORM, DEPTH16, "VK_FORMAT_D32_SFLOAT"),
    NO(X8_D24_UNORM_PACK32, DEPTH24, "VK_FORMAT_D32_SFLOAT"),
    ROW(D32_SFLOAT, F32, 1, false, false, true, false),
    NO(S8_UINT, STENCIL, "VK_FORMAT_R8_UINT that a shader writes"),
    NO(D16_UNORM_S8_UINT, STENCIL, "VK_FORMAT_D32_SFLOAT"),
    NO(D24_UNORM_S8_UINT, STENCIL, "VK_FORMAT_D32_SFLOAT"),
    NO(D32_SFLOAT_S8_UINT, STENCIL, "VK_FORMAT_D32_SFLOAT"),
    NO(BC1_RGB_UNORM_BLOCK, OPAQUE_BC1, "VK_FORMAT_BC1_RGBA_UNORM_BLOCK"),
    NO(BC1_RGB_SRGB_BLOCK, OPAQUE_BC1, "VK_FORMAT_BC1_RGBA_SRGB_BLOCK"),
    BC_COLOURS(BC1_RGBA, BC1), BC_COLOURS(BC2, BC2), BC_COLOURS(BC3, BC3),
    BC_CHANNELS(BC4, 1), BC_CHANNELS(BC5, 2),
    BC(BC6H_UFLOAT, BC6H_UF16, 3, false, false), BC(BC6H_SFLOAT, BC6H_SF16, 3, false, false),
    BC_COLOURS(BC7, BC7),
    BLOCKS(ETC2_R8G8B8, UNORM, SRGB, COPY_8),
    BLOCKS(ETC2_R8G8B8A1, UNORM, SRGB, COPY_8),
    BLOCKS(ETC2_R8G8B8A8, UNORM, SRGB, COPY_8),
    BLOCKS(EAC_R11, UNORM, SNORM, COPY_8),
    BLOCKS(EAC_R11G11, UNORM, SNORM, COPY_8),
    ASTC(4x4, 0), ASTC(5x4, 1), ASTC(5x5, 2), ASTC(6x5, 3), ASTC(6x6, 4),
    ASTC(8x5, 5), ASTC(8x6, 6), ASTC(8x8, 7),
    ASTC(10x5, 8), ASTC(10x6, 9), ASTC(10x8, 10), ASTC(10x10, 11),
    ASTC(12x10, 12), ASTC(12x12, 13),
    SUBSAMPLED(8, 8, , , 1000330000),
    SUBSAMPLED(10X6, 16, _4PACK16, _3PACK16, 1000330001),
    SUBSAMPLED(12X4, 16, _4PACK16, _3PACK16, 1000330002),
    SUBSAMPLED(16, 16, , , 1000330003),
    NO(R10X6_UNORM_PACK16, UNUSED, "VK_FORMAT_R16_UNORM"),
    NO(R10X6G10X6_UNORM_2PACK16, UNUSED, "VK_FORMAT_R16G16_UNORM"),
    NO(R10X6G10X6B10X6A10X6_UNORM_4PACK16, UNUSED, "VK_FORMAT_R16G16B16A16_UNORM"),
    NO(R12X4_UNORM_PACK16, UNUSED, "VK_FORMAT_R16_UNORM"),
    NO(R12X4G12X4_UNORM_2PACK16, UNUSED, "VK_FORMAT_R16G16_UNORM"),
    NO(R12X4G12X4B12X4A12X4_UNORM_4PACK16, UNUSED, "VK_FORMAT_R16G16B16A16_UNORM"),
};
/* clang-format on */

const gr_vk_format_info *gr_vk_format_get_info(VkFormat format)
{
    GR_CALL();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        if (row->number != (unsigned)format)
            continue;
        if (!row->refused)
            return &row->info;
        gr_fail(GR_ERR_UNSUPPORTED, "grinterop does not share images of %s: %s. Use %s.",
                row->info.name, row->refused, row->instead);
        return NULL;
    }
    gr_fail(GR_ERR_UNSUPPORTED,
            "VkFormat %u is unknown to grinterop. Use a format with 1, 2 or 4 channels of 8, 16 or "
            "32 bits.",
            (unsigned)format);
    return NULL;
}
