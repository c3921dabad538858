/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan formats in CUDA: parses the name of each Vulkan format and compares it with the table of
 * the library.
 */
#define _GNU_SOURCE
#include "tests/support/support.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/vk.h>

/* All formats of Vulkan 1.3. Those that older headers lack are given by number. */
struct named {
    unsigned number;
    const char *name;
};
#define NAME(name) {VK_FORMAT_##name, #name},

/* clang-format off */
static const struct named formats[] = {
    NAME(UNDEFINED) NAME(R4G4_UNORM_PACK8) NAME(R4G4B4A4_UNORM_PACK16) NAME(B4G4R4A4_UNORM_PACK16)
    NAME(R5G6B5_UNORM_PACK16) NAME(B5G6R5_UNORM_PACK16) NAME(R5G5B5A1_UNORM_PACK16)
    NAME(B5G5R5A1_UNORM_PACK16) NAME(A1R5G5B5_UNORM_PACK16) NAME(R8_UNORM) NAME(R8_SNORM)
    NAME(R8_USCALED) NAME(R8_SSCALED) NAME(R8_UINT) NAME(R8_SINT) NAME(R8_SRGB) NAME(R8G8_UNORM)
    NAME(R8G8_SNORM) NAME(R8G8_USCALED) NAME(R8G8_SSCALED) NAME(R8G8_UINT) NAME(R8G8_SINT)
    NAME(R8G8_SRGB) NAME(R8G8B8_UNORM) NAME(R8G8B8_SNORM) NAME(R8G8B8_USCALED)
    NAME(R8G8B8_SSCALED) NAME(R8G8B8_UINT) NAME(R8G8B8_SINT) NAME(R8G8B8_SRGB) NAME(B8G8R8_UNORM)
    NAME(B8G8R8_SNORM) NAME(B8G8R8_USCALED) NAME(B8G8R8_SSCALED) NAME(B8G8R8_UINT)
    NAME(B8G8R8_SINT) NAME(B8G8R8_SRGB) NAME(R8G8B8A8_UNORM) NAME(R8G8B8A8_SNORM)
    NAME(R8G8B8A8_USCALED) NAME(R8G8B8A8_SSCALED) NAME(R8G8B8A8_UINT) NAME(R8G8B8A8_SINT)
    NAME(R8G8B8A8_SRGB) NAME(B8G8R8A8_UNORM) NAME(B8G8R8A8_SNORM) NAME(B8G8R8A8_USCALED)
    NAME(B8G8R8A8_SSCALED) NAME(B8G8R8A8_UINT) NAME(B8G8R8A8_SINT) NAME(B8G8R8A8_SRGB)
    NAME(A8B8G8R8_UNORM_PACK32) NAME(A8B8G8R8_SNORM_PACK32) NAME(A8B8G8R8_USCALED_PACK32)
    NAME(A8B8G8R8_SSCALED_PACK32) NAME(A8B8G8R8_UINT_PACK32) NAME(A8B8G8R8_SINT_PACK32)
    NAME(A8B8G8R8_SRGB_PACK32) NAME(A2R10G10B10_UNORM_PACK32) NAME(A2R10G10B10_SNORM_PACK32)
    NAME(A2R10G10B10_USCALED_PACK32) NAME(A2R10G10B10_SSCALED_PACK32)
    NAME(A2R10G10B10_UINT_PACK32) NAME(A2R10G10B10_SINT_PACK32) NAME(A2B10G10R10_UNORM_PACK32)
    NAME(A2B10G10R10_SNORM_PACK32) NAME(A2B10G10R10_USCALED_PACK32)
    NAME(A2B10G10R10_SSCALED_PACK32) NAME(A2B10G10R10_UINT_PACK32) NAME(A2B10G10R10_SINT_PACK32)
    NAME(R16_UNORM) NAME(R16_SNORM) NAME(R16_USCALED) NAME(R16_SSCALED) NAME(R16_UINT)
    NAME(R16_SINT) NAME(R16_SFLOAT) NAME(R16G16_UNORM) NAME(R16G16_SNORM) NAME(R16G16_USCALED)
    NAME(R16G16_SSCALED) NAME(R16G16_UINT) NAME(R16G16_SINT) NAME(R16G16_SFLOAT)
    NAME(R16G16B16_UNORM) NAME(R16G16B16_SNORM) NAME(R16G16B16_USCALED) NAME(R16G16B16_SSCALED)
    NAME(R16G16B16_UINT) NAME(R16G16B16_SINT) NAME(R16G16B16_SFLOAT) NAME(R16G16B16A16_UNORM)
    NAME(R16G16B16A16_SNORM) NAME(R16G16B16A16_USCALED) NAME(R16G16B16A16_SSCALED)
    NAME(R16G16B16A16_UINT) NAME(R16G16B16A16_SINT) NAME(R16G16B16A16_SFLOAT) NAME(R32_UINT)
    NAME(R32_SINT) NAME(R32_SFLOAT) NAME(R32G32_UINT) NAME(R32G32_SINT) NAME(R32G32_SFLOAT)
    NAME(R32G32B32_UINT) NAME(R32G32B32_SINT) NAME(R32G32B32_SFLOAT) NAME(R32G32B32A32_UINT)
    NAME(R32G32B32A32_SINT) NAME(R32G32B32A32_SFLOAT) NAME(R64_UINT) NAME(R64_SINT)
    NAME(R64_SFLOAT) NAME(R64G64_UINT) NAME(R64G64_SINT) NAME(R64G64_SFLOAT) NAME(R64G64B64_UINT)
    NAME(R64G64B64_SINT) NAME(R64G64B64_SFLOAT) NAME(R64G64B64A64_UINT) NAME(R64G64B64A64_SINT)
    NAME(R64G64B64A64_SFLOAT) NAME(B10G11R11_UFLOAT_PACK32) NAME(E5B9G9R9_UFLOAT_PACK32)
    NAME(D16_UNORM) NAME(X8_D24_UNORM_PACK32) NAME(D32_SFLOAT) NAME(S8_UINT)
    NAME(D16_UNORM_S8_UINT) NAME(D24_UNORM_S8_UINT) NAME(D32_SFLOAT_S8_UINT)
    NAME(BC1_RGB_UNORM_BLOCK) NAME(BC1_RGB_SRGB_BLOCK) NAME(BC1_RGBA_UNORM_BLOCK)
    NAME(BC1_RGBA_SRGB_BLOCK) NAME(BC2_UNORM_BLOCK) NAME(BC2_SRGB_BLOCK) NAME(BC3_UNORM_BLOCK)
    NAME(BC3_SRGB_BLOCK) NAME(BC4_UNORM_BLOCK) NAME(BC4_SNORM_BLOCK) NAME(BC5_UNORM_BLOCK)
    NAME(BC5_SNORM_BLOCK) NAME(BC6H_UFLOAT_BLOCK) NAME(BC6H_SFLOAT_BLOCK) NAME(BC7_UNORM_BLOCK)
    NAME(BC7_SRGB_BLOCK) NAME(ETC2_R8G8B8_UNORM_BLOCK) NAME(ETC2_R8G8B8_SRGB_BLOCK)
    NAME(ETC2_R8G8B8A1_UNORM_BLOCK) NAME(ETC2_R8G8B8A1_SRGB_BLOCK) NAME(ETC2_R8G8B8A8_UNORM_BLOCK)
    NAME(ETC2_R8G8B8A8_SRGB_BLOCK) NAME(EAC_R11_UNORM_BLOCK) NAME(EAC_R11_SNORM_BLOCK)
    NAME(EAC_R11G11_UNORM_BLOCK) NAME(EAC_R11G11_SNORM_BLOCK) NAME(ASTC_4x4_UNORM_BLOCK)
    NAME(ASTC_4x4_SRGB_BLOCK) NAME(ASTC_5x4_UNORM_BLOCK) NAME(ASTC_5x4_SRGB_BLOCK)
    NAME(ASTC_5x5_UNORM_BLOCK) NAME(ASTC_5x5_SRGB_BLOCK) NAME(ASTC_6x5_UNORM_BLOCK)
    NAME(ASTC_6x5_SRGB_BLOCK) NAME(ASTC_6x6_UNORM_BLOCK) NAME(ASTC_6x6_SRGB_BLOCK)
    NAME(ASTC_8x5_UNORM_BLOCK) NAME(ASTC_8x5_SRGB_BLOCK) NAME(ASTC_8x6_UNORM_BLOCK)
    NAME(ASTC_8x6_SRGB_BLOCK) NAME(ASTC_8x8_UNORM_BLOCK) NAME(ASTC_8x8_SRGB_BLOCK)
    NAME(ASTC_10x5_UNORM_BLOCK) NAME(ASTC_10x5_SRGB_BLOCK) NAME(ASTC_10x6_UNORM_BLOCK)
    NAME(ASTC_10x6_SRGB_BLOCK) NAME(ASTC_10x8_UNORM_BLOCK) NAME(ASTC_10x8_SRGB_BLOCK)
    NAME(ASTC_10x10_UNORM_BLOCK) NAME(ASTC_10x10_SRGB_BLOCK) NAME(ASTC_12x10_UNORM_BLOCK)
    NAME(ASTC_12x10_SRGB_BLOCK) NAME(ASTC_12x12_UNORM_BLOCK) NAME(ASTC_12x12_SRGB_BLOCK)
    NAME(G8B8G8R8_422_UNORM) NAME(B8G8R8G8_422_UNORM) NAME(G8_B8_R8_3PLANE_420_UNORM)
    NAME(G8_B8R8_2PLANE_420_UNORM) NAME(G8_B8_R8_3PLANE_422_UNORM) NAME(G8_B8R8_2PLANE_422_UNORM)
    NAME(G8_B8_R8_3PLANE_444_UNORM) NAME(R10X6_UNORM_PACK16) NAME(R10X6G10X6_UNORM_2PACK16)
    NAME(R10X6G10X6B10X6A10X6_UNORM_4PACK16) NAME(G10X6B10X6G10X6R10X6_422_UNORM_4PACK16)
    NAME(B10X6G10X6R10X6G10X6_422_UNORM_4PACK16) NAME(G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16)
    NAME(G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16)
    NAME(G10X6_B10X6_R10X6_3PLANE_422_UNORM_3PACK16)
    NAME(G10X6_B10X6R10X6_2PLANE_422_UNORM_3PACK16)
    NAME(G10X6_B10X6_R10X6_3PLANE_444_UNORM_3PACK16) NAME(R12X4_UNORM_PACK16)
    NAME(R12X4G12X4_UNORM_2PACK16) NAME(R12X4G12X4B12X4A12X4_UNORM_4PACK16)
    NAME(G12X4B12X4G12X4R12X4_422_UNORM_4PACK16) NAME(B12X4G12X4R12X4G12X4_422_UNORM_4PACK16)
    NAME(G12X4_B12X4_R12X4_3PLANE_420_UNORM_3PACK16)
    NAME(G12X4_B12X4R12X4_2PLANE_420_UNORM_3PACK16)
    NAME(G12X4_B12X4_R12X4_3PLANE_422_UNORM_3PACK16)
    NAME(G12X4_B12X4R12X4_2PLANE_422_UNORM_3PACK16)
    NAME(G12X4_B12X4_R12X4_3PLANE_444_UNORM_3PACK16) NAME(G16B16G16R16_422_UNORM)
    NAME(B16G16R16G16_422_UNORM) NAME(G16_B16_R16_3PLANE_420_UNORM)
    NAME(G16_B16R16_2PLANE_420_UNORM) NAME(G16_B16_R16_3PLANE_422_UNORM)
    NAME(G16_B16R16_2PLANE_422_UNORM) NAME(G16_B16_R16_3PLANE_444_UNORM)
    {1000330000, "G8_B8R8_2PLANE_444_UNORM"},
    {1000330001, "G10X6_B10X6R10X6_2PLANE_444_UNORM_3PACK16"},
    {1000330002, "G12X4_B12X4R12X4_2PLANE_444_UNORM_3PACK16"},
    {1000330003, "G16_B16R16_2PLANE_444_UNORM"},
    {1000340000, "A4R4G4B4_UNORM_PACK16"},
    {1000340001, "A4B4G4R4_UNORM_PACK16"},
    {1000066000, "ASTC_4x4_SFLOAT_BLOCK"},
    {1000066001, "ASTC_5x4_SFLOAT_BLOCK"},
    {1000066002, "ASTC_5x5_SFLOAT_BLOCK"},
    {1000066003, "ASTC_6x5_SFLOAT_BLOCK"},
    {1000066004, "ASTC_6x6_SFLOAT_BLOCK"},
    {1000066005, "ASTC_8x5_SFLOAT_BLOCK"},
    {1000066006, "ASTC_8x6_SFLOAT_BLOCK"},
    {1000066007, "ASTC_8x8_SFLOAT_BLOCK"},
    {1000066008, "ASTC_10x5_SFLOAT_BLOCK"},
    {1000066009, "ASTC_10x6_SFLOAT_BLOCK"},
    {1000066010, "ASTC_10x8_SFLOAT_BLOCK"},
    {1000066011, "ASTC_10x10_SFLOAT_BLOCK"},
    {1000066012, "ASTC_12x10_SFLOAT_BLOCK"},
    {1000066013, "ASTC_12x12_SFLOAT_BLOCK"},
};
/* clang-format on */
#define FORMAT_COUNT (sizeof(formats) / sizeof(*formats))

/* ---- Parsing names --------------------------------------------------------------------------- */

/* What a name such as "R8G8B8A8_UNORM" says: the channels, their bits, and their interpretation. */
struct meaning {
    bool plain; /* the name has this form */
    char order[8];
    unsigned channels, bits; /* `bits` is 0 if the channels have different numbers of bits */
    char type[12];
    bool packed;
};

static struct meaning take_apart(const char *name)
{
    struct meaning m = {.plain = true};
    const char *at = name;
    while (*at && strchr("RGBAD", *at) && isdigit((unsigned char)at[1]) && m.channels < 4) {
        char *end;
        unsigned bits = (unsigned)strtoul(at + 1, &end, 10);
        m.bits = m.channels == 0 || m.bits == bits ? bits : 0;
        m.order[m.channels++] = *at;
        at = end;
    }
    if (m.channels == 0 || *at != '_')
        return (struct meaning){.plain = false};
    size_t length = strcspn(at + 1, "_");
    snprintf(m.type, sizeof(m.type), "%.*s", (int)length, at + 1);
    at += 1 + length;
    m.packed = strncmp(at, "_PACK", 5) == 0;
    m.plain = *at == '\0' || m.packed;
    return m;
}

static bool is(const struct meaning *m, const char *type)
{
    return strcmp(m->type, type) == 0;
}

/*
 * Whether CUDA has an array of this format. In a format packed into a 32-bit word, channels of 8
 * bits are bytes, and the last channel in the name comes first in memory. A GPU stores 16-bit depth
 * in a different order than R16.
 */
static bool cuda_has(const struct meaning *m)
{
    bool depth_16 = m->order[0] == 'D' && m->bits == 16;
    bool bytes_in_word = m->packed && strcmp(m->order, "ABGR") == 0 && m->bits == 8;
    return m->plain && !depth_16 && (!m->packed || bytes_in_word) &&
           (m->channels == 1 || m->channels == 2 || m->channels == 4) &&
           (m->bits == 8 || m->bits == 16 || m->bits == 32) && !is(m, "USCALED") &&
           !is(m, "SSCALED");
}

/* The packed and compressed formats that CUDA has or grinterop converts, whose names do not tell
 * their CUDA format. */
static const struct {
    const char *name;
    gr_vk_format_info info; /* without the name */
} packed[] = {
    {"A2B10G10R10_UNORM_PACK32", {.format = GR_FORMAT_UNORM_INT_101010_2, .channels = 4}},
    {"A2R10G10B10_UNORM_PACK32", {.format = GR_FORMAT_A2R10G10B10, .channels = 4}},
    {"B10G11R11_UFLOAT_PACK32", {.format = GR_FORMAT_B10G11R11, .channels = 3}},
    {"E5B9G9R9_UFLOAT_PACK32", {.format = GR_FORMAT_E5B9G9R9, .channels = 3}},
    {"R5G6B5_UNORM_PACK16", {.format = GR_FORMAT_R5G6B5, .channels = 3}},
    {"B5G6R5_UNORM_PACK16", {.format = GR_FORMAT_B5G6R5, .channels = 3}},
    {"BC1_RGBA_UNORM_BLOCK", {.format = GR_FORMAT_BC1_UNORM, .channels = 4}},
    {"BC1_RGBA_SRGB_BLOCK", {.format = GR_FORMAT_BC1_UNORM_SRGB, .channels = 4}},
    {"BC2_UNORM_BLOCK", {.format = GR_FORMAT_BC2_UNORM, .channels = 4}},
    {"BC2_SRGB_BLOCK", {.format = GR_FORMAT_BC2_UNORM_SRGB, .channels = 4}},
    {"BC3_UNORM_BLOCK", {.format = GR_FORMAT_BC3_UNORM, .channels = 4}},
    {"BC3_SRGB_BLOCK", {.format = GR_FORMAT_BC3_UNORM_SRGB, .channels = 4}},
    {"BC4_UNORM_BLOCK", {.format = GR_FORMAT_BC4_UNORM, .channels = 1}},
    {"BC4_SNORM_BLOCK", {.format = GR_FORMAT_BC4_SNORM, .channels = 1}},
    {"BC5_UNORM_BLOCK", {.format = GR_FORMAT_BC5_UNORM, .channels = 2}},
    {"BC5_SNORM_BLOCK", {.format = GR_FORMAT_BC5_SNORM, .channels = 2}},
    {"BC6H_UFLOAT_BLOCK", {.format = GR_FORMAT_BC6H_UF16, .channels = 3}},
    {"BC6H_SFLOAT_BLOCK", {.format = GR_FORMAT_BC6H_SF16, .channels = 3}},
    {"BC7_UNORM_BLOCK", {.format = GR_FORMAT_BC7_UNORM, .channels = 4}},
    {"BC7_SRGB_BLOCK", {.format = GR_FORMAT_BC7_UNORM_SRGB, .channels = 4}},
};
#define PACKED_COUNT (sizeof(packed) / sizeof(*packed))

static const gr_vk_format_info *find_packed(const char *name)
{
    for (size_t i = 0; i < PACKED_COUNT; i++)
        if (strcmp(packed[i].name, name) == 0)
            return &packed[i].info;
    return NULL;
}

static CUarray_format cuda_format(const struct meaning *m)
{
    unsigned size = m->bits == 8 ? 0 : m->bits == 16 ? 1 : 2;
    if (is(m, "SFLOAT"))
        return m->bits == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    bool is_signed = is(m, "SNORM") || is(m, "SINT");
    return (CUarray_format)((is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8) +
                            size);
}

GROUP("table", add_case)

static void assert_as_named(const struct named *named, const struct meaning *m)
{
    const gr_vk_format_info *info = must_make(gr_vk_format_get_info((VkFormat)named->number));
    ck_assert_ptr_eq(info, gr_vk_format_get_info((VkFormat)named->number));
    ck_assert_msg(strncmp(info->name, "VK_FORMAT_", 10) == 0 &&
                      strcmp(info->name + 10, named->name) == 0,
                  "%s is called %s", named->name, info->name);
#define SAME(member, value)                                                                        \
    ck_assert_msg(info->member == (value), "%s: " #member " is %d", named->name, (int)info->member)
    SAME(format, cuda_format(m));
    SAME(channels, m->channels);
    SAME(normalized, is(m, "UNORM") || is(m, "SNORM") || is(m, "SRGB"));
    SAME(srgb, is(m, "SRGB"));
    SAME(depth, m->order[0] == 'D');
    SAME(swapped, strcmp(m->order, "BGRA") == 0);
#undef SAME
}

static void assert_packed(const struct named *named, const gr_vk_format_info *wanted)
{
    const gr_vk_format_info *info = must_make(gr_vk_format_get_info((VkFormat)named->number));
    ck_assert_str_eq(info->name + strlen("VK_FORMAT_"), named->name);
    ck_assert_uint_eq(info->format, wanted->format);
    ck_assert_uint_eq(info->channels, wanted->channels);
    ck_assert_int_eq(info->normalized, !strstr(named->name, "FLOAT"));
    ck_assert_int_eq(info->srgb, strstr(named->name, "SRGB") != NULL);
    ck_assert(!info->depth && !info->swapped);
}

/* Whether gr_vk_format_get_info() accepts the format whose name is in this range. */
static bool is_taken(const char *name, size_t length)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strlen(formats[i].name) == length && strncmp(formats[i].name, name, length) == 0)
            return gr_vk_format_get_info((VkFormat)formats[i].number);
    return false;
}

/* The message must name the format, and then a format that CUDA supports. */
static void assert_refused(const struct named *named)
{
    char text[120];
    snprintf(text, sizeof(text), "VK_FORMAT_%s:", named->name);
    assert_null(gr_vk_format_get_info((VkFormat)named->number), GR_ERR_UNSUPPORTED, 0, text);
    ck_assert_ptr_null(gr_vk_format_get_info((VkFormat)named->number));
    gr_error error = *gr_last_error();
    const char *instead = strstr(error.message, ". Use ");
    ck_assert_msg(instead, "%s", error.message);
    const char *name = strstr(instead, "VK_FORMAT_");
    ck_assert_msg(name, "%s", error.message);
    name += strlen("VK_FORMAT_");
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    ck_assert_msg(is_taken(name, length), "%s", error.message);
}

TEST(each_format_is_accepted_or_refused_as_its_name_says)
{
    size_t taken = 0;
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        struct meaning m = take_apart(formats[i].name);
        const gr_vk_format_info *info = find_packed(formats[i].name);
        taken += info || cuda_has(&m);
        if (info)
            assert_packed(&formats[i], info);
        else if (cuda_has(&m))
            assert_as_named(&formats[i], &m);
        else
            assert_refused(&formats[i]);
    }
    /*
     * Five forms of 8 bits per channel (one of them packed), three of 16 bits, three of 32 bits,
     * a depth format, and the packed and compressed formats.
     */
    ck_assert_uint_eq(taken, 5 * 5 + 3 * 5 + 3 * 3 + 1 + PACKED_COUNT);
}

/* Written by hand, to detect mistakes in the parser of names. */
TEST(some_formats_have_the_expected_cuda_format)
{
    static const struct {
        VkFormat format;
        gr_vk_format_info info;
    } some[] = {
        {VK_FORMAT_R8_UNORM,
         {"VK_FORMAT_R8_UNORM", CU_AD_FORMAT_UNSIGNED_INT8, 1, true, false, false, false}},
        {VK_FORMAT_B8G8R8A8_SRGB,
         {"VK_FORMAT_B8G8R8A8_SRGB", CU_AD_FORMAT_UNSIGNED_INT8, 4, true, true, false, true}},
        {VK_FORMAT_R16G16_SNORM,
         {"VK_FORMAT_R16G16_SNORM", CU_AD_FORMAT_SIGNED_INT16, 2, true, false, false, false}},
        {VK_FORMAT_R16G16B16A16_SFLOAT,
         {"VK_FORMAT_R16G16B16A16_SFLOAT", CU_AD_FORMAT_HALF, 4, false, false, false, false}},
        {VK_FORMAT_R32G32_SINT,
         {"VK_FORMAT_R32G32_SINT", CU_AD_FORMAT_SIGNED_INT32, 2, false, false, false, false}},
        {VK_FORMAT_A8B8G8R8_UINT_PACK32,
         {"VK_FORMAT_A8B8G8R8_UINT_PACK32", CU_AD_FORMAT_UNSIGNED_INT8, 4, false, false, false,
          false}},
        {VK_FORMAT_D32_SFLOAT,
         {"VK_FORMAT_D32_SFLOAT", CU_AD_FORMAT_FLOAT, 1, false, false, true, false}},
    };
    for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
        const gr_vk_format_info *is = gr_vk_format_get_info(some[i].format),
                                *wanted = &some[i].info;
        assert_made(is);
        ck_assert_str_eq(is->name, wanted->name);
        ck_assert_int_eq(is->format, wanted->format);
        ck_assert_uint_eq(is->channels, wanted->channels);
        ck_assert_int_eq(is->normalized, wanted->normalized);
        ck_assert_int_eq(is->srgb, wanted->srgb);
        ck_assert_int_eq(is->depth, wanted->depth);
        ck_assert_int_eq(is->swapped, wanted->swapped);
    }
}

TEST(refusals_name_the_reason_and_a_supported_format)
{
    static const struct {
        VkFormat format;
        const char *text;
    } some[] = {
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
