/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan formats in CUDA: compares what the library says of each Vulkan format with the formats of
 * support_vulkan_image.c, which are all that it accepts.
 */
#include "tests/support/support_vulkan_image.h"

#include <stdio.h>
#include <string.h>

/* All formats of Vulkan 1.3. Those that older headers lack are given by number. */
struct named {
    unsigned number;
    const char *name;
};

/* clang-format off */
#define NAME(name) {VK_FORMAT_##name, "VK_FORMAT_" #name},
#define NUMBER(number, name) {number, "VK_FORMAT_" #name},
#define TWO(start, one, other) NAME(start##one) NAME(start##other)
#define INTEGERS(vk, pack) TWO(vk, _UNORM##pack, _SNORM##pack) \
    TWO(vk, _USCALED##pack, _SSCALED##pack) TWO(vk, _UINT##pack, _SINT##pack)
#define BYTES(vk, pack) INTEGERS(vk, pack) NAME(vk##_SRGB##pack)
#define HALVES(vk) INTEGERS(vk, ) NAME(vk##_SFLOAT)
#define WIDE(vk) TWO(vk, _UINT, _SINT) NAME(vk##_SFLOAT)
#define COLOURS(vk) TWO(vk, _UNORM_BLOCK, _SRGB_BLOCK)
#define CHANNELS(vk) TWO(vk, _UNORM_BLOCK, _SNORM_BLOCK)
#define ASTC(size, number) \
    COLOURS(ASTC_##size) NUMBER(1000066000 + number, ASTC_##size##_SFLOAT_BLOCK)
#define UNUSED_BITS(x) \
    NAME(R##x##_UNORM_PACK16) NAME(R##x##G##x##_UNORM_2PACK16) \
    NAME(R##x##G##x##B##x##A##x##_UNORM_4PACK16)
#define SUBSAMPLED(x, pack4, pack3, number) \
    NAME(G##x##B##x##G##x##R##x##_422_UNORM##pack4) \
    NAME(B##x##G##x##R##x##G##x##_422_UNORM##pack4) \
    TWO(G##x##_B##x##_R##x##_3PLANE_4, 20_UNORM##pack3, 22_UNORM##pack3) \
    TWO(G##x##_B##x##R##x##_2PLANE_4, 20_UNORM##pack3, 22_UNORM##pack3) \
    NAME(G##x##_B##x##_R##x##_3PLANE_444_UNORM##pack3) \
    NUMBER(1000330000 + number, G##x##_B##x##R##x##_2PLANE_444_UNORM##pack3)

static const struct named formats[] = {
    NAME(UNDEFINED) NAME(R4G4_UNORM_PACK8)
    NAME(R4G4B4A4_UNORM_PACK16) NAME(B4G4R4A4_UNORM_PACK16)
    NUMBER(1000340000, A4R4G4B4_UNORM_PACK16) NUMBER(1000340001, A4B4G4R4_UNORM_PACK16)
    NAME(R5G6B5_UNORM_PACK16) NAME(B5G6R5_UNORM_PACK16)
    NAME(R5G5B5A1_UNORM_PACK16) NAME(B5G5R5A1_UNORM_PACK16) NAME(A1R5G5B5_UNORM_PACK16)
    BYTES(R8, ) BYTES(R8G8, ) BYTES(R8G8B8, ) BYTES(B8G8R8, ) BYTES(R8G8B8A8, )
    BYTES(B8G8R8A8, ) BYTES(A8B8G8R8, _PACK32)
    INTEGERS(A2R10G10B10, _PACK32) INTEGERS(A2B10G10R10, _PACK32)
    HALVES(R16) HALVES(R16G16) HALVES(R16G16B16) HALVES(R16G16B16A16)
    WIDE(R32) WIDE(R32G32) WIDE(R32G32B32) WIDE(R32G32B32A32)
    WIDE(R64) WIDE(R64G64) WIDE(R64G64B64) WIDE(R64G64B64A64)
    NAME(B10G11R11_UFLOAT_PACK32) NAME(E5B9G9R9_UFLOAT_PACK32)
    NAME(D16_UNORM) NAME(X8_D24_UNORM_PACK32) NAME(D32_SFLOAT) NAME(S8_UINT)
    NAME(D16_UNORM_S8_UINT) NAME(D24_UNORM_S8_UINT) NAME(D32_SFLOAT_S8_UINT)
    COLOURS(BC1_RGB) COLOURS(BC1_RGBA) COLOURS(BC2) COLOURS(BC3) CHANNELS(BC4) CHANNELS(BC5)
    TWO(BC6H, _UFLOAT_BLOCK, _SFLOAT_BLOCK) COLOURS(BC7)
    COLOURS(ETC2_R8G8B8) COLOURS(ETC2_R8G8B8A1) COLOURS(ETC2_R8G8B8A8)
    CHANNELS(EAC_R11) CHANNELS(EAC_R11G11)
    ASTC(4x4, 0) ASTC(5x4, 1) ASTC(5x5, 2) ASTC(6x5, 3) ASTC(6x6, 4) ASTC(8x5, 5) ASTC(8x6, 6)
    ASTC(8x8, 7) ASTC(10x5, 8) ASTC(10x6, 9) ASTC(10x8, 10) ASTC(10x10, 11) ASTC(12x10, 12)
    ASTC(12x12, 13)
    SUBSAMPLED(8, , , 0) SUBSAMPLED(10X6, _4PACK16, _3PACK16, 1)
    SUBSAMPLED(12X4, _4PACK16, _3PACK16, 2) SUBSAMPLED(16, , , 3)
    UNUSED_BITS(10X6) UNUSED_BITS(12X4)
};
/* clang-format on */
#define FORMAT_COUNT (sizeof(formats) / sizeof(*formats))

GROUP("table", add_case)

static void assert_accepted(const struct vulkan_format *wanted)
{
    const gr_vk_format_info *info = must_make(gr_vk_format_get_info(wanted->format));
    ck_assert_ptr_eq(info, gr_vk_format_get_info(wanted->format));
    ck_assert_str_eq(info->name, wanted->name);
    ck_assert_msg(info->format == wanted->cuda && info->channels == wanted->channels &&
                      info->normalized == ((wanted->is & FORMAT_NORMALIZED) != 0) &&
                      info->srgb == ((wanted->is & FORMAT_SRGB) != 0) &&
                      info->depth == ((wanted->is & FORMAT_DEPTH) != 0) &&
                      info->swapped == ((wanted->is & FORMAT_SWAPPED) != 0),
                  "%s: CUDA's format is 0x%x x %u, normalized %d, srgb %d, depth %d, swapped %d",
                  info->name, (unsigned)info->format, info->channels, info->normalized, info->srgb,
                  info->depth, info->swapped);
}

static bool is_accepted(const char *name, size_t length)
{
    for (size_t i = 0; i < vulkan_format_count; i++)
        if (strlen(vulkan_formats[i].name) == length &&
            strncmp(vulkan_formats[i].name, name, length) == 0)
            return true;
    return false;
}

/* The message must name the format, and then a format that CUDA supports. */
static void assert_refused(const struct named *named)
{
    char text[120];
    snprintf(text, sizeof(text), "%s:", named->name);
    assert_null(gr_vk_format_get_info((VkFormat)named->number), GR_ERR_UNSUPPORTED, 0, text);
    ck_assert_ptr_null(gr_vk_format_get_info((VkFormat)named->number));
    gr_error error = *gr_last_error();
    const char *instead = strstr(error.message, ". Use ");
    ck_assert_msg(instead, "%s", error.message);
    const char *name = strstr(instead, "VK_FORMAT_");
    ck_assert_msg(name, "%s", error.message);
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    ck_assert_msg(is_accepted(name, length), "%s", error.message);
}

TEST(each_format_is_accepted_or_refused)
{
    size_t accepted = 0;
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        const struct vulkan_format *wanted = vulkan_format((VkFormat)formats[i].number);
        if (wanted)
            assert_accepted(wanted);
        else
            assert_refused(&formats[i]);
        accepted += wanted != NULL;
    }
    ck_assert_uint_eq(accepted, vulkan_format_count);
}

TEST(refusals_name_the_reason_and_a_supported_format)
{
    static const struct {
        VkFormat format;
        const char *text;
    } some[] = {
        {VK_FORMAT_UNDEFINED, "not a format. Use one that defines the channels of a texel"},
        {VK_FORMAT_R8G8B8_UNORM, "3 channels. Use VK_FORMAT_R8G8B8A8_UNORM."},
        {VK_FORMAT_B8G8R8_SRGB, "3 channels. Use VK_FORMAT_B8G8R8A8_SRGB."},
        {VK_FORMAT_R32G32B32_SFLOAT, "3 channels. Use VK_FORMAT_R32G32B32A32_SFLOAT."},
        {VK_FORMAT_A2B10G10R10_SNORM_PACK32, "not whole bytes. Use VK_FORMAT_R16G16B16A16_SNORM."},
        {VK_FORMAT_BC1_RGB_SRGB_BLOCK, "in Vulkan. Use VK_FORMAT_BC1_RGBA_SRGB_BLOCK."},
        {VK_FORMAT_R5G5B5A1_UNORM_PACK16, "not whole bytes. Use VK_FORMAT_R8G8B8A8_UNORM."},
        {VK_FORMAT_R64_SFLOAT, "64-bit channels. Use VK_FORMAT_R32G32_UINT"},
        {VK_FORMAT_R16_USCALED, "as floats of the same value. Use VK_FORMAT_R16_UINT."},
        {VK_FORMAT_D16_UNORM, "another order. Use VK_FORMAT_D32_SFLOAT."},
        {VK_FORMAT_D16_UNORM_S8_UINT, "stencil. Use VK_FORMAT_D32_SFLOAT."},
        {VK_FORMAT_D24_UNORM_S8_UINT, "stencil. Use VK_FORMAT_D32_SFLOAT."},
        {VK_FORMAT_X8_D24_UNORM_PACK32, "24-bit channels. Use VK_FORMAT_D32_SFLOAT."},
        {VK_FORMAT_S8_UINT, "stencil. Use VK_FORMAT_R8_UINT that a shader writes."},
        {VK_FORMAT_ETC2_R8G8B8_SRGB_BLOCK, "does not have. Use VK_FORMAT_R8G8B8A8_UNORM"},
        {VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, "in planes. Use an image of VK_FORMAT_R8_UNORM"},
    };
    for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
        assert_null(gr_vk_format_get_info(some[i].format), GR_ERR_UNSUPPORTED, 0, some[i].text);
}

TEST(unknown_format_numbers_are_refused)
{
    assert_null(gr_vk_format_get_info((VkFormat)185), GR_ERR_UNSUPPORTED, 0, "VkFormat 185 ");
    assert_null(gr_vk_format_get_info((VkFormat)1000054000), GR_ERR_UNSUPPORTED, 0,
                "VkFormat 1000054000 ");
    assert_null(gr_vk_format_get_info(VK_FORMAT_MAX_ENUM), GR_ERR_UNSUPPORTED, 0,
                "VkFormat 2147483647 ");
}
