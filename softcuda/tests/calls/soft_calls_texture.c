/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Texture and surface objects: reads and invalid arguments. */
#define _GNU_SOURCE
#include "soft_calls.h"

#include <stdlib.h>
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

/*
 * Runs the kernel, which reads texels and writes `size` bytes, and compares these with the expected
 * bytes.
 */
static void assert_texels(const char *kernel, CUtexObject texture, int width, int height, float of,
                          const void *expected, size_t size)
{
    unsigned char zeros[256] = {0};
    CUdeviceptr out = soft_memory(zeros, sizeof(zeros));
    void *parameters[] = {&texture, &out, &width, &height, &of};
    ck_assert_int_eq(soft_run(kernel, parameters), CUDA_SUCCESS);
    unsigned char *found = soft_bytes(out, size);
    ck_assert_mem_eq(found, expected, size);
    free(found);
    CU(MemFree(out));
}

SOFT_TEST(texture_reads_linear_memory)
{
    unsigned char bytes[TEXELS];
    pattern_fill(bytes, sizeof(bytes), 1);
    CUdeviceptr memory = soft_memory(bytes, sizeof(bytes));
    const CUDA_RESOURCE_DESC good = {.resType = CU_RESOURCE_TYPE_LINEAR,
                                     .res.linear = {.devPtr = memory,
                                                    .format = CU_AD_FORMAT_UNSIGNED_INT8,
                                                    .numChannels = 1,
                                                    .sizeInBytes = TEXELS}};
    const CUDA_TEXTURE_DESC reading = plain(0);
    CUtexObject texture = 0, none = 0;
    DRV(cuTexObjectCreate, (&texture, &good, &reading, NULL));
    int count = TEXELS;
    unsigned char zeros[TEXELS] = {0};
    CUdeviceptr out = soft_memory(zeros, sizeof(zeros));
    void *parameters[] = {&texture, &out, &count};
    ck_assert_int_eq(soft_run("fetch_texels", parameters), CUDA_SUCCESS);
    unsigned char *found = soft_bytes(out, TEXELS);
    assert_pattern(found, TEXELS, 1);
    free(found);
    DRV(cuTexObjectDestroy, (texture));
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        CUDA_RESOURCE_DESC changed = good;                                                         \
        changed.change;                                                                            \
        assert_result(CUDA_ERROR_INVALID_VALUE,                                                    \
                      DRIVER(cuTexObjectCreate)(&none, &changed, &reading, NULL), #change);        \
    } while (0)
    REFUSED(res.linear.devPtr = memory + 1);
    REFUSED(res.linear.devPtr = 0);
    REFUSED(res.linear.devPtr = (CUdeviceptr)1 << 41);
    REFUSED(res.linear.sizeInBytes = 0);
    REFUSED(res.linear.sizeInBytes = TEXELS + 1);
    REFUSED(res.linear.sizeInBytes = ((size_t)1 << 28) + 1);
    REFUSED(res.linear.numChannels = 3);
    REFUSED(flags = 1);
    REFUSED(resType = (CUresourcetype)9);
    CUDA_RESOURCE_VIEW_DESC view = {.width = TEXELS};
    INVALID(cuTexObjectCreate, (&none, &good, &reading, &view));
    ck_assert_uint_eq(none, 0);
    CU(MemFree(memory));
    CU(MemFree(out));
}

/* The memory has 8 rows of 32 bytes. The first 5 bytes of each row are texels. */
SOFT_TEST(texture_reads_pitched_rows)
{
    unsigned char bytes[8 * 32], expected[5 * 8];
    pattern_fill(bytes, sizeof(bytes), 1);
    for (int i = 0; i < 5 * 8; i++)
        expected[i] = bytes[i / 5 * 32 + i % 5];
    CUdeviceptr memory = soft_memory(bytes, sizeof(bytes));
    const CUDA_RESOURCE_DESC good = {.resType = CU_RESOURCE_TYPE_PITCH2D,
                                     .res.pitch2D = {.devPtr = memory,
                                                     .format = CU_AD_FORMAT_UNSIGNED_INT8,
                                                     .numChannels = 1,
                                                     .width = 5,
                                                     .height = 8,
                                                     .pitchInBytes = 32}};
    const CUDA_TEXTURE_DESC reading = plain(0);
    CUtexObject texture = 0, none = 0;
    DRV(cuTexObjectCreate, (&texture, &good, &reading, NULL));
    assert_texels("sample_texels", texture, 5, 8, 0, expected, sizeof(expected));
    DRV(cuTexObjectDestroy, (texture));
    REFUSED(res.pitch2D.width = 0);
    REFUSED(res.pitch2D.width = 33);
    REFUSED(res.pitch2D.width = 131073);
    REFUSED(res.pitch2D.height = 0);
    REFUSED(res.pitch2D.height = 9);
    REFUSED(res.pitch2D.height = 65001);
    REFUSED(res.pitch2D.pitchInBytes = 31);
    REFUSED(res.pitch2D.pitchInBytes = (size_t)1 << 32);
    REFUSED(res.pitch2D.numChannels = 0);
    REFUSED(res.pitch2D.devPtr = memory + 8);
#undef REFUSED
    ck_assert_uint_eq(none, 0);
    CU(MemFree(memory));
}

/* Creates an array of 4 x 2 elements of 4 bytes each. */
static CUarray array_of_words(const unsigned words[8])
{
    const CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 4, .Height = 2, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
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
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                         .res.array.hArray = array};
    const CUDA_RESOURCE_VIEW_DESC good = {
        .format = CU_RES_VIEW_FORMAT_UINT_1X32, .width = 4, .height = 2};
    const CUDA_TEXTURE_DESC reading = plain(0);
    CUDA_RESOURCE_VIEW_DESC seen = {0};
    CUtexObject texture = 0, none = 0;
    DRV(cuTexObjectCreate, (&texture, &resource, &reading, &good));
    assert_texels("sample_words", texture, 4, 2, 0, words, sizeof(words));
    DRV(cuTexObjectGetResourceViewDesc, (&seen, texture));
    ck_assert_int_eq(seen.format, CU_RES_VIEW_FORMAT_UINT_1X32);
    ck_assert_uint_eq(seen.width, 4);
    DRV(cuTexObjectDestroy, (texture));
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        CUDA_RESOURCE_VIEW_DESC changed = good;                                                    \
        changed.change;                                                                            \
        assert_result(CUDA_ERROR_INVALID_VALUE,                                                    \
                      DRIVER(cuTexObjectCreate)(&none, &resource, &reading, &changed), #change);   \
    } while (0)
    REFUSED(format = CU_RES_VIEW_FORMAT_UINT_1X8);
    REFUSED(format = CU_RES_VIEW_FORMAT_UNSIGNED_BC1);
    REFUSED(width = 5);
    REFUSED(height = 1);
    REFUSED(depth = 1);
    REFUSED(firstMipmapLevel = 1);
    REFUSED(lastMipmapLevel = 1);
    REFUSED(firstLayer = 1);
    REFUSED(lastLayer = 1);
#undef REFUSED
    ck_assert_uint_eq(none, 0);
    DRV(cuArrayDestroy, (array));
}

static void fill_array(CUarray array, size_t width, size_t height, size_t depth, int first)
{
    unsigned char bytes[256];
    for (size_t i = 0; i < width * height * depth; i++)
        bytes[i] = (unsigned char)(0x10 + first + (int)(i / (width * height)));
    const CUDA_MEMCPY3D copy = copy_to_array(array, bytes, width, height, depth);
    DRV(cuMemcpy3D_v2, (&copy));
}

/* All bytes of layer i or level i are 0x10 + i. */
SOFT_TEST(texture_view_selects_layers)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = flat;
    shape.Width = shape.Height = 4;
    shape.Depth = 3;
    shape.Flags = CUDA_ARRAY3D_LAYERED;
    CUarray array = NULL;
    DRV(cuArray3DCreate_v2, (&array, &shape));
    fill_array(array, 4, 4, 3, 0);
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                         .res.array.hArray = array};
    CUDA_RESOURCE_VIEW_DESC view = {
        .width = 4, .height = 4, .depth = 3, .firstLayer = 1, .lastLayer = 2};
    const CUDA_TEXTURE_DESC reading = plain(0);
    CUtexObject texture = 0;
    unsigned char expected[16];
    DRV(cuTexObjectCreate, (&texture, &resource, &reading, &view));
    for (int layer = 0; layer < 2; layer++) {
        memset(expected, 0x11 + layer, sizeof(expected));
        assert_texels("sample_layer", texture, 4, 4, (float)layer, expected, sizeof(expected));
    }
    DRV(cuTexObjectDestroy, (texture));
    view.lastLayer = 3;
    INVALID(cuTexObjectCreate, (&texture, &resource, &reading, &view));
    DRV(cuArrayDestroy, (array));
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
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                         .res.mipmap.hMipmappedArray = levels};
    CUDA_RESOURCE_VIEW_DESC view = {
        .width = 8, .height = 8, .firstMipmapLevel = 1, .lastMipmapLevel = 2};
    CUDA_TEXTURE_DESC reading = plain(CU_TRSF_NORMALIZED_COORDINATES);
    CUtexObject texture = 0;
    unsigned char expected[16];
    DRV(cuTexObjectCreate, (&texture, &resource, &reading, &view));
    for (int level = 0; level < 2; level++) {
        memset(expected, 0x11 + level, sizeof(expected));
        assert_texels("sample_level", texture, 4, 4, (float)level, expected, sizeof(expected));
    }
    DRV(cuTexObjectDestroy, (texture));
    view.lastMipmapLevel = 3;
    INVALID(cuTexObjectCreate, (&texture, &resource, &reading, &view));
    reading = plain(0); /* mip levels require normalised coordinates */
    INVALID(cuTexObjectCreate, (&texture, &resource, &reading, NULL));
    DRV(cuMipmappedArrayDestroy, (levels));
}

SOFT_TEST(texture_descriptions_can_be_queried)
{
    unsigned words[8] = {0};
    CUarray array = array_of_words(words);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array},
                       seen = {0};
    CUDA_TEXTURE_DESC reading = plain(0), read = {0};
    CUDA_RESOURCE_VIEW_DESC view;
    CUtexObject texture = 0, none = 0;
    reading.addressMode[1] = CU_TR_ADDRESS_MODE_WRAP;
    DRV(cuTexObjectCreate, (&texture, &resource, &reading, NULL));
    DRV(cuTexObjectGetResourceDesc, (&seen, texture));
    ck_assert_ptr_eq(seen.res.array.hArray, array);
    DRV(cuTexObjectGetTextureDesc, (&read, texture));
    ck_assert_int_eq(read.addressMode[1], CU_TR_ADDRESS_MODE_WRAP);
    ck_assert_uint_eq(read.flags, CU_TRSF_READ_AS_INTEGER);
    INVALID(cuTexObjectGetResourceViewDesc, (&view, texture));
    INVALID(cuTexObjectGetTextureDesc, (NULL, texture));
    DRV(cuTexObjectDestroy, (texture));
    INVALID(cuTexObjectGetTextureDesc, (&read, texture));
    DRV(cuTexObjectDestroy, (texture)); /* allowed for a destroyed object, as on a GPU */

    for (int i = 0; i < 3; i++) {
        CUDA_TEXTURE_DESC bad = plain(0);
        bad.addressMode[i] = (CUaddress_mode)4;
        INVALID(cuTexObjectCreate, (&none, &resource, &bad, NULL));
    }
    CUDA_TEXTURE_DESC bad = plain(0);
    bad.filterMode = (CUfilter_mode)2;
    INVALID(cuTexObjectCreate, (&none, &resource, &bad, NULL));
    bad = plain(0);
    bad.mipmapFilterMode = (CUfilter_mode)2;
    INVALID(cuTexObjectCreate, (&none, &resource, &bad, NULL));
    bad = plain(0x8000);
    INVALID(cuTexObjectCreate, (&none, &resource, &bad, NULL));
    INVALID(cuTexObjectCreate, (NULL, &resource, &reading, NULL));
    INVALID(cuTexObjectCreate, (&none, NULL, &reading, NULL));
    INVALID(cuTexObjectCreate, (&none, &resource, NULL, NULL));
    resource.res.array.hArray = NULL;
    INVALID(cuTexObjectCreate, (&none, &resource, &reading, NULL));
    resource.res.array.hArray = (CUarray)0x1234;
    GIVES(ERROR_INVALID_HANDLE, cuTexObjectCreate, (&none, &resource, &reading, NULL));
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = NULL;
    INVALID(cuTexObjectCreate, (&none, &resource, &reading, NULL));
    resource.res.mipmap.hMipmappedArray = (CUmipmappedArray)0x1234;
    GIVES(ERROR_INVALID_HANDLE, cuTexObjectCreate, (&none, &resource, &reading, NULL));
    ck_assert_uint_eq(none, 0);
    DRV(cuArrayDestroy, (array));
}

SOFT_TEST(surface_resource_can_be_queried)
{
    CUarray array = NULL;
    CUDA_ARRAY3D_DESCRIPTOR shape = flat;
    shape.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    DRV(cuArray3DCreate_v2, (&array, &shape));
    const CUDA_RESOURCE_DESC good = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUDA_RESOURCE_DESC seen = {0}, bad = good;
    CUsurfObject surface = 0, none = 0;
    DRV(cuSurfObjectCreate, (&surface, &good));
    DRV(cuSurfObjectGetResourceDesc, (&seen, surface));
    ck_assert_ptr_eq(seen.res.array.hArray, array);
    INVALID(cuTexObjectGetResourceDesc, (&seen, surface)); /* the object is not a texture */
    DRV(cuSurfObjectDestroy, (surface));
    INVALID(cuSurfObjectGetResourceDesc, (&seen, surface));
    bad.flags = 1;
    INVALID(cuSurfObjectCreate, (&none, &bad));
    bad = good;
    bad.resType = CU_RESOURCE_TYPE_LINEAR;
    INVALID(cuSurfObjectCreate, (&none, &bad));
    bad = good;
    bad.res.array.hArray = NULL;
    INVALID(cuSurfObjectCreate, (&none, &bad));
    bad.res.array.hArray = (CUarray)0x1234;
    GIVES(ERROR_INVALID_HANDLE, cuSurfObjectCreate, (&none, &bad));
    INVALID(cuSurfObjectCreate, (NULL, &good));
    INVALID(cuSurfObjectCreate, (&none, NULL));
    ck_assert_uint_eq(none, 0);
    DRV(cuArrayDestroy, (array));
}
