/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The per-thread variants of entry points, for programs that were compiled with --default-stream
 * per-thread. In these calls a NULL or implied stream is the default stream of the calling thread.
 * While a blocking stream is blocked, the legacy default stream waits for it, but the thread's own
 * default stream does not: a variant that used the legacy stream would hang in these tests.
 */
#define _GNU_SOURCE
#include "soft_calls.h"

#include <string.h>

#define SIZE  64
#define PITCH 16

static struct gate *gate;
static CUdeviceptr memory, other; /* SIZE zeros */
static CUgraphicsResource resource;
static GLuint name; /* the buffer of the resource */

static void block_a_stream(void)
{
    unsigned char zeros[SIZE] = {0};
    CUstream blocking = NULL;
    if (!gr_cuda_is_software())
        return; /* all cases are skipped */
    memory = soft_memory(zeros, SIZE);
    other = soft_memory(zeros, SIZE);
    name = gl_buffer_filled(SIZE, 0x3a);
    CU(GraphicsGLRegisterBuffer(&resource, name, 0));
    CU(StreamCreate(&blocking, CU_STREAM_DEFAULT));
    gate = gate_put(blocking);
}

static void unblock_the_stream(void)
{
    if (!gr_cuda_is_software())
        return;
    ck_assert(!gate_is_open(gate));
    gate_open(gate);
}

static TCase *add_blocked_case(Suite *suite, const char *title)
{
    return with_fixture(add_case(suite, title), block_a_stream, unblock_the_stream);
}

/* Uses a per-thread variant to read the bytes that the thread's own stream has written. */
static const unsigned char *bytes_of(CUdeviceptr from)
{
    static unsigned char bytes[SIZE];
    memset(bytes, 0xee, SIZE);
    TWIN(cuMemcpyDtoH_v2, _ptds, (bytes, from, SIZE));
    return bytes;
}

/*
 * Checks that `count` elements of this size have the value in each of these rows, and that the
 * other bytes are 0.
 */
static void assert_rows(uint32_t value, size_t size, size_t count, size_t rows)
{
    unsigned char expected[SIZE] = {0};
    for (size_t i = 0; i < count * rows; i++) /* the least significant bytes */
        memcpy(expected + i / count * PITCH + i % count * size, &value, size);
    ck_assert_mem_eq(bytes_of(memory), expected, SIZE);
}

GROUP("per-thread twins", add_blocked_case)

SOFT_TEST(per_thread_fills_use_the_threads_own_stream)
{
#define FILL(bits, size, value, count)                                                             \
    do {                                                                                           \
        TWIN(cuMemsetD8_v2, _ptds, (memory, 0, SIZE));                                             \
        TWIN(cuMemsetD##bits##_v2, _ptds, (memory, value, count));                                 \
        assert_rows(value, size, count, 1);                                                        \
        TWIN(cuMemsetD##bits##Async, _ptsz, (memory, value + 1, count, NULL));                     \
        assert_rows(value + 1, size, count, 1);                                                    \
        TWIN(cuMemsetD2D##bits##_v2, _ptds, (memory, PITCH, value + 2, count, 2));                 \
        assert_rows(value + 2, size, count, 2);                                                    \
        TWIN(cuMemsetD2D##bits##Async, _ptsz, (memory, PITCH, value + 3, count, 2, NULL));         \
        assert_rows(value + 3, size, count, 2);                                                    \
    } while (0)
    FILL(8, 1, 0x11, 5);
    FILL(16, 2, 0x2223, 4);
    FILL(32, 4, 0x33343536, 3);
#undef FILL
}

SOFT_TEST(per_thread_copies_use_the_threads_own_stream)
{
    unsigned char bytes[SIZE], read[SIZE] = {0};
    pattern_fill(bytes, SIZE, 1);
    TWIN(cuMemcpyHtoD_v2, _ptds, (memory, bytes, SIZE));
    assert_pattern(bytes_of(memory), SIZE, 1);
    TWIN(cuMemcpyDtoD_v2, _ptds, (other, memory, SIZE));
    assert_pattern(bytes_of(other), SIZE, 1);
    pattern_fill(bytes, SIZE, 2);
    TWIN(cuMemcpyHtoDAsync_v2, _ptsz, (memory, bytes, SIZE, NULL));
    TWIN(cuMemcpyDtoDAsync_v2, _ptsz, (other, memory, SIZE, NULL));
    TWIN(cuMemcpyDtoHAsync_v2, _ptsz, (read, other, SIZE, NULL));
    TWIN(cuStreamSynchronize, _ptsz, (NULL));
    assert_pattern(read, SIZE, 2);
    pattern_fill(bytes, SIZE, 3);
    TWIN(cuMemcpy, _ptds, (memory, (CUdeviceptr)(uintptr_t)bytes, SIZE));
    assert_pattern(bytes_of(memory), SIZE, 3);
    TWIN(cuMemcpyAsync, _ptsz, (other, memory, SIZE, NULL));
    assert_pattern(bytes_of(other), SIZE, 3);
    pattern_fill(bytes, SIZE, 4);
    TWIN(cuMemcpyHtoD_v2, _ptds, (memory, bytes, SIZE));
    TWIN(cuMemcpyPeer, _ptds, (other, fx.context, memory, fx.context, SIZE));
    assert_pattern(bytes_of(other), SIZE, 4);
    TWIN(cuMemsetD8_v2, _ptds, (other, 0, SIZE));
    TWIN(cuMemcpyPeerAsync, _ptsz, (other, fx.context, memory, fx.context, SIZE, NULL));
    assert_pattern(bytes_of(other), SIZE, 4);
}

/* Copies the first 8 bytes of rows 1 and 2 to rows 0 and 1. */
SOFT_TEST(per_thread_2d_and_3d_copies_use_the_threads_own_stream)
{
    unsigned char bytes[SIZE], expected[SIZE] = {0};
    pattern_fill(bytes, SIZE, 1);
#define ROWS                                                                                       \
    .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = bytes, .srcPitch = PITCH, .srcY = 1,           \
    .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = memory, .dstPitch = PITCH,                 \
    .WidthInBytes = 8, .Height = 2
#define SLICES ROWS, .srcHeight = 4, .dstHeight = 4, .Depth = 1
    const CUDA_MEMCPY2D flat = {ROWS};
    const CUDA_MEMCPY3D deep = {SLICES};
    const CUDA_MEMCPY3D_PEER peers = {SLICES, .srcContext = fx.context, .dstContext = fx.context};
#undef SLICES
#undef ROWS
#define EACH(call)                                                                                 \
    do {                                                                                           \
        bytes[PITCH]++;                                                                            \
        memcpy(expected, bytes + PITCH, 8);                                                        \
        memcpy(expected + PITCH, bytes + 2 * PITCH, 8);                                            \
        call;                                                                                      \
        ck_assert_mem_eq(bytes_of(memory), expected, SIZE);                                        \
    } while (0)
    EACH(TWIN(cuMemcpy2D_v2, _ptds, (&flat)));
    EACH(TWIN(cuMemcpy2DUnaligned_v2, _ptds, (&flat)));
    EACH(TWIN(cuMemcpy2DAsync_v2, _ptsz, (&flat, NULL)));
    EACH(TWIN(cuMemcpy3D_v2, _ptds, (&deep)));
    EACH(TWIN(cuMemcpy3DAsync_v2, _ptsz, (&deep, NULL)));
    EACH(TWIN(cuMemcpy3DPeer, _ptds, (&peers)));
    EACH(TWIN(cuMemcpy3DPeerAsync, _ptsz, (&peers, NULL)));
#undef EACH
}

SOFT_TEST(per_thread_array_copies_use_the_threads_own_stream)
{
    unsigned char bytes[SIZE], read[SIZE];
    const CUDA_ARRAY_DESCRIPTOR row = {SIZE, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    CUarray array = NULL, second = NULL;
    DRV(cuArrayCreate_v2, (&array, &row));
    DRV(cuArrayCreate_v2, (&second, &row));
    pattern_fill(bytes, SIZE, 1);
    TWIN(cuMemcpyHtoA_v2, _ptds, (array, 0, bytes, SIZE));
    TWIN(cuMemcpyAtoA_v2, _ptds, (second, 0, array, 0, SIZE));
    TWIN(cuMemcpyAtoH_v2, _ptds, (read, second, 0, SIZE));
    assert_pattern(read, SIZE, 1);
    TWIN(cuMemcpyAtoD_v2, _ptds, (memory, array, 0, SIZE));
    assert_pattern(bytes_of(memory), SIZE, 1);
    TWIN(cuMemsetD8_v2, _ptds, (memory, 0x21, SIZE));
    TWIN(cuMemcpyDtoA_v2, _ptds, (array, 0, memory, SIZE));
    TWIN(cuMemcpyAtoHAsync_v2, _ptsz, (read, array, 0, SIZE, NULL));
    TWIN(cuStreamSynchronize, _ptsz, (NULL));
    assert_bytes(read, SIZE, 0x21);
    TWIN(cuMemcpyHtoAAsync_v2, _ptsz, (array, 0, bytes, SIZE, NULL));
    TWIN(cuMemcpyAtoH_v2, _ptds, (read, array, 0, SIZE));
    assert_pattern(read, SIZE, 1);
}

SOFT_TEST(per_thread_allocations_use_the_threads_own_stream)
{
    CUmemoryPool pool = NULL;
    CUdeviceptr a = 0, b = 0;
    DRV(cuDeviceGetDefaultMemPool, (&pool, fx.device));
    TWIN(cuMemAllocAsync, _ptsz, (&a, SIZE, NULL));
    TWIN(cuMemAllocFromPoolAsync, _ptsz, (&b, SIZE, pool, NULL));
    TWIN(cuMemsetD8Async, _ptsz, (a, 0x31, SIZE, NULL));
    TWIN(cuMemcpyDtoDAsync_v2, _ptsz, (b, a, SIZE, NULL));
    assert_bytes(bytes_of(b), SIZE, 0x31);
    TWIN(cuMemFreeAsync, _ptsz, (a, NULL));
    TWIN(cuMemFreeAsync, _ptsz, (b, NULL));
    TWIN(cuStreamSynchronize, _ptsz, (NULL));
    INVALID(cuMemsetD8_v2, (a, 0, SIZE));
}

/* ---- Streams and events ---------------------------------------------------------------------- */

static void CUDA_CB count_call(void *user)
{
    ++*(int *)user;
}

static CUstream called_with;

static void CUDA_CB count_callback(CUstream stream, CUresult status, void *user)
{
    called_with = stream;
    if (status == CUDA_SUCCESS)
        ++*(int *)user;
}

SOFT_TEST(per_thread_host_functions_use_the_threads_own_stream)
{
    int calls = 0;
    TWIN(cuLaunchHostFunc, _ptsz, (NULL, count_call, &calls));
    TWIN(cuStreamAddCallback, _ptsz, (NULL, count_callback, &calls, 0));
    TWIN(cuStreamSynchronize, _ptsz, (NULL));
    TWIN(cuStreamQuery, _ptsz, (NULL));
    ck_assert_int_eq(calls, 2);
}

SOFT_TEST(per_thread_events_use_the_threads_own_stream)
{
    CUevent event = NULL, later = NULL;
    CU(EventCreate(&event, 0));
    CU(EventCreate(&later, 0));
    TWIN(cuEventRecord, _ptsz, (event, NULL));
    CU(EventSynchronize(event));
    struct gate *second = gate_put(CU_STREAM_PER_THREAD);
    TWIN(cuEventRecordWithFlags, _ptsz, (later, NULL, CU_EVENT_RECORD_DEFAULT));
    CU_GIVES(CUDA_ERROR_NOT_READY, EventQuery(later));
    gate_open(second);
    CU(EventSynchronize(later));

    /* The thread's own default stream waits for fx.stream. */
    second = gate_put(fx.stream);
    CU(EventRecord(event, fx.stream));
    TWIN(cuStreamWaitEvent, _ptsz, (NULL, event, 0));
    TWIN(cuEventRecord, _ptsz, (later, NULL));
    CU_GIVES(CUDA_ERROR_NOT_READY, EventQuery(later));
    gate_open(second);
    CU(EventSynchronize(later));
}

/* For NULL, a per-thread variant returns the same as the plain call for CU_STREAM_PER_THREAD. */
SOFT_TEST(per_thread_queries_describe_the_threads_own_stream)
{
    unsigned long long id = 0, own = 0, legacy = 0;
    CUcontext context = NULL;
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    unsigned flags = 7;
    int priority = 7;
    TWIN(cuStreamGetId, _ptsz, (NULL, &id));
    DRV(cuStreamGetId, (CU_STREAM_PER_THREAD, &own));
    DRV(cuStreamGetId, (NULL, &legacy));
    ck_assert_uint_eq(id, own);
    ck_assert_uint_ne(id, legacy);
    TWIN(cuStreamGetCtx, _ptsz, (NULL, &context));
    ck_assert_ptr_eq(context, fx.context);
    TWIN(cuStreamGetFlags, _ptsz, (NULL, &flags));
    ck_assert_uint_eq(flags, CU_STREAM_DEFAULT);
    TWIN(cuStreamGetPriority, _ptsz, (NULL, &priority));
    ck_assert_int_eq(priority, 0);
    TWIN(cuStreamIsCapturing, _ptsz, (NULL, &capture));
    ck_assert_int_eq(capture, CU_STREAM_CAPTURE_STATUS_NONE);
#if CUDA_VERSION >= 13000
    CUdevice device = -1;
    TWIN(cuStreamGetDevice, _ptsz, (NULL, &device));
    ck_assert_int_eq(device, fx.device);
#endif
}

SOFT_TEST(per_thread_word_operations_use_the_threads_own_stream)
{
    uint32_t word = 0;
    uint64_t wide = 0;
    CUstreamBatchMemOpParams barrier = {
        .memoryBarrier = {.operation = CU_STREAM_MEM_OP_BARRIER,
                          .flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS}};
    TWIN(cuStreamWriteValue32_v2, _ptsz, (NULL, memory, 5, 0));
    TWIN(cuStreamWriteValue64_v2, _ptsz, (NULL, memory + 8, 0x123456789abcdefull, 0));
    TWIN(cuStreamBatchMemOp_v2, _ptsz, (NULL, 1, &barrier, 0));
    TWIN(cuStreamWaitValue32_v2, _ptsz, (NULL, memory, 5, CU_STREAM_WAIT_VALUE_EQ));
    TWIN(cuStreamWaitValue64_v2, _ptsz,
         (NULL, memory + 8, 0x123456789abcdefull, CU_STREAM_WAIT_VALUE_EQ));
    memcpy(&word, bytes_of(memory), sizeof(word));
    memcpy(&wide, bytes_of(memory) + 8, sizeof(wide));
    ck_assert_uint_eq(word, 5);
    ck_assert_uint_eq(wide, 0x123456789abcdefull);
}

SOFT_TEST(per_thread_maps_use_the_threads_own_stream)
{
    CUdeviceptr mapped = 0;
    size_t size = 0;
    TWIN(cuGraphicsMapResources, _ptsz, (1, &resource, NULL));
    CU_READS(size, SIZE, GraphicsResourceGetMappedPointer(&mapped, &size, resource));
    assert_bytes(bytes_of(mapped), SIZE, 0x3a);
    TWIN(cuMemsetD8Async, _ptsz, (mapped, 0x3b, SIZE, NULL));
    TWIN(cuGraphicsUnmapResources, _ptsz, (1, &resource, NULL));
    assert_gl_bytes(name, SIZE, 0x3b);
}

SOFT_TEST(per_thread_launches_use_the_threads_own_stream)
{
    CUmodule module = new_module();
    CUfunction function = function_of(module, "without_parameters"); /* counts its launches */
    const CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, NULL, 0};
    CUdeviceptr counters = 0;
    unsigned count[4];
    TWIN(cuLaunchKernel, _ptsz, (function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    TWIN(cuLaunchKernelEx, _ptsz, (&config, function, NULL, NULL));
    TWIN(cuStreamSynchronize, _ptsz, (NULL));
    DRV(cuModuleGetGlobal_v2, (&counters, NULL, module, "counters"));
    TWIN(cuMemcpyDtoH_v2, _ptds, (count, counters, sizeof(count)));
    ck_assert_uint_eq(count[3], 6);
}

GROUP("streams", add_case)

TEST(callback_receives_its_stream)
{
    int calls = 0;
    called_with = NULL;
    DRV(cuStreamAddCallback, (fx.stream, count_callback, &calls, 0));
    CU(StreamSynchronize(fx.stream));
    ck_assert_int_eq(calls, 1);
    ck_assert_ptr_eq(called_with, fx.stream);
    INVALID(cuStreamAddCallback, (fx.stream, count_callback, &calls, 1));
    CU(StreamSynchronize(fx.stream));
    ck_assert_int_eq(calls, 1);
}

SOFT_TEST(event_flags_for_captures_are_refused)
{
    CUevent event = NULL;
    DRV(cuEventCreate, (&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    /* These flags of records and waits are only valid while the stream is being captured. */
    GIVES(ERROR_ILLEGAL_STATE, cuEventRecordWithFlags,
          (event, fx.stream, CU_EVENT_RECORD_EXTERNAL));
    INVALID(cuEventRecordWithFlags, (event, fx.stream, 2));
    GIVES(ERROR_ILLEGAL_STATE, cuStreamWaitEvent, (fx.stream, event, CU_EVENT_WAIT_EXTERNAL));
    DRV(cuEventRecordWithFlags, (event, fx.stream, CU_EVENT_RECORD_DEFAULT));
    CU(EventSynchronize(event));
}

/* ---- Words that a stream writes or waits for ------------------------------------------------- */

/*
 * Checks that the stream waits while the word has the first value, and continues when it has the
 * second value.
 */
static void wait_for_word(uint64_t first, uint64_t second, uint64_t value, unsigned flags)
{
    for (int wide = 0; wide < 2; wide++) {
        CUdeviceptr word = soft_memory(&first, sizeof(first));
        if (wide)
            DRV(cuStreamWaitValue64_v2, (fx.stream, word, value, flags));
        else
            DRV(cuStreamWaitValue32_v2, (fx.stream, word, (cuuint32_t)value, flags));
        sleep_ms(5);
        CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream));
        if (wide)
            DRV(cuStreamWriteValue64_v2, (fx.other, word, second, 0));
        else
            DRV(cuStreamWriteValue32_v2, (fx.other, word, (cuuint32_t)second, 0));
        CU(StreamSynchronize(fx.stream));
        CU(StreamSynchronize(fx.other));
    }
}

SOFT_TEST(stream_waits_until_a_word_has_a_value)
{
    wait_for_word(4, 5, 5, CU_STREAM_WAIT_VALUE_EQ);
    wait_for_word(4, 6, 5, CU_STREAM_WAIT_VALUE_GEQ);
    /* The comparison is cyclic: -1 precedes 0. */
    wait_for_word(UINT64_MAX, 0, 0, CU_STREAM_WAIT_VALUE_GEQ);
    wait_for_word(0x10, 0x01, 0x0f, CU_STREAM_WAIT_VALUE_AND);
    wait_for_word(UINT64_MAX, UINT64_MAX - 1, 0, CU_STREAM_WAIT_VALUE_NOR);
    wait_for_word(UINT64_MAX - 0xff, 0, 0xff, CU_STREAM_WAIT_VALUE_NOR);
}

SOFT_TEST(batch_waits_for_and_writes_64_bit_words)
{
    uint64_t words[2] = {1, 2};
    CUdeviceptr two = soft_memory(words, sizeof(words));
    CUstreamBatchMemOpParams all[2] = {
        {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64,
                       .address = two,
                       .value64 = 0x100000001,
                       .flags = CU_STREAM_WAIT_VALUE_EQ}},
        {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64,
                        .address = two + 8,
                        .value64 = 0x200000002}},
    };
    DRV(cuStreamBatchMemOp_v2, (fx.stream, 2, all, 0));
    sleep_ms(5);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream)); /* all 64 bits count */
    DRV(cuStreamWriteValue64_v2, (fx.other, two, 0x100000001, 0));
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(words, two, sizeof(words)));
    ck_assert_uint_eq(words[1], 0x200000002);
}
