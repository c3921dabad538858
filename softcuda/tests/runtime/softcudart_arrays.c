/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define GROUP "arrays"
#include "softcudart.h"

enum { WIDTH = 32, HEIGHT = 8 };

static struct cudaChannelFormatDesc bytes4(void)
{
    return cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
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
        struct cudaChannelFormatDesc desc, again;
        struct cudaExtent extent;
        unsigned flags = 9;
        cudaArray_t array = NULL;
        CUDA(cudaMallocArray(&array, &wanted, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
        CUDA(cudaArrayGetInfo(&desc, &extent, &flags, array));
        CUDA(cudaGetChannelDesc(&again, array));
        REQUIRE(memcmp(&desc, &wanted, sizeof(desc)) == 0);
        REQUIRE(memcmp(&again, &wanted, sizeof(desc)) == 0);
        REQUIRE(extent.width == WIDTH && extent.height == HEIGHT && extent.depth == 0);
        REQUIRE(flags == cudaArraySurfaceLoadStore);
        CUDA(cudaFreeArray(array));
    }
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
}

/* Creates an array for surfaces, and its description. */
static void new_resource(cudaArray_t *array, struct cudaResourceDesc *resource)
{
    const struct cudaChannelFormatDesc desc = bytes4();
    CUDA(cudaMallocArray(array, &desc, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    memset(resource, 0, sizeof(*resource));
    resource->resType = cudaResourceTypeArray;
    resource->res.array.array = *array;
}

CASE(as_textures)
{
    struct cudaResourceDesc resource, has_resource;
    struct cudaTextureDesc texture, has;
    cudaTextureObject_t object = 0;
    cudaArray_t array = NULL;
    new_resource(&array, &resource);
    memset(&texture, 0, sizeof(texture));
    texture.addressMode[0] = cudaAddressModeWrap;
    texture.addressMode[1] = cudaAddressModeClamp;
    texture.filterMode = cudaFilterModeLinear;
    texture.readMode = cudaReadModeNormalizedFloat;
    texture.normalizedCoords = 1;
    CUDA(cudaCreateTextureObject(&object, &resource, &texture, NULL));
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
}

CASE(as_surfaces)
{
    struct cudaResourceDesc resource, has;
    cudaSurfaceObject_t object = 0;
    cudaArray_t array = NULL;
    new_resource(&array, &resource);
    CUDA(cudaCreateSurfaceObject(&object, &resource));
    CUDA(cudaGetSurfaceObjectResourceDesc(&has, object));
    REQUIRE(has.res.array.array == array);
    CUDA(cudaDestroySurfaceObject(object));
    resource.resType = cudaResourceTypeLinear;
    FAILS(cudaErrorInvalidChannelDescriptor, cudaCreateSurfaceObject(&object, &resource));
}
