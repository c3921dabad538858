/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Events and second streams at a map and a release, by interop, copy and, where available, shared
 * storage. Gates block the streams, so that a missing wait shows as a wrong byte.
 */
#include <grinterop/gl.h>

#include "tests/support/support.h"

#define SIZE    ((size_t)4096)
#define LATE_MS 60

/* ---- Resources by each transport ------------------------------------------------------------- */

static const gr_transport transports[] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_COPY,
                                          GR_TRANSPORT_SHARED};
enum { TRANSPORTS = sizeof(transports) / sizeof(transports[0]) };

/* Creates a buffer resource of zeros. */
static gr_resource *make(int transport)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = transports[transport]);
    if (transports[transport] != GR_TRANSPORT_SHARED)
        return gr_from_gl_buffer_with(gl_buffer_filled(SIZE, 0), GR_READ_WRITE, &options);
    gr_resource *resource = gr_create_gl_buffer(SIZE, GR_READ_WRITE, &options);
    gr_buffer *buffer = resource ? gr_map(resource, fx.stream) : NULL;
    if (buffer)
        fill_and_release(buffer, 0);
    return resource;
}

#define need(resource, transport)                                                                  \
    GR_AUTO(gr_resource) *resource = make(transport);                                              \
    if (!resource && transports[transport] == GR_TRANSPORT_SHARED)                                 \
        skip("%s", error_text());                                                                  \
    assert_made(resource)

static CUevent make_event(void)
{
    CUevent event;
    CU(EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

/*
 * Returns device memory whose bytes become `value` late. The other stream writes them and then
 * records the event.
 */
static CUdeviceptr late_bytes(int value, CUevent event)
{
    CUdeviceptr bytes;
    CU(MemAlloc(&bytes, SIZE));
    CU(MemsetD8(bytes, 0xEE, SIZE));
    gate_open_after(gate_put(fx.other), LATE_MS);
    CU(MemsetD8Async(bytes, (unsigned char)value, SIZE, fx.other));
    CU(EventRecord(event, fx.other));
    return bytes;
}

static void end_late(CUdeviceptr bytes, CUevent event)
{
    gates_open();
    CU(MemFree(bytes));
    CU(EventDestroy(event));
}

static gr_buffer *map_with(gr_resource *resource, CUstream stream, const gr_map_options *options)
{
    gr_buffer *buffer = NULL;
    return gr_map_many(&resource, 1, stream, options, &buffer) == GR_OK ? buffer : NULL;
}

static gr_status release_with(gr_buffer *buffer, const gr_release_options *options)
{
    return gr_buffer_release_many(&buffer, 1, GR_STREAM_OF_MAP, options);
}

static TCase *add_event_case(Suite *suite, const char *name)
{
    return with_sharing(add_case(suite, name));
}

GROUP("map", add_event_case)

TEST(map_waits_for_its_wait_event, TRANSPORTS)
{
    need(resource, _i);
    CUevent event = make_event();
    CUdeviceptr bytes = late_bytes(0x5A, event);
    gr_buffer *buffer =
        must_make(map_with(resource, fx.stream, &GR_INIT(gr_map_options, .wait_event = event)));
    CU(MemcpyDtoDAsync(gr_buffer_ptr(buffer), bytes, SIZE, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    assert_gl_bytes(gr_gl_name(resource), SIZE, 0x5A);
    end_late(bytes, event);
}

TEST(ready_event_is_recorded_after_the_map, TRANSPORTS)
{
    need(resource, _i);
    struct gate *gate = gate_put(fx.stream);
    CUevent ready = make_event();
    gr_buffer *buffer =
        must_make(map_with(resource, fx.stream, &GR_INIT(gr_map_options, .ready_event = ready)));
    CU(StreamWaitEvent(fx.other, ready, 0));
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 0x33, SIZE, fx.other));
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.other));
    gate_open(gate);
    assert_ok(release_on(buffer, fx.other));
    CU(EventDestroy(ready));
    assert_gl_bytes(gr_gl_name(resource), SIZE, 0x33);
}

TEST(map_many_accepts_event_options, TRANSPORTS)
{
    need(first, _i);
    need(second, _i);
    CUevent event = make_event();
    CUdeviceptr bytes = late_bytes(0x21, event);
    gr_resource *const both[] = {first, second};
    gr_buffer *buffers[2];
    const gr_map_options options = GR_INIT(gr_map_options, .wait_event = event);
    assert_ok(gr_map_many(both, 2, fx.stream, &options, buffers));
    for (int i = 0; i < 2; i++)
        CU(MemcpyDtoDAsync(gr_buffer_ptr(buffers[i]), bytes, SIZE, fx.stream));
    assert_ok(gr_buffer_release_many(buffers, 2, GR_STREAM_OF_MAP, NULL));
    assert_gl_bytes(gr_gl_name(first), SIZE, 0x21);
    assert_gl_bytes(gr_gl_name(second), SIZE, 0x21);
    end_late(bytes, event);
}

GROUP("release", add_event_case)

/* `other` writes the value late and then records the event, for which the release waits. */
static void release_late(gr_resource *resource, int value, CUevent event)
{
    const gr_map_options tell = GR_INIT(gr_map_options, .ready_event = event);
    gr_buffer *buffer = must_make(map_with(resource, fx.stream, &tell));
    CU(StreamWaitEvent(fx.other, event, 0));
    gate_open_after(gate_put(fx.other), LATE_MS);
    CU(MemsetD8Async(gr_buffer_ptr(buffer), (unsigned char)value, SIZE, fx.other));
    CU(EventRecord(event, fx.other));
    assert_ok(release_with(buffer, &GR_INIT(gr_release_options, .wait_event = event)));
}

TEST(release_waits_for_its_wait_event, TRANSPORTS)
{
    need(resource, _i);
    CUevent event = make_event();
    release_late(resource, 0x44, event);
    assert_gl_bytes(gr_gl_name(resource), SIZE, 0x44);
    CU(EventDestroy(event));
}

/* Not only OpenGL but also the next map must wait for the event of the release. */
TEST(the_next_map_waits_for_the_event_of_the_release, TRANSPORTS)
{
    need(resource, _i);
    CUevent event = make_event();
    unsigned char bytes[SIZE];
    release_late(resource, 0x45, event);
    gr_buffer *buffer = must_map(resource);
    cuda_read(bytes, gr_buffer_ptr(buffer), SIZE, fx.stream);
    assert_bytes(bytes, SIZE, 0x45);
    assert_ok(gr_buffer_release(buffer));
    CU(EventDestroy(event));
}

GROUP("options", add_event_case)

TEST(options_of_zeros_have_no_effect, TRANSPORTS)
{
    need(resource, _i);
    gr_buffer *buffer = must_make(map_with(resource, fx.stream, &GR_INIT(gr_map_options)));
    cuda_fill(buffer, 0x61);
    assert_ok(release_with(buffer, &GR_INIT(gr_release_options)));
    assert_gl_bytes(gr_gl_name(resource), SIZE, 0x61);
    assert_made(buffer = map_with(resource, fx.stream, NULL));
    cuda_fill(buffer, 0x62);
    assert_ok(release_with(buffer, NULL));
    assert_gl_bytes(gr_gl_name(resource), SIZE, 0x62);
}

TEST(refused_options_change_nothing, TRANSPORTS)
{
    need(resource, _i);
    CUevent event = make_event();
    assert_null_invalid(map_with(resource, NULL, NULL), "GR_STREAM_LEGACY");
    gr_map_options sizeless = {0};
    assert_null_invalid(map_with(resource, fx.stream, &sizeless), "GR_INIT");
    struct {
        gr_map_options options;
        int newer;
    } newer = {GR_INIT(gr_map_options), 1};
    newer.options.struct_size = sizeof(newer);
    assert_null(map_with(resource, fx.stream, &newer.options), GR_ERR_UNSUPPORTED, 0, "newer");
    assert_null_invalid(map_with(NULL, fx.stream, NULL), "NULL");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    gr_buffer *buffer = must_map(resource);
    gr_release_options no_size = {.wait_event = event};
    assert_invalid(release_with(buffer, &no_size), "GR_INIT");
    ck_assert(gr_resource_get_info(resource)->mapped);
    assert_ok(release_with(NULL, &GR_INIT(gr_release_options, .wait_event = event)));
    assert_ok(gr_buffer_release(buffer));
    CU(EventDestroy(event));
}

/* On a GPU the error of the driver for a destroyed event is undefined. */
TEST(destroyed_events_are_refused, TRANSPORTS)
{
    need(resource, _i);
    if (!gr_cuda_is_software())
        skip("NVIDIA's driver crashes on the handle of a destroyed object");
    CUevent event = make_event();
    CU(EventDestroy(event));
    assert_null(map_with(resource, fx.stream, &GR_INIT(gr_map_options, .wait_event = event)),
                GR_ERR_CUDA, -1, "wait_event");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    gr_buffer *buffer = must_map(resource);
    assert_fails(release_with(buffer, &GR_INIT(gr_release_options, .wait_event = event)),
                 GR_ERR_CUDA, -1, "event");
    ck_assert(gr_resource_get_info(resource)->mapped);
    assert_ok(gr_buffer_release(buffer));
}
