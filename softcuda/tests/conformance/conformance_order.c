/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The order of streams by the rules of the legacy default stream: which calls count as work of
 * their stream, and which calls block the host. The results are those of an H100.
 */
#define _GNU_SOURCE
#include "conformance.h"

#include <stdatomic.h>

#define SIZE 4096
#define OLD  1
#define NEW  2

/* How long late work takes if `is_open` does not end it earlier, in milliseconds. */
#define SHORT 4
#define LONG  10000

enum place { LEGACY, PER_THREAD, BLOCKING, BLOCKING_2, NON_BLOCKING, NON_BLOCKING_2, PLACES };
static const char *const names[] = {"the legacy stream",     "the per-thread stream",
                                    "a blocking stream",     "another blocking stream",
                                    "a non-blocking stream", "another non-blocking stream"};

static struct {
    CUstream streams[PLACES];
    CUdeviceptr filled, copied, apart, spare, managed, memory, mapped;
    unsigned char *pinned;
    CUevent event, reached, unrecorded, after;
    CUgraph graph;
    CUgraphExec empty;
    CUgraphicsResource resource, second;
    CUstream made;
    CUarray array;
    void *host;
    _Alignas(SIZE) unsigned char page[SIZE];
    size_t granularity;
    CUmemGenericAllocationHandle physical;
    GLuint name;
} o;
static const CUDA_ARRAY_DESCRIPTOR line = {SIZE, 1, CU_AD_FORMAT_UNSIGNED_INT8, 1};

static atomic_bool is_open, has_passed;

static void begin(void)
{
    const CUmemAllocationProp here = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, fx.device}};
    o.streams[LEGACY] = CU_STREAM_LEGACY;
    o.streams[PER_THREAD] = CU_STREAM_PER_THREAD;
    for (int i = BLOCKING; i < PLACES; i++)
        CU(StreamCreate(&o.streams[i], i < NON_BLOCKING ? 0 : CU_STREAM_NON_BLOCKING));
    CU(MemAlloc(&o.filled, SIZE));
    CU(MemAlloc(&o.copied, SIZE));
    CU(MemAlloc(&o.apart, SIZE));
    CU(MemsetD8(o.apart, 0, SIZE));
    CU(MemAlloc(&o.spare, SIZE));
    CU(MemsetD8(o.spare, 0, SIZE));
    CU(MemAllocManaged(&o.managed, SIZE, CU_MEM_ATTACH_GLOBAL));
    CU(MemAllocHost((void **)&o.pinned, SIZE));
    CU(MemGetAllocationGranularity(&o.granularity, &here, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CU(MemCreate(&o.physical, o.granularity, &here, 0));
    CU(MemAddressReserve(&o.mapped, o.granularity, 0, 0, 0));
    CUevent *const events[] = {&o.event, &o.reached, &o.unrecorded, &o.after};
    for (int i = 0; i < 4; i++)
        CU(EventCreate(events[i], CU_EVENT_DISABLE_TIMING));
    CU(EventRecord(o.reached, fx.stream));
    CU(GraphCreate(&o.graph, 0));
    CU(GraphInstantiateWithFlags(&o.empty, o.graph, 0));
    o.name = gl_buffer_filled(SIZE, OLD);
    CU(GraphicsGLRegisterBuffer(&o.resource, o.name, 0));
    CU(CtxSynchronize());
}

static void end(void)
{
    atomic_store(&is_open, true);
    CU(CtxSynchronize());
    CU(GraphicsUnregisterResource(o.resource));
    CU(GraphExecDestroy(o.empty));
    CU(GraphDestroy(o.graph));
    CU(EventDestroy(o.event));
    CU(EventDestroy(o.reached));
    CU(EventDestroy(o.unrecorded));
    CU(EventDestroy(o.after));
    CU(MemAddressFree(o.mapped, o.granularity));
    CU(MemRelease(o.physical));
    CU(MemFreeHost(o.pinned));
    CU(MemFree(o.managed));
    CU(MemFree(o.spare));
    CU(MemFree(o.apart));
    CU(MemFree(o.copied));
    CU(MemFree(o.filled));
    for (int i = BLOCKING; i < PLACES; i++)
        CU(StreamDestroy(o.streams[i]));
}

static TCase *add_order_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), begin, end);
}

GROUP("order", add_order_case)

/* Whether work in the stream `later` waits for earlier work in the stream `earlier`. */
static bool follows(int earlier, int later)
{
    return earlier == later || (earlier == LEGACY && later <= BLOCKING_2) ||
           (later == LEGACY && earlier <= BLOCKING_2);
}

static void CUDA_CB hold(void *limit)
{
    for (uintptr_t ms = 0; ms < (uintptr_t)limit && !atomic_load(&is_open); ms++)
        sleep_ms(1);
    atomic_store(&has_passed, true);
}

/* Fills the memory late: after `limit` milliseconds, or when is_open is set. */
static void fill_late(int place, CUdeviceptr memory, unsigned limit)
{
    atomic_store(&is_open, false);
    atomic_store(&has_passed, false);
    CU(LaunchHostFunc(o.streams[place], hold, (void *)(uintptr_t)limit));
    CU(MemsetD8Async(memory, NEW, SIZE, o.streams[place]));
}

/* ---- Calls that are, or are not, work of their stream ---------------------------------------- */

static void CUDA_CB do_nothing(void *user)
{
    (void)user;
}

static void CUDA_CB call_back(CUstream stream, CUresult result, void *user)
{
    (void)stream;
    (void)result;
    (void)user;
}

static CUstreamBatchMemOpParams barrier = {
    .memoryBarrier = {.operation = CU_STREAM_MEM_OP_BARRIER,
                      .flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS}};

#define ON_STREAM(name, call)                                                                      \
    static CUresult name(CUstream stream)                                                          \
    {                                                                                              \
        return fx.cu->call;                                                                        \
    }
ON_STREAM(record, EventRecord(o.event, stream))
ON_STREAM(wait_for_reached, StreamWaitEvent(stream, o.reached, 0))
ON_STREAM(wait_for_unrecorded, StreamWaitEvent(stream, o.unrecorded, 0))
ON_STREAM(prefetch, MemPrefetchAsync(o.managed, SIZE, fx.device, stream))
ON_STREAM(attach, StreamAttachMemAsync(stream, o.managed, 0, CU_MEM_ATTACH_GLOBAL))
ON_STREAM(fill, MemsetD8Async(o.spare, 0, SIZE, stream))
ON_STREAM(fill_nothing, MemsetD8Async(o.spare, 0, 0, stream))
ON_STREAM(upload, MemcpyHtoDAsync(o.spare, &o, 4, stream))
ON_STREAM(copy_nothing, MemcpyDtoDAsync(o.spare, o.spare + 64, 0, stream))
ON_STREAM(write_value, StreamWriteValue32(stream, o.spare, 0, 0))
ON_STREAM(wait_value, StreamWaitValue32(stream, o.spare, 0, CU_STREAM_WAIT_VALUE_GEQ))
ON_STREAM(batch_barrier, StreamBatchMemOp(stream, 1, &barrier, 0))
ON_STREAM(batch_nothing, StreamBatchMemOp(stream, 0, &barrier, 0))
ON_STREAM(launch_host, LaunchHostFunc(stream, do_nothing, NULL))
ON_STREAM(add_callback, StreamAddCallback(stream, call_back, NULL, 0))
ON_STREAM(launch_empty, GraphLaunch(o.empty, stream))
ON_STREAM(upload_graph, GraphUpload(o.empty, stream))
ON_STREAM(map, GraphicsMapResources(1, &o.resource, stream))
ON_STREAM(unmap, GraphicsUnmapResources(1, &o.resource, stream))

static CUresult none(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

static CUresult query(CUstream stream)
{
    CUresult result = fx.cu->StreamQuery(stream);
    return result == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : result;
}

static CUresult allocate(CUstream stream)
{
    CUdeviceptr memory;
    CUresult result = fx.cu->MemAllocAsync(&memory, SIZE, stream);
    return result == CUDA_SUCCESS ? fx.cu->MemFreeAsync(memory, o.streams[NON_BLOCKING_2]) : result;
}

static CUdeviceptr pool_memory;
ON_STREAM(free_async, MemFreeAsync(pool_memory, stream))

static void allocate_from_pool(void)
{
    CU(MemAllocAsync(&pool_memory, SIZE, fx.stream));
}

static void map_before(void)
{
    CU(GraphicsMapResources(1, &o.resource, fx.stream));
}

static void unmap_after(void)
{
    CU(GraphicsUnmapResources(1, &o.resource, fx.stream));
}

static const struct order_row {
    const char *name;
    CUresult (*call)(CUstream stream);
    bool is_work;
    void (*before)(void), (*after)(void);
    bool blocks; /* the software driver blocks the host in this call */
} order_rows[] = {
    {"no call", none, false, NULL, NULL, false},
    {"cuStreamQuery", query, false, NULL, NULL, false},
    {"cuEventRecord", record, true, NULL, NULL, false},
    {"cuStreamWaitEvent of a reached event", wait_for_reached, true, NULL, NULL, false},
    {"cuStreamWaitEvent of an event never recorded", wait_for_unrecorded, false, NULL, NULL, false},
    {"cuMemPrefetchAsync", prefetch, true, NULL, NULL, false},
    {"cuStreamAttachMemAsync", attach, true, NULL, NULL, false},
    {"cuMemAllocAsync", allocate, false, NULL, NULL, false},
    {"cuMemFreeAsync", free_async, true, allocate_from_pool, NULL, false},
    {"cuMemsetD8Async", fill, true, NULL, NULL, false},
    {"cuMemsetD8Async of 0 bytes", fill_nothing, false, NULL, NULL, false},
    {"cuMemcpyHtoDAsync", upload, true, NULL, NULL, false},
    {"cuMemcpyDtoDAsync of 0 bytes", copy_nothing, false, NULL, NULL, false},
    {"cuStreamWriteValue32", write_value, true, NULL, NULL, false},
    {"cuStreamWaitValue32 of a present value", wait_value, true, NULL, NULL, false},
    {"cuStreamBatchMemOp with a barrier", batch_barrier, true, NULL, NULL, false},
    {"cuStreamBatchMemOp of 0 operations", batch_nothing, true, NULL, NULL, false},
    {"cuLaunchHostFunc", launch_host, true, NULL, NULL, false},
    {"cuStreamAddCallback", add_callback, true, NULL, NULL, false},
    {"cuGraphLaunch of an empty graph", launch_empty, false, NULL, NULL, false},
    {"cuGraphUpload", upload_graph, false, NULL, NULL, false},
    {"cuGraphicsMapResources", map, true, NULL, unmap_after, false},
    {"cuGraphicsUnmapResources", unmap, true, map_before, NULL, true},
};

/* Waits until the copy in the stream is done although the late work has not ended. */
static bool is_done_early(CUstream stream)
{
    CUresult result = CUDA_ERROR_NOT_READY;
    CU(EventRecord(o.after, stream));
    while (result == CUDA_ERROR_NOT_READY && !atomic_load(&has_passed))
        result = fx.cu->EventQuery(o.after);
    return result == CUDA_SUCCESS && !atomic_load(&has_passed);
}

/*
 * The fill is late in the stream `a`, the call follows in `b`, and a copy in `c`. Only the software
 * driver must not order more than the rules say: on a GPU host functions wait for each other.
 */
static void check_order(const struct order_row *row, int a, int b, int c)
{
    unsigned char byte = 0;
    const bool wanted = follows(a, c) || (row->is_work && follows(a, b) && follows(b, c));
    const bool early = !wanted && !row->blocks && gr_cuda_is_software();
    CU(MemsetD8(o.filled, OLD, SIZE));
    if (row->before)
        row->before();
    CU(CtxSynchronize());
    fill_late(a, o.filled, row->blocks ? SHORT : LONG);
    assert_result(CUDA_SUCCESS, row->call(o.streams[b]), row->name);
    CU(MemcpyDtoDAsync(o.copied, wanted ? o.filled : o.apart, SIZE, o.streams[c]));
    const bool right = !early || is_done_early(o.streams[c]);
    if (wanted)
        sleep_ms(1); /* a copy that does not wait runs now */
    atomic_store(&is_open, true);
    CU(CtxSynchronize());
    if (row->after)
        row->after();
    CU(MemcpyDtoH(&byte, o.copied, 1));
    ck_assert_msg(right && (!wanted || byte == NEW), "a fill in %s, %s in %s, a copy in %s: %s",
                  names[a], row->name, names[b], names[c], wanted ? "not ordered" : "ordered");
}

TEST(calls_that_are_work_order_streams)
{
    for (size_t i = 0; i < sizeof(order_rows) / sizeof(*order_rows); i++)
        for (int a = 0; a < PLACES; a++)
            for (int b = 0; b < PLACES; b++)
                for (int c = 0; c < PLACES; c++)
                    /* the other second streams would only repeat results */
                    if (a != BLOCKING_2 && a != NON_BLOCKING_2 && b != NON_BLOCKING_2)
                        check_order(&order_rows[i], a, b, c);
}

/*
 * Catches: on the software driver an unmap in a blocking stream did not wait for the legacy stream,
 * which a copy in that stream used.
 */
TEST(an_unmap_follows_all_earlier_work_of_its_stream)
{
    for (int m = 0; m < PLACES; m++)
        for (int a = 0; a < PLACES; a++)
            for (int b = 0; b < PLACES; b++) {
                CUdeviceptr pointer;
                if (!follows(m, a) || !follows(a, b))
                    continue;
                gl_write(o.name, memset(o.pinned, OLD, SIZE), SIZE);
                CU(GraphicsMapResources(1, &o.resource, o.streams[m]));
                CU(GraphicsResourceGetMappedPointer(&pointer, NULL, o.resource));
                fill_late(a, pointer, SHORT);
                CU(GraphicsUnmapResources(1, &o.resource, o.streams[b]));
                const char *differs = gl_bytes_differ(o.name, SIZE, NEW);
                ck_assert_msg(!differs, "mapped in %s, filled in %s, unmapped in %s: %s", names[m],
                              names[a], names[b], differs);
            }
}

/* ---- Calls that block the host --------------------------------------------------------------- */

#define ON_HOST(name, call)                                                                        \
    static CUresult name(void)                                                                     \
    {                                                                                              \
        return fx.cu->call;                                                                        \
    }
ON_HOST(synchronize, CtxSynchronize())
ON_HOST(synchronize_legacy, StreamSynchronize(CU_STREAM_LEGACY))
ON_HOST(synchronize_per_thread, StreamSynchronize(CU_STREAM_PER_THREAD))
ON_HOST(synchronize_blocking, StreamSynchronize(o.streams[BLOCKING]))
ON_HOST(synchronize_non_blocking, StreamSynchronize(o.streams[NON_BLOCKING]))
ON_HOST(synchronize_event, EventSynchronize(o.event))
ON_HOST(copy_to_device, MemcpyHtoD(o.spare, &o, 4))
ON_HOST(copy_from_pinned, MemcpyHtoD(o.spare, o.pinned, 4))
ON_HOST(copy_to_host, MemcpyDtoH(o.pinned, o.spare, 4))
ON_HOST(copy_on_device, MemcpyDtoD(o.spare, o.spare + 64, 4))
ON_HOST(fill_device, MemsetD8(o.spare, 0, 4))
ON_HOST(fill_pinned, MemsetD8((CUdeviceptr)(uintptr_t)o.pinned, 0, 4))
ON_HOST(allocate_memory, MemAlloc(&o.memory, SIZE))
ON_HOST(free_memory, MemFree(o.memory))
ON_HOST(free_host, MemFreeHost(o.host))
ON_HOST(unregister_host, MemHostUnregister(o.page))
ON_HOST(destroy_array, ArrayDestroy(o.array))
ON_HOST(unmap_memory, MemUnmap(o.mapped, o.granularity))
ON_HOST(register_buffer, GraphicsGLRegisterBuffer(&o.second, o.name, 0))
ON_HOST(unregister_buffer, GraphicsUnregisterResource(o.second))
ON_HOST(create_stream, StreamCreate(&o.made, 0))
ON_HOST(destroy_stream, StreamDestroy(o.made))

#define STEP(name, call)                                                                           \
    static void name(void)                                                                         \
    {                                                                                              \
        CU(call);                                                                                  \
    }
STEP(record_blocking, EventRecord(o.event, o.streams[BLOCKING]))
STEP(do_allocate, MemAlloc(&o.memory, SIZE))
STEP(do_free, MemFree(o.memory))
STEP(do_allocate_host, MemAllocHost(&o.host, SIZE))
STEP(do_register_host, MemHostRegister(o.page, sizeof(o.page), 0))
STEP(do_create_array, ArrayCreate(&o.array, &line))
STEP(do_map_memory, MemMap(o.mapped, o.granularity, 0, o.physical, 0))
STEP(do_register, GraphicsGLRegisterBuffer(&o.second, o.name, 0))
STEP(do_unregister, GraphicsUnregisterResource(o.second))
STEP(do_create_stream, StreamCreate(&o.made, 0))
STEP(do_destroy_stream, StreamDestroy(o.made))

#define OF(place) (1u << (place))
#define ALL       (OF(PLACES) - 1)
/* The streams that work in the legacy stream follows. */
#define NOT_FREE (OF(LEGACY) | OF(PER_THREAD) | OF(BLOCKING) | OF(BLOCKING_2))

static const struct host_row {
    const char *name;
    CUresult (*call)(void);
    unsigned waits_for;       /* the streams, one bit each */
    void (*before)(void);     /* runs before the late work */
    void (*after_work)(void); /* runs after the late work was queued */
    void (*after)(void);
} host_rows[] = {
    {"cuCtxSynchronize", synchronize, ALL, NULL, NULL, NULL},
    {"cuStreamSynchronize, legacy", synchronize_legacy, NOT_FREE, NULL, NULL, NULL},
    {"cuStreamSynchronize, per-thread", synchronize_per_thread, OF(PER_THREAD), NULL, NULL, NULL},
    {"cuStreamSynchronize, blocking", synchronize_blocking, OF(BLOCKING), NULL, NULL, NULL},
    {"cuStreamSynchronize, non-blocking", synchronize_non_blocking, OF(NON_BLOCKING), NULL, NULL,
     NULL},
    {"cuEventSynchronize", synchronize_event, OF(LEGACY) | OF(BLOCKING), NULL, record_blocking,
     NULL},
    {"cuMemcpyHtoD, pageable", copy_to_device, NOT_FREE, NULL, NULL, NULL},
    {"cuMemcpyHtoD, pinned", copy_from_pinned, NOT_FREE, NULL, NULL, NULL},
    {"cuMemcpyDtoH", copy_to_host, NOT_FREE, NULL, NULL, NULL},
    {"cuMemcpyDtoD", copy_on_device, 0, NULL, NULL, NULL},
    {"cuMemsetD8, device", fill_device, 0, NULL, NULL, NULL},
    {"cuMemsetD8, pinned", fill_pinned, NOT_FREE, NULL, NULL, NULL},
    {"cuMemAlloc", allocate_memory, 0, NULL, NULL, do_free},
    {"cuMemFree", free_memory, ALL, do_allocate, NULL, NULL},
    {"cuMemFreeHost", free_host, ALL, do_allocate_host, NULL, NULL},
    {"cuMemHostUnregister", unregister_host, ALL, do_register_host, NULL, NULL},
    {"cuArrayDestroy", destroy_array, ALL, do_create_array, NULL, NULL},
    {"cuMemUnmap", unmap_memory, 0, do_map_memory, NULL, NULL},
    {"cuGraphicsGLRegisterBuffer", register_buffer, ALL, NULL, NULL, do_unregister},
    {"cuGraphicsUnregisterResource", unregister_buffer, ALL, do_register, NULL, NULL},
    {"cuStreamCreate", create_stream, 0, NULL, NULL, do_destroy_stream},
    {"cuStreamDestroy", destroy_stream, 0, do_create_stream, NULL, NULL},
};

static void check_wait(const struct host_row *row, int place)
{
    const bool wanted = row->waits_for & OF(place);
    if (row->before)
        row->before();
    CU(CtxSynchronize());
    fill_late(place, o.filled, wanted ? SHORT : LONG);
    if (row->after_work)
        row->after_work();
    assert_result(CUDA_SUCCESS, row->call(), row->name);
    const bool waited = atomic_load(&has_passed);
    atomic_store(&is_open, true);
    CU(CtxSynchronize());
    if (row->after)
        row->after();
    ck_assert_msg(waited == wanted, "%s returned %s the work in %s was done", row->name,
                  waited ? "after" : "before", names[place]);
}

TEST(calls_block_the_host_for_the_same_streams_as_on_a_gpu)
{
    for (size_t i = 0; i < sizeof(host_rows) / sizeof(*host_rows); i++)
        for (int place = 0; place < PLACES; place++)
            check_wait(&host_rows[i], place);
}
