/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Streams that cannot be used for a map or its end, for all kinds of resources: streams of another
 * CUDA context, and destroyed ones. Each is refused before anything changes, and a mapping whose
 * stream was destroyed can be ended on another stream. Also tests other refused calls: a
 * write_discard resource keeps its contents, and a stream keeps the waits that a failed map has put
 * into it.
 */
#include "tests/drivers/fault_driver.h"
#include "tests/kinds/kinds.h"

START(fault_control_start())

GROUP("unusable streams", add_kinds_case)

static CUstream make_stream(void)
{
    CUstream stream;
    CU(StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static bool is_mapped(const struct thing *thing)
{
    return gr_resource_get_info(thing->resource)->mapped;
}

#define assert_refused(call, says) assert_fails(call, GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE, says)

/*
 * The thing holds the pattern of that seed, and then that of the next one.
 *
 * Catches: the map succeeded, and then no call could end the mapping.
 */
static void check_unusable(struct thing *thing, CUstream stream, const char *says, unsigned seed)
{
    gr_buffer *none = NULL, *wrong = gr_map(thing->resource, stream);
    if (wrong) /* else the case would wait for it at its end */
        (void)release_on(wrong, fx.stream);
    ck_assert_msg(!wrong, "the map was not refused");
    assert_error(GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE, says);
    assert_refused(gr_map_many(&thing->resource, 1, stream, NULL, &none), says);
    ck_assert(!none && !is_mapped(thing));
    assert_thing(thing, seed);
    gr_buffer *buffer = thing_map(thing);
    const size_t size = gr_buffer_size(buffer);
    thing_cuda_write(thing, buffer, seed + 1);
    assert_refused(release_on(buffer, stream), says);
    assert_refused(gr_resource_unmap(thing->resource, stream), says);
    assert_refused(gr_resource_close(thing->resource, stream), says);
    ck_assert(is_mapped(thing));
    ck_assert_uint_eq(gr_buffer_size(buffer), size);
    assert_ok(gr_buffer_release(buffer));
    assert_thing(thing, seed + 1);
}

/* The calls that end a mapping. Those without a stream use one of the library. */
enum end { RELEASE, UNMAP, LATER, SCOPE, CLOSE, ENDS };

static void end_mapping(enum end end, gr_resource *resource, gr_buffer *buffer, CUstream stream)
{
    GR_AUTO(gr_buffer) *owner = end == SCOPE ? buffer : NULL;
    if (end == LATER)
        gr_buffer_release_later(buffer);
    if (end == UNMAP)
        assert_ok(gr_resource_unmap(resource, stream));
    if (end == CLOSE)
        assert_ok(gr_resource_close(resource, stream));
    if (end == RELEASE || end == UNMAP || end == CLOSE)
        assert_ok(release_on(buffer, stream));
    (void)owner;
}

/*
 * The work of the destroyed stream must come first, although no event can be recorded on that
 * stream.
 */
static void check_destroyed(struct thing *thing, enum end end, unsigned seed)
{
    CUstream stream = make_stream();
    gr_buffer *buffer = thing_map_on(thing, stream);
    struct gate *gate = gate_open_after(gate_put(stream), 10);
    thing_cuda_write(thing, buffer, seed);
    CU(StreamDestroy(stream));
    assert_refused(gr_buffer_release(buffer), "gr_buffer_release_many()");
    ck_assert(is_mapped(thing));
    end_mapping(end, thing->resource, buffer, fx.other);
    ck_assert(!is_mapped(thing));
    ck_assert(gate_is_open(gate));
    if (end != CLOSE || !lost_by_close(thing->kind))
        assert_thing(thing, seed);
}

/* The destroyed streams: one that the resource has not used, and one that it has. */
FACT(unusable_streams_are_refused_and_change_nothing, writing[_i], 2)
{
    CUcontext context = new_context(NULL);
    CUstream stream = make_stream();
    CU(CtxSetCurrent(fx.context));
    thing_fill(thing, 1);
    check_unusable(thing, stream, "another CUDA context", 1);
    CU(CtxDestroy(context));
    CU(CtxSetCurrent(fx.context));
    if (!gr_cuda_is_software())
        skip("a GPU's driver dereferences the handle of a destroyed stream");
    for (unsigned used = 0; used < 2; used++) {
        stream = make_stream();
        if (used)
            assert_ok(gr_buffer_release(thing_map_on(thing, stream)));
        CU(StreamDestroy(stream));
        thing_fill(thing, 3);
        check_unusable(thing, stream, "destroyed", 3);
    }
    for (unsigned end = 0; end < ENDS; end++)
        check_destroyed(thing, (enum end)end, 10 + end);
}

GROUP("what a refused map preserves", add_kinds_case)

TEST(a_linear_map_out_of_memory_keeps_the_texels)
{
    struct thing *thing = thing_make(kind_named("interop image"), GR_WRITE_DISCARD);
    thing_write(thing, 3);
    fault->reset();
    ck_assert(fault->set("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, 0));
    assert_null(gr_map_linear(thing->resource, 0, 0, fx.stream), GR_ERR_NO_MEMORY,
                CUDA_ERROR_OUT_OF_MEMORY, "device memory");
    ck_assert(!is_mapped(thing));
    assert_thing(thing, 3);
    GR_AUTO(gr_buffer) *buffer = gr_map_linear(thing->resource, 0, 0, fx.stream);
    assert_made(buffer);
}

/* ---- What a failed map leaves in a stream ---------------------------------------------------- */

/*
 * gr_map_many() maps a Vulkan resource, and then the map of the next resource fails. The stream
 * still waits for the submit of the Vulkan resource.
 */
VULKAN_TEST(a_failed_map_many_keeps_the_wait_that_it_queued)
{
    struct thing *drawn = thing_make(kind_named("created Vulkan buffer"), GR_READ_WRITE);
    struct thing *fails = thing_make(kind_named("copied OpenGL buffer"), GR_READ_WRITE);
    gr_resource *resources[2] = {drawn->resource, fails->resource};
    gr_buffer *buffers[2];
    thing_write(drawn, 4);
    struct gate *gate = gate_put(fx.stream);
    fault->reset();
    ck_assert(fault->set("cuMemcpyHtoDAsync", CUDA_ERROR_UNKNOWN, 0));
    assert_fails(gr_map_many(resources, 2, fx.stream, NULL, buffers), GR_ERR_CUDA,
                 CUDA_ERROR_UNKNOWN, "copy");
    assert_fails(gr_resource_wait(drawn->resource, 0), GR_ERR_NOT_READY, 0, "not done");
    gate_open_after(gate, 30);
    assert_ok(gr_resource_wait(drawn->resource, 20000));
    ck_assert(gate_is_open(gate));
    gr_buffer *buffer = thing_map(drawn);
    assert_thing_in_cuda(drawn, buffer, 4);
    must_release(buffer);
    assert_ok(gr_resource_wait(drawn->resource, 20000));
}
