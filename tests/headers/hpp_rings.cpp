/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Rings and slots: frames, and how a slot ends: by a call, its scope, or an exception. */
#include "hpp_cases.hpp"

#include <utility>

using grinterop::ring;
using grinterop::slot;

static_assert(!std::is_copy_constructible_v<slot> && std::is_nothrow_move_constructible_v<slot>);
static_assert(std::is_nothrow_destructible_v<slot>);

/* A ring of two buffers, which holds the only references to them. */
static ring make_ring()
{
    std::vector<grinterop::resource> slots;
    for (int i = 0; i < 2; i++)
        slots.emplace_back(gr_from_gl_buffer(gl_buffer_filled(hpp_size, 0), GR_READ_WRITE));
    return ring(gr_ring_create(grinterop::pointers(slots).data(), slots.size(), nullptr));
}

/* Checks the numbers of a ring's slots. */
static bool has(const ring &of, unsigned free, unsigned writing, unsigned ready, unsigned reading)
{
    const gr_ring_info *info = grinterop::must(gr_ring_get_info(of.get()));
    return info->free == free && info->writing == writing && info->ready == ready &&
           info->reading == reading;
}

static void frames_go_through()
{
    const ring frames = make_ring();
    for (int i = 1; i <= 5; i++) {
        {
            const slot written = frames.acquire_write(fx.stream, 0);
            EXPECT(written && written.size() == hpp_size && has(frames, 1, 1, 0, 0));
            EXPECT(written.span<float>().size() == hpp_size / sizeof(float));
            hpp_fill(written.pointer(), i);
        }
        EXPECT(has(frames, 1, 0, 1, 0));
        const slot read = frames.acquire_read(GR_STREAM_NONE, 0);
        EXPECT(read && read->frame == static_cast<uint64_t>(i) && !read.buffer());
        EXPECT(!gl_bytes_differ(gr_gl_name(read->resource), hpp_size, i));
    }
    EXPECT(has(frames, 2, 0, 0, 0));
}

static void hand_over_by_call()
{
    const ring frames = make_ring();
    slot written = frames.acquire_write(fx.stream, 0);
    hpp_fill(written.pointer(), 3);
    EXPECT(hpp_thrown([&] { written.give_back(); }).status == GR_ERR_STATE);
    EXPECT(written && has(frames, 1, 1, 0, 0));
    written.hand_over();
    EXPECT(!written && has(frames, 1, 0, 1, 0));

    slot read = frames.acquire_read(GR_STREAM_NONE, 0);
    EXPECT(hpp_thrown([&] { read.hand_over(); }).status == GR_ERR_STATE);
    EXPECT(read && has(frames, 1, 0, 0, 1));
    read.give_back();
    EXPECT(!read && has(frames, 2, 0, 0, 0));
}

static void cancel_goes_back()
{
    const ring frames = make_ring();
    slot written = frames.acquire_write(fx.stream, 0);
    written.cancel();
    EXPECT(!written && has(frames, 2, 0, 0, 0));
    frames.acquire_write(fx.stream, 0).hand_over();
    slot read = frames.acquire_read(GR_STREAM_NONE, 0);
    read.cancel();
    EXPECT(!read && has(frames, 1, 0, 1, 0));
    EXPECT(frames.acquire_read(GR_STREAM_NONE, 0)->frame == 1);
}

/* An unfinished frame is never read, and a frame that was not drawn is read again. */
static void an_exception_cancels()
{
    const ring frames = make_ring();
    try {
        const slot written = frames.acquire_write(fx.stream, 0);
        throw std::out_of_range("on its way");
    } catch (const std::out_of_range &) {
    }
    EXPECT(has(frames, 2, 0, 0, 0));
    frames.acquire_write(fx.stream, 0).hand_over();
    try {
        const slot read = frames.acquire_read(GR_STREAM_NONE, 0);
        throw std::out_of_range("on its way");
    } catch (const std::out_of_range &) {
    }
    EXPECT(has(frames, 1, 0, 1, 0));
}

/* A slot in a destructor during unwinding is handed over: it was not interrupted. */
static void unwinding_may_write_a_frame()
{
    const ring frames = make_ring();
    struct at_end {
        const ring &frames;
        ~at_end() { frames.acquire_write(fx.stream, 0); }
    };
    try {
        const at_end end{frames};
        throw std::out_of_range("on its way");
    } catch (const std::out_of_range &) {
    }
    EXPECT(has(frames, 1, 0, 1, 0));
}

static void no_slot_in_time_is_an_empty_one()
{
    const ring frames = make_ring();
    EXPECT(!frames.acquire_read(GR_STREAM_NONE, 0));
    EXPECT(!frames.acquire_read(GR_STREAM_NONE, 1));
    gr_ring_stop(frames.get());
    const auto stopped = hpp_thrown([&] { frames.acquire_write(fx.stream, 0); });
    EXPECT(stopped.status == GR_ERR_STOPPED);
    EXPECT(hpp_thrown([&] { frames.acquire_read(fx.stream, 0); }).status == GR_ERR_INVALID_VALUE);
}

static void a_slot_moves()
{
    ring frames = make_ring();
    slot first = frames.acquire_write(fx.stream, 0);
    slot written(std::move(first));
    EXPECT(!first && written && has(frames, 1, 1, 0, 0));
    slot second = frames.acquire_write(fx.stream, 0);
    second = std::move(written); /* which publishes the previous frame */
    EXPECT(!written && second && has(frames, 0, 1, 1, 0));
    second = slot();
    EXPECT(has(frames, 0, 0, 2, 0));
    const ring moved(std::move(frames));
    EXPECT(!frames && has(moved, 0, 0, 2, 0));
}

static const hpp_case cases[] = {
    HPP_CASE(frames_go_through),
    HPP_CASE(hand_over_by_call),
    HPP_CASE(cancel_goes_back),
    HPP_CASE(an_exception_cancels),
    HPP_CASE(unwinding_may_write_a_frame),
    HPP_CASE(no_slot_in_time_is_an_empty_one),
    HPP_CASE(a_slot_moves),
};

const hpp_part *hpp_rings()
{
    static const hpp_part part = {"rings", std::size(cases),
                                  [](int i) { return hpp_run(cases[i]); }};
    return &part;
}
