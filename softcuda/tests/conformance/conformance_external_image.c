/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Mipmapped arrays over external memory: the codes, and the layout of rows, which must be the same
 * in the software driver and in lavapipe.
 */
#define _GNU_SOURCE
#include "conformance_share.h"

#include <stdlib.h>
#include <string.h>

#include "examples/support/kernel_image.h"

KERNEL_IMAGE(image_kernels);

/* ---- External memory: images ----------------------------------------------------------------- */

typedef CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC image_description;

/* The extents of an array, as in a CUDA_ARRAY3D_DESCRIPTOR. */
struct shape {
    const char *name;
    size_t width, height, depth;
    CUarray_format format;
    unsigned channels, element, flags, levels;
};

static const struct shape shapes[] = {
    {"1D", 101, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, 0, 7},
    {"1D layers", 101, 0, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1, 1, CUDA_ARRAY3D_LAYERED, 3},
    {"2D", 101, 37, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, 0, 7},
    {"2D layers", 101, 37, 5, CU_AD_FORMAT_UNSIGNED_INT8, 1, 1, CUDA_ARRAY3D_LAYERED, 3},
    {"2D floats", 33, 3, 2, CU_AD_FORMAT_FLOAT, 4, 16, CUDA_ARRAY3D_LAYERED, 2},
    {"3D", 37, 21, 9, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, 0, 6},
    {"cube", 37, 37, 6, CU_AD_FORMAT_HALF, 1, 2, CUDA_ARRAY3D_CUBEMAP, 6},
    {"cubes", 37, 37, 12, CU_AD_FORMAT_HALF, 2, 4, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 2},
};

static image_description describe(const struct shape *shape, size_t offset)
{
    return (image_description){
        .offset = offset,
        .arrayDesc = {.Width = shape->width,
                      .Height = shape->height,
                      .Depth = shape->depth,
                      .Format = shape->format,
                      .NumChannels = shape->channels,
                      .Flags = shape->flags},
        .numLevels = shape->levels,
    };
}

/* One level: its extents, which are at least 1, and its layout in lavapipe. */
struct level {
    size_t row, rows, slices, pitch, slice_pitch;
};

static size_t halved(size_t extent, unsigned level)
{
    return extent >> level ? extent >> level : 1;
}

static struct level level_of(const struct shape *shape, unsigned index)
{
    bool is_3d = shape->depth > 0 && shape->flags == 0;
    size_t width = halved(shape->width, index), rows = halved(shape->height, index);
    struct level level = {
        .row = width * shape->element,
        .rows = rows,
        .slices = is_3d          ? halved(shape->depth, index)
                  : shape->depth ? shape->depth
                                 : 1,
        .pitch = ((width + 3) / 4 * 4 * shape->element + 63) / 64 * 64,
    };
    level.slice_pitch = level.pitch * (shape->height ? (rows + 3) / 4 * 4 : 1);
    return level;
}

/* Copies a whole level from or to packed bytes on the host. */
static void copy_level(CUarray array, const struct level *level, void *bytes, bool to_array)
{
    const CUDA_MEMCPY3D c =
        to_array ? copy_to_array(array, bytes, level->row, level->rows, level->slices)
                 : copy_from_array(bytes, array, level->row, level->rows, level->slices);
    CU(Memcpy3DAsync(&c, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

/*
 * Checks that the rows in linear memory, at the offsets that lavapipe uses, equal the packed bytes.
 */
static void assert_rows(CUdeviceptr memory, const struct level *level, const unsigned char *packed,
                        const char *name, unsigned index)
{
    size_t size = level->slice_pitch * level->slices;
    unsigned char *linear = must_allocate(size);
    CU(MemcpyDtoH(linear, memory, size));
    for (size_t z = 0; z < level->slices; z++)
        for (size_t y = 0; y < level->rows; y++)
            ck_assert_msg(memcmp(linear + z * level->slice_pitch + y * level->pitch,
                                 packed + (z * level->rows + y) * level->row, level->row) == 0,
                          "%s: level %u, slice %zu, row %zu is wrong", name, index, z, y);
    free(linear);
}

/* Checks all levels. Returns the size of the image in bytes. */
static size_t check_levels(CUmipmappedArray mipmap, const struct shape *shape, CUdeviceptr memory)
{
    size_t offset = 0;
    for (unsigned i = 0; i < shape->levels; i++) {
        struct level level = level_of(shape, i);
        size_t size = level.row * level.rows * level.slices;
        unsigned char *bytes = malloc(size);
        CUarray array = NULL;
        ck_assert_ptr_nonnull(bytes);
        pattern_fill(bytes, size, i + 1);
        CU(MipmappedArrayGetLevel(&array, mipmap, i));
        copy_level(array, &level, bytes, true);
        assert_rows(memory + offset, &level, bytes, shape->name, i);
        memset(bytes, 0, size);
        copy_level(array, &level, bytes, false);
        assert_pattern(bytes, size, i + 1);
        offset += level.slice_pitch * level.slices;
        free(bytes);
    }
    return offset;
}

GROUP("images in external memory", add_case)

IMPORT_TEST(image_rows_match_the_layout_of_lavapipe)
{
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        const size_t offset = i % 2 ? 8192 : 256;
        CUexternalMemory memory = share_import(handle, SHARE_SIZE), exact;
        CUdeviceptr linear = share_map_buffer(memory, offset, SHARE_SIZE - offset);
        const image_description d = describe(&shapes[i], offset);
        CUmipmappedArray mipmap = NULL;
        CUDA_ARRAY3D_DESCRIPTOR seen;
        CUarray top = NULL;
        CALL(SUCCESS, ExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &d));
        CU(DestroyExternalMemory(memory));
        size_t size = check_levels(mipmap, &shapes[i], linear);
        CU(MipmappedArrayGetLevel(&top, mipmap, 0));
        CU(Array3DGetDescriptor(&seen, top));
        ck_assert_uint_eq(seen.Width, shapes[i].width);
        ck_assert_uint_eq(seen.Height, shapes[i].height);
        ck_assert_uint_eq(seen.Depth, shapes[i].depth);
        ck_assert_uint_eq(seen.Flags, shapes[i].flags);
        CALL(ERROR_INVALID_VALUE, MipmappedArrayGetLevel(&top, mipmap, shapes[i].levels));
        CALL(SUCCESS, MipmappedArrayDestroy(mipmap));
        CU(MemFree(linear));

        /* The image fits the memory exactly. */
        exact = share_import(handle, offset + size - 1);
        CALL(ERROR_INVALID_VALUE, ExternalMemoryGetMappedMipmappedArray(&mipmap, exact, &d));
        CU(DestroyExternalMemory(exact));
        exact = share_import(handle, offset + size);
        CALL(SUCCESS, ExternalMemoryGetMappedMipmappedArray(&mipmap, exact, &d));
        CALL(SUCCESS, MipmappedArrayDestroy(mipmap));
        CU(DestroyExternalMemory(exact));
    }
    CU(MemRelease(handle));
}

IMPORT_TEST(mapped_image_codes)
{
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    CUexternalMemory memory = share_import(handle, SHARE_SIZE);
    image_description good = describe(&shapes[2], 0);
    image_description d = good;
    CUmipmappedArray mipmap = NULL;
    CUarray array = NULL;
    CALL(ERROR_INVALID_VALUE, ExternalMemoryGetMappedMipmappedArray(NULL, memory, &d));
    CALL(ERROR_INVALID_VALUE, ExternalMemoryGetMappedMipmappedArray(&mipmap, memory, NULL));
    CALL(ERROR_INVALID_HANDLE, ExternalMemoryGetMappedMipmappedArray(&mipmap, NULL, &d));
    CALL_WITH(ERROR_INVALID_VALUE, numLevels = 0,
              ExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &changed));
    CALL_WITH(ERROR_INVALID_VALUE, offset = 8,
              ExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &changed));
    CALL_WITH(ERROR_INVALID_VALUE, offset = SHARE_SIZE,
              ExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &changed));
    CALL_WITH(ERROR_INVALID_VALUE, arrayDesc.NumChannels = 3,
              ExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &changed));
    CALL_WITH(ERROR_INVALID_VALUE, arrayDesc.Width = 0,
              ExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &changed));
    d.arrayDesc.Flags = CUDA_ARRAY3D_COLOR_ATTACHMENT | CUDA_ARRAY3D_SURFACE_LDST;
    CALL(SUCCESS, ExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &d));
    CU(MipmappedArrayGetLevel(&array, mipmap, 1));
    CALL(ERROR_INVALID_HANDLE, ArrayDestroy(array));
    CALL(SUCCESS, MipmappedArrayDestroy(mipmap));
    CALL(ERROR_INVALID_HANDLE, MipmappedArrayDestroy(mipmap));
    CALL(SUCCESS, DestroyExternalMemory(memory));
    CU(MemRelease(handle));
}

/* In a copy, one z is one layer. */
IMPORT_TEST(copy_reaches_one_layer_of_an_image)
{
    const struct shape *shape = &shapes[3];
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    CUexternalMemory memory = share_import(handle, SHARE_SIZE);
    CUdeviceptr linear = share_map_buffer(memory, 0, SHARE_SIZE);
    const image_description d = describe(shape, 0);
    const struct level level = level_of(shape, 0);
    unsigned char bytes[10] = "0123456789", seen[10] = "";
    CUmipmappedArray mipmap = NULL;
    CUarray array = NULL;
    CU(ExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &d));
    CU(MipmappedArrayGetLevel(&array, mipmap, 0));
    CUDA_MEMCPY3D c = copy_to_array(array, bytes, 10, 1, 1);
    c.dstXInBytes = 91, c.dstY = 36, c.dstZ = 4;
    CALL(SUCCESS, Memcpy3DAsync(&c, fx.stream));
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(seen, linear + 4 * level.slice_pitch + 36 * level.pitch + 91, 10));
    ck_assert_mem_eq(seen, bytes, 10);
    c.dstZ = 5;
    CALL(ERROR_INVALID_VALUE, Memcpy3DAsync(&c, fx.stream));
    c.dstZ = 4;
    c.dstXInBytes = 92;
    CALL(ERROR_INVALID_VALUE, Memcpy3DAsync(&c, fx.stream));
    CU(MemRelease(handle));
}

/* A kernel writes `in` through a surface of the array. */
static void store(CUarray array, CUdeviceptr in, int width, int height)
{
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                         .res.array.hArray = array};
    CUmodule module = NULL;
    CUsurfObject surface = 0;
    void *parameters[] = {&surface, &in, &width, &height};
    ck_assert(kernel_image_load(&image_kernels_image, &module));
    CU(SurfObjectCreate(&surface, &resource));
    launch_kernel(module, "store_uint8x4", (size_t)(width * height), parameters);
    CU(StreamSynchronize(fx.stream));
    CU(SurfObjectDestroy(surface));
    CU(ModuleUnload(module));
}

IMPORT_TEST(surface_writes_an_external_image)
{
    if (image_kernels_image.host[0] == 0)
        skip("the kernels were not built for the software driver");
    const struct shape *shape = &shapes[2];
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    CUexternalMemory memory = share_import(handle, SHARE_SIZE);
    CUdeviceptr linear = share_map_buffer(memory, 4096, SHARE_SIZE - 4096), in = 0;
    image_description d = describe(shape, 4096);
    d.arrayDesc.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    const struct level first = level_of(shape, 0), level = level_of(shape, 1);
    unsigned char *bytes = malloc(level.row * level.rows);
    CUmipmappedArray mipmap = NULL;
    CUarray array = NULL;
    ck_assert_ptr_nonnull(bytes);
    pattern_fill(bytes, level.row * level.rows, 9);
    CU(MemAlloc(&in, level.row * level.rows));
    CU(MemcpyHtoD(in, bytes, level.row * level.rows));
    CU(CtxSynchronize());
    CU(ExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &d));
    CU(MipmappedArrayGetLevel(&array, mipmap, 1));
    store(array, in, (int)(level.row / 4), (int)level.rows);
    assert_rows(linear + first.slice_pitch, &level, bytes, "surface", 1);
    CU(MemRelease(handle));
    free(bytes);
}
