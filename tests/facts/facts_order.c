/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What maps and releases wait for, and what they do not wait for. */
#include "tests/kinds/kinds.h"

#define LATE_MS 20

/*
 * If a call waits for a gate that it must not wait for, the gate opens after this time, and the
 * case fails.
 */
#define TOO_LATE_MS 5000

GROUP("order", add_kinds_case)

static void assert_blocked(struct gate *gate, const char *call)
{
    ck_assert_msg(!gate_is_open(gate), "%s waited for another stream", call);
}

/* Without an order by grinterop, the graphics API waits for all of CUDA before it reads. */
static const char *ordered_outside(const struct kind *kind)
{
    return kind->is_unordered ? "the application orders both sides" : NULL;
}

FACT_UNLESS(ordered_outside, a_release_does_not_wait_for_a_third_stream, writing[_i], 2)
{
    CUstream third = NULL;
    CU(StreamCreate(&third, CU_STREAM_NON_BLOCKING));
    gr_buffer *buffer = thing_map(thing);
    thing_cuda_write(thing, buffer, 1);
    struct gate *gate = gate_open_after(gate_put(third), TOO_LATE_MS);
    assert_ok(release_on(buffer, fx.other));
    assert_thing(thing, 1);
    assert_blocked(gate, "the release or the graphics API");
    gate_open(gate);
    CU(StreamSynchronize(third));
    CU(StreamDestroy(third));
}

FACT(a_map_on_another_stream_follows_the_release, GR_READ_WRITE)
{
    gr_buffer *buffer = thing_map(thing);
    gate_open_after(gate_put(fx.stream), LATE_MS);
    thing_cuda_write(thing, buffer, 2);
    assert_ok(gr_buffer_release(buffer));
    buffer = thing_map_on(thing, fx.other);
    assert_thing_in_cuda(thing, buffer, 2);
    thing_cuda_write(thing, buffer, 3);
    assert_ok(gr_buffer_release(buffer));
    assert_thing(thing, 3);
}

FACT_UNLESS(ordered_outside, a_blocked_stream_does_not_delay_another_resource, GR_WRITE_DISCARD)
{
    struct thing *quick = thing_make(thing->kind, thing->flags);
    gr_buffer *held = thing_map_on(thing, fx.other);
    struct gate *gate = gate_open_after(gate_put(fx.other), TOO_LATE_MS);
    thing_cuda_write(thing, held, 4);
    gr_buffer *buffer = thing_map(quick);
    thing_cuda_write(quick, buffer, 5);
    assert_ok(gr_buffer_release(buffer));
    assert_thing(quick, 5);
    assert_blocked(gate, "the second resource");
    gate_open(gate);
    assert_ok(gr_buffer_release(held));
    assert_thing(thing, 4);
}

FACT(a_map_does_not_block_the_thread, writing[_i], 2)
{
    struct gate *gate = gate_open_after(gate_put(fx.stream), TOO_LATE_MS);
    gr_buffer *buffer = thing_map(thing);
    thing_cuda_write(thing, buffer, 6);
    assert_blocked(gate, "the map");
    gate_open(gate);
    assert_ok(gr_buffer_release(buffer));
    assert_thing(thing, 6);
}
