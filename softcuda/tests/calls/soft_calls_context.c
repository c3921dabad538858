/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Devices and contexts: their older entry points, the objects that a context destroys at its end,
 * and invalid arguments.
 */
#define _GNU_SOURCE
#include "soft_calls.h"

#include "tests/support/child_check.h"

GROUP("devices", add_case)

/* test_soft_devices.c finds devices by valid addresses. */
SOFT_TEST(invalid_pci_bus_ids_are_refused)
{
    char id[32] = "";
    CUdevice found = -1;
    INVALID(cuDeviceGetPCIBusId, (id, 3, fx.device));
    INVALID(cuDeviceGetByPCIBusId, (&found, "no bus"));
    INVALID(cuDeviceGetByPCIBusId, (&found, NULL));
    GIVES(ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId, (&found, "00ff:00:00.0"));
    ck_assert_int_eq(found, -1);
}

SOFT_TEST(device_properties_match_attributes)
{
    int major = 0, minor = 0, value = 0;
    size_t total = 0, unused = 0, all = 0;
    DRV(cuDeviceComputeCapability, (&major, &minor, fx.device));
    CU(DeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, fx.device));
    ck_assert_int_eq(major, value);
    CU(DeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, fx.device));
    ck_assert_int_eq(minor, value);
    CU(DeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, fx.device));
    ck_assert_int_ge(value, 1);
    DRV(cuDeviceTotalMem_v2, (&total, fx.device));
    DRV(cuMemGetInfo_v2, (&unused, &all));
    ck_assert_uint_eq(total, all);
    ck_assert_uint_lt(unused, all); /* the driver itself uses a part */
    INVALID(cuDeviceComputeCapability, (&major, NULL, fx.device));
}

SOFT_TEST(invalid_device_ordinals_are_refused)
{
    int number = 0, other = 0;
    unsigned flags = 0;
    size_t bytes = 0;
    char text[32];
    CUmemoryPool pool = NULL;
    CUcontext context = NULL;
    const CUdevice none[2] = {-1, 999};
    for (int i = 0; i < 2; i++) {
        const CUdevice device = none[i];
        GIVES(ERROR_INVALID_DEVICE, cuDeviceComputeCapability, (&number, &other, device));
        GIVES(ERROR_INVALID_DEVICE, cuDeviceGetPCIBusId, (text, sizeof(text), device));
        GIVES(ERROR_INVALID_DEVICE, cuDeviceTotalMem_v2, (&bytes, device));
        GIVES(ERROR_INVALID_DEVICE, cuDeviceGetLuid, (text, &flags, device));
        GIVES(ERROR_INVALID_DEVICE, cuDeviceGetDefaultMemPool, (&pool, device));
        GIVES(ERROR_INVALID_DEVICE, cuDeviceGetMemPool, (&pool, device));
        GIVES(ERROR_INVALID_DEVICE, cuDeviceGetP2PAttribute, (&number, 0, fx.device, device));
        GIVES(ERROR_INVALID_DEVICE, cuDeviceGetP2PAttribute, (&number, 0, device, fx.device));
        GIVES(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxGetState, (device, &flags, &number));
        GIVES(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxReset_v2, (device));
        GIVES(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxSetFlags_v2, (device, 0));
        GIVES(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRetain, (&context, device));
    }
    DRV(cuDeviceGetDefaultMemPool, (&pool, fx.device));
    GIVES(ERROR_INVALID_DEVICE, cuDeviceSetMemPool, (999, pool));
}

GROUP("contexts", add_case)

SOFT_TEST(older_context_entry_points_work)
{
    CUcontext made = NULL, popped = NULL, current = NULL;
    CUstream stream = NULL;
    CUevent event = NULL;
    unsigned version = 0, flags = 0;
    DRV(cuCtxCreate_v3, (&made, NULL, 0, CU_CTX_SCHED_YIELD, fx.device));
    READS(version, 3020, cuCtxGetApiVersion, (made, &version));
    READS(flags, CU_CTX_SCHED_YIELD, cuCtxGetFlags, (&flags));
    CU(StreamCreate(&stream, 0));
    CU(EventCreate(&event, 0));
    DRV(cuEventDestroy, (event));
    GIVES(ERROR_INVALID_HANDLE, cuEventDestroy, (event));
    DRV(cuStreamDestroy, (stream));
    GIVES(ERROR_INVALID_HANDLE, cuStreamDestroy, (stream));
    READS(popped, made, cuCtxPopCurrent, (&popped));
    CU_READS(current, fx.context, CtxGetCurrent(&current));
    DRV(cuCtxPushCurrent, (made));
    CU_READS(current, made, CtxGetCurrent(&current));
    DRV(cuCtxDestroy, (made));
    GIVES(ERROR_INVALID_CONTEXT, cuCtxDestroy, (made));
    GIVES(ERROR_INVALID_CONTEXT, cuCtxPushCurrent, (made));
    GIVES(ERROR_INVALID_CONTEXT, cuCtxGetApiVersion, (made, &version));
    CU_READS(current, fx.context, CtxGetCurrent(&current));
    DRV(cuCtxGetFlags, (&flags));
    /* These are the flags of the primary context. */
    ck_assert_uint_eq(flags & CU_CTX_MAP_HOST, CU_CTX_MAP_HOST);
}

SOFT_TEST(invalid_context_creations_are_refused)
{
    CUcontext made = NULL;
    CUexecAffinityParam affinity = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT};
    INVALID(cuCtxCreate_v3, (&made, &affinity, -1, 0, fx.device));
    GIVES(ERROR_UNSUPPORTED_EXEC_AFFINITY, cuCtxCreate_v3, (&made, &affinity, 1, 0, fx.device));
    INVALID(cuCtxCreate_v2, (&made, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, fx.device));
    /* This context was retained, not created. */
    GIVES(ERROR_INVALID_CONTEXT, cuCtxDestroy_v2, (fx.context));
    GIVES(ERROR_INVALID_CONTEXT, cuCtxSetCurrent, ((CUcontext)0x1234));
    ck_assert_ptr_eq(made, NULL);
#if CUDA_VERSION >= 13000
    CUctxCigParam graphics = {.sharedDataType = CIG_DATA_TYPE_D3D12_COMMAND_QUEUE};
    CUctxCreateParams parameters = {.cigParams = &graphics};
    GIVES(ERROR_NOT_SUPPORTED, cuCtxCreate_v4, (&made, &parameters, 0, fx.device));
    parameters = (CUctxCreateParams){.execAffinityParams = &affinity, .numExecAffinityParams = 1};
    GIVES(ERROR_UNSUPPORTED_EXEC_AFFINITY, cuCtxCreate_v4, (&made, &parameters, 0, fx.device));
    DRV(cuCtxCreate_v4, (&made, NULL, 0, fx.device));
    DRV(cuCtxDestroy_v2, (made));
#endif
}

/* The objects of a context are destroyed with it, and their handles become invalid. */
SOFT_TEST(context_destruction_destroys_its_objects)
{
    CUDA_ARRAY3D_DESCRIPTOR described;
    CUcontext made = NULL;
    CUarray array = NULL, level = NULL;
    CUmipmappedArray levels = NULL;
    CUdeviceptr memory = 0;
    CUstream stream = NULL;
    CUevent event = NULL;
    void *pinned = NULL;
    unsigned flags;
    CU(CtxCreate(&made, 0, fx.device));
    CUmodule module = new_module();
    DRV(cuArray3DCreate_v2, (&array, &flat));
    DRV(cuMipmappedArrayCreate, (&levels, &flat, 4));
    DRV(cuMipmappedArrayGetLevel, (&level, levels, 1));
    DRV(cuMemAlloc_v2, (&memory, 8));
    DRV(cuMemHostAlloc, (&pinned, 8, CU_MEMHOSTALLOC_PORTABLE));
    DRV(cuStreamCreate, (&stream, 0));
    DRV(cuEventCreate, (&event, 0));
    DRV(cuCtxDestroy_v2, (made));
    GIVES(ERROR_INVALID_HANDLE, cuArray3DGetDescriptor_v2, (&described, array));
    GIVES(ERROR_INVALID_HANDLE, cuArray3DGetDescriptor_v2, (&described, level));
    GIVES(ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy, (levels));
    GIVES(ERROR_INVALID_HANDLE, cuStreamQuery, (stream));
    GIVES(ERROR_INVALID_HANDLE, cuEventQuery, (event));
    GIVES(ERROR_INVALID_HANDLE, cuModuleUnload, (module));
    INVALID(cuMemFree_v2, (memory));
    INVALID(cuMemHostGetFlags, (&flags, pinned));
}

/* A context that is on the stack twice is still current after it was destroyed. */
SOFT_TEST(destroyed_context_stays_current_if_pushed_twice)
{
    CUcontext made = NULL;
    CUdeviceptr memory = 0;
    CUdevice device = -1;
    unsigned flags = 7;
    CU(CtxCreate(&made, CU_CTX_SCHED_YIELD, fx.device));
    DRV(cuCtxPushCurrent_v2, (made));
    DRV(cuCtxDestroy_v2, (made));
    GIVES(ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc_v2, (&memory, 8));
    GIVES(ERROR_CONTEXT_IS_DESTROYED, cuMemFree_v2, (0));
    GIVES(ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize, ());
    GIVES(ERROR_CONTEXT_IS_DESTROYED, cuStreamSynchronize, (NULL));
    READS(flags, 0, cuCtxGetFlags, (&flags));
    READS(device, 0, cuCtxGetDevice, (&device));
    DRV(cuCtxPopCurrent_v2, (NULL));
    DRV(cuMemFree_v2, (0));
}

#define DEEPEST 64 /* the maximum number of contexts on the stack of a thread */

SOFT_TEST(context_stack_has_64_entries)
{
    CUcontext made = NULL;
    int depth = 1; /* the fixture has pushed one */
    for (; depth < DEEPEST; depth++)
        DRV(cuCtxPushCurrent_v2, (fx.context));
    GIVES(ERROR_OUT_OF_MEMORY, cuCtxPushCurrent_v2, (fx.context));
    GIVES(ERROR_OUT_OF_MEMORY, cuCtxCreate_v2, (&made, 0, fx.device));
    for (; depth > 1; depth--)
        READS(made, fx.context, cuCtxPopCurrent_v2, (&made));
}

SOFT_TEST(context_limits_are_stored_or_refused)
{
    size_t before = 0, value = 0;
    DRV(cuCtxGetLimit, (&before, CU_LIMIT_MALLOC_HEAP_SIZE));
    DRV(cuCtxSetLimit, (CU_LIMIT_MALLOC_HEAP_SIZE, before + 4096));
    READS(value, before + 4096, cuCtxGetLimit, (&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    DRV(cuCtxSetLimit, (CU_LIMIT_MALLOC_HEAP_SIZE, before));
    DRV(cuCtxSetLimit, (CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 128));
    INVALID(cuCtxSetLimit, (CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 129));
    READS(value, 128, cuCtxGetLimit, (&value, CU_LIMIT_MAX_L2_FETCH_GRANULARITY));
    DRV(cuCtxSetLimit, (CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64));
    GIVES(ERROR_UNSUPPORTED_LIMIT, cuCtxGetLimit, (&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
    GIVES(ERROR_UNSUPPORTED_LIMIT, cuCtxSetLimit, (CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2));
    INVALID(cuCtxSetLimit, (CU_LIMIT_MAX, 1));
    INVALID(cuCtxSetLimit, ((CUlimit)77, 1));
#if CUDA_VERSION >= 13000
    int most = 0;
    CU(DeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, fx.device));
    READS(value, (size_t)most, cuCtxGetLimit, (&value, CU_LIMIT_SHMEM_SIZE));
    READS(value, 0, cuCtxGetLimit, (&value, CU_LIMIT_CIG_ENABLED));
    GIVES(ERROR_NOT_PERMITTED, cuCtxSetLimit, (CU_LIMIT_SHMEM_SIZE, 1));
    GIVES(ERROR_NOT_PERMITTED, cuCtxSetLimit, (CU_LIMIT_CIG_ENABLED, 1));
#endif
}

SOFT_TEST(stream_priority_is_clamped_to_its_range)
{
    int least = 7, greatest = 7, priority = 7;
    const int wanted[3] = {5, -2, -100};
    READS(least, 0, cuCtxGetStreamPriorityRange, (&least, &greatest));
    ck_assert_int_lt(greatest, -2);
    const int given[3] = {0, -2, greatest}; /* a value out of range becomes the nearest priority */
    for (int i = 0; i < 3; i++) {
        CUstream stream = NULL;
        DRV(cuStreamCreateWithPriority, (&stream, CU_STREAM_NON_BLOCKING, wanted[i]));
        READS(priority, given[i], cuStreamGetPriority, (stream, &priority));
    }
}

/* ---- The primary context --------------------------------------------------------------------- */

/*
 * Runs in a process without the fixture, because the reset ends the context for all code that has
 * retained it.
 */
CHILD(primary_context_is_reset)
{
    CUcontext context = NULL, again = NULL;
    CUdeviceptr memory = 0;
    unsigned flags = 7;
    int active = -1;
    assert_ok(gr_cuda_load(false));
    DRV(cuDevicePrimaryCtxSetFlags_v2, (0, CU_CTX_SCHED_YIELD));
    READS(flags, CU_CTX_SCHED_YIELD, cuDevicePrimaryCtxGetState, (0, &flags, &active));
    ck_assert_int_eq(active, 0);
    DRV(cuDevicePrimaryCtxRetain, (&context, 0));
    DRV(cuCtxSetCurrent, (context));
    READS(flags, CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST, cuCtxGetFlags, (&flags));
    /* The flags can also be set while the context is active. */
    DRV(cuDevicePrimaryCtxSetFlags, (0, CU_CTX_SCHED_SPIN));
    READS(flags, CU_CTX_SCHED_SPIN | CU_CTX_MAP_HOST, cuCtxGetFlags, (&flags));
    DRV(cuMemAlloc_v2, (&memory, 8));
    DRV(cuDevicePrimaryCtxReset, (0));
    READS(flags, 0, cuDevicePrimaryCtxGetState, (0, &flags, &active));
    ck_assert_int_eq(active, 0);
    GIVES(ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc_v2, (&memory, 8));
    READS(again, context, cuDevicePrimaryCtxRetain, (&again, 0));
    DRV(cuMemAlloc_v2, (&memory, 8));
    DRV(cuDevicePrimaryCtxReset_v2, (0));
    DRV(cuDevicePrimaryCtxRelease, (0));
    DRV(cuDevicePrimaryCtxRelease_v2, (0));
    GIVES(ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease, (0));
    return 0;
}

SOFT_TEST(primary_context_can_be_reset_and_retained)
{
    unsigned flags = 0;
    int active = 0;
    expect_child("primary_context_is_reset");
    INVALID(cuDevicePrimaryCtxSetFlags_v2, (fx.device, CU_CTX_MAP_HOST));
    INVALID(cuDevicePrimaryCtxSetFlags_v2, (fx.device, 0xf00000));
    INVALID(cuDevicePrimaryCtxGetState, (fx.device, NULL, &active));
    INVALID(cuDevicePrimaryCtxGetState, (fx.device, &flags, NULL));
}
