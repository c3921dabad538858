/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Events and second streams at a map and a release, for all kinds of resources. Gates delay the
 * streams, so that a missing wait shows as a gate that is still closed, or as a wrong byte.
 */
#include "tests/drivers/fault_driver.h"
#include "tests/kinds/kinds.h"

/* Longer than a map or a release takes without a wait. */
#define LATE_MS 20

START(fault_control_start())

GROUP("events", add_kinds_case)

static CUevent make_event(void)
{
    CUevent event;
    CU(EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

static gr_status map_many(struct thing *const things[], size_t n, const gr_map_options *options,
                          gr_buffer *buffers[])
{
    gr_resource *resources[2] = {NULL, NULL};
    for (size_t i = 0; i < n; i++)
        resources[i] = things[i]->resource;
    return gr_map_many(resources, n, fx.stream, options, buffers);
}

static gr_status map_with(struct thing *thing, const gr_map_options *options, gr_buffer **buffer)
{
    return map_many(&thing, 1, options, buffer);
}

static gr_status release_with(gr_buffer *buffer, const gr_release_options *options)
{
    return gr_buffer_release_many(&buffer, 1, GR_STREAM_OF_MAP, options);
}

static void assert_waits_for(CUstream stream, struct gate *gate)
{
    CU(StreamSynchronize(stream));
    ck_assert(gate_is_open(gate));
}

static void check_map(struct thing *const things[], size_t n, CUevent event)
{
    gr_buffer *buffers[2];
    struct gate *gate = gate_open_after(gate_put(fx.other), LATE_MS);
    CU(EventRecord(event, fx.other));
    assert_ok(map_many(things, n, &GR_INIT(gr_map_options, .wait_event = event), buffers));
    assert_waits_for(fx.stream, gate);
    for (size_t i = 0; i < n; i++)
        thing_cuda_write(things[i], buffers[i], (unsigned)(n + i));
    assert_ok(gr_buffer_release_many(buffers, n, GR_STREAM_OF_MAP, NULL));
    for (size_t i = 0; i < n; i++)
        assert_thing(things[i], (unsigned)(n + i));
}

/* The other stream follows the map and writes. The release on the stream of the map follows it. */
static void check_release(struct thing *const things[], size_t n, CUevent event, unsigned seed)
{
    gr_buffer *buffers[2];
    struct gate *gate = gate_open_after(gate_put(fx.stream), LATE_MS);
    assert_ok(map_many(things, n, &GR_INIT(gr_map_options, .ready_event = event), buffers));
    CU(StreamWaitEvent(fx.other, event, 0));
    assert_waits_for(fx.other, gate);
    gate_open_after(gate_put(fx.other), LATE_MS);
    for (size_t i = 0; i < n; i++)
        thing_cuda_write_on(things[i], buffers[i], seed, fx.other);
    CU(EventRecord(event, fx.other));
    assert_ok(gr_buffer_release_many(buffers, n, GR_STREAM_OF_MAP,
                                     &GR_INIT(gr_release_options, .wait_event = event)));
}

/* Not only the graphics API but also the next map must wait for the event of the release. */
FACT(events_order_maps_and_releases, writing[_i], 2)
{
    struct thing *const things[2] = {thing, thing_make(thing->kind, thing->flags)};
    const CUevent event = make_event();
    for (size_t n = 1; n <= 2; n++) {
        check_map(things, n, event);
        check_release(things, n, event, 10);
        for (size_t i = 0; i < n; i++)
            assert_thing(things[i], 10);
    }
    if (thing->flags == GR_READ_WRITE) {
        check_release(things, 1, event, 11);
        gr_buffer *buffer = thing_map(thing);
        assert_thing_in_cuda(thing, buffer, 11);
        assert_ok(gr_buffer_release(buffer));
    }
    assert_ok(release_with(NULL, &GR_INIT(gr_release_options, .wait_event = event)));
    CU(EventDestroy(event));
}

static void assert_map_refused(struct thing *thing, gr_map_options options, const char *event)
{
    gr_buffer *buffer = NULL;
    thing_fill(thing, 1);
    assert_fails(map_with(thing, &options, &buffer), GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE, event);
    ck_assert(!buffer && !gr_resource_get_info(thing->resource)->mapped);
    assert_thing(thing, 1);
    thing_fill(thing, 2);
    assert_thing(thing, 2);
}

/*
 * The event belongs to another context, or was destroyed, after a valid use or without one.
 * Catches: undoing the map changed the contents.
 */
FACT(unusable_events_are_refused_and_change_nothing, writing[_i], 2)
{
    CUcontext context = new_context(NULL);
    const CUevent foreign = make_event();
    gr_buffer *buffer;
    CU(CtxSetCurrent(fx.context));
    const CUevent used = make_event(), unused = make_event();
    assert_ok(map_with(thing, &GR_INIT(gr_map_options, .ready_event = used), &buffer));
    thing_cuda_write(thing, buffer, 1);
    assert_ok(gr_buffer_release(buffer));
    CU(EventDestroy(used));
    CU(EventDestroy(unused));
    assert_map_refused(thing, GR_INIT(gr_map_options, .ready_event = foreign), "ready_event");
    if (gr_cuda_is_software()) { /* the driver of a GPU dereferences the handle */
        assert_map_refused(thing, GR_INIT(gr_map_options, .ready_event = used), "ready_event");
        assert_map_refused(thing, GR_INIT(gr_map_options, .ready_event = unused), "ready_event");
        assert_map_refused(thing, GR_INIT(gr_map_options, .wait_event = unused), "wait_event");
    }
    assert_ok(map_with(thing, &GR_INIT(gr_map_options), &buffer));
    thing_cuda_write(thing, buffer, 2);
    if (gr_cuda_is_software()) {
        assert_fails(release_with(buffer, &GR_INIT(gr_release_options, .wait_event = unused)),
                     GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE, "event");
        ck_assert(gr_resource_get_info(thing->resource)->mapped);
    }
    assert_ok(release_with(buffer, &GR_INIT(gr_release_options)));
    assert_thing(thing, 2);
    CU(CtxDestroy(context));
    CU(CtxSetCurrent(fx.context));
}

/* Catches: the late copy of the undone map overwrote what the next mapping wrote. */
FACT(a_map_follows_an_undone_one, GR_READ_WRITE, 1)
{
    CUcontext context = new_context(NULL);
    const gr_map_options options = GR_INIT(gr_map_options, .ready_event = make_event());
    gr_buffer *buffer = NULL;
    CU(CtxSetCurrent(fx.context));
    struct gate *gate = gate_open_after(gate_put(fx.other), LATE_MS);
    assert_fails(gr_map_many(&thing->resource, 1, fx.other, &options, &buffer), GR_ERR_CUDA,
                 CUDA_ERROR_INVALID_HANDLE, "ready_event");
    thing_fill(thing, 2);
    assert_waits_for(fx.stream, gate);
    assert_thing(thing, 2);
    CU(CtxDestroy(context));
    CU(CtxSetCurrent(fx.context));
}
