/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The codes for streams, events, host functions, modules, launches and symbol lookups. */
#define _GNU_SOURCE
#include "tests/support/cuda_symbol.h"
#include "conformance.h"

#include <stdio.h>
#include <string.h>

#include "examples/support/kernel_image.h"

GROUP("streams and events", add_case)

TEST(stream_codes)
{
    CUstream s = NULL;
    CUevent event = NULL;
    unsigned flags = 7;
    CALL(ERROR_INVALID_VALUE, StreamCreate(NULL, 0));
    CALL(ERROR_INVALID_VALUE, StreamCreate(&s, 2));
    CALL(SUCCESS, StreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CALL_READS(flags, CU_STREAM_NON_BLOCKING, StreamGetFlags(s, &flags));
    CALL(ERROR_INVALID_VALUE, StreamGetFlags(s, NULL));
    CALL(SUCCESS, StreamQuery(s));
    CALL(SUCCESS, StreamSynchronize(s));
    CALL(SUCCESS, StreamSynchronize(NULL));
    CALL(SUCCESS, StreamSynchronize(CU_STREAM_LEGACY));
    CALL(SUCCESS, StreamSynchronize(CU_STREAM_PER_THREAD));

    struct gate *gate = gate_put(s);
    CALL(ERROR_NOT_READY, StreamQuery(s));
    CALL(SUCCESS, StreamQuery(fx.stream));
    gate_open(gate);
    CALL(SUCCESS, StreamSynchronize(s));
    CALL(SUCCESS, StreamQuery(s));

    CALL(SUCCESS, EventCreate(&event, 0));
    CALL(SUCCESS, StreamWaitEvent(s, event, 0));
    CALL(ERROR_INVALID_VALUE, StreamWaitEvent(s, event, 5));
    CALL(ERROR_INVALID_HANDLE, StreamWaitEvent(s, NULL, 0));
    CALL(SUCCESS, EventDestroy(event));
    CALL(SUCCESS, StreamDestroy(s));
    CALL_SOFT(ERROR_INVALID_HANDLE, StreamDestroy(s));
    CALL_SOFT(ERROR_INVALID_HANDLE, StreamSynchronize(s));
    CALL_SOFT(ERROR_INVALID_HANDLE, StreamSynchronize((CUstream)0x1234567));
    CALL(ERROR_INVALID_HANDLE, StreamDestroy(NULL));
}

TEST(event_codes)
{
    CUevent event = NULL, later = NULL, untimed = NULL;
    float ms = -1;
    CALL(ERROR_INVALID_VALUE, EventCreate(NULL, 0));
    CALL(ERROR_INVALID_VALUE, EventCreate(&event, 0x10));
    CALL(ERROR_INVALID_VALUE, EventCreate(&event, CU_EVENT_INTERPROCESS));
    CALL(SUCCESS, EventCreate(&event, CU_EVENT_DEFAULT));
    CALL(SUCCESS, EventCreate(&later, CU_EVENT_BLOCKING_SYNC));
    CALL(SUCCESS, EventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    CALL(SUCCESS, EventQuery(event));
    CALL(SUCCESS, EventSynchronize(event));
    CALL(ERROR_INVALID_HANDLE, EventElapsedTime(&ms, event, later));
    CALL(SUCCESS, EventRecord(event, fx.stream));
    CALL(SUCCESS, EventRecord(untimed, fx.stream));

    struct gate *gate = gate_put(fx.stream);
    CALL(SUCCESS, EventRecord(later, fx.stream));
    CALL(SUCCESS, EventSynchronize(event));
    CALL(ERROR_NOT_READY, EventQuery(later));
    CALL(ERROR_NOT_READY, EventElapsedTime(&ms, event, later));
    gate_open(gate);
    CALL(SUCCESS, EventSynchronize(later));
    CALL(SUCCESS, EventQuery(later));
    CALL(SUCCESS, EventElapsedTime(&ms, event, later));
    ck_assert(ms >= 0);
    CALL(ERROR_INVALID_HANDLE, EventElapsedTime(NULL, event, later));
    CALL(ERROR_INVALID_HANDLE, EventElapsedTime(&ms, event, untimed));
    CALL(ERROR_INVALID_HANDLE, EventElapsedTime(&ms, NULL, later));
    CALL(ERROR_INVALID_HANDLE, EventRecord(NULL, fx.stream));
    CALL(ERROR_INVALID_HANDLE, EventQuery(NULL));
    CALL(ERROR_INVALID_HANDLE, EventSynchronize(NULL));
    CALL(ERROR_INVALID_HANDLE, EventDestroy(NULL));
    CALL(SUCCESS, EventDestroy(event));
    CALL(SUCCESS, EventDestroy(later));
    CALL(SUCCESS, EventDestroy(untimed));
    CALL_SOFT(ERROR_INVALID_HANDLE, EventRecord(event, fx.stream));
    CALL_SOFT(ERROR_INVALID_HANDLE, EventDestroy(event));
}

TEST(codes_for_an_event_of_another_context)
{
    CUevent event = NULL;
    CUcontext second = new_context(NULL);
    CU(EventCreate(&event, 0));
    CALL(ERROR_INVALID_HANDLE, EventRecord(event, fx.stream));
    CALL(SUCCESS, StreamWaitEvent(fx.stream, event, 0));
    CU(CtxDestroy(second));
}

/* ---- Memory operations in a stream ----------------------------------------------------------- */

TEST(memory_operation_codes)
{
    CUdeviceptr word;
    uint32_t found = 0;
    CU(MemAlloc(&word, 8));
    CU(MemsetD8(word, 0, 8));
    CU(CtxSynchronize()); /* the stream below does not wait for the default stream */
    CUstreamBatchMemOpParams all[3] = {
        {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32,
                       .address = word,
                       .value = 5,
                       .flags = CU_STREAM_WAIT_VALUE_GEQ}},
        {.memoryBarrier = {.operation = CU_STREAM_MEM_OP_BARRIER,
                           .flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS}},
        {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
                        .address = word + 4,
                        .value = 7}},
    };
    CALL(SUCCESS, StreamBatchMemOp(fx.stream, 3, all, 0));
    sleep_ms(20);
    CALL(ERROR_NOT_READY, StreamQuery(fx.stream));
    CALL(SUCCESS, StreamWriteValue32(fx.other, word, 5, 0));
    CALL(SUCCESS, StreamSynchronize(fx.stream));
    CU_READS(found, 7, MemcpyDtoH(&found, word + 4, sizeof(found)));
    CALL(SUCCESS, StreamWaitValue32(fx.stream, word, 5, CU_STREAM_WAIT_VALUE_EQ));
    CALL(SUCCESS, StreamSynchronize(fx.stream));

    all[1].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
    CALL(SUCCESS, StreamBatchMemOp(fx.stream, 1, &all[1], 0));
    CALL(SUCCESS, StreamBatchMemOp(CU_STREAM_LEGACY, 1, &all[1], 0));
    CALL(ERROR_INVALID_VALUE, StreamBatchMemOp(fx.stream, 1, &all[1], 1));
    if (gr_cuda_is_software()) { /* the NVIDIA driver would access the missing array */
        CALL(ERROR_INVALID_VALUE, StreamBatchMemOp(fx.stream, 1, NULL, 0));
        CALL(ERROR_INVALID_VALUE, StreamBatchMemOp(fx.stream, 1000, all, 0));
    }
    all[1].memoryBarrier.flags = 2;
    CALL(ERROR_INVALID_VALUE, StreamBatchMemOp(fx.stream, 1, &all[1], 0));
    all[1].operation = (CUstreamBatchMemOpType)99;
    CALL(ERROR_INVALID_VALUE, StreamBatchMemOp(fx.stream, 1, &all[1], 0));
    CALL(ERROR_INVALID_VALUE, StreamWriteValue32(fx.stream, word + 2, 5, 0));
    CALL_SOFT(ERROR_INVALID_VALUE, StreamWriteValue32(NULL, word, 5, 1)); /* without a barrier */
    CALL_SOFT(ERROR_INVALID_VALUE, StreamWriteValue64(NULL, word + 4, 5, 0));
    CALL_SOFT(ERROR_INVALID_VALUE, StreamWriteValue64(NULL, word + 8, 5, 0));
    CALL_SOFT(ERROR_INVALID_VALUE, StreamWaitValue64(NULL, word + 4, 0, 0));
    CALL_SOFT(ERROR_INVALID_VALUE, StreamWaitValue32(NULL, word, 0, 4));
    CALL_SOFT(ERROR_NOT_SUPPORTED, StreamWaitValue32(NULL, word, 0, CU_STREAM_WAIT_VALUE_FLUSH));
    CU(StreamSynchronize(fx.stream));
}

/* ---- Host functions -------------------------------------------------------------------------- */

static CUresult inside[3];

static void CUDA_CB call_driver(void *user)
{
    CUdeviceptr memory;
    CUcontext context;
    CUevent event;
    (void)user;
    inside[0] = fx.cu->MemAlloc(&memory, 4);
    inside[1] = fx.cu->EventCreate(&event, 0);
    inside[2] = fx.cu->CtxGetCurrent(&context);
}

TEST(host_function_codes)
{
    CALL(ERROR_INVALID_VALUE, LaunchHostFunc(fx.stream, NULL, NULL));
    memset(inside, 0x7f, sizeof(inside));
    CALL(SUCCESS, LaunchHostFunc(fx.stream, call_driver, NULL));
    CALL(SUCCESS, StreamSynchronize(fx.stream));
    for (int i = 0; i < 3; i++)
        conformance_note("a call within a host function", inside[i], CUDA_ERROR_NOT_PERMITTED);
}

GROUP("modules and launches", add_case)

/* The symbols of the images that support.c embeds. */
KERNEL_IMAGE_SYMBOLS(kernel_image_test_kernels_gpu)
KERNEL_IMAGE_SYMBOLS(kernel_image_test_kernels_host)
static const struct kernel_image image = {
    "test_kernels",
    kernel_image_test_kernels_gpu,
    kernel_image_test_kernels_gpu_end,
    kernel_image_test_kernels_host,
    kernel_image_test_kernels_host_end,
};

TEST(module_codes)
{
    need_kernels();
    CUmodule module = NULL;
    CUfunction function = NULL;
    static const char text[] = "neither a library nor a kernel";
    ck_assert(kernel_image_load(&image, &module));
    CALL(SUCCESS, ModuleGetFunction(&function, module, "copy"));
    CALL(ERROR_NOT_FOUND, ModuleGetFunction(&function, module, "no_such_kernel"));
    CALL(ERROR_INVALID_VALUE, ModuleGetFunction(&function, module, ""));
    CALL(ERROR_INVALID_VALUE, ModuleGetFunction(&function, module, NULL));
    CALL(ERROR_INVALID_VALUE, ModuleGetFunction(NULL, module, "copy"));
    CALL(ERROR_INVALID_HANDLE, ModuleGetFunction(&function, NULL, "copy"));
    CALL(SUCCESS, ModuleUnload(module));
    CALL_SOFT(ERROR_INVALID_HANDLE, ModuleUnload(module));
    CALL(ERROR_INVALID_HANDLE, ModuleUnload(NULL));
    CALL(ERROR_INVALID_VALUE, ModuleLoadData(&module, NULL));
    CALL(ERROR_INVALID_VALUE, ModuleLoadData(NULL, text));
    CALL(ERROR_INVALID_IMAGE, ModuleLoadData(&module, text));
}

#define LAUNCH(code, f, gx, gy, gz, bx, by, bz, shared, stream, params, extra)                     \
    CALL(code, LaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra))

/*
 * Checks launches with grids and blocks that have no threads or too many, and with too much shared
 * memory.
 */
static void check_refused_launches(CUfunction f, void **p)
{
    static const struct {
        unsigned grid[3], block[3], shared;
    } shapes[] = {
        {{0, 1, 1}, {32, 1, 1}, 0},        {{1, 0, 1}, {32, 1, 1}, 0},
        {{1, 1, 0}, {32, 1, 1}, 0},        {{1, 1, 1}, {0, 1, 1}, 0},
        {{1, 1, 1}, {1025, 1, 1}, 0},      {{1, 1, 1}, {64, 32, 1}, 0},
        {{1, 1, 1}, {1, 1, 65}, 0},        {{1, 65536, 1}, {1, 1, 1}, 0},
        {{1, 1, 65536}, {1, 1, 1}, 0},     {{0x80000000u, 1, 1}, {1, 1, 1}, 0},
        {{1, 1, 1}, {32, 1, 1}, 1u << 20},
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        const unsigned *g = shapes[i].grid, *b = shapes[i].block, shared = shapes[i].shared;
        char call[200];
        snprintf(call, sizeof(call), "cuLaunchKernel(f, %u, %u, %u, %u, %u, %u, %u)", g[0], g[1],
                 g[2], b[0], b[1], b[2], shared);
        conformance_note(
            call,
            fx.cu->LaunchKernel(f, g[0], g[1], g[2], b[0], b[1], b[2], shared, fx.stream, p, NULL),
            CUDA_ERROR_INVALID_VALUE);
    }
}

TEST(launch_codes)
{
    need_kernels();
    CUmodule module = NULL;
    CUfunction f = NULL;
    CUdeviceptr memory = 0;
    unsigned long long count = 16;
    ck_assert(kernel_image_load(&image, &module));
    CU(ModuleGetFunction(&f, module, "add_one"));
    CU(MemAlloc(&memory, 16));
    void *p[] = {&memory, &count};
    unsigned long long none = 0;
    /* parameters for launches in which many threads have the same index */
    void *idle[] = {&memory, &none};
    struct {
        CUdeviceptr memory;
        unsigned long long count;
    } packed = {memory, count};
    size_t size = sizeof(packed);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    LAUNCH(SUCCESS, f, 1, 1, 1, 32, 1, 1, 0, fx.stream, p, NULL);
    LAUNCH(SUCCESS, f, 1, 1, 1, 32, 1, 1, 0, fx.stream, NULL, extra);
    LAUNCH(SUCCESS, f, 1, 65535, 1, 1, 1, 1, 0, fx.stream, idle, NULL);
    LAUNCH(SUCCESS, f, 1, 1, 1, 1, 1, 64, 0, fx.stream, idle, NULL);
    check_refused_launches(f, p);
    LAUNCH(ERROR_INVALID_VALUE, f, 1, 1, 1, 32, 1, 1, 0, fx.stream, p, extra);
    LAUNCH(ERROR_INVALID_VALUE, f, 1, 1, 1, 32, 1, 1, 0, fx.stream, NULL, NULL);
    LAUNCH(ERROR_INVALID_HANDLE, NULL, 1, 1, 1, 32, 1, 1, 0, fx.stream, p, NULL);
    CU(StreamSynchronize(fx.stream));
}

TEST(codes_for_a_launch_in_another_context)
{
    need_kernels();
    CUmodule module = NULL;
    CUfunction f = NULL;
    CUdeviceptr memory = 0;
    unsigned long long count = 0;
    void *p[] = {&memory, &count};
    ck_assert(kernel_image_load(&image, &module));
    CU(ModuleGetFunction(&f, module, "add_one"));
    CUcontext second = new_context(NULL);
    LAUNCH(ERROR_INVALID_HANDLE, f, 1, 1, 1, 32, 1, 1, 0, NULL, p, NULL);
    LAUNCH(SUCCESS, f, 1, 1, 1, 32, 1, 1, 0, fx.stream, p, NULL);
    end_context(second);
    CU(StreamSynchronize(fx.stream));
}

GROUP("look-ups", add_case)

TEST(symbol_lookup_codes)
{
    PFN_cuGetProcAddress_v12000 look_up = NULL;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    int newest = 0;
    void *const kept = &look_up;
    void *found = cuda_symbol("cuGetProcAddress", 12000);
    assert_made(found);
    memcpy(&look_up, &found, sizeof(look_up));
    CU(DriverGetVersion(&newest));
#define LOOK_UP(code, call) conformance_note(#call, look_up call, CUDA_##code)
    LOOK_UP(SUCCESS, ("cuMemAlloc", &found, 12000, 0, &status));
    ck_assert_ptr_eq(found, cuda_symbol("cuMemAlloc", 3020));
    LOOK_UP(SUCCESS, ("cuMemAlloc", &found, 2000, 0, &status));
    ck_assert_ptr_ne(found, NULL);
    ck_assert_ptr_ne(found, cuda_symbol("cuMemAlloc", 3020));
    LOOK_UP(SUCCESS, ("cuNoSuchFunction", &found, 12000, 0, &status));
    ck_assert_ptr_eq(found, NULL);
    ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    LOOK_UP(SUCCESS, ("cuMemAlloc_v2", &found, 12000, 0, &status));
    ck_assert_ptr_eq(found, NULL);
    ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    LOOK_UP(SUCCESS, ("cuMemAlloc", &found, 12000, 3, &status));
    LOOK_UP(SUCCESS, ("cuMemAllocAsync", &found, 11000, 0, &status));
    ck_assert_ptr_eq(found, NULL);
    ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    found = kept;
    LOOK_UP(ERROR_INVALID_VALUE, ("cuMemAlloc", &found, newest + 1000, 0, &status));
    ck_assert_ptr_eq(found, kept);
    LOOK_UP(ERROR_INVALID_VALUE, ("cuMemAlloc", &found, 12000, 8, &status));
    LOOK_UP(SUCCESS, ("cuMemAlloc", &found, 12000, 0, NULL));
    LOOK_UP(SUCCESS, ("cuMemcpyHtoDAsync", &found, 12000,
                      CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    ck_assert_ptr_ne(found, cuda_symbol("cuMemcpyHtoDAsync", 3020));
    if (gr_cuda_is_software()) {
        LOOK_UP(ERROR_INVALID_VALUE, (NULL, &found, 12000, 0, &status));
        LOOK_UP(ERROR_INVALID_VALUE, ("cuMemAlloc", NULL, 12000, 0, &status));
    }
#undef LOOK_UP
}

/* The first version returns no status, so a missing function is an error. */
TEST(symbol_lookup_codes_without_a_status)
{
    PFN_cuGetProcAddress_v11030 look_up = NULL;
    void *found = cuda_symbol("cuGetProcAddress", 11030);
    assert_made(found);
    memcpy(&look_up, &found, sizeof(look_up));
#define LOOK_UP(code, call) conformance_note(#call, look_up call, CUDA_##code)
    LOOK_UP(SUCCESS, ("cuMemAlloc", &found, 12000, 0));
    ck_assert_ptr_eq(found, cuda_symbol("cuMemAlloc", 3020));
    void *const kept = found;
    LOOK_UP(ERROR_NOT_FOUND, ("cuNoSuchFunction", &found, 12000, 0));
    LOOK_UP(ERROR_NOT_FOUND, ("noFunctionOfCuda", &found, 12000, 0));
    LOOK_UP(ERROR_NOT_FOUND, ("cuMemAllocAsync", &found, 11000, 0));
    /* Only base names are valid. */
    LOOK_UP(ERROR_NOT_FOUND, ("cuMemAlloc_v2", &found, 12000, 0));
    LOOK_UP(ERROR_NOT_FOUND, ("cuMemcpy_ptds", &found, 12000, 0));
    ck_assert_ptr_eq(found, kept);
    LOOK_UP(SUCCESS, ("cuMemAlloc", &found, 12000, 3));
    LOOK_UP(ERROR_INVALID_VALUE, ("cuMemAlloc", &found, 12000, 8));
    if (gr_cuda_is_software())
        LOOK_UP(ERROR_INVALID_VALUE, (NULL, &found, 12000, 0));
#undef LOOK_UP
}
