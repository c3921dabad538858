/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Resources and mappings: their bytes, moves, and what is left when scopes end, also through
 * exceptions.
 */
#include "hpp_cases.hpp"

#include <array>
#include <thread>
#include <utility>

using grinterop::mapping;
using grinterop::resource;

static_assert(!std::is_copy_constructible<resource>::value &&
                  !std::is_copy_assignable<resource>::value,
              "");
static_assert(!std::is_copy_constructible<mapping>::value &&
                  !std::is_copy_assignable<mapping>::value,
              "");
static_assert(std::is_nothrow_move_constructible<resource>::value &&
                  std::is_nothrow_move_assignable<resource>::value,
              "");
static_assert(std::is_nothrow_move_constructible<mapping>::value &&
                  std::is_nothrow_move_assignable<mapping>::value,
              "");
static_assert(std::is_nothrow_destructible<resource>::value &&
                  std::is_nothrow_destructible<mapping>::value,
              "");
static_assert(!std::is_convertible<gr_resource *, resource>::value,
              "ownership is never taken by chance");
static_assert(sizeof(mapping) == sizeof(gr_buffer *), "it costs what the pointer costs");

static void a_mapping_writes_the_bytes_of_the_opengl_buffer()
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

/* The buffer has 1000 bytes: 250 floats, or 83 complete objects of 12 bytes. */
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

static void release_ends_the_mapping_before_its_scope()
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

/* If a release throws, the mapping still exists and can be released later. */
static void a_release_that_throws_keeps_the_mapping()
{
    const hpp_buffer buffer;
    mapping mapped = buffer.resource.map(fx.stream);
    EXPECT(hpp_thrown([&] { mapped.release(nullptr); }).status == GR_ERR_INVALID_VALUE);
    EXPECT(mapped && buffer.resource.info().mapped && mapped.size() == hpp_size);
    hpp_fill(mapped.pointer(), 45);
    mapped.release();
    EXPECT(buffer.has(45));
}

static void moving_a_mapping_empties_its_source()
{
    const hpp_buffer buffer, second;
    mapping first = buffer.resource.map(fx.stream);
    gr_buffer *const object = first.get();
    mapping mapped(std::move(first));
    EXPECT(!first && !first.get() && mapped.get() == object && buffer.resource.info().mapped);

    /* the assignment ends the previous mapping first */
    mapping other = second.resource.map(fx.stream);
    hpp_fill(other.pointer(), 46);
    other = std::move(mapped);
    EXPECT(!mapped && other.get() == object);
    EXPECT(!second.resource.info().mapped && buffer.resource.info().mapped && second.has(46));
    other = mapping();
    EXPECT(!buffer.resource.info().mapped);
}

static void moving_a_resource_empties_its_source()
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

/* The mapping keeps the registration alive, so the resource may be destroyed first. */
static void a_mapping_may_outlive_its_resource()
{
    hpp_buffer buffer;
    {
        const mapping mapped = buffer.resource.map(fx.stream);
        buffer.resource = resource();
        hpp_fill(mapped.pointer(), 47);
    }
    EXPECT(buffer.has(47));
}

static void a_detached_object_belongs_to_the_caller()
{
    hpp_buffer buffer;
    gr_buffer *const mapped = buffer.resource.map(fx.stream).detach();
    EXPECT(buffer.resource.info().mapped && gr_buffer_size(mapped) == hpp_size);
    EXPECT(gr_buffer_release(mapped) == GR_OK);
    gr_resource *const object = buffer.resource.detach();
    EXPECT(!buffer.resource && !gr_resource_get_info(object)->closed);
    gr_resource_free(object);
}

/* An exception passes through two mappings. OpenGL can use both resources afterwards. */
static void an_exception_releases_mappings()
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

/* The second map throws: the first mapping is released, and the exception is that of the map. */
static void a_map_that_throws_releases_the_earlier_mapping()
{
    const hpp_buffer buffer, taken;
    const mapping holds = taken.resource.map(fx.stream);
    const grinterop::error refused = hpp_thrown([&] {
        const mapping mapped = buffer.resource.map(fx.stream);
        taken.resource.map(fx.stream);
    });
    EXPECT(refused.status == GR_ERR_STATE && buffer.can_be_mapped());
}

/* A destructor may call grinterop during stack unwinding. */
static void a_destructor_may_map_during_unwinding()
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

/*
 * The resource is closed while it is mapped: the pointer is 0, nothing throws, and the destructor
 * succeeds.
 */
static void the_pointer_of_a_closed_resource_is_0()
{
    const hpp_buffer buffer;
    mapping mapped = buffer.resource.map(fx.stream);
    hpp_thrown([] { grinterop::resource(gr_from_gl_buffer(0, 0)); }); /* records an older error */
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

/*
 * The mapping ends on a thread that cannot release it. The OpenGL thread releases it in its next
 * call.
 */
static void a_mapping_destroyed_on_another_thread_is_released_later()
{
    const hpp_buffer buffer;
    mapping mapped = buffer.resource.map(fx.stream);
    hpp_fill(mapped.pointer(), 51);
    std::thread([ends = std::move(mapped)] {}).join();
    EXPECT(!mapped && buffer.resource.map(fx.stream).size() == hpp_size && buffer.has(51));
}

static void map_takes_options()
{
    const hpp_buffer buffer;
    gr_map_options options = GR_INIT(gr_map_options);
    options.access = GR_MAP_WRITE_DISCARD;
    {
        const mapping mapped = buffer.resource.map(GR_STREAM(fx.stream), options);
        hpp_fill(mapped.pointer(), 54);
    }
    EXPECT(buffer.has(54));
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

/*
 * map_many() with a container of resources, and with part of a container. The mappings end
 * independently.
 */
static void mappings_of_a_container_end_independently()
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

static void map_many_maps_all_resources_or_none()
{
    const hpp_buffer first, second;
    const mapping taken = second.resource.map(fx.stream);
    const auto refused = hpp_thrown([&] {
        grinterop::map_many({first.resource, second.resource}, fx.stream);
    });
    EXPECT(refused.status == GR_ERR_STATE && first.can_be_mapped());
}

/* If a release of several mappings throws, the resources that were not released stay mapped. */
static void release_many_that_throws_keeps_the_mappings()
{
    const hpp_buffer first, second;
    std::vector<mapping> mapped = grinterop::map_many({first.resource, second.resource}, fx.stream);
    const auto refused = hpp_thrown([&] { grinterop::release_many(mapped, nullptr); });
    EXPECT(refused.status == GR_ERR_INVALID_VALUE && mapped[0] && mapped[1]);
    EXPECT(first.resource.info().mapped && second.resource.info().mapped);
    mapped.clear();
    EXPECT(first.can_be_mapped() && second.can_be_mapped());
}

/*
 * A release that ends the mapping although it reports GR_ERR_PARTIAL. The mapping must not be
 * released a second time, because its buffer may belong to the next map by then.
 */
static void a_release_that_is_partial_ends_the_mapping()
{
    const GLuint name = gl_buffer_filled(hpp_size, 7);
    for (const bool by_destructor : {false, true}) {
        CUcontext context = nullptr;
        CUstream stream = nullptr;
        grinterop::check(fx.cu->CtxCreate(&context, 0, fx.device), "cuCtxCreate");
        grinterop::check(fx.cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
        const resource own(gr_from_gl_buffer(name, GR_READ_WRITE));
        mapping mapped = own.map(stream);
        grinterop::check(fx.cu->StreamSynchronize(stream), "cuStreamSynchronize");
        grinterop::check(fx.cu->CtxDestroy(context), "cuCtxDestroy");
        grinterop::check(fx.cu->CtxSetCurrent(fx.context), "cuCtxSetCurrent");
        gr_clear_error();
        if (by_destructor) {
            mapped = mapping();
            EXPECT(gr_last_error()->status == GR_ERR_PARTIAL);
        } else {
            EXPECT(hpp_thrown([&] { mapped.release(); }).status == GR_ERR_PARTIAL && !mapped);
        }
        EXPECT(!own.info().mapped);
    }
}

/*
 * Objects that own contexts: created, made current, and destroyed. The contexts of the fixture are
 * unchanged.
 */
static void contexts_are_destroyed_with_their_objects()
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

/* GR_INIT() outside of functions, as a default member initializer, and nested in a call. */
static const gr_map_options everywhere = GR_INIT(gr_map_options);
#if __cplusplus >= 202002L
static const gr_map_options some = GR_INIT(gr_map_options, .offset = 100, .size = 10);
#endif

static std::size_t sum(const gr_map_options &one, const gr_map_options &other)
{
    return one.struct_size + other.struct_size;
}

static void gr_init_works_everywhere()
{
    struct user {
        std::size_t first = 5;
        gr_map_options options = GR_INIT(gr_map_options);
    } of;
    EXPECT(everywhere.struct_size == sizeof(everywhere) && everywhere.size == 0);
    EXPECT(sum(of.options, GR_INIT(gr_map_options)) == 2 * sizeof(everywhere));
#if __cplusplus >= 202002L
    EXPECT(some.struct_size == sizeof(some) && some.offset == 100 && some.size == 10);
    struct from {
        std::size_t first = 5;
        gr_map_options options = GR_INIT(gr_map_options, .offset = first);
    } named;
    const std::size_t local = 6;
    EXPECT(named.options.offset == 5 && GR_INIT(gr_map_options, .size = local).size == 6);
#endif
}

static const hpp_case cases[] = {
    HPP_CASE(a_mapping_writes_the_bytes_of_the_opengl_buffer),
    HPP_CASE(a_span_counts_whole_objects),
    HPP_CASE(release_ends_the_mapping_before_its_scope),
    HPP_CASE(a_release_that_throws_keeps_the_mapping),
    HPP_CASE(moving_a_mapping_empties_its_source),
    HPP_CASE(moving_a_resource_empties_its_source),
    HPP_CASE(a_mapping_may_outlive_its_resource),
    HPP_CASE(a_detached_object_belongs_to_the_caller),
    HPP_CASE(an_exception_releases_mappings),
    HPP_CASE(a_map_that_throws_releases_the_earlier_mapping),
    HPP_CASE(a_destructor_may_map_during_unwinding),
    HPP_CASE(the_pointer_of_a_closed_resource_is_0),
    HPP_CASE(unmap_and_wait),
    HPP_CASE(a_mapping_destroyed_on_another_thread_is_released_later),
    HPP_CASE(map_takes_options),
    HPP_CASE(many_are_mapped_and_released_together),
    HPP_CASE(mappings_of_a_container_end_independently),
    HPP_CASE(map_many_maps_all_resources_or_none),
    HPP_CASE(release_many_that_throws_keeps_the_mappings),
    HPP_CASE(a_release_that_is_partial_ends_the_mapping),
    HPP_CASE(contexts_are_destroyed_with_their_objects),
    HPP_CASE(gr_init_works_everywhere),
};

HPP_PART(mappings)
