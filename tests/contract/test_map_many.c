/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Many resources in one call: each gets its own bytes, and a call that fails maps no resource and
 * writes nothing to `out`. (test_fault.c covers failures of the second driver call.)
 */
#include "tests/support/support.h"

#include <string.h>

#define MOST 1500

static GLuint names[MOST];
static gr_resource *resources[MOST];
static gr_buffer *buffers[MOST];

/* The sizes are all different, most of them odd. */
static size_t size_of(size_t i)
{
    return 1 + i * 37;
}

static void make(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        names[i] = gl_buffer_filled(size_of(i), 0x0F);
        resources[i] = must_register(names[i]);
        buffers[i] = NULL;
    }
}

static int value_of(size_t i)
{
    return (int)(i * 7 + 1);
}

static void check_mapped(size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++) {
        CUdeviceptr pointer = 0;
        size_t size = 0;
        CU(GraphicsResourceGetMappedPointer(&pointer, &size, driver_handle(resources[i])));
        ck_assert_uint_eq(gr_buffer_ptr(buffers[i]), pointer);
        ck_assert_uint_eq(gr_buffer_size(buffers[i]), size_of(i));
        ck_assert_uint_eq(size, size_of(i));
        ck_assert_ptr_eq(gr_buffer_get_info(buffers[i])->stream, stream);
        ck_assert(gr_resource_get_info(resources[i])->mapped);
    }
}

static void go_round(size_t n)
{
    make(n);
    assert_ok(gr_map_many(resources, n, fx.stream, NULL, buffers));
    check_mapped(n, fx.stream);
    for (size_t i = 0; i < n; i++)
        cuda_fill(buffers[i], value_of(i));
    assert_ok(gr_buffer_release_many(buffers, n, GR_STREAM_OF_MAP, NULL));
    for (size_t i = 0; i < n; i++) {
        assert_not_mapped(resources[i]);
        assert_gl_bytes(names[i], size_of(i), value_of(i));
    }
    free_resources(resources, n);
}

GROUP("counts", add_case)

TEST(each_count_of_resources_is_mapped, 4)
{
    static const size_t counts[] = {1, 2, 32, MOST};
    go_round(counts[_i]);
}

TEST(a_batch_can_be_mapped_repeatedly)
{
    enum { COUNT = 300 };
    make(COUNT);
    for (int frame = 0; frame < 5; frame++) {
        assert_ok(gr_map_many(resources, COUNT, fx.stream, NULL, buffers));
        check_mapped(COUNT, fx.stream);
        for (size_t i = 0; i < COUNT; i++)
            cuda_fill(buffers[i], value_of(i) + frame);
        assert_ok(gr_buffer_release_many(buffers, COUNT, fx.stream, NULL));
    }
    for (size_t i = 0; i < COUNT; i++)
        assert_gl_bytes(names[i], size_of(i), value_of(i) + 4);
    free_resources(resources, COUNT);
}

TEST(each_buffer_has_the_bytes_that_gl_wrote)
{
    enum { COUNT = 40 };
    make(COUNT);
    unsigned char bytes[1 + COUNT * 37];
    for (size_t i = 0; i < COUNT; i++) {
        pattern_fill(bytes, size_of(i), (unsigned)i);
        gl_write(names[i], bytes, size_of(i));
    }
    assert_ok(gr_map_many(resources, COUNT, fx.stream, NULL, buffers));
    for (size_t i = 0; i < COUNT; i++) {
        memset(bytes, 0xEE, sizeof(bytes));
        cuda_read(bytes, gr_buffer_ptr(buffers[i]), size_of(i), fx.stream);
        assert_pattern(bytes, size_of(i), (unsigned)i);
    }
    assert_ok(gr_buffer_release_many(buffers, COUNT, fx.stream, NULL));
    free_resources(resources, COUNT);
}

GROUP("all or nothing", add_case)

enum { BATCH = 5 };

static gr_buffer *const untouched = (gr_buffer *)&names;

/*
 * Calls gr_map_many() after make(BATCH), with `bad` in place of the first, the middle and the last
 * resource. Each call must fail. The other resources are unchanged and can be mapped afterwards.
 */
static void assert_nothing_mapped(gr_resource *bad, gr_status status, const char *text)
{
    static const size_t positions[] = {0, BATCH / 2, BATCH - 1};
    for (size_t p = 0; p < 3; p++) {
        gr_resource *list[BATCH];
        memcpy(list, resources, sizeof(list));
        list[positions[p]] = bad;
        for (size_t i = 0; i < BATCH; i++)
            buffers[i] = untouched;
        assert_fails(gr_map_many(list, BATCH, fx.stream, NULL, buffers), status, 0, text);
        for (size_t i = 0; i < BATCH; i++) {
            ck_assert_ptr_eq(buffers[i], untouched);
            assert_not_mapped(resources[i]);
        }
    }
    assert_ok(gr_map_many(resources, BATCH, fx.stream, NULL, buffers));
    check_mapped(BATCH, fx.stream);
    assert_ok(gr_buffer_release_many(buffers, BATCH, fx.stream, NULL));
    free_resources(resources, BATCH);
}

TEST(an_invalid_entry_in_the_batch_prevents_all_maps)
{
    make(BATCH);
    assert_nothing_mapped(NULL, GR_ERR_INVALID_VALUE, "NULL");
    make(BATCH);
    assert_nothing_mapped(resources[1], GR_ERR_INVALID_VALUE, "twice");
    make(BATCH);
    GR_AUTO(gr_resource) *other = must_register(names[0]);
    assert_ok(gr_resource_close(other, fx.stream));
    assert_nothing_mapped(other, GR_ERR_STATE, "closed");
    assert_invalid(gr_map_many(resources, 0, fx.stream, NULL, buffers), "n is 0");
}

TEST(a_mapped_resource_in_the_batch_prevents_all_maps)
{
    make(BATCH);
    GR_AUTO(gr_resource) *other = must_register(gl_buffer_filled(64, 0));
    GR_AUTO(gr_buffer) *buffer = must_make(gr_map(other, fx.other));
    assert_nothing_mapped(other, GR_ERR_STATE, "already mapped");
    ck_assert_uint_eq(gr_buffer_size(buffer), 64);
}

TEST(a_deleted_buffer_in_the_batch_prevents_all_maps)
{
    make(BATCH);
    GLuint name = gl_buffer_filled(64, 0);
    GR_AUTO(gr_resource) *gone = must_register(name);
    glDeleteBuffers(1, &name);
    assert_nothing_mapped(gone, GR_ERR_STATE, "deleted");
}

TEST(a_resource_of_another_cuda_context_prevents_all_maps)
{
    make(BATCH);
    CUcontext second = new_context(NULL);
    gr_resource *foreign = must_register(gl_buffer_filled(64, 0));
    CU(CtxSetCurrent(fx.context));
    assert_nothing_mapped(foreign, GR_ERR_INVALID_VALUE, "different CUDA contexts");
    ck_assert(!gr_resource_get_info(foreign)->mapped);
    gr_resource_free(foreign);
    CU(CtxDestroy(second));
}

TEST(a_resource_of_another_gl_context_prevents_all_maps)
{
    make(BATCH);
    gr_egl *second = must_make(gr_egl_create(NULL));
    gr_resource *foreign = must_register(gl_buffer_filled(64, 0));
    assert_ok(gr_egl_make_current(fx.egl));
    assert_nothing_mapped(foreign, GR_ERR_GL, "another context");
    ck_assert(!gr_resource_get_info(foreign)->mapped);
    assert_ok(gr_egl_make_current(second));
    gr_resource_free(foreign);
    gr_egl_free(second);
    assert_ok(gr_egl_make_current(fx.egl));
}

/* Maps and releases the batch. Later calls with it only check what may have changed. */
static void map_as_group(void)
{
    assert_ok(gr_map_many(resources, BATCH, fx.stream, NULL, buffers));
    check_mapped(BATCH, fx.stream);
    assert_ok(gr_buffer_release_many(buffers, BATCH, fx.stream, NULL));
}

TEST(a_batch_is_checked_again_when_it_is_mapped_again)
{
    make(BATCH);
    map_as_group();
    gr_resource *list[BATCH + 1];
    memcpy(list, resources, sizeof(resources[0]) * BATCH);
    list[BATCH] = NULL;
    assert_invalid(gr_map_many(list, BATCH + 1, fx.stream, NULL, buffers), "NULL");
    list[BATCH] = resources[BATCH - 1];
    assert_invalid(gr_map_many(list, BATCH + 1, fx.stream, NULL, buffers), "listed twice");
    list[BATCH] = resources[0];
    assert_invalid(gr_map_many(list, BATCH + 1, fx.stream, NULL, buffers), "listed twice");
    gr_buffer *one = must_make(gr_map(resources[2], fx.stream));
    assert_fails(gr_map_many(resources, BATCH, fx.stream, NULL, buffers), GR_ERR_STATE, 0,
                 "already mapped");
    assert_ok(gr_buffer_release(one));
    map_as_group();
    assert_ok(gr_resource_close(resources[2], fx.stream));
    assert_fails(gr_map_many(resources, BATCH, fx.stream, NULL, buffers), GR_ERR_STATE, 0,
                 "closed");
    gr_resource_free(resources[2]);
    resources[2] = must_register(names[2]);
    map_as_group();
    gr_resource_free(resources[2]);
    assert_invalid(gr_map_many(resources, BATCH, fx.stream, NULL, buffers), "not a live resource");
    resources[2] = must_register(names[2]);
    map_as_group();
    free_resources(resources, BATCH);
}

GROUP("release", add_case)

TEST(a_batch_can_be_released_in_parts_and_in_any_order)
{
    make(6);
    assert_ok(gr_map_many(resources, 6, fx.stream, NULL, buffers));
    for (size_t i = 0; i < 6; i++)
        cuda_fill(buffers[i], value_of(i));
    gr_buffer *list[3] = {buffers[5], buffers[0], buffers[1]};
    assert_ok(gr_buffer_release_many(list, 3, fx.stream, NULL));
    assert_ok(gr_buffer_release(buffers[3]));
    gr_resource_free(resources[3]);
    gr_buffer *rest[3] = {buffers[2], buffers[3], buffers[4]};
    assert_fails(gr_buffer_release_many(rest, 3, fx.stream, NULL), GR_ERR_PARTIAL, 0,
                 "not a live buffer");
    resources[3] = must_register(names[3]);
    for (size_t i = 0; i < 6; i++) {
        assert_not_mapped(resources[i]);
        assert_gl_bytes(names[i], size_of(i), value_of(i));
    }
    free_resources(resources, 6);
}

TEST(gr_stream_of_map_releases_each_buffer_on_its_own_stream)
{
    enum { COUNT = 12 };
    make(COUNT);
    gate_open_after(gate_put(fx.other), 20);
    gate_open_after(gate_put(fx.stream), 150);
    for (size_t i = 0; i < COUNT; i++) {
        CUstream stream = i % 3 ? fx.stream : fx.other;
        buffers[i] = must_make(gr_map(resources[i], stream));
        cuda_fill(buffers[i], value_of(i));
    }
    assert_ok(gr_buffer_release_many(buffers, COUNT, GR_STREAM_OF_MAP, NULL));
    for (size_t i = 0; i < COUNT; i++) {
        assert_not_mapped(resources[i]);
        assert_gl_bytes(names[i], size_of(i), value_of(i));
    }
    free_resources(resources, COUNT);
}

TEST(release_many_is_ordered_after_the_work_that_its_stream_waits_for)
{
    enum { COUNT = 12 };
    make(COUNT);
    CUevent written = NULL;
    CU(EventCreate(&written, CU_EVENT_DISABLE_TIMING));
    assert_ok(gr_map_many(resources, COUNT, fx.stream, NULL, buffers));
    gate_open_after(gate_put(fx.stream), 50);
    for (size_t i = 0; i < COUNT; i++)
        cuda_fill(buffers[i], value_of(i));
    CU(EventRecord(written, fx.stream));
    CU(StreamWaitEvent(fx.other, written, 0));
    assert_ok(gr_buffer_release_many(buffers, COUNT, fx.other, NULL));
    for (size_t i = 0; i < COUNT; i++)
        assert_gl_bytes(names[i], size_of(i), value_of(i));
    CU(EventDestroy(written));
    free_resources(resources, COUNT);
}

TEST(release_many_skips_null_entries)
{
    make(4);
    gr_buffer *list[7] = {NULL};
    for (size_t i = 0; i < 4; i++) {
        list[i + (i > 1) + (i > 2)] = gr_map(resources[i], fx.stream);
        cuda_fill(list[i + (i > 1) + (i > 2)], value_of(i));
    }
    assert_ok(gr_buffer_release_many(list, 7, fx.stream, NULL));
    for (size_t i = 0; i < 4; i++) {
        assert_not_mapped(resources[i]);
        assert_gl_bytes(names[i], size_of(i), value_of(i));
    }
    gr_buffer *nothing[3] = {NULL};
    assert_ok(gr_buffer_release_many(nothing, 3, fx.stream, NULL));
    free_resources(resources, 4);
}

TEST(release_many_releases_buffers_whose_mapping_has_ended)
{
    make(4);
    assert_ok(gr_map_many(resources, 4, fx.stream, NULL, buffers));
    for (size_t i = 0; i < 4; i++)
        cuda_fill(buffers[i], value_of(i));
    assert_ok(gr_resource_unmap(resources[1], GR_STREAM_OF_MAP));
    assert_ok(gr_resource_close(resources[2], GR_STREAM_OF_MAP));
    assert_ok(gr_buffer_release_many(buffers, 4, GR_STREAM_OF_MAP, NULL));
    for (size_t i = 0; i < 4; i++) {
        ck_assert(!gr_resource_get_info(resources[i])->mapped);
        assert_gl_bytes(names[i], size_of(i), value_of(i));
    }
    free_resources(resources, 4);
}

TEST(a_released_buffer_in_the_list_does_not_prevent_the_other_releases)
{
    make(4);
    assert_ok(gr_map_many(resources, 4, fx.stream, NULL, buffers));
    gr_buffer *released = buffers[1];
    assert_ok(gr_buffer_release(released));
    assert_fails(gr_buffer_release_many(buffers, 4, fx.stream, NULL), GR_ERR_PARTIAL, 0,
                 "released already");
    for (size_t i = 0; i < 4; i++) {
        assert_not_mapped(resources[i]);
        ck_assert_ptr_eq(buffers[i], i == 1 ? released : NULL);
    }
    free_resources(resources, 4);
}

/* One driver call could release buffers 0 and 1, but not buffer 2, whose stream differs. */
TEST(a_buffer_that_is_listed_twice_is_refused, 3)
{
    static const int lists[][4] = {{0, 0, -1, -1}, {0, 1, 0, -1}, {0, 2, 0, -1},
                                   {0, -1, 0, 2},  {2, 1, 1, 0},  {0, 1, 2, 2}};
    const CUstream stream = _i == 0 ? fx.stream : GR_STREAM_OF_MAP;
    CUevent event;
    CU(EventCreate(&event, 0));
    const gr_release_options options = GR_INIT(gr_release_options, .wait_event = event);
    make(3);
    assert_ok(gr_map_many(resources, 2, fx.stream, NULL, buffers));
    buffers[2] = must_map_on(resources[2], fx.other);
    for (size_t k = 0; k < sizeof(lists) / sizeof(*lists); k++) {
        gr_buffer *list[4], *before[4];
        for (int i = 0; i < 4; i++)
            before[i] = list[i] = lists[k][i] < 0 ? NULL : buffers[lists[k][i]];
        assert_invalid(gr_buffer_release_many(list, 4, stream, _i == 2 ? &options : NULL),
                       "listed twice");
        ck_assert_mem_eq(list, before, sizeof(list));
        for (int i = 0; i < 3; i++)
            ck_assert_uint_ne(gr_buffer_ptr(buffers[i]), 0);
    }
    /* The same for a buffer whose mapping has ended. */
    assert_ok(gr_resource_unmap(resources[0], fx.stream));
    gr_buffer *ended[] = {buffers[0], buffers[0]};
    assert_invalid(gr_buffer_release_many(ended, 2, stream, NULL), "listed twice");
    assert_ok(gr_buffer_release_many(buffers, 3, GR_STREAM_OF_MAP, NULL));
    CU(EventDestroy(event));
    free_resources(resources, 3);
}

TEST(release_many_ends_the_registrations_of_freed_resources)
{
    enum { COUNT = 10 };
    make(COUNT);
    void *handles[COUNT];
    assert_ok(gr_map_many(resources, COUNT, fx.stream, NULL, buffers));
    for (size_t i = 0; i < COUNT; i++) {
        handles[i] = driver_handle(resources[i]);
        gr_resource_free(resources[i]);
        cuda_fill(buffers[i], value_of(i));
    }
    assert_ok(gr_buffer_release_many(buffers, COUNT, fx.stream, NULL));
    for (size_t i = 0; i < COUNT; i++) {
        assert_unregistered(handles[i]);
        assert_gl_bytes(names[i], size_of(i), value_of(i));
    }
}
