/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define GROUP "memory"
#include "softcudart.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

CASE(zero_bytes)
{
    void *memory = (void *)(size_t)64;
    CUDA(cudaMalloc(&memory, 0));
    REQUIRE(!memory);
    CUDA(cudaFree(NULL));
    CUDA(cudaFreeHost(NULL));
    CUDA(cudaFreeArray(NULL));
    return NULL;
}

CASE(refused_if_arguments_are_invalid)
{
    void *memory = NULL;
    unsigned char own[64];
    FAILS(cudaErrorInvalidValue, cudaMalloc(NULL, 64));
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&memory, (size_t)1 << 60));
    FAILS(cudaErrorInvalidValue, cudaFree(own));
    CUDA(cudaMalloc(&memory, 64));
    CUDA(cudaFree(memory));
    FAILS(cudaErrorInvalidValue, cudaFree(memory));
    return NULL;
}

CASE(set_to_a_byte)
{
    unsigned char bytes[4096];
    void *memory = NULL;
    CUDA(cudaMalloc(&memory, sizeof(bytes)));
    CUDA(cudaMemset(memory, 0x5a, sizeof(bytes)));
    CUDA(cudaMemset((char *)memory + 100, 0x17, 10));
    CUDA(cudaMemset(memory, 1, 0));
    CUDA(cudaMemcpy(bytes, memory, sizeof(bytes), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < sizeof(bytes); i++)
        REQUIRE(bytes[i] == (i >= 100 && i < 110 ? 0x17 : 0x5a));
    CUDA(cudaFree(memory));
    return NULL;
}

CASE(pitched)
{
    enum { WIDTH = 100, HEIGHT = 7 };
    unsigned char rows[HEIGHT][WIDTH], back[HEIGHT][WIDTH];
    void *memory = NULL;
    size_t pitch = 0;
    softcudart_pattern(rows, sizeof(rows));
    CUDA(cudaMallocPitch(&memory, &pitch, WIDTH, HEIGHT));
    REQUIRE(pitch >= WIDTH && pitch % 64 == 0);
    CUDA(cudaMemset2D(memory, pitch, 0x33, WIDTH, HEIGHT));
    CUDA(cudaMemcpy2D(back, WIDTH, memory, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < sizeof(back); i++)
        REQUIRE((&back[0][0])[i] == 0x33);
    CUDA(cudaMemcpy2D(memory, pitch, rows, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2D(back, WIDTH, memory, pitch, WIDTH, HEIGHT, cudaMemcpyDefault));
    REQUIRE(memcmp(rows, back, sizeof(rows)) == 0);
    FAILS(cudaErrorInvalidPitchValue,
          cudaMemcpy2D(back, WIDTH - 1, memory, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(memory));
    return NULL;
}

CASE(allocated_as_boxes)
{
    enum { W = 20, H = 5, D = 3 };
    unsigned char bytes[D][H][W], back[D][H][W];
    struct cudaPitchedPtr box;
    const struct cudaExtent extent = {W, H, D};
    struct cudaMemcpy3DParms copy;
    CUDA(cudaMalloc3D(&box, extent));
    REQUIRE(box.pitch >= W && box.xsize == W && box.ysize == H);
    softcudart_pattern(bytes, sizeof(bytes));
    memset(&copy, 0, sizeof(copy));
    copy.srcPtr = (struct cudaPitchedPtr){bytes, W, W, H};
    copy.dstPtr = box;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
    copy.srcPtr = box;
    copy.dstPtr = (struct cudaPitchedPtr){back, W, W, H};
    copy.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&copy));
    REQUIRE(softcudart_is_pattern(back, sizeof(back), 0));
    CUDA(cudaMemset3D(box, 0x77, (struct cudaExtent){W, H, D - 1}));
    CUDA(cudaMemcpy3D(&copy));
    REQUIRE(back[0][0][0] == 0x77 && back[D - 2][H - 1][W - 1] == 0x77);
    REQUIRE(softcudart_is_pattern(back[D - 1], W * H, (D - 1) * W * H));
    CUDA(cudaFree(box.ptr));
    return NULL;
}

CASE(pinned_on_the_host)
{
    unsigned flags = 0;
    void *pinned = NULL, *device = NULL;
    CUDA(cudaHostAlloc(&pinned, 4096, cudaHostAllocMapped | cudaHostAllocPortable));
    CUDA(cudaHostGetDevicePointer(&device, pinned, 0));
    REQUIRE(device);
    CUDA(cudaHostGetFlags(&flags, pinned));
    REQUIRE(flags & cudaHostAllocPortable);
    CUDA(cudaMemset(device, 0x21, 4096));
    CUDA(cudaDeviceSynchronize());
    REQUIRE(((unsigned char *)pinned)[4095] == 0x21);
    CUDA(cudaFreeHost(pinned));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(pinned));
    FAILS(cudaErrorInvalidValue, cudaHostAlloc(&pinned, 64, 0x100));
    CUDA(cudaMallocHost(&pinned, 64));
    CUDA(cudaFreeHost(pinned));
    return NULL;
}

CASE(registered)
{
    unsigned char *own = aligned_alloc(4096, 8192);
    void *device = NULL;
    REQUIRE(own);
    CUDA(cudaHostRegister(own, 8192, cudaHostRegisterMapped));
    FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(own, 8192, 0));
    CUDA(cudaHostGetDevicePointer(&device, own, 0));
    CUDA(cudaMemset(device, 0x44, 8192));
    CUDA(cudaDeviceSynchronize());
    REQUIRE(own[8191] == 0x44);
    CUDA(cudaHostUnregister(own));
    FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own));
    free(own);
    return NULL;
}

CASE(managed)
{
    unsigned char *memory = NULL;
    CUDA(cudaMallocManaged((void **)&memory, 4096, cudaMemAttachGlobal));
    CUDA(cudaMemset(memory, 0x66, 4096));
    CUDA(cudaDeviceSynchronize());
    REQUIRE(memory[4095] == 0x66);
    memory[0] = 1;
    CUDA(cudaFree(memory));
    CUDA(cudaMallocManaged((void **)&memory, 0, cudaMemAttachGlobal));
    REQUIRE(memory == NULL);
    FAILS(cudaErrorInvalidValue, cudaMallocManaged(NULL, 4096, cudaMemAttachGlobal));
    return NULL;
}

CASE(pointer_attributes)
{
    struct cudaPointerAttributes attributes;
    void *device = NULL, *pinned = NULL, *shared = NULL;
    int own = 0;
    CUDA(cudaMalloc(&device, 64));
    CUDA(cudaMallocHost(&pinned, 64));
    CUDA(cudaMallocManaged(&shared, 64, cudaMemAttachGlobal));
    CUDA(cudaPointerGetAttributes(&attributes, device));
    REQUIRE(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
    REQUIRE(attributes.devicePointer == device && !attributes.hostPointer);
    CUDA(cudaPointerGetAttributes(&attributes, pinned));
    REQUIRE(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned);
    CUDA(cudaPointerGetAttributes(&attributes, shared));
    REQUIRE(attributes.type == cudaMemoryTypeManaged && attributes.hostPointer == shared);
    CUDA(cudaPointerGetAttributes(&attributes, &own));
    REQUIRE(attributes.type == cudaMemoryTypeUnregistered);
    CUDA(cudaFree(device));
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaFree(shared));
    FAILS(cudaErrorInvalidValue, cudaPointerGetAttributes(NULL, device));
    return NULL;
}

CASE(counted_as_used)
{
    size_t before = 0, during = 0, total = 0;
    void *memory = NULL;
    CUDA(cudaMemGetInfo(&before, &total));
    REQUIRE(before > 0 && before <= total);
    CUDA(cudaMalloc(&memory, (size_t)64 << 20));
    CUDA(cudaMemGetInfo(&during, &total));
    REQUIRE(during < before);
    CUDA(cudaFree(memory));
    return NULL;
}

CASE(stream_ordered)
{
    unsigned char bytes[256];
    void *memory = NULL;
    cudaStream_t stream = NULL;
    cudaMemPool_t pool = NULL, current = NULL;
    uint64_t threshold = UINT64_MAX, has = 0;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMallocAsync(&memory, sizeof(bytes), stream));
    CUDA(cudaMemsetAsync(memory, 0x19, sizeof(bytes), stream));
    CUDA(cudaMemcpyAsync(bytes, memory, sizeof(bytes), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaFreeAsync(memory, stream));
    CUDA(cudaStreamSynchronize(stream));
    REQUIRE(bytes[255] == 0x19);
    CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA(cudaDeviceGetMemPool(&current, 0));
    REQUIRE(pool && pool == current);
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &has));
    REQUIRE(has == threshold);
    threshold = 0;
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CUDA(cudaMallocFromPoolAsync(&memory, 64, pool, stream));
    CUDA(cudaFreeAsync(memory, stream));
    CUDA(cudaStreamDestroy(stream));
    return NULL;
}

CASE(own_pool)
{
    cudaMemPool_t pool = NULL, current = NULL;
    enum cudaMemAccessFlags access = cudaMemAccessFlagsProtNone;
    void *memory = NULL;
    struct cudaMemPoolProps props;
    memset(&props, 0, sizeof(props));
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CUDA(cudaMemPoolCreate(&pool, &props));
    CUDA(cudaMallocFromPoolAsync(&memory, 64, pool, NULL));
    CUDA(cudaMemset(memory, 1, 64));
    CUDA(cudaMemPoolGetAccess(&access, pool, &props.location));
    REQUIRE(access == cudaMemAccessFlagsProtReadWrite);
    CUDA(cudaDeviceSetMemPool(0, pool));
    CUDA(cudaDeviceGetMemPool(&current, 0));
    REQUIRE(current == pool);
    CUDA(cudaDeviceGetDefaultMemPool(&current, 0));
    CUDA(cudaDeviceSetMemPool(0, current));
    CUDA(cudaFreeAsync(memory, NULL));
    CUDA(cudaMemPoolTrimTo(pool, 0));
    CUDA(cudaMemPoolDestroy(pool));
    CUDA(cudaDeviceSynchronize());
    return NULL;
}
