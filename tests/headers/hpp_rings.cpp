/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rings and slots: frames, and how the use of a slot ends: by a call, by its scope, or by an
 * exception.
 */
#include "hpp_cases.hpp"

#include <utility>

using grinterop::ring;
using grinterop::slot;

static_assert(!std::is_copy_constructible<slot>::value &&
                  std::is_nothrow_move_constructible<slot>::value,
              "");
static_assert(std::is_nothrow_destructible<slot>::value, "");

/* Creates a ring of two buffers. The ring holds the only references to them. */
static ring make_ring()
{
    std::vector<grinterop::resource> slots;
    for (int i = 0; i < 2; i++)
        slots.emplace_back(gr_from_gl_buffer(gl_buffer_filled(hpp_size, 0), GR_READ_WRITE));
    return ring(gr_ring_create(grinterop::pointers(slots).data(), slots.size(), nullptr));
}

/* Whether the ring has these numbers of slots in each state. */
static bool has(const ring &of, unsigned free, unsigned writing, unsigned ready, unsigned reading)
{
    const gr_ring_info *info = grinterop::must(gr_ring_get_info(of.get()));
    return info->free == free && info->writing == writing && info->ready == ready &&
           info->reading == reading;
}

static void frames_are_written_and_read_in_scopes()
{
    const ring frames = make_ring();
    const auto age = [&] { return grinterop::must(gr_ring_get_info(frames.get()))->newest_age_ns; };
    EXPECT(age() == 0);
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
    EXPECT(has(frames, 2, 0, 0, 0) && age() > 0);
}

static void hand_over_and_give_back_empty_the_slot()
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

static void cancel_frees_a_written_slot_and_keeps_a_read_frame()
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

/*
 * An exception cancels the slot: a frame that was not finished is never read, and a frame that was
 * not drawn is read again.
 */
static void an_exception_cancels_the_slot()
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

/*
 * A destructor that writes a frame during unwinding hands over its slot, since its own scope was
 * not interrupted.
 */
static void a_destructor_may_write_a_frame_during_unwinding()
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

static void an_acquire_that_times_out_returns_an_empty_slot()
{
    const ring frames = make_ring();
    EXPECT(!frames.acquire_read(GR_STREAM_NONE, 0));
    EXPECT(!frames.acquire_read(GR_STREAM_NONE, 1));
    gr_ring_stop(frames.get());
    const auto stopped = hpp_thrown([&] { frames.acquire_write(fx.stream, 0); });
    EXPECT(stopped.status == GR_ERR_STOPPED);
    EXPECT(hpp_thrown([&] { frames.acquire_read(fx.stream, 0); }).status == GR_ERR_INVALID_VALUE);
}

static void moving_a_slot_empties_its_source()
{
    ring frames = make_ring();
    slot first = frames.acquire_write(fx.stream, 0);
    slot written(std::move(first));
    EXPECT(!first && written && has(frames, 1, 1, 0, 0));
    slot second = frames.acquire_write(fx.stream, 0);
    second = std::move(written); /* the assignment publishes the previous frame */
    EXPECT(!written && second && has(frames, 0, 1, 1, 0));
    second = slot();
    EXPECT(has(frames, 0, 0, 2, 0));
    const ring moved(std::move(frames));
    EXPECT(!frames && has(moved, 0, 0, 2, 0));
}

static const hpp_case cases[] = {
    HPP_CASE(frames_are_written_and_read_in_scopes),
    HPP_CASE(hand_over_and_give_back_empty_the_slot),
    HPP_CASE(cancel_frees_a_written_slot_and_keeps_a_read_frame),
    HPP_CASE(an_exception_cancels_the_slot),
    HPP_CASE(a_destructor_may_write_a_frame_during_unwinding),
    HPP_CASE(an_acquire_that_times_out_returns_an_empty_slot),
    HPP_CASE(moving_a_slot_empties_its_source),
};

HPP_PART(rings)
