/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Streams that cannot be used for a map or its end, for every transport: streams of another CUDA
 * context, and destroyed ones. Each is refused before anything changes, and a mapping whose stream
 * was destroyed can be ended on another stream. Also tests other refused calls: a write_discard
 * resource keeps its contents, and a stream keeps the waits that a failed map has put into it.
 */
#define _GNU_SOURCE
#include "tests/drivers/fault_driver.h"
#include "tests/support/support_image.h"
#include "tests/support/support_vulkan.h"

#define SIZE   4096
#define BEFORE 0x21

/* ---- A resource of each transport ------------------------------------------------------------ */

struct bytes {
    gr_resource *resource;
    GLuint name; /* the OpenGL buffer; 0: it is a Vulkan buffer */
};

static struct bytes of_gl(const gr_gl_options *options, unsigned flags)
{
    struct bytes b = {.name = gl_buffer_filled(SIZE, BEFORE)};
    b.resource = must_make(gr_from_gl_buffer_with(b.name, flags, options));
    return b;
}

static struct bytes of_interop(unsigned flags)
{
    return of_gl(&by_interop, flags);
}

static struct bytes of_copy(unsigned flags)
{
    return of_gl(&by_copy, flags);
}

/* The resource is NULL if storage cannot be shared. */
static struct bytes of_sharing(unsigned flags)
{
    struct bytes b = {gr_create_gl_buffer(SIZE, flags, &by_sharing), 0};
    if (b.resource)
        b.name = gr_gl_name(b.resource);
    return b;
}

static struct bytes of_vulkan(unsigned flags)
{
    struct bytes b = {NULL, 0};
    if (!vk.missing)
        b.resource = must_create(SIZE, flags);
    return b;
}

static struct bytes of_vulkan_unordered(unsigned flags)
{
    struct bytes b = of_vulkan(flags);
    if (b.resource)
        unordered(b.resource);
    return b;
}

static const struct transport {
    const char *name;
    struct bytes (*make)(unsigned flags);
} transports[] = {
    {"interop", of_interop},
    {"copy", of_copy},
    {"shared", of_sharing},
    {"external", of_vulkan},
    {"external without semaphores", of_vulkan_unordered},
};
#define TRANSPORTS (sizeof(transports) / sizeof(transports[0]))

static void assert_holds(const struct bytes *b, int value)
{
    CU(CtxSynchronize());
    if (b->name)
        assert_gl_bytes(b->name, SIZE, value);
    else
        assert_vulkan_bytes(gr_vk_buffer(b->resource), SIZE, value);
}

/* CUDA writes a value to the resource on a stream, and the graphics API then reads the value. */
static void assert_usable_on(const struct bytes *b, CUstream stream, int value)
{
    gr_buffer *buffer = must_make(gr_map(b->resource, stream));
    CU(MemsetD8Async(gr_buffer_ptr(buffer), (unsigned char)value, SIZE, stream));
    assert_ok(gr_buffer_release(buffer));
    assert_holds(b, value);
}

static CUcontext foreign;

static void make_foreign(void)
{
    foreign = new_context(NULL);
    CU(CtxSetCurrent(fx.context));
}

static void end_foreign(void)
{
    if (foreign)
        CU(CtxDestroy(foreign));
    foreign = NULL;
    CU(CtxSetCurrent(fx.context));
}

static TCase *add_streams_case(Suite *suite, const char *name)
{
    TCase *tcase = with_first_use(add_vulkan_case(suite, name), use_sharing);
    return with_fixture(tcase, make_foreign, end_foreign);
}

/* ---- The streams ----------------------------------------------------------------------------- */

enum bad { FOREIGN, DESTROYED, USED_AND_DESTROYED, BADS };

/* Creates a stream and an event in the context; each may be NULL. */
static void make_in(CUcontext context, CUstream *stream, CUevent *event)
{
    CU(CtxSetCurrent(context));
    if (stream)
        CU(StreamCreate(stream, CU_STREAM_NON_BLOCKING));
    if (event)
        CU(EventCreate(event, CU_EVENT_DISABLE_TIMING));
    CU(CtxSetCurrent(fx.context));
}

static CUstream stream_of(CUcontext context)
{
    CUstream stream = NULL;
    make_in(context, &stream, NULL);
    return stream;
}

/* For USED_AND_DESTROYED, the resource is used on the stream first. */
static CUstream make_bad(enum bad bad, const struct bytes *b)
{
    CUstream stream = stream_of(bad == FOREIGN ? foreign : fx.context);
    if (bad == USED_AND_DESTROYED)
        assert_usable_on(b, stream, 0x30);
    if (bad != FOREIGN)
        CU(StreamDestroy(stream));
    return stream;
}

static const char *says(enum bad bad)
{
    return bad == FOREIGN ? "another CUDA context" : "destroyed";
}

#define NO_CODE "a GPU's driver dereferences the handle of a destroyed stream"

/* _i selects a transport and a stream. */
static const struct transport *transport_of(int i)
{
    return &transports[(size_t)i % TRANSPORTS];
}

static enum bad bad_of(int i)
{
    return (enum bad)((size_t)i / TRANSPORTS);
}

#define need(b, transport)                                                                         \
    if (!(b).resource)                                                                             \
    skip("%s: %s", (transport)->name, vk.missing ? vk.missing : error_text())

GROUP("unusable streams", add_streams_case)

/* Catches: the map succeeded, and then no call could end the mapping. */
TEST(map_on_an_unusable_stream_is_refused, (BADS * TRANSPORTS))
{
    const enum bad bad = bad_of(_i);
    gr_buffer *none = NULL;
    if (bad != FOREIGN && !gr_cuda_is_software())
        skip(NO_CODE);
    struct bytes b = transport_of(_i)->make(GR_READ_WRITE);
    need(b, transport_of(_i));
    CUstream stream = make_bad(bad, &b);
    assert_null(gr_map(b.resource, stream), GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE, says(bad));
    assert_fails(gr_map_many(&b.resource, 1, stream, NULL, &none), GR_ERR_CUDA,
                 CUDA_ERROR_INVALID_HANDLE, says(bad));
    ck_assert(!none && !gr_resource_get_info(b.resource)->mapped);
    assert_usable_on(&b, fx.stream, 0x31);
    gr_resource_free(b.resource);
    if (bad == FOREIGN)
        CU(StreamDestroy(stream));
}

TEST(release_on_an_unusable_stream_is_refused, (BADS * TRANSPORTS))
{
    const enum bad bad = bad_of(_i);
    if (bad != FOREIGN && !gr_cuda_is_software())
        skip(NO_CODE);
    struct bytes b = transport_of(_i)->make(GR_READ_WRITE);
    need(b, transport_of(_i));
    CUstream stream = make_bad(bad, &b);
    gr_buffer *buffer = must_map(b.resource);
    cuda_fill(buffer, 0x32);
    assert_fails(release_on(buffer, stream), GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE, says(bad));
    assert_fails(gr_resource_unmap(b.resource, stream), GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE,
                 says(bad));
    assert_fails(gr_resource_close(b.resource, stream), GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE,
                 says(bad));
    ck_assert(gr_resource_get_info(b.resource)->mapped);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    assert_ok(gr_buffer_release(buffer));
    assert_holds(&b, 0x32);
    gr_resource_free(b.resource);
    if (bad == FOREIGN)
        CU(StreamDestroy(stream));
}

/* ---- The stream of a map is destroyed -------------------------------------------------------- */

enum end { RELEASE, UNMAP, CLOSE, ENDS };

static void end_on(enum end end, gr_resource *resource, gr_buffer *buffer, CUstream stream)
{
    if (end == UNMAP)
        assert_ok(gr_resource_unmap(resource, stream));
    if (end == CLOSE)
        assert_ok(gr_resource_close(resource, stream));
    assert_ok(release_on(buffer, stream));
}

static struct gate *destroy_with_work(CUstream stream)
{
    struct gate *gate = gate_put(stream);
    gate_open_after(gate, 30);
    CU(StreamDestroy(stream));
    return gate;
}

/*
 * The work of the destroyed stream must come first, although no event can be recorded on that
 * stream.
 */
TEST(a_mapping_of_a_destroyed_stream_ends_on_another_stream, (ENDS * TRANSPORTS))
{
    const enum end end = (enum end)((size_t)_i / TRANSPORTS);
    if (!gr_cuda_is_software())
        skip(NO_CODE);
    struct bytes b = transport_of(_i)->make(GR_READ_WRITE);
    need(b, transport_of(_i));
    CUstream stream = stream_of(fx.context);
    gr_buffer *buffer = must_make(gr_map(b.resource, stream));
    struct gate *gate = gate_put(stream);
    gate_open_after(gate, 30);
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 0x33, SIZE, stream));
    CU(StreamDestroy(stream));
    assert_fails(gr_buffer_release(buffer), GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE,
                 "gr_buffer_release_many()");
    ck_assert(gr_resource_get_info(b.resource)->mapped);
    end_on(end, b.resource, buffer, fx.other);
    ck_assert(gate_is_open(gate));
    if (end != CLOSE || b.name)
        assert_holds(&b, 0x33);
    gr_resource_free(b.resource);
}

/*
 * gr_buffer_release_later() and the end of a GR_AUTO() scope cannot report an error: they use a
 * stream of the library in the CUDA context.
 */
TEST(calls_without_a_stream_end_a_mapping_of_a_destroyed_stream, 2 * TRANSPORTS)
{
    if (!gr_cuda_is_software())
        skip(NO_CODE);
    struct bytes b = transport_of(_i)->make(GR_READ_WRITE);
    need(b, transport_of(_i));
    const bool later = (size_t)_i >= TRANSPORTS;
    CUstream stream = stream_of(fx.context);
    gr_buffer *buffer = must_make(gr_map(b.resource, stream));
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 0x34, SIZE, stream));
    destroy_with_work(stream);
    if (later) {
        gr_buffer_release_later(buffer);
    } else {
        GR_AUTO(gr_buffer) *owner = buffer;
        ck_assert(owner);
    }
    ck_assert(!gr_resource_get_info(b.resource)->mapped);
    assert_holds(&b, 0x34);
    gr_resource_free(b.resource);
}

GROUP("what a refused map preserves", add_streams_case)

static CUevent event_of(CUcontext context)
{
    CUevent event = NULL;
    make_in(context, NULL, &event);
    return event;
}

/*
 * The event belongs to another context, or was destroyed after a valid use.
 *
 * Catches: the invalid event was detected after the map, and undoing the map changed the contents
 * of the buffer.
 */
TEST(a_map_with_an_invalid_event_keeps_the_bytes, 3)
{
    const bool ended = _i > 0;
    gr_buffer *buffer = NULL;
    if (ended && !gr_cuda_is_software())
        skip("a GPU's driver dereferences the handle of a destroyed event");
    struct bytes b = of_interop(GR_WRITE_DISCARD);
    gr_map_options options =
        GR_INIT(gr_map_options, .ready_event = event_of(ended ? fx.context : foreign));
    int holds = BEFORE;
    if (_i == 2) {
        assert_ok(gr_map_many(&b.resource, 1, fx.stream, &options, &buffer));
        fill_and_release(buffer, holds = 0x35);
    }
    if (ended)
        CU(EventDestroy(options.ready_event));
    assert_fails(gr_map_many(&b.resource, 1, fx.stream, &options, &buffer), GR_ERR_CUDA,
                 CUDA_ERROR_INVALID_HANDLE, "ready_event");
    ck_assert(!gr_resource_get_info(b.resource)->mapped);
    assert_holds(&b, holds);
    assert_usable_on(&b, fx.stream, 0x36);
    gr_resource_free(b.resource);
    if (!ended)
        CU(EventDestroy(options.ready_event));
}

/*
 * Two resources in both orders. The map of `refused` fails: either grinterop refuses it, because
 * OpenGL has mapped the buffer, or the CUDA driver fails.
 */
TEST(a_refused_map_many_keeps_the_bytes, 4)
{
    const bool is_first = _i & 1, is_driver = _i & 2;
    gr_buffer *buffers[2] = {NULL, NULL};
    struct bytes discards = of_interop(GR_WRITE_DISCARD), refused = of_copy(GR_READ_WRITE);
    gr_resource *resources[2] = {is_first ? refused.resource : discards.resource,
                                 is_first ? discards.resource : refused.resource};
    fault->reset();
    if (is_driver) {
        ck_assert(fault->set("cuMemcpyHtoDAsync", CUDA_ERROR_UNKNOWN, 0));
        assert_fails(gr_map_many(resources, 2, fx.stream, NULL, buffers), GR_ERR_CUDA,
                     CUDA_ERROR_UNKNOWN, "copy");
    } else {
        glBindBuffer(GL_ARRAY_BUFFER, refused.name);
        ck_assert_ptr_nonnull(glMapBuffer(GL_ARRAY_BUFFER, GL_READ_ONLY));
        assert_fails(gr_map_many(resources, 2, fx.stream, NULL, buffers), GR_ERR_STATE, 0,
                     "glMapBuffer");
        ck_assert(glUnmapBuffer(GL_ARRAY_BUFFER));
        glBindBuffer(GL_ARRAY_BUFFER, 0);
    }
    for (int i = 0; i < 2; i++)
        ck_assert(!buffers[i] && !gr_resource_get_info(resources[i])->mapped);
    assert_holds(&discards, BEFORE);
    assert_holds(&refused, BEFORE);
    gr_resource_free(discards.resource);
    gr_resource_free(refused.resource);
}

TEST(a_linear_map_out_of_memory_keeps_the_texels)
{
    struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 3);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image(image.name, image.target->target, GR_WRITE_DISCARD));
    fault->reset();
    ck_assert(fault->set("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, 0));
    assert_null(gr_map_linear(resource, 0, 0, fx.stream), GR_ERR_NO_MEMORY,
                CUDA_ERROR_OUT_OF_MEMORY, "device memory");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    assert_image(&image, 3);
    GR_AUTO(gr_buffer) *buffer = gr_map_linear(resource, 0, 0, fx.stream);
    assert_made(buffer);
}

/* ---- What a failed map leaves in a stream ---------------------------------------------------- */

/*
 * gr_map_many() maps a Vulkan resource, and then the map of the next resource fails. The stream
 * still waits for the submit of the Vulkan resource.
 */
VULKAN_TEST(a_failed_map_many_keeps_the_wait_that_it_queued)
{
    struct bytes drawn = of_vulkan(GR_READ_WRITE), fails = of_copy(GR_READ_WRITE);
    gr_resource *resources[2] = {drawn.resource, fails.resource};
    gr_buffer *buffers[2];
    gr_submit *submit = vulkan_begin_submit(&drawn.resource, 1);
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_fill(commands, gr_vk_buffer(drawn.resource), SIZE, 0x37);
    vulkan_submit_begun(commands, submit, NULL);
    struct gate *gate = gate_put(fx.stream);
    fault->reset();
    ck_assert(fault->set("cuMemcpyHtoDAsync", CUDA_ERROR_UNKNOWN, 0));
    assert_fails(gr_map_many(resources, 2, fx.stream, NULL, buffers), GR_ERR_CUDA,
                 CUDA_ERROR_UNKNOWN, "copy");
    assert_fails(gr_resource_wait(drawn.resource, 0), GR_ERR_NOT_READY, 0, "not done");
    gate_open_after(gate, 30);
    assert_ok(gr_resource_wait(drawn.resource, 20000));
    ck_assert(gate_is_open(gate));
    gr_buffer *buffer = must_map(drawn.resource);
    assert_cuda_bytes(buffer, 0x37);
    must_release(buffer);
    assert_ok(gr_resource_wait(drawn.resource, 20000));
    VK(QueueWaitIdle(vk.h->graphics)); /* the commands use the buffer until the queue is idle */
    gr_resource_free(drawn.resource);
    gr_resource_free(fails.resource);
}

GROUP("resources that were freed", add_streams_case)

START(fault_control_start())
