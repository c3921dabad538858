/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arrays: queries and invalid arguments. */
#define _GNU_SOURCE
#include "soft_calls.h"

GROUP("arrays", add_case)

const CUDA_ARRAY3D_DESCRIPTOR flat = {8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};

enum {
    LAYERED = CUDA_ARRAY3D_LAYERED,
    CUBE = CUDA_ARRAY3D_CUBEMAP,
    GATHER = CUDA_ARRAY3D_TEXTURE_GATHER
};

/*
 * Creates an array like `flat`, with the changes to this array `a`, and expects the code. Destroys
 * an array that was created.
 */
#define CREATE(code, ...)                                                                          \
    do {                                                                                           \
        CUDA_ARRAY3D_DESCRIPTOR a = flat;                                                          \
        CUarray made = NULL;                                                                       \
        __VA_ARGS__;                                                                               \
        assert_result(CUDA_##code, DRIVER(cuArray3DCreate_v2)(&made, &a), #__VA_ARGS__);           \
        if (made)                                                                                  \
            DRV(cuArrayDestroy, (made));                                                           \
    } while (0)

SOFT_TEST(arrays_of_all_kinds_can_be_created)
{
    CREATE(SUCCESS, a.Height = 0);
    CREATE(SUCCESS, a.Depth = 3);
    CREATE(SUCCESS, a.Flags = LAYERED, a.Depth = 3);
    CREATE(SUCCESS, a.Flags = LAYERED, a.Height = 0, a.Depth = 3);
    CREATE(SUCCESS, a.Flags = CUBE, a.Depth = 6);
    CREATE(SUCCESS, a.Flags = CUBE | LAYERED, a.Depth = 12);
    CREATE(SUCCESS, a.Flags = GATHER);
    CREATE(SUCCESS, a.Flags = GATHER | LAYERED, a.Depth = 2);
    CREATE(SUCCESS, a.Width = 131072, a.Height = 0);
    const int formats[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_UNSIGNED_INT16,
                           CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT8,
                           CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_SIGNED_INT32,
                           CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        for (unsigned channels = 1; channels <= 4; channels *= 2)
            CREATE(SUCCESS, a.Format = (CUarray_format)formats[i], a.NumChannels = channels);
}

SOFT_TEST(invalid_array_descriptors_are_refused)
{
    CUarray array = NULL;
    CREATE(ERROR_INVALID_VALUE, a.Width = 0);
    CREATE(ERROR_INVALID_VALUE, a.NumChannels = 3);
    CREATE(ERROR_INVALID_VALUE, a.Format = (CUarray_format)5);
    CREATE(ERROR_INVALID_VALUE, a.Flags = 0x8000);
    CREATE(ERROR_INVALID_VALUE, a.Height = 0, a.Depth = 3);
    CREATE(ERROR_INVALID_VALUE, a.Width = 131073, a.Height = 0);
    CREATE(ERROR_INVALID_VALUE, a.Width = 131073);
    CREATE(ERROR_INVALID_VALUE, a.Height = 65537);
    CREATE(ERROR_INVALID_VALUE, a.Width = 16385, a.Depth = 3);
    CREATE(ERROR_INVALID_VALUE, a.Height = 16385, a.Depth = 3);
    CREATE(ERROR_INVALID_VALUE, a.Depth = 16385);
    CREATE(ERROR_INVALID_VALUE, a.Flags = LAYERED);
    CREATE(ERROR_INVALID_VALUE, a.Flags = LAYERED, a.Depth = 2049);
    CREATE(ERROR_INVALID_VALUE, a.Flags = LAYERED, a.Depth = 1, a.Width = 32769);
    CREATE(ERROR_INVALID_VALUE, a.Flags = CUBE, a.Depth = 5);
    CREATE(ERROR_INVALID_VALUE, a.Flags = CUBE, a.Depth = 12);
    CREATE(ERROR_INVALID_VALUE, a.Flags = CUBE, a.Depth = 6, a.Height = 4);
    CREATE(ERROR_INVALID_VALUE, a.Flags = CUBE, a.Depth = 6, a.Width = 32769, a.Height = 32769);
    CREATE(ERROR_INVALID_VALUE, a.Flags = CUBE | LAYERED, a.Depth = 7);
    CREATE(ERROR_INVALID_VALUE, a.Flags = CUBE | LAYERED);
    CREATE(ERROR_INVALID_VALUE, a.Flags = GATHER, a.Height = 0);
    CREATE(ERROR_INVALID_VALUE, a.Flags = GATHER, a.Depth = 2);
    CREATE(ERROR_INVALID_VALUE, a.Flags = GATHER, a.Width = 32769);
    CREATE(ERROR_INVALID_VALUE, a.Flags = GATHER, a.Height = 32769);
    CREATE(ERROR_NOT_SUPPORTED, a.Format = CU_AD_FORMAT_NV12);
    /* Formats of CUDA 12.8: BC1, BC4 and 10:10:10:2 texels. */
    CREATE(ERROR_NOT_SUPPORTED, a.Format = (CUarray_format)0x91, a.NumChannels = 4,
           a.Flags = CUDA_ARRAY3D_SURFACE_LDST);
    CREATE(ERROR_INVALID_VALUE, a.Format = (CUarray_format)0x97, a.NumChannels = 4);
    CREATE(ERROR_INVALID_VALUE, a.Format = (CUarray_format)0x50, a.NumChannels = 2);
    CREATE(ERROR_NOT_SUPPORTED, a.Flags = CUDA_ARRAY3D_SPARSE);
    CREATE(ERROR_OUT_OF_MEMORY, a.Width = 16384, a.Height = 16384, a.Depth = 16384,
           a.Format = CU_AD_FORMAT_FLOAT, a.NumChannels = 4);
    INVALID(cuArray3DCreate_v2, (NULL, &flat));
    INVALID(cuArrayCreate_v2, (&array, NULL));
    ck_assert_ptr_eq(array, NULL);
}

SOFT_TEST(array_queries_return_the_descriptor)
{
    const CUDA_ARRAY_DESCRIPTOR given = {5, 3, CU_AD_FORMAT_HALF, 2};
    CUDA_ARRAY_DESCRIPTOR described = {0};
    CUDA_ARRAY3D_DESCRIPTOR deep = {.Depth = 7};
    CUarray array = NULL, plane = NULL;
    DRV(cuArrayCreate_v2, (&array, &given));
    DRV(cuArrayGetDescriptor_v2, (&described, array));
    ck_assert_mem_eq(&described, &given, sizeof(given));
    DRV(cuArray3DGetDescriptor_v2, (&deep, array));
    ck_assert_uint_eq(deep.Depth, 0);
    INVALID(cuArrayGetDescriptor_v2, (NULL, array));
    INVALID(cuArrayGetPlane, (&plane, array, 0)); /* the array has no planes */
    DRV(cuArrayDestroy, (array));
    GIVES(ERROR_INVALID_HANDLE, cuArrayDestroy, (array));
    GIVES(ERROR_INVALID_HANDLE, cuArrayGetPlane, (&plane, array, 0));
}

SOFT_TEST(mipmapped_array_has_the_whole_chain_of_levels)
{
    CUDA_ARRAY3D_DESCRIPTOR long_row = flat, described;
    CUmipmappedArray levels = NULL;
    CUarray level = NULL;
    long_row.Height = 0;
    DRV(cuMipmappedArrayCreate, (&levels, &long_row, 99)); /* the whole chain */
    for (unsigned i = 0; i < 4; i++) {
        DRV(cuMipmappedArrayGetLevel, (&level, levels, i));
        DRV(cuArray3DGetDescriptor_v2, (&described, level));
        ck_assert_uint_eq(described.Width, 8u >> i);
        ck_assert_uint_eq(described.Height, 0);
    }
    INVALID(cuMipmappedArrayGetLevel, (&level, levels, 4));
    INVALID(cuMipmappedArrayGetLevel, (NULL, levels, 0));
    /* A level cannot be destroyed without its mipmapped array. */
    GIVES(ERROR_INVALID_HANDLE, cuArrayDestroy, (level));
    DRV(cuMipmappedArrayDestroy, (levels));
    GIVES(ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy, (levels));
    GIVES(ERROR_INVALID_HANDLE, cuArray3DGetDescriptor_v2, (&described, level));
    INVALID(cuMipmappedArrayCreate, (&levels, &long_row, 0));
    INVALID(cuMipmappedArrayCreate, (&levels, NULL, 1));
    long_row.NumChannels = 3;
    INVALID(cuMipmappedArrayCreate, (&levels, &long_row, 1));
    const CUDA_ARRAY3D_DESCRIPTOR huge = {16384, 16384, 16384, CU_AD_FORMAT_FLOAT, 4, 0};
    GIVES(ERROR_OUT_OF_MEMORY, cuMipmappedArrayCreate, (&levels, &huge, 15));
}

SOFT_TEST(copies_outside_an_array_are_refused)
{
    const CUDA_ARRAY_DESCRIPTOR words = {4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    unsigned char bytes[16], read[16] = {0};
    CUarray array = NULL, none = (CUarray)0x1234;
    DRV(cuArrayCreate_v2, (&array, &words));
    pattern_fill(bytes, sizeof(bytes), 1);
    DRV(cuMemcpyHtoA_v2, (array, 0, bytes, 16));
    INVALID(cuMemcpyHtoA_v2, (array, 4, bytes, 16));
    INVALID(cuMemcpyHtoA_v2, (array, 20, bytes, 4));
    INVALID(cuMemcpyHtoA_v2, (array, 2, bytes, 4)); /* half an element */
    INVALID(cuMemcpyHtoA_v2, (array, 0, bytes, 6));
    INVALID(cuMemcpyAtoH_v2, (NULL, array, 0, 4));
    CUresult garbage = DRIVER(cuMemcpyAtoH_v2)(read, none, 0, 4),
             missing = DRIVER(cuMemcpyAtoH_v2)(read, NULL, 0, 4);
    ck_assert_int_ne(garbage, CUDA_SUCCESS);
    ck_assert_int_ne(missing, CUDA_SUCCESS);
    DRV(cuMemcpyAtoH_v2, (read, array, 0, 16));
    assert_pattern(read, sizeof(read), 1);
}

GROUP("arrays", add_case)

/* Each number, alone or together with another number, overflows a sum or a product in size_t. */
SOFT_TEST(copies_whose_extents_overflow_are_refused)
{
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
        INVALID(cuMemcpy3D_v2, (&copy));                                                           \
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
}
