/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define GROUP "memory"
#include "softcudart.h"

#include <stdint.h>
#include <stdlib.h>

CASE(zero_bytes)
{
    void *memory = (void *)(size_t)64;
    READS(memory, NULL, cudaMalloc(&memory, 0));
    memory = &memory;
    READS(memory, NULL, cudaMallocManaged(&memory, 0, cudaMemAttachGlobal));
    CUDA(cudaFree(NULL));
    CUDA(cudaFreeHost(NULL));
    CUDA(cudaFreeArray(NULL));
}

CASE(refused_if_arguments_are_invalid)
{
    unsigned char own[64];
    size_t left = 0, total = 0;
    void *memory = NULL;
    FAILS(cudaErrorInvalidValue, cudaMalloc(NULL, 64));
    FAILS(cudaErrorInvalidValue, cudaMallocManaged(NULL, 64, cudaMemAttachGlobal));
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&memory, (size_t)1 << 60));
    FAILS(cudaErrorInvalidValue, cudaFree(own));
    CUDA(cudaMalloc(&memory, 64));
    FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(memory, own, 64, (enum cudaMemcpyKind)9));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(memory, own, 64 << 20, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemset(memory, 0, 64 << 20));
    CUDA(cudaMemGetInfo(&left, &total));
    REQUIRE(left > 0 && left < total);
    CUDA(cudaFree(memory));
    FAILS(cudaErrorInvalidValue, cudaMemset(memory, 0, 64));
}

/* The device sees memory of the host at the address that cudaHostGetDevicePointer() returns. */
static void is_seen(unsigned char *host, int value)
{
    void *device = NULL;
    CUDA(cudaHostGetDevicePointer(&device, host, 0));
    CUDA(cudaMemset(device, value, 8192));
    CUDA(cudaDeviceSynchronize());
    REQUIRE(host[0] == value && host[8191] == value);
}

CASE(of_the_host)
{
    unsigned flags = 0;
    unsigned char *memory = NULL, *own = aligned_alloc(4096, 8192);
    REQUIRE(own);
    CUDA(cudaHostAlloc((void **)&memory, 8192, cudaHostAllocMapped | cudaHostAllocPortable));
    is_seen(memory, 0x21);
    CUDA(cudaHostGetFlags(&flags, memory));
    REQUIRE(flags & cudaHostAllocPortable);
    CUDA(cudaFreeHost(memory));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(memory));
    FAILS(cudaErrorInvalidValue, cudaHostAlloc((void **)&memory, 64, 0x100));
    CUDA(cudaHostRegister(own, 8192, cudaHostRegisterMapped));
    FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(own, 8192, 0));
    is_seen(own, 0x44);
    CUDA(cudaHostUnregister(own));
    FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own));
    free(own);
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
    memset(shared, 1, 64); /* accessible to the host */
    CUDA(cudaPointerGetAttributes(&attributes, &own));
    REQUIRE(attributes.type == cudaMemoryTypeUnregistered);
    CUDA(cudaFree(device));
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaFree(shared));
    FAILS(cudaErrorInvalidValue, cudaPointerGetAttributes(NULL, device));
}

CASE(own_pool)
{
    cudaMemPool_t pool = NULL, current = NULL;
    enum cudaMemAccessFlags access = cudaMemAccessFlagsProtNone;
    void *memory = NULL;
    struct cudaMemPoolProps props;
    uint64_t threshold = UINT64_MAX, has = 0;
    memset(&props, 0, sizeof(props));
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CUDA(cudaMemPoolCreate(&pool, &props));
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    READS(has, threshold, cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &has));
    CUDA(cudaMallocFromPoolAsync(&memory, 64, pool, NULL));
    READS(access, cudaMemAccessFlagsProtReadWrite,
          cudaMemPoolGetAccess(&access, pool, &props.location));
    CUDA(cudaDeviceSetMemPool(0, pool));
    READS(current, pool, cudaDeviceGetMemPool(&current, 0));
    CUDA(cudaDeviceGetDefaultMemPool(&current, 0));
    REQUIRE(current != pool);
    CUDA(cudaDeviceSetMemPool(0, current));
    CUDA(cudaFreeAsync(memory, NULL));
    CUDA(cudaMemPoolTrimTo(pool, 0));
    CUDA(cudaMemPoolDestroy(pool));
    CUDA(cudaDeviceSynchronize());
}
