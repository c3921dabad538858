/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, and texture and surface objects: what they read, and what is refused. */
#define _GNU_SOURCE
#include "soft_calls.h"

#include <stdlib.h>
#include <string.h>

GROUP("arrays", add_case)

static const CUDA_ARRAY3D_DESCRIPTOR flat = {
    .Width = 8, .Height = 8, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};

/* `flat`, changed, gives the code; what is made is ended at once. */
#define CREATE(code, ...)                                                                          \
    do {                                                                                           \
        CUDA_ARRAY3D_DESCRIPTOR changed = flat;                                                    \
        CUarray made = NULL;                                                                       \
        __VA_ARGS__;                                                                               \
        assert_result(CUDA_##code, DRIVER(cuArray3DCreate_v2)(&made, &changed), #__VA_ARGS__);     \
        if (made)                                                                                  \
            DRV(cuArrayDestroy, (made));                                                           \
    } while (0)

TEST(arrays_of_all_kinds)
{
    need_software();
    CREATE(SUCCESS, changed.Height = 0);
    CREATE(SUCCESS, changed.Depth = 3);
    CREATE(SUCCESS, changed.Flags = CUDA_ARRAY3D_LAYERED, changed.Depth = 3);
    CREATE(SUCCESS, changed.Flags = CUDA_ARRAY3D_LAYERED, changed.Height = 0, changed.Depth = 3);
    CREATE(SUCCESS, changed.Flags = CUDA_ARRAY3D_CUBEMAP, changed.Depth = 6);
    CREATE(SUCCESS, changed.Flags = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED,
           changed.Depth = 12);
    CREATE(SUCCESS, changed.Flags = CUDA_ARRAY3D_TEXTURE_GATHER);
    CREATE(SUCCESS, changed.Flags = CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_LAYERED,
           changed.Depth = 2);
    CREATE(SUCCESS, changed.Width = 131072, changed.Height = 0);
    const int formats[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_UNSIGNED_INT16,
                           CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT8,
                           CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_SIGNED_INT32,
                           CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        for (unsigned channels = 1; channels <= 4; channels *= 2)
            CREATE(SUCCESS, changed.Format = (CUarray_format)formats[i],
                   changed.NumChannels = channels);
}

TEST(arrays_that_are_refused)
{
    need_software();
    CUarray array = NULL;
    CREATE(ERROR_INVALID_VALUE, changed.Width = 0);
    CREATE(ERROR_INVALID_VALUE, changed.NumChannels = 3);
    CREATE(ERROR_INVALID_VALUE, changed.Format = (CUarray_format)5);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = 0x8000);
    CREATE(ERROR_INVALID_VALUE, changed.Height = 0, changed.Depth = 3);
    CREATE(ERROR_INVALID_VALUE, changed.Width = 131073, changed.Height = 0);
    CREATE(ERROR_INVALID_VALUE, changed.Width = 131073);
    CREATE(ERROR_INVALID_VALUE, changed.Height = 65537);
    CREATE(ERROR_INVALID_VALUE, changed.Width = 16385, changed.Depth = 3);
    CREATE(ERROR_INVALID_VALUE, changed.Height = 16385, changed.Depth = 3);
    CREATE(ERROR_INVALID_VALUE, changed.Depth = 16385);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_LAYERED);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_LAYERED, changed.Depth = 2049);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_LAYERED, changed.Depth = 1,
           changed.Width = 32769);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_CUBEMAP, changed.Depth = 5);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_CUBEMAP, changed.Depth = 12);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_CUBEMAP, changed.Depth = 6,
           changed.Height = 4);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_CUBEMAP, changed.Depth = 6,
           changed.Width = 32769, changed.Height = 32769);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED,
           changed.Depth = 7);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_TEXTURE_GATHER, changed.Height = 0);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_TEXTURE_GATHER, changed.Depth = 2);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_TEXTURE_GATHER, changed.Width = 32769);
    CREATE(ERROR_INVALID_VALUE, changed.Flags = CUDA_ARRAY3D_TEXTURE_GATHER,
           changed.Height = 32769);
    CREATE(ERROR_NOT_SUPPORTED, changed.Format = (CUarray_format)0x91); /* compressed */
    CREATE(ERROR_NOT_SUPPORTED, changed.Format = (CUarray_format)0x50);
    CREATE(ERROR_NOT_SUPPORTED, changed.Flags = CUDA_ARRAY3D_SPARSE);
    CREATE(ERROR_OUT_OF_MEMORY, changed.Width = 16384, changed.Height = 16384,
           changed.Depth = 16384, changed.Format = CU_AD_FORMAT_FLOAT, changed.NumChannels = 4);
    GIVES(ERROR_INVALID_VALUE, cuArray3DCreate_v2, (NULL, &flat));
    GIVES(ERROR_INVALID_VALUE, cuArrayCreate_v2, (&array, NULL));
    ck_assert_ptr_eq(array, NULL);
}

TEST(what_arrays_are_asked)
{
    need_software();
    const CUDA_ARRAY_DESCRIPTOR given = {
        .Width = 5, .Height = 3, .Format = CU_AD_FORMAT_HALF, .NumChannels = 2};
    CUDA_ARRAY_DESCRIPTOR described = {0};
    CUDA_ARRAY3D_DESCRIPTOR deep = {.Depth = 7};
    CUarray array = NULL, plane = NULL;
    DRV(cuArrayCreate_v2, (&array, &given));
    DRV(cuArrayGetDescriptor_v2, (&described, array));
    ck_assert_uint_eq(described.Width, 5);
    ck_assert_uint_eq(described.Height, 3);
    ck_assert_int_eq(described.Format, CU_AD_FORMAT_HALF);
    ck_assert_uint_eq(described.NumChannels, 2);
    DRV(cuArray3DGetDescriptor_v2, (&deep, array));
    ck_assert_uint_eq(deep.Depth, 0);
    GIVES(ERROR_INVALID_VALUE, cuArrayGetDescriptor_v2, (NULL, array));
    GIVES(ERROR_INVALID_VALUE, cuArrayGetPlane, (&plane, array, 0)); /* it has none */
    DRV(cuArrayDestroy, (array));
    GIVES(ERROR_INVALID_HANDLE, cuArrayDestroy, (array));
    GIVES(ERROR_INVALID_HANDLE, cuArrayGetPlane, (&plane, array, 0));
}

TEST(levels_of_mipmapped_arrays)
{
    need_software();
    CUDA_ARRAY3D_DESCRIPTOR long_row = flat, described;
    CUmipmappedArray levels = NULL;
    CUarray level = NULL;
    long_row.Width = 8;
    long_row.Height = 0;
    DRV(cuMipmappedArrayCreate, (&levels, &long_row, 99)); /* as many as there can be */
    for (unsigned i = 0; i < 4; i++) {
        DRV(cuMipmappedArrayGetLevel, (&level, levels, i));
        DRV(cuArray3DGetDescriptor_v2, (&described, level));
        ck_assert_uint_eq(described.Width, 8u >> i);
        ck_assert_uint_eq(described.Height, 0);
    }
    GIVES(ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel, (&level, levels, 4));
    GIVES(ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel, (NULL, levels, 0));
    GIVES(ERROR_INVALID_HANDLE, cuArrayDestroy, (level)); /* it ends with the others */
    DRV(cuMipmappedArrayDestroy, (levels));
    GIVES(ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy, (levels));
    GIVES(ERROR_INVALID_HANDLE, cuArray3DGetDescriptor_v2, (&described, level));
    GIVES(ERROR_INVALID_VALUE, cuMipmappedArrayCreate, (&levels, &long_row, 0));
    GIVES(ERROR_INVALID_VALUE, cuMipmappedArrayCreate, (&levels, NULL, 1));
    long_row.NumChannels = 3;
    GIVES(ERROR_INVALID_VALUE, cuMipmappedArrayCreate, (&levels, &long_row, 1));
    const CUDA_ARRAY3D_DESCRIPTOR huge = {.Width = 16384,
                                          .Height = 16384,
                                          .Depth = 16384,
                                          .Format = CU_AD_FORMAT_FLOAT,
                                          .NumChannels = 4};
    GIVES(ERROR_OUT_OF_MEMORY, cuMipmappedArrayCreate, (&levels, &huge, 15));
}

TEST(copies_beyond_an_array)
{
    need_software();
    const CUDA_ARRAY_DESCRIPTOR words = {
        .Width = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
    unsigned char bytes[16], read[16] = {0};
    CUarray array = NULL, none = (CUarray)0x1234;
    DRV(cuArrayCreate_v2, (&array, &words));
    pattern_fill(bytes, sizeof(bytes), 1);
    DRV(cuMemcpyHtoA_v2, (array, 0, bytes, 16));
    GIVES(ERROR_INVALID_VALUE, cuMemcpyHtoA_v2, (array, 4, bytes, 16));
    GIVES(ERROR_INVALID_VALUE, cuMemcpyHtoA_v2, (array, 20, bytes, 4));
    GIVES(ERROR_INVALID_VALUE, cuMemcpyHtoA_v2, (array, 2, bytes, 4)); /* half an element */
    GIVES(ERROR_INVALID_VALUE, cuMemcpyHtoA_v2, (array, 0, bytes, 6));
    GIVES(ERROR_INVALID_VALUE, cuMemcpyAtoH_v2, (NULL, array, 0, 4));
    CUresult garbage = DRIVER(cuMemcpyAtoH_v2)(read, none, 0, 4),
             missing = DRIVER(cuMemcpyAtoH_v2)(read, NULL, 0, 4);
    ck_assert_int_ne(garbage, CUDA_SUCCESS);
    ck_assert_int_ne(missing, CUDA_SUCCESS);
    DRV(cuMemcpyAtoH_v2, (read, array, 0, 16));
    assert_pattern(read, sizeof(read), 1);
    DRV(cuArrayDestroy, (array));
}

GROUP("textures", add_soft_case)

#define TEXELS 64

/* Texels as they are, at places that count them, or that lie between 0 and 1. */
static CUDA_TEXTURE_DESC plain(unsigned flags)
{
    return (CUDA_TEXTURE_DESC){.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP,
                                               CU_TR_ADDRESS_MODE_CLAMP},
                               .flags = CU_TRSF_READ_AS_INTEGER | flags,
                               .maxMipmapLevelClamp = 10};
}

/* Runs the kernel, which writes `size` bytes of texels, and compares with the expected ones. */
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

TEST(textures_of_linear_memory)
{
    need_software();
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
    GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (&none, &good, &reading, &view));
    ck_assert_uint_eq(none, 0);
    CU(MemFree(memory));
    CU(MemFree(out));
}

/* 8 rows of 32 bytes, of which the first 5 are texels. */
TEST(textures_of_rows)
{
    need_software();
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

/* An array of 4 x 2 elements, of 4 bytes each. */
static CUarray array_of_words(const unsigned words[8])
{
    const CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 4, .Height = 2, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    CUarray array = NULL;
    DRV(cuArrayCreate_v2, (&array, &shape));
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = words,
                                .srcPitch = 16,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = array,
                                .WidthInBytes = 16,
                                .Height = 2};
    DRV(cuMemcpy2D_v2, (&copy));
    return array;
}

TEST(views_of_another_format)
{
    need_software();
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

/* Layer i, or level i, is filled with 0x10 + i. */
static void fill_array(CUarray array, size_t width, size_t height, size_t depth, int first)
{
    unsigned char bytes[256];
    for (size_t i = 0; i < width * height * depth; i++)
        bytes[i] = (unsigned char)(0x10 + first + (int)(i / (width * height)));
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = bytes,
                                .srcPitch = width,
                                .srcHeight = height,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = array,
                                .WidthInBytes = width,
                                .Height = height,
                                .Depth = depth};
    DRV(cuMemcpy3D_v2, (&copy));
}

GROUP("arrays", add_case)

/* Each number by itself, or with one other, takes a sum or a product past the end of size_t. */
TEST(copies_that_overflow)
{
    need_software();
    const size_t huge = SIZE_MAX / 2 + 2;
    unsigned char bytes[16];
    CUdeviceptr memory = 0;
    DRV(cuMemAlloc_v2, (&memory, 16));
    const CUDA_MEMCPY3D good = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = bytes,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = memory,
                                .WidthInBytes = 2,
                                .Height = 2,
                                .Depth = 2};
    DRV(cuMemcpy3D_v2, (&good));
#define REFUSED(...)                                                                               \
    do {                                                                                           \
        CUDA_MEMCPY3D copy = good;                                                                 \
        __VA_ARGS__;                                                                               \
        GIVES(ERROR_INVALID_VALUE, cuMemcpy3D_v2, (&copy));                                        \
    } while (0)
    REFUSED(copy.srcXInBytes = SIZE_MAX);
    REFUSED(copy.srcY = SIZE_MAX);
    REFUSED(copy.srcPitch = huge, copy.srcHeight = 2);
    REFUSED(copy.srcPitch = huge, copy.srcHeight = 8, copy.srcY = 2);
    REFUSED(copy.srcPitch = huge, copy.Height = 1, copy.srcHeight = 1, copy.srcZ = 2);
    REFUSED(copy.srcZ = SIZE_MAX);
    REFUSED(copy.dstXInBytes = 4, copy.dstZ = SIZE_MAX / 4);
    REFUSED(copy.dstPitch = huge / 2, copy.Height = 8, copy.Depth = 1);
    REFUSED(copy.Depth = SIZE_MAX);
    REFUSED(copy.srcMemoryType = (CUmemorytype)17);
    REFUSED(copy.srcHost = NULL);
    REFUSED(copy.dstPitch = 1);
#undef REFUSED
    DRV(cuMemFree_v2, (memory));
}

GROUP("textures", add_soft_case)

TEST(views_of_layers)
{
    need_software();
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
    GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &resource, &reading, &view));
    DRV(cuArrayDestroy, (array));
}

TEST(views_of_levels)
{
    need_software();
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
    GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &resource, &reading, &view));
    reading = plain(0); /* levels are between places that lie between 0 and 1 */
    GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &resource, &reading, NULL));
    DRV(cuMipmappedArrayDestroy, (levels));
}

TEST(what_textures_are_asked)
{
    need_software();
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
    GIVES(ERROR_INVALID_VALUE, cuTexObjectGetResourceViewDesc, (&view, texture));
    GIVES(ERROR_INVALID_VALUE, cuTexObjectGetTextureDesc, (NULL, texture));
    DRV(cuTexObjectDestroy, (texture));
    GIVES(ERROR_INVALID_VALUE, cuTexObjectGetTextureDesc, (&read, texture));
    DRV(cuTexObjectDestroy, (texture)); /* as on a GPU */

    for (int i = 0; i < 3; i++) {
        CUDA_TEXTURE_DESC bad = plain(0);
        bad.addressMode[i] = (CUaddress_mode)4;
        GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (&none, &resource, &bad, NULL));
    }
    CUDA_TEXTURE_DESC bad = plain(0);
    bad.filterMode = (CUfilter_mode)2;
    GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (&none, &resource, &bad, NULL));
    bad = plain(0);
    bad.mipmapFilterMode = (CUfilter_mode)2;
    GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (&none, &resource, &bad, NULL));
    bad = plain(0x8000);
    GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (&none, &resource, &bad, NULL));
    GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (NULL, &resource, &reading, NULL));
    GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (&none, NULL, &reading, NULL));
    GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (&none, &resource, NULL, NULL));
    resource.res.array.hArray = NULL;
    GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (&none, &resource, &reading, NULL));
    resource.res.array.hArray = (CUarray)0x1234;
    GIVES(ERROR_INVALID_HANDLE, cuTexObjectCreate, (&none, &resource, &reading, NULL));
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = NULL;
    GIVES(ERROR_INVALID_VALUE, cuTexObjectCreate, (&none, &resource, &reading, NULL));
    resource.res.mipmap.hMipmappedArray = (CUmipmappedArray)0x1234;
    GIVES(ERROR_INVALID_HANDLE, cuTexObjectCreate, (&none, &resource, &reading, NULL));
    ck_assert_uint_eq(none, 0);
    DRV(cuArrayDestroy, (array));
}

TEST(what_surfaces_are_asked)
{
    need_software();
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
    GIVES(ERROR_INVALID_VALUE, cuTexObjectGetResourceDesc, (&seen, surface)); /* no texture */
    DRV(cuSurfObjectDestroy, (surface));
    GIVES(ERROR_INVALID_VALUE, cuSurfObjectGetResourceDesc, (&seen, surface));
    bad.flags = 1;
    GIVES(ERROR_INVALID_VALUE, cuSurfObjectCreate, (&none, &bad));
    bad = good;
    bad.resType = CU_RESOURCE_TYPE_LINEAR;
    GIVES(ERROR_INVALID_VALUE, cuSurfObjectCreate, (&none, &bad));
    bad = good;
    bad.res.array.hArray = NULL;
    GIVES(ERROR_INVALID_VALUE, cuSurfObjectCreate, (&none, &bad));
    bad.res.array.hArray = (CUarray)0x1234;
    GIVES(ERROR_INVALID_HANDLE, cuSurfObjectCreate, (&none, &bad));
    GIVES(ERROR_INVALID_VALUE, cuSurfObjectCreate, (NULL, &good));
    GIVES(ERROR_INVALID_VALUE, cuSurfObjectCreate, (&none, NULL));
    ck_assert_uint_eq(none, 0);
    DRV(cuArrayDestroy, (array));
}
