/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Texture and surface objects: reads and invalid arguments. */
#define _GNU_SOURCE
#include "soft_calls.h"

#include <string.h>

GROUP("textures", add_soft_case)

#define TEXELS 64

/*
 * Describes reads that return unmodified texels, at texel coordinates or at normalised coordinates.
 */
static CUDA_TEXTURE_DESC plain(unsigned flags)
{
    return (CUDA_TEXTURE_DESC){.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP,
                                               CU_TR_ADDRESS_MODE_CLAMP},
                               .flags = CU_TRSF_READ_AS_INTEGER | flags,
                               .maxMipmapLevelClamp = 10};
}

/* The descriptions of a texture. A view whose width is 0 is not passed. */
struct parts {
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC reading;
    CUDA_RESOURCE_VIEW_DESC view;
};

static CUresult create(CUtexObject *texture, const struct parts *of)
{
    return DRIVER(cuTexObjectCreate)(texture, &of->resource, &of->reading,
                                     of->view.width ? &of->view : NULL);
}

/* A texture like `good` with one change is refused. */
#define REFUSED(code, change)                                                                      \
    do {                                                                                           \
        struct parts changed = good;                                                               \
        CUtexObject none_ = 0;                                                                     \
        changed.change;                                                                            \
        assert_result(CUDA_##code, create(&none_, &changed), #change);                             \
        ck_assert_uint_eq(none_, 0);                                                               \
    } while (0)

/*
 * Runs the kernel, which reads texels and writes `size` bytes, and compares these with the expected
 * bytes.
 */
static void assert_texels(const char *kernel, const struct parts *parts, int width, int height,
                          float of, const void *expected, size_t size)
{
    unsigned char zeros[256] = {0};
    CUdeviceptr out = soft_memory(zeros, sizeof(zeros));
    CUtexObject texture = 0;
    void *parameters[] = {&texture, &out, &width, &height, &of};
    ck_assert_int_eq(create(&texture, parts), CUDA_SUCCESS);
    ck_assert_int_eq(soft_run(kernel, parameters), CUDA_SUCCESS);
    const unsigned char *found = soft_bytes(out, size);
    ck_assert_mem_eq(found, expected, size);
}

SOFT_TEST(texture_reads_linear_memory)
{
    unsigned char bytes[TEXELS];
    pattern_fill(bytes, sizeof(bytes), 1);
    CUdeviceptr memory = soft_memory(bytes, sizeof(bytes));
    const struct parts good = {.resource = {.resType = CU_RESOURCE_TYPE_LINEAR,
                                            .res.linear = {.devPtr = memory,
                                                           .format = CU_AD_FORMAT_UNSIGNED_INT8,
                                                           .numChannels = 1,
                                                           .sizeInBytes = TEXELS}},
                               .reading = plain(0)};
    CUtexObject texture = 0;
    ck_assert_int_eq(create(&texture, &good), CUDA_SUCCESS);
    int count = TEXELS;
    unsigned char zeros[TEXELS] = {0};
    CUdeviceptr out = soft_memory(zeros, sizeof(zeros));
    void *parameters[] = {&texture, &out, &count};
    ck_assert_int_eq(soft_run("fetch_texels", parameters), CUDA_SUCCESS);
    assert_pattern(soft_bytes(out, TEXELS), TEXELS, 1);
    REFUSED(ERROR_INVALID_VALUE, resource.res.linear.devPtr = memory + 1);
    REFUSED(ERROR_INVALID_VALUE, resource.res.linear.devPtr = 0);
    REFUSED(ERROR_INVALID_VALUE, resource.res.linear.devPtr = (CUdeviceptr)1 << 41);
    REFUSED(ERROR_INVALID_VALUE, resource.res.linear.sizeInBytes = 0);
    REFUSED(ERROR_INVALID_VALUE, resource.res.linear.sizeInBytes = TEXELS + 1);
    REFUSED(ERROR_INVALID_VALUE, resource.res.linear.sizeInBytes = ((size_t)1 << 28) + 1);
    REFUSED(ERROR_INVALID_VALUE, resource.res.linear.numChannels = 3);
    REFUSED(ERROR_INVALID_VALUE, resource.flags = 1);
    REFUSED(ERROR_INVALID_VALUE, resource.resType = (CUresourcetype)9);
    REFUSED(ERROR_INVALID_VALUE, view.width = TEXELS);
}

/* The memory has 8 rows of 32 bytes. The first 5 bytes of each row are texels. */
SOFT_TEST(texture_reads_pitched_rows)
{
    unsigned char bytes[8 * 32], expected[5 * 8];
    pattern_fill(bytes, sizeof(bytes), 1);
    for (int i = 0; i < 5 * 8; i++)
        expected[i] = bytes[i / 5 * 32 + i % 5];
    CUdeviceptr memory = soft_memory(bytes, sizeof(bytes));
    const struct parts good = {.resource = {.resType = CU_RESOURCE_TYPE_PITCH2D,
                                            .res.pitch2D = {.devPtr = memory,
                                                            .format = CU_AD_FORMAT_UNSIGNED_INT8,
                                                            .numChannels = 1,
                                                            .width = 5,
                                                            .height = 8,
                                                            .pitchInBytes = 32}},
                               .reading = plain(0)};
    assert_texels("sample_texels", &good, 5, 8, 0, expected, sizeof(expected));
    REFUSED(ERROR_INVALID_VALUE, resource.res.pitch2D.width = 0);
    REFUSED(ERROR_INVALID_VALUE, resource.res.pitch2D.width = 33);
    REFUSED(ERROR_INVALID_VALUE, resource.res.pitch2D.width = 131073);
    REFUSED(ERROR_INVALID_VALUE, resource.res.pitch2D.height = 0);
    REFUSED(ERROR_INVALID_VALUE, resource.res.pitch2D.height = 9);
    REFUSED(ERROR_INVALID_VALUE, resource.res.pitch2D.height = 65001);
    REFUSED(ERROR_INVALID_VALUE, resource.res.pitch2D.pitchInBytes = 31);
    REFUSED(ERROR_INVALID_VALUE, resource.res.pitch2D.pitchInBytes = (size_t)1 << 32);
    REFUSED(ERROR_INVALID_VALUE, resource.res.pitch2D.numChannels = 0);
    REFUSED(ERROR_INVALID_VALUE, resource.res.pitch2D.devPtr = memory + 8);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static struct parts parts_of(CUarray array)
{
    return (struct parts){
        .resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array},
        .reading = plain(0)};
}

/* Creates an array of 4 x 2 elements of 4 bytes each. */
static CUarray array_of_words(const unsigned words[8])
{
    const CUDA_ARRAY_DESCRIPTOR shape = {4, 2, CU_AD_FORMAT_UNSIGNED_INT8, 4};
    CUarray array = NULL;
    DRV(cuArrayCreate_v2, (&array, &shape));
    const CUDA_MEMCPY3D copy = copy_to_array(array, words, 16, 2, 1);
    DRV(cuMemcpy3D_v2, (&copy));
    return array;
}

SOFT_TEST(texture_view_changes_the_format)
{
    unsigned words[8];
    pattern_fill(words, sizeof(words), 1);
    CUarray array = array_of_words(words);
    struct parts good = parts_of(array);
    good.view =
        (CUDA_RESOURCE_VIEW_DESC){.format = CU_RES_VIEW_FORMAT_UINT_1X32, .width = 4, .height = 2};
    CUDA_RESOURCE_VIEW_DESC seen = {0};
    CUtexObject texture = 0;
    assert_texels("sample_words", &good, 4, 2, 0, words, sizeof(words));
    ck_assert_int_eq(create(&texture, &good), CUDA_SUCCESS);
    DRV(cuTexObjectGetResourceViewDesc, (&seen, texture));
    ck_assert_int_eq(seen.format, CU_RES_VIEW_FORMAT_UINT_1X32);
    ck_assert_uint_eq(seen.width, 4);
    REFUSED(ERROR_INVALID_VALUE, view.format = CU_RES_VIEW_FORMAT_UINT_1X8);
    REFUSED(ERROR_INVALID_VALUE, view.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC1);
    REFUSED(ERROR_INVALID_VALUE, view.width = 5);
    REFUSED(ERROR_INVALID_VALUE, view.height = 1);
    REFUSED(ERROR_INVALID_VALUE, view.depth = 1);
    REFUSED(ERROR_INVALID_VALUE, view.firstMipmapLevel = 1);
    REFUSED(ERROR_INVALID_VALUE, view.lastMipmapLevel = 1);
    REFUSED(ERROR_INVALID_VALUE, view.firstLayer = 1);
    REFUSED(ERROR_INVALID_VALUE, view.lastLayer = 1);
}

static void fill_array(CUarray array, size_t width, size_t height, size_t depth, int first)
{
    unsigned char bytes[256];
    for (size_t i = 0; i < width * height * depth; i++)
        bytes[i] = (unsigned char)(0x10 + first + (int)(i / (width * height)));
    const CUDA_MEMCPY3D copy = copy_to_array(array, bytes, width, height, depth);
    DRV(cuMemcpy3D_v2, (&copy));
}

/* Layers or levels 1 and 2, which the view selects, have the bytes 0x11 and 0x12. */
static void assert_selected(const char *kernel, const struct parts *parts)
{
    unsigned char expected[16];
    for (int i = 0; i < 2; i++) {
        memset(expected, 0x11 + i, sizeof(expected));
        assert_texels(kernel, parts, 4, 4, (float)i, expected, sizeof(expected));
    }
}

SOFT_TEST(texture_view_selects_layers)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = flat;
    shape.Width = shape.Height = 4;
    shape.Depth = 3;
    shape.Flags = CUDA_ARRAY3D_LAYERED;
    CUarray array = NULL;
    DRV(cuArray3DCreate_v2, (&array, &shape));
    fill_array(array, 4, 4, 3, 0);
    struct parts good = parts_of(array);
    good.view = (CUDA_RESOURCE_VIEW_DESC){
        .width = 4, .height = 4, .depth = 3, .firstLayer = 1, .lastLayer = 2};
    assert_selected("sample_layer", &good);
    REFUSED(ERROR_INVALID_VALUE, view.lastLayer = 3);
}

SOFT_TEST(texture_view_selects_levels)
{
    CUmipmappedArray levels = NULL;
    DRV(cuMipmappedArrayCreate, (&levels, &flat, 3));
    for (unsigned i = 0; i < 3; i++) {
        CUarray level = NULL;
        DRV(cuMipmappedArrayGetLevel, (&level, levels, i));
        fill_array(level, 8u >> i, 8u >> i, 1, (int)i);
    }
    struct parts good = {
        .resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                     .res.mipmap.hMipmappedArray = levels},
        .reading = plain(CU_TRSF_NORMALIZED_COORDINATES),
        .view = {.width = 8, .height = 8, .firstMipmapLevel = 1, .lastMipmapLevel = 2}};
    assert_selected("sample_level", &good);
    REFUSED(ERROR_INVALID_VALUE, view.lastMipmapLevel = 3);
    good.view.width = 0;
    REFUSED(ERROR_INVALID_VALUE, reading = plain(0)); /* levels require normalised coordinates */
    REFUSED(ERROR_INVALID_VALUE, resource.res.mipmap.hMipmappedArray = NULL);
    REFUSED(ERROR_INVALID_HANDLE, resource.res.mipmap.hMipmappedArray = (CUmipmappedArray)0x1234);
}

SOFT_TEST(texture_descriptions_can_be_queried)
{
    unsigned words[8] = {0};
    CUarray array = array_of_words(words);
    struct parts good = parts_of(array), seen = {0};
    CUtexObject texture = 0;
    good.reading.addressMode[1] = CU_TR_ADDRESS_MODE_WRAP;
    ck_assert_int_eq(create(&texture, &good), CUDA_SUCCESS);
    DRV(cuTexObjectGetResourceDesc, (&seen.resource, texture));
    ck_assert_ptr_eq(seen.resource.res.array.hArray, array);
    DRV(cuTexObjectGetTextureDesc, (&seen.reading, texture));
    ck_assert_int_eq(seen.reading.addressMode[1], CU_TR_ADDRESS_MODE_WRAP);
    ck_assert_uint_eq(seen.reading.flags, CU_TRSF_READ_AS_INTEGER);
    INVALID(cuTexObjectGetResourceViewDesc, (&seen.view, texture));
    INVALID(cuTexObjectGetTextureDesc, (NULL, texture));
    DRV(cuTexObjectDestroy, (texture));
    INVALID(cuTexObjectGetTextureDesc, (&seen.reading, texture));
    DRV(cuTexObjectDestroy, (texture)); /* allowed for a destroyed object, as on a GPU */

    for (int i = 0; i < 3; i++)
        REFUSED(ERROR_INVALID_VALUE, reading.addressMode[i] = (CUaddress_mode)4);
    REFUSED(ERROR_INVALID_VALUE, reading.filterMode = (CUfilter_mode)2);
    REFUSED(ERROR_INVALID_VALUE, reading.mipmapFilterMode = (CUfilter_mode)2);
    REFUSED(ERROR_INVALID_VALUE, reading = plain(0x8000));
    REFUSED(ERROR_INVALID_VALUE, resource.res.array.hArray = NULL);
    REFUSED(ERROR_INVALID_HANDLE, resource.res.array.hArray = (CUarray)0x1234);
    texture = 0;
    INVALID(cuTexObjectCreate, (NULL, &good.resource, &good.reading, NULL));
    INVALID(cuTexObjectCreate, (&texture, NULL, &good.reading, NULL));
    INVALID(cuTexObjectCreate, (&texture, &good.resource, NULL, NULL));
    ck_assert_uint_eq(texture, 0);
}

SOFT_TEST(surface_resource_can_be_queried)
{
    CUarray array = NULL;
    CUDA_ARRAY3D_DESCRIPTOR shape = flat;
    shape.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    DRV(cuArray3DCreate_v2, (&array, &shape));
    const CUDA_RESOURCE_DESC good = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUDA_RESOURCE_DESC seen = {0};
    CUsurfObject surface = 0, none = 0;
    DRV(cuSurfObjectCreate, (&surface, &good));
    DRV(cuSurfObjectGetResourceDesc, (&seen, surface));
    ck_assert_ptr_eq(seen.res.array.hArray, array);
    INVALID(cuTexObjectGetResourceDesc, (&seen, surface)); /* the object is not a texture */
    DRV(cuSurfObjectDestroy, (surface));
    INVALID(cuSurfObjectGetResourceDesc, (&seen, surface));
#define REFUSED_SURFACE(code, change)                                                              \
    do {                                                                                           \
        CUDA_RESOURCE_DESC changed = good;                                                         \
        changed.change;                                                                            \
        assert_result(CUDA_##code, DRIVER(cuSurfObjectCreate)(&none, &changed), #change);          \
    } while (0)
    REFUSED_SURFACE(ERROR_INVALID_VALUE, flags = 1);
    REFUSED_SURFACE(ERROR_INVALID_VALUE, resType = CU_RESOURCE_TYPE_LINEAR);
    REFUSED_SURFACE(ERROR_INVALID_VALUE, res.array.hArray = NULL);
    REFUSED_SURFACE(ERROR_INVALID_HANDLE, res.array.hArray = (CUarray)0x1234);
#undef REFUSED_SURFACE
    INVALID(cuSurfObjectCreate, (NULL, &good));
    INVALID(cuSurfObjectCreate, (&none, NULL));
    ck_assert_uint_eq(none, 0);
}
