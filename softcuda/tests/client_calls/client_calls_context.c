/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Settings of a context, cuCtxAttach and cuCtxDetach, and the calls for profilers. */
#define _GNU_SOURCE
#include "client_calls.h"

#include "tests/support/child_check.h"

#include <stdlib.h>

/* The header that declares these functions is not in every CUDA Toolkit. */
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);
CUresult cuProfilerInitialize(const char *config, const char *output, int mode);

START(fixture_ends_context = true)

GROUP("contexts", add_case)

TEST(context_flags_can_be_changed)
{
    CUcontext context = NULL;
    unsigned flags = 99;
    DRV(cuCtxCreate_v2, (&context, CU_CTX_SCHED_AUTO, fx.device));
    DRV(cuCtxSetFlags, (CU_CTX_SCHED_BLOCKING_SYNC));
    DRV(cuCtxGetFlags, (&flags));
    ck_assert_uint_eq(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC);
    INVALID(cuCtxSetFlags, (0xf00000));
    INVALID(cuCtxSetFlags, (CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD));
    DRV(cuCtxDestroy_v2, (context));
    DRV(cuCtxSetCurrent, (NULL));
    GIVES(ERROR_INVALID_CONTEXT, cuCtxSetFlags, (CU_CTX_SCHED_AUTO));
}

TEST(context_cache_settings_are_stored)
{
    CUfunc_cache cache = (CUfunc_cache)99, before;
    CUsharedconfig banks = (CUsharedconfig)99;
    DRV(cuCtxGetCacheConfig, (&before));
    DRV(cuCtxSetCacheConfig, (CU_FUNC_CACHE_PREFER_SHARED));
    READS(cache, CU_FUNC_CACHE_PREFER_SHARED, cuCtxGetCacheConfig, (&cache));
    DRV(cuCtxSetCacheConfig, (before));
    INVALID(cuCtxSetCacheConfig, ((CUfunc_cache)17));
    INVALID(cuCtxGetCacheConfig, (NULL));
    READS(banks, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE, cuCtxGetSharedMemConfig, (&banks));
}

TEST(detach_by_the_last_user_ends_the_context)
{
    CUcontext context = NULL, attached = NULL, current = NULL;
    DRV(cuCtxCreate_v2, (&context, 0, fx.device));
    READS(attached, context, cuCtxAttach, (&attached, 0));
    INVALID(cuCtxAttach, (&attached, 1));
    INVALID(cuCtxAttach, (NULL, 0));
    DRV(cuCtxDetach, (context)); /* undoes cuCtxAttach */
    READS(current, context, cuCtxGetCurrent, (&current));
    DRV(cuCtxSynchronize, ());
    GIVES(ERROR_INVALID_CONTEXT, cuCtxDetach, (fx.context)); /* fx.context is not current */
    /* Undoes the creation, and ends the context. */
    DRV(cuCtxDetach, (context));
    if (gr_cuda_is_software()) /* the NVIDIA driver accepts the handle and crashes later */
        GIVES(ERROR_INVALID_CONTEXT, cuCtxPushCurrent_v2, (context));
}

TEST(profiler_start_and_stop_need_a_context)
{
    DRV(cuProfilerStart, ());
    DRV(cuProfilerStop, ());
    GIVES(ERROR_NOT_SUPPORTED, cuProfilerInitialize, ("config", "output", 0));
    DRV(cuCtxSetCurrent, (NULL));
    GIVES(ERROR_INVALID_CONTEXT, cuProfilerStart, ());
    GIVES(ERROR_INVALID_CONTEXT, cuProfilerStop, ());
}

/* Catches: the limits of images were 0, so a program that sizes arrays by them failed. */
TEST(image_limits_are_not_zero)
{
    static const CUdevice_attribute attributes[] = {
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
    };
    static const int at_least[] = {32768, 65536,   16384,  2048,  2046,  32768, 2048,
                                   32768, 1 << 28, 131072, 32768, 16384, 16};
    for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
        int value = 0;
        DRV(cuDeviceGetAttribute, (&value, attributes[i], fx.device));
        ck_assert_msg(value >= at_least[i], "attribute %d is %d", (int)attributes[i], value);
    }
}

TEST(name_query_of_a_null_kernel_is_refused)
{
#if CUDA_VERSION >= 12030
    const char *name = "";
    INVALID(cuFuncGetName, (&name, NULL));
    INVALID(cuKernelGetName, (&name, NULL));
#else
    skip("CUDA %d has no cuFuncGetName", CUDA_VERSION);
#endif
}

/*
 * A synchronous fill of device memory may still be running when the call returns, unless this
 * attribute is set.
 */
TEST(fill_with_sync_memops_is_complete_at_return)
{
    CUdeviceptr memory = 0;
    unsigned on = 1, seen = 99;
    unsigned char bytes[16] = {0};
    DRV(cuMemAlloc_v2, (&memory, SIZE));
    READS(seen, 0, cuPointerGetAttribute, (&seen, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
    DRV(cuPointerSetAttribute, (&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory + 8));
    READS(seen, 1, cuPointerGetAttribute, (&seen, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
    DRV(cuMemsetD8_v2, (memory, 7, SIZE));
    DRV(cuStreamQuery, (CU_STREAM_LEGACY));
    DRV(cuMemcpyDtoH_v2, (bytes, memory, sizeof(bytes)));
    ck_assert_int_eq(bytes[15], 7);
    INVALID(cuPointerSetAttribute, (&on, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
    INVALID(cuPointerSetAttribute, (NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
    INVALID(cuPointerSetAttribute, (&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0));
}

TEST(device_resource_counts_multiprocessors)
{
#if CUDA_VERSION >= 12040
    const CUdevResourceType sm = CU_DEV_RESOURCE_TYPE_SM, none = CU_DEV_RESOURCE_TYPE_INVALID;
    CUdevResource of_device, of_context;
    int count = 0;
    DRV(cuDeviceGetAttribute, (&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, fx.device));
    DRV(cuDeviceGetDevResource, (fx.device, &of_device, sm));
    DRV(cuCtxGetDevResource, (fx.context, &of_context, sm));
    ck_assert_int_eq(of_device.type, sm);
    ck_assert_int_eq(of_context.type, sm);
    ck_assert_uint_eq(of_device.sm.smCount, (unsigned)count);
    ck_assert_uint_eq(of_context.sm.smCount, (unsigned)count);
    GIVES(ERROR_INVALID_RESOURCE_TYPE, cuDeviceGetDevResource, (fx.device, &of_device, none));
    GIVES(ERROR_INVALID_RESOURCE_TYPE, cuCtxGetDevResource, (fx.context, &of_context, none));
    INVALID(cuDeviceGetDevResource, (fx.device, NULL, sm));
    INVALID(cuCtxGetDevResource, (fx.context, NULL, sm));
    GIVES(ERROR_INVALID_DEVICE, cuDeviceGetDevResource, (4711, &of_device, sm));
    DRV(cuCtxSetCurrent, (NULL));
    GIVES(ERROR_INVALID_CONTEXT, cuCtxGetDevResource, (NULL, &of_context, sm));
    DRV(cuCtxSetCurrent, (fx.context));
#else
    skip("CUDA %d has no cuDeviceGetDevResource", CUDA_VERSION);
#endif
}

#define DRIVER_FILE "GR_CLIENT_CALLS_DRIVER"

CHILD(calls_before_init)
{
    CUcontext context = NULL;
    driver_symbols_of(getenv(DRIVER_FILE));
    GIVES(ERROR_NOT_INITIALIZED, cuCtxSetCurrent, (NULL));
    GIVES(ERROR_NOT_INITIALIZED, cuCtxPopCurrent_v2, (&context));
    GIVES(ERROR_NOT_INITIALIZED, cuStreamSynchronize, (NULL));
#if CUDA_VERSION >= 12020
    const CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST};
    GIVES(ERROR_NOT_INITIALIZED, cuMemPrefetchAsync_v2, (0, 1, host, 0, NULL));
#endif
#if CUDA_VERSION >= 12040
    CUdevResource resource;
    GIVES(ERROR_NOT_INITIALIZED, cuCtxGetDevResource, (NULL, &resource, CU_DEV_RESOURCE_TYPE_SM));
#endif
    return 0;
}

TEST(calls_before_cuInit_fail)
{
    setenv(DRIVER_FILE, gr_cuda_driver_path(), 1);
    expect_child("calls_before_init");
}
