/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define GROUP "arrays"
#include "softcudart.h"

#include <string.h>

enum { WIDTH = 32, HEIGHT = 8, DEPTH = 4 };

static struct cudaChannelFormatDesc bytes4(void)
{
    return cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
}

CASE(report_their_format)
{
    const struct cudaChannelFormatDesc wanted = bytes4();
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent;
    unsigned flags = 9;
    cudaArray_t array = NULL;
    CUDA(cudaMallocArray(&array, &wanted, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    CUDA(cudaArrayGetInfo(&desc, &extent, &flags, array));
    REQUIRE(desc.x == 8 && desc.y == 8 && desc.z == 8 && desc.w == 8);
    REQUIRE(desc.f == cudaChannelFormatKindUnsigned);
    REQUIRE(extent.width == WIDTH && extent.height == HEIGHT && extent.depth == 0);
    REQUIRE(flags == cudaArraySurfaceLoadStore);
    memset(&desc, 0, sizeof(desc));
    CUDA(cudaGetChannelDesc(&desc, array));
    REQUIRE(desc.x == 8 && desc.w == 8);
    CUDA(cudaFreeArray(array));
    return NULL;
}

/* The common channel formats, with the numbers of bits of their channels. */
CASE(created_in_each_common_format)
{
    static const struct {
        int bits, channels;
        enum cudaChannelFormatKind kind;
    } formats[] = {
        {8, 1, cudaChannelFormatKindUnsigned}, {8, 2, cudaChannelFormatKindSigned},
        {16, 1, cudaChannelFormatKindSigned},  {16, 4, cudaChannelFormatKindFloat},
        {32, 1, cudaChannelFormatKindFloat},   {32, 2, cudaChannelFormatKindUnsigned},
        {32, 4, cudaChannelFormatKindFloat},   {32, 1, cudaChannelFormatKindSigned},
    };
    for (size_t i = 0; i < COUNT(formats); i++) {
        int bits = formats[i].bits, channels = formats[i].channels;
        const struct cudaChannelFormatDesc wanted =
            cudaCreateChannelDesc(bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                  channels > 3 ? bits : 0, formats[i].kind);
        struct cudaChannelFormatDesc desc;
        cudaArray_t array = NULL;
        CUDA(cudaMallocArray(&array, &wanted, 16, 0, 0));
        CUDA(cudaGetChannelDesc(&desc, array));
        REQUIRE(memcmp(&desc, &wanted, sizeof(desc)) == 0);
        CUDA(cudaFreeArray(array));
    }
    return NULL;
}

CASE(refused_if_the_format_is_invalid)
{
    const struct cudaChannelFormatDesc three =
        cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
    const struct cudaChannelFormatDesc uneven =
        cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned);
    const struct cudaChannelFormatDesc good = bytes4();
    cudaArray_t array = NULL;
    FAILS(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &three, WIDTH, HEIGHT, 0));
    FAILS(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &uneven, WIDTH, HEIGHT, 0));
    FAILS(cudaErrorInvalidValue, cudaMallocArray(NULL, &good, WIDTH, HEIGHT, 0));
    FAILS(cudaErrorInvalidValue, cudaMallocArray(&array, &good, 0, 0, 0));
    return NULL;
}

CASE(copied_as_rectangles)
{
    const struct cudaChannelFormatDesc desc = bytes4();
    unsigned char bytes[HEIGHT][WIDTH * 4], back[HEIGHT][WIDTH * 4];
    cudaArray_t array = NULL, other = NULL;
    softcudart_pattern(bytes, sizeof(bytes));
    CUDA(cudaMallocArray(&array, &desc, WIDTH, HEIGHT, 0));
    CUDA(cudaMallocArray(&other, &desc, WIDTH, HEIGHT, 0));
    CUDA(cudaMemcpy2DToArray(array, 0, 0, bytes, sizeof(bytes[0]), sizeof(bytes[0]), HEIGHT,
                             cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, sizeof(bytes[0]), HEIGHT,
                                  cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy2DFromArray(back, sizeof(back[0]), other, 0, 0, sizeof(back[0]), HEIGHT,
                               cudaMemcpyDeviceToHost));
    REQUIRE(softcudart_is_pattern(back, sizeof(back), 0));
    /* Copies 8 bytes of 2 rows, starting at byte 4 of row 3. */
    CUDA(cudaMemcpy2DFromArrayAsync(back, 8, array, 4, 3, 8, 2, cudaMemcpyDeviceToHost, NULL));
    CUDA(cudaStreamSynchronize(NULL));
    REQUIRE(memcmp(back[0], &bytes[3][4], 8) == 0);
    REQUIRE(memcmp(&back[0][8], &bytes[4][4], 8) == 0);
    /* The pitch may be 0 for a copy of one row, but not of two rows. */
    CUDA(cudaMemcpy2DToArray(other, 0, 2, bytes, 0, sizeof(bytes[0]), 1, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2DFromArray(back, 0, other, 0, 2, sizeof(back[0]), 1, cudaMemcpyDeviceToHost));
    REQUIRE(memcmp(back[0], bytes[0], sizeof(back[0])) == 0);
    FAILS(cudaErrorInvalidPitchValue,
          cudaMemcpy2DToArray(other, 0, 2, bytes, 0, sizeof(bytes[0]), 2, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemcpy2DFromArray(back, sizeof(back[0]), array, 4, 0,
                                                       sizeof(back[0]), 1, cudaMemcpyDeviceToHost));
    CUDA(cudaFreeArray(array));
    CUDA(cudaFreeArray(other));
    return NULL;
}

/* The older functions copy bytes that continue in the next row of the array. */
CASE(copied_across_rows)
{
    enum { ROW = WIDTH * 4 };
    const struct cudaChannelFormatDesc desc = bytes4();
    unsigned char bytes[ROW * HEIGHT], back[ROW * HEIGHT];
    cudaArray_t array = NULL;
    softcudart_pattern(bytes, sizeof(bytes));
    CUDA(cudaMallocArray(&array, &desc, WIDTH, HEIGHT, 0));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    CUDA(cudaMemcpyToArray(array, 0, 0, bytes, sizeof(bytes), cudaMemcpyHostToDevice));
    CUDA(cudaMemcpyFromArray(back, array, 0, 0, sizeof(back), cudaMemcpyDeviceToHost));
    REQUIRE(softcudart_is_pattern(back, sizeof(back), 0));
    CUDA(cudaMemcpyFromArray(back, array, 16, 1, ROW * 2, cudaMemcpyDeviceToHost));
    REQUIRE(softcudart_is_pattern(back, ROW * 2, ROW + 16));
    CUDA(cudaMemcpyToArray(array, ROW - 4, 0, bytes, 8, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpyFromArray(back, array, 0, 0, sizeof(back), cudaMemcpyDeviceToHost));
#pragma GCC diagnostic pop
    REQUIRE(memcmp(back + ROW - 4, bytes, 8) == 0);
    REQUIRE(softcudart_is_pattern(back + ROW + 4, 64, ROW + 4));
    CUDA(cudaFreeArray(array));
    return NULL;
}

/* The width of a copy to or from an array is in elements of the array. */
CASE(copied_as_boxes)
{
    const struct cudaChannelFormatDesc desc = bytes4();
    const struct cudaExtent extent = {WIDTH, HEIGHT, DEPTH};
    unsigned char bytes[DEPTH][HEIGHT][WIDTH * 4], back[DEPTH][HEIGHT][WIDTH * 4];
    struct cudaMemcpy3DParms copy;
    cudaArray_t array = NULL;
    softcudart_pattern(bytes, sizeof(bytes));
    CUDA(cudaMalloc3DArray(&array, &desc, extent, 0));
    memset(&copy, 0, sizeof(copy));
    copy.srcPtr = (struct cudaPitchedPtr){bytes, WIDTH * 4, WIDTH, HEIGHT};
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
    memset(&copy, 0, sizeof(copy));
    copy.srcArray = array;
    copy.srcPos = (struct cudaPos){2, 1, 1};
    copy.dstPtr = (struct cudaPitchedPtr){back, WIDTH * 4, WIDTH, HEIGHT};
    copy.extent = (struct cudaExtent){5, 3, 2};
    copy.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3DAsync(&copy, NULL));
    CUDA(cudaDeviceSynchronize());
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 3; y++)
            REQUIRE(memcmp(back[z][y], &bytes[z + 1][y + 1][8], 20) == 0);
    copy.srcPtr.ptr = bytes;
    FAILS(cudaErrorInvalidValue, cudaMemcpy3D(&copy)); /* two sources */
    CUDA(cudaFreeArray(array));
    return NULL;
}

CASE(with_levels)
{
    const struct cudaChannelFormatDesc desc = bytes4();
    const struct cudaExtent extent = {WIDTH, HEIGHT, 0};
    struct cudaExtent has;
    cudaMipmappedArray_t mipmap = NULL;
    cudaArray_t level = NULL;
    CUDA(cudaMallocMipmappedArray(&mipmap, &desc, extent, 3, 0));
    CUDA(cudaGetMipmappedArrayLevel(&level, mipmap, 2));
    CUDA(cudaArrayGetInfo(NULL, &has, NULL, level));
    REQUIRE(has.width == WIDTH / 4 && has.height == HEIGHT / 4);
    FAILS(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&level, mipmap, 3));
    CUDA(cudaFreeMipmappedArray(mipmap));
    return NULL;
}

CASE(as_textures)
{
    const struct cudaChannelFormatDesc desc = bytes4();
    struct cudaResourceDesc resource, has_resource;
    struct cudaTextureDesc texture, has;
    cudaTextureObject_t object = 0;
    cudaArray_t array = NULL;
    CUDA(cudaMallocArray(&array, &desc, WIDTH, HEIGHT, 0));
    memset(&resource, 0, sizeof(resource));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    memset(&texture, 0, sizeof(texture));
    texture.addressMode[0] = cudaAddressModeWrap;
    texture.addressMode[1] = cudaAddressModeClamp;
    texture.filterMode = cudaFilterModeLinear;
    texture.readMode = cudaReadModeNormalizedFloat;
    texture.normalizedCoords = 1;
    CUDA(cudaCreateTextureObject(&object, &resource, &texture, NULL));
    REQUIRE(object);
    CUDA(cudaGetTextureObjectTextureDesc(&has, object));
    REQUIRE(has.addressMode[0] == cudaAddressModeWrap);
    REQUIRE(has.addressMode[1] == cudaAddressModeClamp);
    REQUIRE(has.filterMode == cudaFilterModeLinear && has.normalizedCoords == 1);
    REQUIRE(has.readMode == cudaReadModeNormalizedFloat);
    CUDA(cudaGetTextureObjectResourceDesc(&has_resource, object));
    REQUIRE(has_resource.resType == cudaResourceTypeArray);
    REQUIRE(has_resource.res.array.array == array);
    CUDA(cudaDestroyTextureObject(object));
    CUDA(cudaDestroyTextureObject(0));
    FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(NULL, &resource, &texture, NULL));
    CUDA(cudaFreeArray(array));
    return NULL;
}

CASE(linear_memory_as_texture)
{
    struct cudaResourceDesc resource, has;
    struct cudaTextureDesc texture;
    cudaTextureObject_t object = 0;
    void *memory = NULL;
    CUDA(cudaMalloc(&memory, 4096));
    memset(&resource, 0, sizeof(resource));
    memset(&texture, 0, sizeof(texture));
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    resource.res.linear.sizeInBytes = 4096;
    CUDA(cudaCreateTextureObject(&object, &resource, &texture, NULL));
    CUDA(cudaGetTextureObjectResourceDesc(&has, object));
    REQUIRE(has.res.linear.devPtr == memory && has.res.linear.sizeInBytes == 4096);
    REQUIRE(has.res.linear.desc.x == 32 && has.res.linear.desc.f == cudaChannelFormatKindFloat);
    CUDA(cudaDestroyTextureObject(object));
    CUDA(cudaFree(memory));
    return NULL;
}

CASE(as_surfaces)
{
    const struct cudaChannelFormatDesc desc = bytes4();
    struct cudaResourceDesc resource, has;
    cudaSurfaceObject_t object = 0;
    cudaArray_t array = NULL;
    CUDA(cudaMallocArray(&array, &desc, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    memset(&resource, 0, sizeof(resource));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CUDA(cudaCreateSurfaceObject(&object, &resource));
    CUDA(cudaGetSurfaceObjectResourceDesc(&has, object));
    REQUIRE(has.res.array.array == array);
    CUDA(cudaDestroySurfaceObject(object));
    resource.resType = cudaResourceTypeLinear;
    FAILS(cudaErrorInvalidChannelDescriptor, cudaCreateSurfaceObject(&object, &resource));
    CUDA(cudaFreeArray(array));
    return NULL;
}
