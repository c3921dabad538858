/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The codes for devices, contexts, memory, copies, fills and pointer queries. */
#define _GNU_SOURCE
#include "conformance.h"

#include <stdlib.h>

GROUP("devices and contexts", add_case)

TEST(device_call_codes)
{
    int count = 0, value = 0;
    char name[64];
    CUdevice device;
    CUuuid uuid;
    CALL(ERROR_INVALID_VALUE, Init(1));
    CALL(SUCCESS, Init(0));
    CALL(ERROR_INVALID_VALUE, DriverGetVersion(NULL));
    CALL(SUCCESS, DeviceGetCount(&count));
    CALL(ERROR_INVALID_VALUE, DeviceGetCount(NULL));
    CALL(ERROR_INVALID_VALUE, DeviceGet(NULL, 0));
    CALL(ERROR_INVALID_DEVICE, DeviceGet(&device, -1));
    CALL(ERROR_INVALID_DEVICE, DeviceGet(&device, count));
    CALL(SUCCESS, DeviceGetName(name, 4, fx.device));
    ck_assert_int_eq(name[3], '\0');
    CALL(ERROR_INVALID_VALUE, DeviceGetName(NULL, 64, fx.device));
    CALL_SOFT(ERROR_INVALID_VALUE, DeviceGetName(name, 0, fx.device));
    CALL(ERROR_INVALID_DEVICE, DeviceGetName(name, 64, 999));
    CALL(SUCCESS, DeviceGetUuid(&uuid, fx.device));
    CALL(ERROR_INVALID_VALUE, DeviceGetUuid(NULL, fx.device));
    CALL(ERROR_INVALID_DEVICE, DeviceGetUuid(&uuid, 999));
    CALL_READS(value, 32, DeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, fx.device));
    CALL(ERROR_INVALID_VALUE, DeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, fx.device));
    CALL(ERROR_INVALID_VALUE, DeviceGetAttribute(&value, (CUdevice_attribute)0, fx.device));
    CALL(ERROR_INVALID_VALUE, DeviceGetAttribute(&value, (CUdevice_attribute)9999, fx.device));
    CALL(ERROR_INVALID_DEVICE, DeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 999));
}

TEST(names_and_texts_of_error_codes)
{
    const char *text = "";
    CALL(SUCCESS, GetErrorName(CUDA_ERROR_ALREADY_MAPPED, &text));
    ck_assert_str_eq(text, "CUDA_ERROR_ALREADY_MAPPED");
    CALL(SUCCESS, GetErrorString(CUDA_ERROR_ALREADY_MAPPED, &text));
    ck_assert_ptr_ne(text, NULL);
    CALL(ERROR_INVALID_VALUE, GetErrorName((CUresult)98765, &text));
    ck_assert_ptr_eq(text, NULL);
    CALL(ERROR_INVALID_VALUE, GetErrorString((CUresult)98765, &text));
    CALL_SOFT(ERROR_INVALID_VALUE, GetErrorName(CUDA_SUCCESS, NULL));
    CALL_SOFT(ERROR_INVALID_VALUE, GetErrorString(CUDA_SUCCESS, NULL));
}

TEST(context_call_codes)
{
    CUcontext context = NULL, popped = NULL;
    CUdevice device;
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    CALL(ERROR_INVALID_VALUE, CtxGetCurrent(NULL));
    CALL(ERROR_INVALID_VALUE, DevicePrimaryCtxRetain(NULL, fx.device));
    CALL(ERROR_INVALID_DEVICE, DevicePrimaryCtxRetain(&context, 999));
    CALL(ERROR_INVALID_DEVICE, DevicePrimaryCtxRelease(999));
    CALL(ERROR_INVALID_VALUE, CtxCreate(NULL, 0, fx.device));
    CALL(ERROR_INVALID_DEVICE, CtxCreate(&context, 0, 999));
    CALL(ERROR_INVALID_VALUE, CtxCreate(&context, 0xfff000, fx.device));
    CALL(ERROR_INVALID_VALUE, CtxGetDevice(NULL));
    CALL(SUCCESS, CtxGetDevice(&device));

    CALL(SUCCESS, CtxSetCurrent(NULL));
    CALL_READS(context, NULL, CtxGetCurrent(&context));
    CALL(ERROR_INVALID_CONTEXT, CtxPopCurrent(&popped));
    CALL(ERROR_INVALID_CONTEXT, CtxGetDevice(&device));
    CALL(ERROR_INVALID_CONTEXT, CtxSynchronize());
    CALL(ERROR_INVALID_CONTEXT, MemAlloc(&memory, 4));
    CALL(ERROR_INVALID_CONTEXT, StreamCreate(&stream, 0));
    CALL(ERROR_INVALID_CONTEXT, EventCreate(&event, 0));
    CALL(ERROR_INVALID_CONTEXT, StreamSynchronize(NULL));
    CALL(ERROR_INVALID_CONTEXT, StreamSynchronize(CU_STREAM_PER_THREAD));
    CALL(SUCCESS, StreamSynchronize(fx.stream));

    CALL(SUCCESS, CtxPushCurrent(fx.context));
    CALL(SUCCESS, CtxPushCurrent(fx.context));
    CALL_READS(popped, fx.context, CtxPopCurrent(&popped));
    CALL(SUCCESS, CtxPopCurrent(NULL));
    CALL(ERROR_INVALID_CONTEXT, CtxPopCurrent(NULL));
    CALL(SUCCESS, CtxSetCurrent(fx.context));
}

TEST(context_limit_codes)
{
    size_t limit = 0;
    CALL(SUCCESS, CtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    CALL(ERROR_INVALID_VALUE, CtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    CALL(ERROR_INVALID_VALUE, CtxGetLimit(&limit, (CUlimit)77));
    CALL(ERROR_INVALID_VALUE, CtxGetLimit(&limit, (CUlimit)99));
}

GROUP("memory", add_case)

TEST(device_memory_codes)
{
    CUdeviceptr q = 0;
    size_t pitch = 0, free_bytes, total;
    CALL(ERROR_INVALID_VALUE, MemAlloc(&q, 0));
    CALL(ERROR_INVALID_VALUE, MemAlloc(NULL, 100));
    CALL(ERROR_OUT_OF_MEMORY, MemAlloc(&q, (size_t)1 << 50));
    CALL(SUCCESS, MemAlloc(&q, 100));
    CALL(SUCCESS, MemcpyPeer(q, NULL, q + 50, NULL, 50)); /* NULL means the current context */
    CALL(SUCCESS, MemFree(0));
    CALL(ERROR_INVALID_VALUE, MemFree(q + 4));
    CALL(SUCCESS, MemFree(q));
    CALL(ERROR_INVALID_VALUE, MemFree(q));
    CALL(SUCCESS, MemGetInfo(&free_bytes, &total));
    ck_assert_uint_lt(free_bytes, total);

    CALL(SUCCESS, MemAllocPitch(&q, &pitch, 100, 10, 4));
    ck_assert_uint_ge(pitch, 100);
    CALL(SUCCESS, MemFree(q));
    CALL(ERROR_INVALID_VALUE, MemAllocPitch(&q, &pitch, 100, 10, 3));
    CALL(ERROR_INVALID_VALUE, MemAllocPitch(&q, &pitch, 0, 10, 4));
    CALL(ERROR_INVALID_VALUE, MemAllocPitch(&q, &pitch, 100, 0, 4));
    CALL(ERROR_INVALID_VALUE, MemAllocPitch(NULL, &pitch, 100, 10, 4));
    CALL(ERROR_INVALID_VALUE, MemAllocPitch(&q, NULL, 100, 10, 4));
    CALL_SOFT(ERROR_OUT_OF_MEMORY, MemAllocPitch(&q, &pitch, SIZE_MAX, 1, 4));
    CALL_SOFT(ERROR_OUT_OF_MEMORY, MemAllocPitch(&q, &pitch, 4096, SIZE_MAX / 4096 + 2, 4));
    for (unsigned element = 4; element <= 16 && gr_cuda_is_software(); element *= 2) {
        CALL(SUCCESS, MemAllocPitch(&q, &pitch, 1, 2, element));
        ck_assert_uint_ge(pitch, element);
        CALL(SUCCESS, MemsetD2D8(q, pitch, 1, pitch, 2));
        CALL(ERROR_INVALID_VALUE, MemsetD2D8(q, pitch, 1, pitch + 1, 2));
        CALL(SUCCESS, MemFree(q));
    }
}

TEST(stream_ordered_memory_codes)
{
    CUdeviceptr q = 0;
    CALL(SUCCESS, MemAllocAsync(&q, 100, fx.stream));
    CALL(SUCCESS, MemsetD8Async(q, 1, 100, fx.stream));
    CALL(SUCCESS, MemFreeAsync(q, fx.stream));
    CALL(ERROR_INVALID_VALUE, MemAllocAsync(NULL, 100, fx.stream));
    CALL(SUCCESS, StreamSynchronize(fx.stream));
    CALL(ERROR_INVALID_VALUE, MemFreeAsync(q, fx.stream));
    CALL(ERROR_OUT_OF_MEMORY, MemAllocAsync(&q, (size_t)1 << 50, fx.stream));
    CALL(SUCCESS, MemAlloc(&q, 100));
    CALL(ERROR_INVALID_VALUE, MemFreeAsync(q + 4, fx.stream));
    CALL(SUCCESS, MemFreeAsync(q, fx.stream));
    CALL(SUCCESS, MemAllocAsync(&q, 100, fx.stream));
    CALL(SUCCESS, MemFree(q));
}

TEST(pinned_memory_codes)
{
    void *pinned = NULL, *own = aligned_alloc(4096, 8192);
    CUdeviceptr q = 0;
    unsigned flags = 0;
    CALL(SUCCESS, MemAllocHost(&pinned, 100));
    CALL(ERROR_INVALID_VALUE, MemAllocHost(NULL, 100));
    CALL(SUCCESS, MemHostGetDevicePointer(&q, pinned, 0));
    CALL(ERROR_INVALID_VALUE, MemHostGetDevicePointer(&q, pinned, 7));
    CALL(ERROR_INVALID_VALUE, MemHostGetDevicePointer(NULL, pinned, 0));
    CALL(ERROR_INVALID_VALUE, MemHostGetDevicePointer(&q, own, 0));
    CALL(SUCCESS, MemFreeHost(pinned));
    CALL(ERROR_INVALID_VALUE, MemFreeHost(pinned));
    CALL(ERROR_INVALID_VALUE, MemFreeHost(own));
    CALL(ERROR_INVALID_VALUE, MemHostAlloc(&pinned, 100, 0xff00));
    const unsigned given[] = {0, CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_WRITECOMBINED};
    for (int i = 0; i < 3 && gr_cuda_is_software(); i++) {
        CALL(SUCCESS, MemHostAlloc(&pinned, 100, given[i]));
        CALL_READS(flags, given[i] | CU_MEMHOSTALLOC_DEVICEMAP, MemHostGetFlags(&flags, pinned));
        CALL(ERROR_INVALID_VALUE, MemHostGetFlags(NULL, pinned));
        CALL(ERROR_INVALID_VALUE, MemHostRegister(pinned, 100, 0));
        CALL(ERROR_INVALID_VALUE, MemHostUnregister(pinned));
        CALL(SUCCESS, MemFreeHost(pinned));
    }
    CU(MemAlloc(&q, 100));
    CALL_SOFT(ERROR_INVALID_VALUE, MemHostGetFlags(&flags, (void *)(uintptr_t)q));
    CALL_SOFT(ERROR_NOT_SUPPORTED,
              MemHostRegister((void *)(uintptr_t)q, 100, CU_MEMHOSTREGISTER_IOMEMORY));
    CU(MemFree(q));

    CALL(ERROR_INVALID_VALUE, MemHostRegister(NULL, 4096, 0));
    CALL(ERROR_INVALID_VALUE, MemHostRegister(own, 0, 0));
    CALL(ERROR_INVALID_VALUE, MemHostRegister(own, 4096, 0xff00));
    CALL(SUCCESS, MemHostRegister(own, 8192, 0));
    CALL(ERROR_HOST_MEMORY_ALREADY_REGISTERED, MemHostRegister(own, 8192, 0));
    CALL(ERROR_INVALID_VALUE, MemFreeHost(own));
    CALL(SUCCESS, MemHostUnregister(own));
    CALL(ERROR_HOST_MEMORY_NOT_REGISTERED, MemHostUnregister(own));
    CALL(ERROR_INVALID_VALUE, MemHostUnregister(NULL));
    free(own);
}

/* ---- Copies and fills ------------------------------------------------------------------------ */

TEST(linear_copy_codes)
{
    CUdeviceptr q = 0;
    char b[256] = "";
    CU(MemAlloc(&q, 100));
    CALL(SUCCESS, MemcpyHtoD(q, b, 100));
    CALL(SUCCESS, MemcpyHtoD(q, b, 0));
    CALL(ERROR_INVALID_VALUE, MemcpyHtoD(0, b, 4));
    CALL(ERROR_INVALID_VALUE, MemcpyHtoD(q, NULL, 4));
    CALL(ERROR_INVALID_VALUE, MemcpyDtoH(b, 0x1000, 4));
    CALL(ERROR_INVALID_VALUE, MemcpyDtoH(NULL, q, 4));
    CALL(ERROR_INVALID_VALUE, MemcpyDtoHAsync(b, 0x1000, 4, fx.stream));
    CALL(ERROR_INVALID_VALUE, MemcpyHtoDAsync(0x1000, b, 4, fx.stream));
    CALL(ERROR_INVALID_VALUE, MemcpyDtoDAsync(q, 0x1000, 4, fx.stream));
    CU(CtxSynchronize()); /* fx.stream and the null stream do not wait for each other */
    CALL(SUCCESS, MemcpyDtoDAsync(q, q + 50, 50, fx.stream));
    CU(CtxSynchronize());
    CALL(SUCCESS, MemcpyDtoD(q, q + 50, 10));
    CALL(SUCCESS, Memcpy(q, q + 50, 10));
    CU(StreamSynchronize(fx.stream));
}

TEST(fill_codes)
{
    CUdeviceptr q = 0;
    CU(MemAlloc(&q, 100));
    CALL(ERROR_INVALID_VALUE, MemsetD32(q + 1, 0, 4));
    CALL(ERROR_INVALID_VALUE, MemsetD32Async(q + 2, 0, 4, fx.stream));
    CALL(SUCCESS, MemsetD32Async(q + 4, 0, 4, fx.stream));
    CALL(SUCCESS, MemsetD8(q, 0, 0));
    CALL(ERROR_INVALID_VALUE, MemsetD8(0, 0, 4));
    CALL(ERROR_INVALID_VALUE, MemsetD8(q, 0, (size_t)1 << 30));
    CALL(ERROR_INVALID_VALUE, MemsetD8Async(0, 0, 4, fx.stream));
    CALL(SUCCESS, MemsetD2D8Async(q, 10, 0, 10, 10, fx.stream));
    CALL(ERROR_INVALID_VALUE, MemsetD2D8Async(q, 5, 0, 10, 10, fx.stream));
    CALL(SUCCESS, MemsetD2D8Async(q, 10, 0, 0, 10, fx.stream));
    /* Sizes that overflow, and wrong alignments. One row needs no pitch. */
    CALL_SOFT(ERROR_INVALID_VALUE, MemsetD32(q, 1, SIZE_MAX / 2));
    CALL_SOFT(ERROR_INVALID_VALUE, MemsetD2D32(q, SIZE_MAX / 2 + 1, 1, 1, 4));
    CALL_SOFT(ERROR_INVALID_VALUE, MemsetD2D8(q, SIZE_MAX / 2 + 1, 1, SIZE_MAX / 2, 2));
    CALL_SOFT(ERROR_INVALID_VALUE, MemsetD16(q + 1, 1, 2));
    CALL_SOFT(ERROR_INVALID_VALUE, MemsetD2D16(q, 5, 1, 2, 2));
    CU(StreamSynchronize(fx.stream)); /* it and the null stream do not wait for each other */
    CALL_SOFT(SUCCESS, MemsetD2D16(q, 5, 1, 2, 1));
    CU(CtxSynchronize());
}

TEST(copy_codes_in_2d_and_3d)
{
    char b[256] = "";
    CUdeviceptr q = 0;
    CU(MemAlloc(&q, 256));
    CUDA_MEMCPY2D good = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = b,
                          .srcPitch = 16,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = q,
                          .dstPitch = 32,
                          .WidthInBytes = 16,
                          .Height = 4};
    CALL(SUCCESS, Memcpy2DAsync(&good, fx.stream));
    CALL_WITH(SUCCESS, WidthInBytes = 0, Memcpy2DAsync(&changed, fx.stream));
    CALL_WITH(SUCCESS, Height = 0, Memcpy2DAsync(&changed, fx.stream));
    CALL_WITH(ERROR_INVALID_VALUE, srcPitch = 8, Memcpy2DAsync(&changed, fx.stream));
    CALL_WITH(ERROR_INVALID_VALUE, dstPitch = 8, Memcpy2DAsync(&changed, fx.stream));
    CALL_WITH(ERROR_INVALID_VALUE, dstDevice = 0, Memcpy2DAsync(&changed, fx.stream));
    CALL_WITH(ERROR_INVALID_VALUE, srcHost = NULL, Memcpy2DAsync(&changed, fx.stream));
    CALL_WITH(ERROR_INVALID_VALUE, dstMemoryType = (CUmemorytype)9,
              Memcpy2DAsync(&changed, fx.stream));
    CALL(ERROR_INVALID_VALUE, Memcpy2DAsync(NULL, fx.stream));

    CUDA_MEMCPY3D d = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = b,
                       .srcPitch = 8,
                       .srcHeight = 4,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = q,
                       .dstPitch = 8,
                       .dstHeight = 4,
                       .WidthInBytes = 8,
                       .Height = 4,
                       .Depth = 2};
    CALL(SUCCESS, Memcpy3DAsync(&d, fx.stream));
    d.srcHeight = 2;
    CALL(ERROR_INVALID_VALUE, Memcpy3DAsync(&d, fx.stream));
    d.srcHeight = 4;
    d.srcPitch = 4;
    CALL(ERROR_INVALID_VALUE, Memcpy3DAsync(&d, fx.stream));
    CALL(ERROR_INVALID_VALUE, Memcpy3DAsync(NULL, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

TEST(codes_beyond_the_end_of_memory)
{
    CUdeviceptr q = 0;
    char b[256] = "";
    CU(MemAlloc(&q, 100));
    CALL(ERROR_INVALID_VALUE, MemcpyHtoD(q + 90, b, 100));
    CALL(ERROR_INVALID_VALUE, MemcpyDtoH(b, q + 512, 100));
    CU(MemFree(q));
    CALL(ERROR_INVALID_VALUE, MemcpyDtoH(b, q, 4));
}

/* ---- Pointers -------------------------------------------------------------------------------- */

TEST(pointer_query_codes)
{
    CUdeviceptr q = 0, base = 0, seen = 0;
    size_t size = 0;
    int value = 0;
    void *pinned = NULL, *host = NULL;
    CUcontext context = NULL;
    CU(MemAlloc(&q, 100));
    CU(MemAllocHost(&pinned, 100));
    CUdeviceptr stack = (CUdeviceptr)(size_t)&value, p = (CUdeviceptr)(size_t)pinned;
    CALL_READS(value, fx.device,
               PointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, q));
    CALL_READS(value, CU_MEMORYTYPE_DEVICE,
               PointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q + 50));
    CALL_READS(value, CU_MEMORYTYPE_HOST,
               PointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    CALL_READS(context, fx.context, PointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, q));
    CALL_READS(seen, q + 4, PointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, q + 4));
    CALL_READS(host, pinned, PointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p));
    CALL(ERROR_INVALID_VALUE, PointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, q));
    CALL(ERROR_INVALID_VALUE, PointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, stack));
    CALL(ERROR_INVALID_VALUE, PointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0));
    CALL(ERROR_INVALID_VALUE, PointerGetAttribute(&value, (CUpointer_attribute)9999, q));
    CALL(ERROR_INVALID_VALUE, PointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q));

    CALL_READS(base, q, MemGetAddressRange(&base, &size, q + 50));
    ck_assert_uint_eq(size, 100);
    CALL(SUCCESS, MemGetAddressRange(NULL, &size, q));
    CALL(SUCCESS, MemGetAddressRange(&base, NULL, q));
    CALL(ERROR_NOT_FOUND, MemGetAddressRange(&base, &size, stack));
    CALL(ERROR_NOT_FOUND, MemGetAddressRange(&base, &size, 0));
}
