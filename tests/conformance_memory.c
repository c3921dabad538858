/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's codes for devices, contexts, memory, copies, fills and questions about pointers. */
#define _GNU_SOURCE
#include "conformance.h"

#include <stdlib.h>

/* ---- Devices and contexts -------------------------------------------------------------------- */

START_TEST(devices)
{
    int count = 0, value = 0;
    char name[64];
    CUdevice device;
    CUuuid uuid;
    CALL(ERROR_INVALID_VALUE, cuInit(1));
    CALL(SUCCESS, cuInit(0));
    CALL(ERROR_INVALID_VALUE, cuDriverGetVersion(NULL));
    CALL(SUCCESS, cuDeviceGetCount(&count));
    CALL(ERROR_INVALID_VALUE, cuDeviceGetCount(NULL));
    CALL(ERROR_INVALID_VALUE, cuDeviceGet(NULL, 0));
    CALL(ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
    CALL(ERROR_INVALID_DEVICE, cuDeviceGet(&device, count));
    CALL(SUCCESS, cuDeviceGetName(name, 4, fx.device));
    ck_assert_int_eq(name[3], '\0');
    CALL(ERROR_INVALID_VALUE, cuDeviceGetName(NULL, 64, fx.device));
    CALL_SOFT(ERROR_INVALID_VALUE, cuDeviceGetName(name, 0, fx.device));
    CALL(ERROR_INVALID_DEVICE, cuDeviceGetName(name, 64, 999));
    CALL(SUCCESS, cuDeviceGetUuid(&uuid, fx.device));
    CALL(ERROR_INVALID_VALUE, cuDeviceGetUuid(NULL, fx.device));
    CALL(ERROR_INVALID_DEVICE, cuDeviceGetUuid(&uuid, 999));
    CALL(SUCCESS, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, fx.device));
    ck_assert_int_eq(value, 32);
    CALL(ERROR_INVALID_VALUE, cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, fx.device));
    CALL(ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, (CUdevice_attribute)0, fx.device));
    CALL(ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, (CUdevice_attribute)9999, fx.device));
    CALL(ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 999));
}
END_TEST

START_TEST(names_of_codes)
{
    const char *text = "";
    CALL(SUCCESS, cuGetErrorName(CUDA_ERROR_ALREADY_MAPPED, &text));
    ck_assert_str_eq(text, "CUDA_ERROR_ALREADY_MAPPED");
    CALL(SUCCESS, cuGetErrorString(CUDA_ERROR_ALREADY_MAPPED, &text));
    ck_assert_ptr_ne(text, NULL);
    CALL(ERROR_INVALID_VALUE, cuGetErrorName((CUresult)98765, &text));
    ck_assert_ptr_eq(text, NULL);
    CALL(ERROR_INVALID_VALUE, cuGetErrorString((CUresult)98765, &text));
    CALL_SOFT(ERROR_INVALID_VALUE, cuGetErrorName(CUDA_SUCCESS, NULL));
    CALL_SOFT(ERROR_INVALID_VALUE, cuGetErrorString(CUDA_SUCCESS, NULL));
}
END_TEST

START_TEST(contexts)
{
    CUcontext context = NULL, popped = NULL;
    CUdevice device;
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    CALL(ERROR_INVALID_VALUE, cuCtxGetCurrent(NULL));
    CALL(ERROR_INVALID_VALUE, cuDevicePrimaryCtxRetain(NULL, fx.device));
    CALL(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRetain(&context, 999));
    CALL(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRelease(999));
    CALL(ERROR_INVALID_VALUE, cuCtxCreate(NULL, 0, fx.device));
    CALL(ERROR_INVALID_DEVICE, cuCtxCreate(&context, 0, 999));
    CALL(ERROR_INVALID_VALUE, cuCtxCreate(&context, 0xfff000, fx.device));
    CALL(ERROR_INVALID_VALUE, cuCtxGetDevice(NULL));
    CALL(SUCCESS, cuCtxGetDevice(&device));

    CALL(SUCCESS, cuCtxSetCurrent(NULL));
    CALL(SUCCESS, cuCtxGetCurrent(&context));
    ck_assert_ptr_eq(context, NULL);
    CALL(ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&popped));
    CALL(ERROR_INVALID_CONTEXT, cuCtxGetDevice(&device));
    CALL(ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    CALL(ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 4));
    CALL(ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
    CALL(ERROR_INVALID_CONTEXT, cuEventCreate(&event, 0));
    CALL(ERROR_INVALID_CONTEXT, cuStreamSynchronize(NULL));
    CALL(ERROR_INVALID_CONTEXT, cuStreamSynchronize(CU_STREAM_PER_THREAD));
    CALL(SUCCESS, cuStreamSynchronize(fx.stream));

    CALL(SUCCESS, cuCtxPushCurrent(fx.context));
    CALL(SUCCESS, cuCtxPushCurrent(fx.context));
    CALL(SUCCESS, cuCtxPopCurrent(&popped));
    ck_assert_ptr_eq(popped, fx.context);
    CALL(SUCCESS, cuCtxPopCurrent(NULL));
    CALL(ERROR_INVALID_CONTEXT, cuCtxPopCurrent(NULL));
    CALL(SUCCESS, cuCtxSetCurrent(fx.context));
}
END_TEST

START_TEST(limits)
{
    size_t limit = 0;
    MORE(SUCCESS, cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    MORE(ERROR_INVALID_VALUE, cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    MORE(ERROR_INVALID_VALUE, cuCtxGetLimit(&limit, (CUlimit)99));
}
END_TEST

/* ---- Memory ---------------------------------------------------------------------------------- */

START_TEST(device_memory)
{
    CUdeviceptr q = 0;
    size_t pitch = 0, free_bytes, total;
    CALL(ERROR_INVALID_VALUE, cuMemAlloc(&q, 0));
    CALL(ERROR_INVALID_VALUE, cuMemAlloc(NULL, 100));
    CALL(ERROR_OUT_OF_MEMORY, cuMemAlloc(&q, (size_t)1 << 50));
    CALL(SUCCESS, cuMemAlloc(&q, 100));
    CALL(SUCCESS, cuMemFree(0));
    CALL(ERROR_INVALID_VALUE, cuMemFree(q + 4));
    CALL(SUCCESS, cuMemFree(q));
    CALL(ERROR_INVALID_VALUE, cuMemFree(q));
    CALL(SUCCESS, cuMemGetInfo(&free_bytes, &total));
    ck_assert_uint_le(free_bytes, total);

    CALL(SUCCESS, cuMemAllocPitch(&q, &pitch, 100, 10, 4));
    ck_assert_uint_ge(pitch, 100);
    CALL(SUCCESS, cuMemFree(q));
    CALL(ERROR_INVALID_VALUE, cuMemAllocPitch(&q, &pitch, 100, 10, 3));
    CALL(ERROR_INVALID_VALUE, cuMemAllocPitch(&q, &pitch, 0, 10, 4));
    CALL(ERROR_INVALID_VALUE, cuMemAllocPitch(&q, &pitch, 100, 0, 4));
    CALL(ERROR_INVALID_VALUE, cuMemAllocPitch(NULL, &pitch, 100, 10, 4));
    CALL(ERROR_INVALID_VALUE, cuMemAllocPitch(&q, NULL, 100, 10, 4));
}
END_TEST

START_TEST(memory_in_stream_order)
{
    CUdeviceptr q = 0;
    CALL(SUCCESS, cuMemAllocAsync(&q, 100, fx.stream));
    CALL(SUCCESS, cuMemsetD8Async(q, 1, 100, fx.stream));
    CALL(SUCCESS, cuMemFreeAsync(q, fx.stream));
    CALL(ERROR_INVALID_VALUE, cuMemAllocAsync(NULL, 100, fx.stream));
    CALL(SUCCESS, cuStreamSynchronize(fx.stream));
    CALL(ERROR_INVALID_VALUE, cuMemFreeAsync(q, fx.stream));
    CALL(ERROR_OUT_OF_MEMORY, cuMemAllocAsync(&q, (size_t)1 << 50, fx.stream));
    CALL(SUCCESS, cuMemAlloc(&q, 100));
    CALL(ERROR_INVALID_VALUE, cuMemFreeAsync(q + 4, fx.stream));
    CALL(SUCCESS, cuMemFreeAsync(q, fx.stream));
    CALL(SUCCESS, cuMemAllocAsync(&q, 100, fx.stream));
    CALL(SUCCESS, cuMemFree(q));
}
END_TEST

START_TEST(pinned_memory)
{
    void *pinned = NULL, *own = aligned_alloc(4096, 8192);
    CUdeviceptr q = 0;
    CALL(SUCCESS, cuMemAllocHost(&pinned, 100));
    CALL(ERROR_INVALID_VALUE, cuMemAllocHost(NULL, 100));
    MORE(SUCCESS, cuMemHostGetDevicePointer(&q, pinned, 0));
    MORE(ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&q, pinned, 7));
    MORE(ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(NULL, pinned, 0));
    MORE(ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&q, own, 0));
    CALL(SUCCESS, cuMemFreeHost(pinned));
    CALL(ERROR_INVALID_VALUE, cuMemFreeHost(pinned));
    CALL(ERROR_INVALID_VALUE, cuMemFreeHost(own));
    MORE(ERROR_INVALID_VALUE, cuMemHostAlloc(&pinned, 100, 0xff00));

    CALL(ERROR_INVALID_VALUE, cuMemHostRegister(NULL, 4096, 0));
    CALL(ERROR_INVALID_VALUE, cuMemHostRegister(own, 0, 0));
    CALL(ERROR_INVALID_VALUE, cuMemHostRegister(own, 4096, 0xff00));
    CALL(SUCCESS, cuMemHostRegister(own, 8192, 0));
    CALL(ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(own, 8192, 0));
    CALL(ERROR_INVALID_VALUE, cuMemFreeHost(own));
    CALL(SUCCESS, cuMemHostUnregister(own));
    CALL(ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own));
    CALL(ERROR_INVALID_VALUE, cuMemHostUnregister(NULL));
    free(own);
}
END_TEST

/* ---- Copies and fills ------------------------------------------------------------------------ */

START_TEST(copies)
{
    CUdeviceptr q = 0, gone = 0;
    char b[256] = "";
    CU(cuMemAlloc(&q, 100));
    CU(cuMemAlloc(&gone, 100));
    CU(cuMemFree(gone));
    CALL(SUCCESS, cuMemcpyHtoD(q, b, 100));
    CALL(SUCCESS, cuMemcpyHtoD(q, b, 0));
    CALL(ERROR_INVALID_VALUE, cuMemcpyHtoD(0, b, 4));
    CALL(ERROR_INVALID_VALUE, cuMemcpyHtoD(q, NULL, 4));
    CALL(ERROR_INVALID_VALUE, cuMemcpyDtoH(b, 0x1000, 4));
    CALL(ERROR_INVALID_VALUE, cuMemcpyDtoH(NULL, q, 4));
    CALL(ERROR_INVALID_VALUE, cuMemcpyDtoHAsync(b, 0x1000, 4, fx.stream));
    CALL(ERROR_INVALID_VALUE, cuMemcpyHtoDAsync(0x1000, b, 4, fx.stream));
    CALL(ERROR_INVALID_VALUE, cuMemcpyDtoDAsync(q, 0x1000, 4, fx.stream));
    CALL(SUCCESS, cuMemcpyDtoDAsync(q, q + 50, 50, fx.stream));
    MORE(SUCCESS, cuMemcpyDtoD(q, q + 50, 10));
    MORE(SUCCESS, cuMemcpy(q, q + 50, 10));
    CU(cuStreamSynchronize(fx.stream));
    CU(cuMemFree(q));
}
END_TEST

START_TEST(fills)
{
    CUdeviceptr q = 0;
    CU(cuMemAlloc(&q, 100));
    MORE(ERROR_INVALID_VALUE, cuMemsetD32(q + 1, 0, 4));
    CALL(ERROR_INVALID_VALUE, cuMemsetD32Async(q + 2, 0, 4, fx.stream));
    CALL(SUCCESS, cuMemsetD32Async(q + 4, 0, 4, fx.stream));
    CALL(SUCCESS, cuMemsetD8(q, 0, 0));
    CALL(ERROR_INVALID_VALUE, cuMemsetD8(0, 0, 4));
    CALL(ERROR_INVALID_VALUE, cuMemsetD8(q, 0, (size_t)1 << 30));
    CALL(ERROR_INVALID_VALUE, cuMemsetD8Async(0, 0, 4, fx.stream));
    MORE(SUCCESS, cuMemsetD2D8Async(q, 10, 0, 10, 10, fx.stream));
    MORE(ERROR_INVALID_VALUE, cuMemsetD2D8Async(q, 5, 0, 10, 10, fx.stream));
    MORE(SUCCESS, cuMemsetD2D8Async(q, 10, 0, 0, 10, fx.stream));
    CU(cuStreamSynchronize(fx.stream));
    CU(cuMemFree(q));
}
END_TEST

START_TEST(copies_in_two_and_three_dimensions)
{
    char b[256] = "";
    CUdeviceptr q = 0;
    CU(cuMemAlloc(&q, 256));
    CUDA_MEMCPY2D good = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = b,
                          .srcPitch = 16,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = q,
                          .dstPitch = 32,
                          .WidthInBytes = 16,
                          .Height = 4};
    CALL(SUCCESS, cuMemcpy2DAsync(&good, fx.stream));
    CALL_WITH(SUCCESS, WidthInBytes = 0, cuMemcpy2DAsync(&changed, fx.stream));
    CALL_WITH(SUCCESS, Height = 0, cuMemcpy2DAsync(&changed, fx.stream));
    CALL_WITH(ERROR_INVALID_VALUE, srcPitch = 8, cuMemcpy2DAsync(&changed, fx.stream));
    CALL_WITH(ERROR_INVALID_VALUE, dstPitch = 8, cuMemcpy2DAsync(&changed, fx.stream));
    CALL_WITH(ERROR_INVALID_VALUE, dstDevice = 0, cuMemcpy2DAsync(&changed, fx.stream));
    CALL_WITH(ERROR_INVALID_VALUE, srcHost = NULL, cuMemcpy2DAsync(&changed, fx.stream));
    CALL_WITH(ERROR_INVALID_VALUE, dstMemoryType = (CUmemorytype)9,
              cuMemcpy2DAsync(&changed, fx.stream));
    CALL(ERROR_INVALID_VALUE, cuMemcpy2DAsync(NULL, fx.stream));

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
    CALL(SUCCESS, cuMemcpy3DAsync(&d, fx.stream));
    d.srcHeight = 2;
    CALL(ERROR_INVALID_VALUE, cuMemcpy3DAsync(&d, fx.stream));
    d.srcHeight = 4;
    d.srcPitch = 4;
    CALL(ERROR_INVALID_VALUE, cuMemcpy3DAsync(&d, fx.stream));
    CALL(ERROR_INVALID_VALUE, cuMemcpy3DAsync(NULL, fx.stream));
    CU(cuStreamSynchronize(fx.stream));
    CU(cuMemFree(q));
}
END_TEST

START_TEST(beyond_the_end)
{
    CUdeviceptr q = 0;
    char b[256] = "";
    CU(cuMemAlloc(&q, 100));
    CALL(ERROR_INVALID_VALUE, cuMemcpyHtoD(q + 90, b, 100));
    CALL(ERROR_INVALID_VALUE, cuMemcpyDtoH(b, q + 512, 100));
    CU(cuMemFree(q));
    CALL(ERROR_INVALID_VALUE, cuMemcpyDtoH(b, q, 4));
}
END_TEST

/* ---- Pointers -------------------------------------------------------------------------------- */

START_TEST(pointers)
{
    CUdeviceptr q = 0, base = 0, seen = 0;
    size_t size = 0;
    int value = 0;
    void *pinned = NULL, *host = NULL;
    CUcontext context = NULL;
    CU(cuMemAlloc(&q, 100));
    CU(cuMemAllocHost(&pinned, 100));
    CUdeviceptr stack = (CUdeviceptr)(size_t)&value, p = (CUdeviceptr)(size_t)pinned;
    CALL(SUCCESS, cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, q));
    ck_assert_int_eq(value, fx.device);
    CALL(SUCCESS, cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q + 50));
    ck_assert_int_eq(value, CU_MEMORYTYPE_DEVICE);
    CALL(SUCCESS, cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    ck_assert_int_eq(value, CU_MEMORYTYPE_HOST);
    CALL(SUCCESS, cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, q));
    ck_assert_ptr_eq(context, fx.context);
    CALL(SUCCESS, cuPointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, q + 4));
    ck_assert_uint_eq(seen, q + 4);
    CALL(SUCCESS, cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p));
    ck_assert_ptr_eq(host, pinned);
    CALL(ERROR_INVALID_VALUE, cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, q));
    CALL(ERROR_INVALID_VALUE,
         cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, stack));
    CALL(ERROR_INVALID_VALUE, cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0));
    CALL(ERROR_INVALID_VALUE, cuPointerGetAttribute(&value, (CUpointer_attribute)9999, q));
    CALL(ERROR_INVALID_VALUE, cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q));

    MORE(SUCCESS, cuMemGetAddressRange(&base, &size, q + 50));
    ck_assert_uint_eq(base, q);
    ck_assert_uint_eq(size, 100);
    MORE(SUCCESS, cuMemGetAddressRange(NULL, &size, q));
    MORE(SUCCESS, cuMemGetAddressRange(&base, NULL, q));
    MORE(ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, stack));
    MORE(ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, 0));
    CU(cuMemFreeHost(pinned));
    CU(cuMemFree(q));
}
END_TEST

void add_device_cases(Suite *suite)
{
    add_tests(add_conformance_case(suite, "devices and contexts"), devices, names_of_codes,
              contexts, limits);
}

void add_memory_cases(Suite *suite)
{
    add_tests(add_conformance_case(suite, "memory"), device_memory, memory_in_stream_order,
              pinned_memory, copies, fills, copies_in_two_and_three_dimensions, beyond_the_end,
              pointers);
}
