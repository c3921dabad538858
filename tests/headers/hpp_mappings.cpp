/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Resources and mappings: bytes, moves, and what remains when scopes end, also by exceptions. */
#include "hpp_cases.hpp"

#include <array>
#include <thread>
#include <utility>

using grinterop::mapping;
using grinterop::resource;

static_assert(!std::is_copy_constructible_v<resource> && !std::is_copy_assignable_v<resource>);
static_assert(!std::is_copy_constructible_v<mapping> && !std::is_copy_assignable_v<mapping>);
static_assert(std::is_nothrow_move_constructible_v<resource> &&
              std::is_nothrow_move_assignable_v<resource>);
static_assert(std::is_nothrow_move_constructible_v<mapping> &&
              std::is_nothrow_move_assignable_v<mapping>);
static_assert(std::is_nothrow_destructible_v<resource> && std::is_nothrow_destructible_v<mapping>);
static_assert(!std::is_convertible_v<gr_resource *, resource>,
              "ownership is never taken by chance");
static_assert(sizeof(mapping) == sizeof(gr_buffer *), "it costs what the pointer costs");

static void a_mapping_is_the_bytes_of_opengl()
{
    const hpp_buffer buffer;
    {
        const mapping mapped = buffer.resource.map(fx.stream);
        EXPECT(mapped && buffer.resource.info().mapped);
        EXPECT(mapped.pointer() == gr_buffer_ptr(mapped.get()) && mapped.size() == hpp_size);
        hpp_fill(mapped.pointer(), 42);
    }
    EXPECT(buffer.has(42));
    EXPECT(buffer.can_be_mapped());
}

/* 1000 bytes are 250 floats, or 83 complete objects of 12 bytes. */
static void a_span_counts_whole_objects()
{
    struct three {
        float at[3];
    };
    const hpp_buffer buffer;
    const mapping mapped = buffer.resource.map(fx.stream);
    const grinterop::device_span<float> floats = mapped.span<float>();
    EXPECT(floats.size() == hpp_size / sizeof(float) && floats.size_bytes() == hpp_size);
    EXPECT(floats.pointer() == mapped.pointer());
    EXPECT(reinterpret_cast<CUdeviceptr>(floats.data()) == mapped.pointer());
    EXPECT(mapped.span<three>().size() == 83 && mapped.span<three>().size_bytes() == 996);
}

static void a_release_by_hand_ends_it()
{
    const hpp_buffer buffer;
    mapping mapped = buffer.resource.map(fx.stream);
    hpp_fill(mapped.pointer(), 43);
    mapped.release();
    EXPECT(!mapped && !buffer.resource.info().mapped && buffer.has(43));
    mapped.release();

    mapped = buffer.resource.map(fx.stream);
    hpp_fill(mapped.pointer(), 44);
    mapped.release(fx.other);
    EXPECT(buffer.has(44) && buffer.can_be_mapped());
}

/* After a release that throws, the mapping still exists and can be released. */
static void a_release_that_throws_keeps_it()
{
    const hpp_buffer buffer;
    mapping mapped = buffer.resource.map(fx.stream);
    EXPECT(hpp_thrown([&] { mapped.release(nullptr); }).status == GR_ERR_INVALID_VALUE);
    EXPECT(mapped && buffer.resource.info().mapped && mapped.size() == hpp_size);
    hpp_fill(mapped.pointer(), 45);
    mapped.release();
    EXPECT(buffer.has(45));
}

static void a_move_takes_the_mapping_along()
{
    const hpp_buffer buffer, second;
    mapping first = buffer.resource.map(fx.stream);
    gr_buffer *const object = first.get();
    mapping mapped(std::move(first));
    EXPECT(!first && !first.get() && mapped.get() == object && buffer.resource.info().mapped);

    /* The previous mapping ends first. */
    mapping other = second.resource.map(fx.stream);
    hpp_fill(other.pointer(), 46);
    other = std::move(mapped);
    EXPECT(!mapped && other.get() == object);
    EXPECT(!second.resource.info().mapped && buffer.resource.info().mapped && second.has(46));
    other = mapping();
    EXPECT(!buffer.resource.info().mapped);
}

static void a_resource_moves()
{
    hpp_buffer buffer;
    gr_resource *const object = buffer.resource.get();
    std::vector<resource> all;
    all.push_back(std::move(buffer.resource));
    all.emplace_back(gr_from_gl_buffer(gl_buffer_filled(16, 1), GR_READ_ONLY));
    EXPECT(!buffer.resource && all[0].get() == object && all[0].info().size == hpp_size);
    buffer.resource = std::move(all[0]);
    EXPECT(!all[0] && buffer.resource.get() == object && buffer.can_be_mapped());
}

/* The mapping holds the registration: the resource may end first. */
static void a_mapping_outlives_its_resource()
{
    hpp_buffer buffer;
    {
        const mapping mapped = buffer.resource.map(fx.stream);
        buffer.resource = resource();
        hpp_fill(mapped.pointer(), 47);
    }
    EXPECT(buffer.has(47));
}

static void what_is_detached_is_the_callers()
{
    hpp_buffer buffer;
    gr_buffer *const mapped = buffer.resource.map(fx.stream).detach();
    EXPECT(buffer.resource.info().mapped && gr_buffer_size(mapped) == hpp_size);
    EXPECT(gr_buffer_release(mapped) == GR_OK);
    gr_resource *const object = buffer.resource.detach();
    EXPECT(!buffer.resource && !gr_resource_get_info(object)->closed);
    gr_resource_free(object);
}

/* An exception passes through two mappings: OpenGL can use both resources afterwards. */
static void an_exception_ends_mappings()
{
    const hpp_buffer buffer, second;
    try {
        const mapping mapped = buffer.resource.map(fx.stream);
        const mapping other = second.resource.map(fx.stream);
        hpp_fill(mapped.pointer(), 48);
        throw std::out_of_range("on its way");
    } catch (const std::out_of_range &) {
    }
    EXPECT(buffer.can_be_mapped() && second.can_be_mapped() && buffer.has(48));
}

/* The next map throws: the earlier mapping is released, and the error is the map's. */
static void a_map_that_throws_leaves_nothing_mapped()
{
    const hpp_buffer buffer, taken;
    const mapping holds = taken.resource.map(fx.stream);
    const grinterop::error refused = hpp_thrown([&] {
        const mapping mapped = buffer.resource.map(fx.stream);
        taken.resource.map(fx.stream);
    });
    EXPECT(refused.status == GR_ERR_STATE && buffer.can_be_mapped());
}

/* A destructor that calls grinterop during stack unwinding. */
static void unwinding_may_map()
{
    struct at_end {
        const hpp_buffer &buffer;
        ~at_end()
        {
            const mapping mapped = buffer.resource.map(fx.stream);
            hpp_fill(mapped.pointer(), 49);
        }
    };
    const hpp_buffer buffer;
    try {
        const at_end end{buffer};
        throw std::out_of_range("on its way");
    } catch (const std::out_of_range &) {
    }
    EXPECT(buffer.has(49) && buffer.can_be_mapped());
}

/* Closed while mapped: the pointer is 0, nothing throws, the destructor succeeds. */
static void a_closed_resource_leaves_a_pointer_of_0()
{
    const hpp_buffer buffer;
    mapping mapped = buffer.resource.map(fx.stream);
    hpp_thrown([] { grinterop::resource(gr_from_gl_buffer(0, 0)); }); /* an older error */
    buffer.resource.close();
    EXPECT(buffer.resource.info().closed && mapped.pointer() == 0 && mapped.size() == 0);
    EXPECT(mapped.span<float>().size() == 0);
    mapped.release();
    buffer.resource.close();
    EXPECT(hpp_thrown([&] { buffer.resource.map(fx.stream); }).status == GR_ERR_STATE);
}

static void unmap_and_wait()
{
    const hpp_buffer buffer;
    const mapping mapped = buffer.resource.map(fx.stream);
    hpp_fill(mapped.pointer(), 50);
    EXPECT(hpp_thrown([&] { buffer.resource.wait(0); }).status == GR_ERR_STATE);
    buffer.resource.unmap();
    EXPECT(!buffer.resource.info().mapped && mapped.pointer() == 0);
    buffer.resource.wait(GR_WAIT_FOREVER);
    EXPECT(buffer.has(50));
    EXPECT(hpp_thrown([&] { buffer.resource.unmap(); }).status == GR_ERR_STATE);
}

/* Ended on a thread that may not release: OpenGL's thread releases it in its next call. */
static void a_mapping_that_ends_elsewhere_is_released_here()
{
    const hpp_buffer buffer;
    mapping mapped = buffer.resource.map(fx.stream);
    hpp_fill(mapped.pointer(), 51);
    std::thread([ends = std::move(mapped)] {}).join();
    EXPECT(!mapped && buffer.resource.map(fx.stream).size() == hpp_size && buffer.has(51));
}

static void many_are_mapped_and_released_together()
{
    const hpp_buffer first, second;
    std::vector<mapping> mapped = grinterop::map_many({first.resource, second.resource}, fx.stream);
    EXPECT(mapped.size() == 2 && first.resource.info().mapped && second.resource.info().mapped);
    hpp_fill(mapped[0].pointer(), 52);
    hpp_fill(mapped[1].pointer(), 53);
    grinterop::release_many(mapped);
    EXPECT(!mapped[0] && !mapped[1] && first.has(52) && second.has(53));
    EXPECT(first.can_be_mapped() && second.can_be_mapped());
}

/* A container of resources, and part of each; the mappings end on their own. */
static void many_of_a_container_end_by_themselves()
{
    hpp_buffer first, second;
    std::array<resource, 2> all = {std::move(first.resource), std::move(second.resource)};
    gr_map_options options = GR_INIT(gr_map_options);
    options.offset = 100;
    options.size = 10;
    {
        std::vector<mapping> mapped = grinterop::map_many(all, fx.stream, &options);
        EXPECT(mapped.size() == 2 && mapped[1].size() == 10);
        hpp_fill(mapped[1].pointer(), 9, 10);
        mapped[0].release();
        EXPECT(!all[0].info().mapped && all[1].info().mapped);
    }
    unsigned char bytes[hpp_size];
    gl_read(second.name, bytes, hpp_size);
    EXPECT(!all[1].info().mapped && bytes[99] == 7 && bytes[100] == 9 && bytes[109] == 9);
    EXPECT(bytes[110] == 7);
}

static void many_map_all_or_none()
{
    const hpp_buffer first, second;
    const mapping taken = second.resource.map(fx.stream);
    const auto refused = hpp_thrown([&] {
        grinterop::map_many({first.resource, second.resource}, fx.stream);
    });
    EXPECT(refused.status == GR_ERR_STATE && first.can_be_mapped());
}

/* If a release throws, the resources that were not released stay mapped. */
static void many_stay_where_their_release_throws()
{
    const hpp_buffer first, second;
    std::vector<mapping> mapped = grinterop::map_many({first.resource, second.resource}, fx.stream);
    const auto refused = hpp_thrown([&] { grinterop::release_many(mapped, nullptr); });
    EXPECT(refused.status == GR_ERR_INVALID_VALUE && mapped[0] && mapped[1]);
    EXPECT(first.resource.info().mapped && second.resource.info().mapped);
    mapped.clear();
    EXPECT(first.can_be_mapped() && second.can_be_mapped());
}

/* Holders of contexts: created, current, and destroyed without affecting the fixture's. */
static void contexts_end()
{
    {
        const grinterop::cuda_context context(gr_cuda_context_create(fixture_cuda_device()));
        EXPECT(context.stream() && context.handle());
        const grinterop::egl egl(gr_egl_create(nullptr));
        EXPECT(egl.get()->context != fx.egl->context);
        grinterop::check(gr_egl_make_current(egl.get()));
        const grinterop::egl moved = grinterop::egl(gr_egl_create(nullptr));
        EXPECT(moved);
    }
    grinterop::check(gr_egl_make_current(fx.egl));
    EXPECT(hpp_thrown([] { grinterop::cuda_context(gr_cuda_context_create(-1)); }).status ==
           GR_ERR_INVALID_VALUE);
    EXPECT(hpp_buffer().can_be_mapped());
}

static const hpp_case cases[] = {
    HPP_CASE(a_mapping_is_the_bytes_of_opengl),
    HPP_CASE(a_span_counts_whole_objects),
    HPP_CASE(a_release_by_hand_ends_it),
    HPP_CASE(a_release_that_throws_keeps_it),
    HPP_CASE(a_move_takes_the_mapping_along),
    HPP_CASE(a_resource_moves),
    HPP_CASE(a_mapping_outlives_its_resource),
    HPP_CASE(what_is_detached_is_the_callers),
    HPP_CASE(an_exception_ends_mappings),
    HPP_CASE(a_map_that_throws_leaves_nothing_mapped),
    HPP_CASE(unwinding_may_map),
    HPP_CASE(a_closed_resource_leaves_a_pointer_of_0),
    HPP_CASE(unmap_and_wait),
    HPP_CASE(a_mapping_that_ends_elsewhere_is_released_here),
    HPP_CASE(many_are_mapped_and_released_together),
    HPP_CASE(many_of_a_container_end_by_themselves),
    HPP_CASE(many_map_all_or_none),
    HPP_CASE(many_stay_where_their_release_throws),
    HPP_CASE(contexts_end),
};

const hpp_part *hpp_mappings()
{
    static const hpp_part part = {"mappings", std::size(cases),
                                  [](int i) { return hpp_run(cases[i]); }};
    return &part;
}
