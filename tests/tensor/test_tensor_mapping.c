/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tensors of mappings: their properties, the bytes that they refer to, and the calls that revoke
 * them.
 */
#define _POSIX_C_SOURCE 200809L
#include "mapping.h"
#include "tests/support/support_image.h"

#include <dlpack/dlpack.h>
#include <stdlib.h>
#include <string.h>

GROUP("some kinds", add_kinds_case)

SOME_KINDS_TEST(a_tensor_of_a_mapping_refers_to_the_buffers_bytes, 1)
{
    struct thing *thing = some_thing(_i);
    gr_buffer *buffer = thing_map(thing);
    gr_tensor *tensor = must_tensor(buffer), *source = pinned_pattern(1);
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    ck_assert_uint_eq(info->ptr, gr_buffer_ptr(buffer));
    ck_assert_ptr_null(info->data);
    ck_assert_int_eq(info->dtype, GR_DTYPE_U8);
    ck_assert_uint_eq(info->ndim, 1);
    ck_assert_int_eq(info->shape[0], SIZE);
    ck_assert_int_eq(info->memory, GR_MEMORY_DEVICE);
    ck_assert_int_eq(info->device, fx.device);
    ck_assert(info->compact && !info->read_only && !info->revoked);
    assert_ok(gr_tensor_copy(tensor, source, fx.stream));
    gr_tensor_free(tensor);
    must_release(buffer);
    assert_thing(thing, 1);
    gr_tensor_free(source);
}

/* On two devices the memory can be that of the device that draws. */
SOME_KINDS_TEST(an_import_of_a_mapping_has_the_device_that_computes, 2)
{
    struct thing *thing = some_thing(_i);
    gr_buffer *buffer = thing_map(thing);
    gr_tensor *tensor = must_tensor(buffer), *source = pinned_pattern(3);
    static int64_t shape[] = {SIZE};
    static DLManagedTensorVersioned foreign; /* after a failed check it ends later */
    foreign =
        (DLManagedTensorVersioned){.version = {1, 0},
                                   .dl_tensor = {.data = (void *)(uintptr_t)gr_buffer_ptr(buffer),
                                                 .device = {kDLCUDA, fx.device},
                                                 .ndim = 1,
                                                 .dtype = {kDLUInt, 8, 1},
                                                 .shape = shape}};
    void *export = _i / SOME_KINDS
                       ? must_make(gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, fx.other))
                       : &foreign;
    gr_tensor *import = must_make(gr_tensor_from_dlpack(export, GR_DLPACK_VERSIONED, fx.other));
    ck_assert_int_eq(gr_tensor_get_info(import)->device, fx.device);
    assert_ok(gr_tensor_copy(import, source, fx.other));
    CU(StreamSynchronize(fx.other));
    gr_tensor_free(import);
    gr_tensor_free(tensor);
    must_release(buffer);
    assert_thing(thing, 3);
    gr_tensor_free(source);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
}

GROUP("what they are", add_resource_case)

TEST(a_tensor_can_describe_part_of_a_mapping)
{
    gr_buffer *buffer = must_map(fx.resource);
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2, .shape = (const int64_t[]){10, 3},
                .strides = (const int64_t[]){-16, 4}, .offset = 4096 - 12);
    gr_tensor *tensor = must_make(gr_buffer_tensor(buffer, &desc));
    ck_assert_uint_eq(gr_tensor_get_info(tensor)->ptr, gr_buffer_ptr(buffer) + 4096 - 12);
    gr_tensor_free(tensor);
    desc.offset++;
    assert_null_invalid(gr_buffer_tensor(buffer, &desc),
                        "does not fit in the buffer, which has 4096");
    desc.offset = 143;
    assert_null_invalid(gr_buffer_tensor(buffer, &desc), "spans 144 bytes before it");
    desc.offset = SIZE_MAX;
    assert_null_invalid(gr_buffer_tensor(buffer, &desc), "does not fit");
    desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .memory = GR_MEMORY_HOST);
    assert_null_invalid(gr_buffer_tensor(buffer, &desc), "leave it 0");
    assert_ok(gr_buffer_release(buffer));
    assert_null_invalid(gr_buffer_tensor(buffer, NULL), "released already");
}

TEST(an_unmapped_buffer_cannot_get_a_tensor)
{
    gr_buffer *buffer = must_map(fx.resource);
    assert_ok(gr_resource_unmap(fx.resource, GR_STREAM_OF_MAP));
    assert_null(gr_buffer_tensor(buffer, NULL), GR_ERR_STATE, 0, "has ended");
    assert_ok(gr_buffer_release(buffer));
}

TEST(a_read_only_resource_has_read_only_tensors)
{
    GR_AUTO(gr_resource) *resource = must_register_as(gl_buffer_filled(SIZE, 1), GR_READ_ONLY);
    gr_buffer *buffer = must_map(resource);
    gr_tensor *tensor = must_tensor(buffer), *source = pinned_pattern(2);
    ck_assert(gr_tensor_get_info(tensor)->read_only);
    assert_fails(gr_tensor_copy(tensor, source, fx.stream), GR_ERR_STATE, 0, "read-only");
    assert_ok(gr_tensor_copy(source, tensor, fx.stream));
    CU(StreamSynchronize(fx.stream));
    assert_bytes(gr_tensor_get_info(source)->data, SIZE, 1);
    gr_tensor_free(tensor);
    gr_tensor_free(source);
    assert_ok(gr_buffer_release(buffer));
}

GROUP("images", add_image_case)

static const struct {
    const char *format, *target;
    gr_dtype dtype;
    unsigned ndim;
    int64_t shape[4], inner[2];
} images[] = {{"RGBA8", "2D", GR_DTYPE_U8, 3, {7, 13, 4}, {4, 1}},
              {"RG16F", "2D", GR_DTYPE_F16, 3, {7, 13, 2}, {4, 2}},
              {"R32F", "2D", GR_DTYPE_F32, 3, {7, 13, 1}, {4, 4}},
              {"RGBA16", "3D", GR_DTYPE_U16, 4, {5, 7, 13, 4}, {8, 2}},
              {"RGBA32I", "2D", GR_DTYPE_I32, 3, {7, 13, 4}, {16, 4}}};
enum { IMAGES = sizeof(images) / sizeof(images[0]) };

TEST(the_tensor_of_a_linear_image_has_rows_of_texels, IMAGES)
{
    static unsigned char texels[IMAGE_MOST_BYTES];
    struct image image = image_make(images[_i].format, images[_i].target, 13, 7, 1);
    size_t bytes = image_bytes(&image, 0);
    image_fill(&image, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    gr_buffer *buffer = must_make(gr_map_linear(resource, 0, 0, fx.stream));
    gr_tensor *tensor = must_tensor(buffer);
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    unsigned ndim = images[_i].ndim;
    ck_assert_int_eq(info->dtype, images[_i].dtype);
    ck_assert_uint_eq(info->ndim, ndim);
    ck_assert_mem_eq(info->shape, images[_i].shape, ndim * sizeof(int64_t));
    ck_assert_mem_eq(info->strides + ndim - 2, images[_i].inner, 2 * sizeof(int64_t));
    ck_assert_int_eq(info->strides[ndim - 3], (int64_t)gr_buffer_get_info(buffer)->pitch);
    ck_assert_uint_eq(info->bytes, bytes);
    unsigned char *read = must_read(tensor, fx.stream);
    image_pattern(image.format, texels, bytes, image_seed(1, 0, 0));
    ck_assert_mem_eq(read, texels, bytes);
    free(read);
    image_pattern(image.format, texels, bytes, image_seed(2, 0, 0));
    assert_ok(gr_tensor_copy_from_host(tensor, texels, bytes, fx.stream));
    gr_tensor_free(tensor);
    assert_ok(gr_buffer_release(buffer));
    assert_no_difference(image_level_differs(&image, 0, 0, 2));
    image_delete(&image);
}

TEST(the_tensor_of_each_mipmap_level_has_its_size)
{
    struct image image = image_make("RGBA8", "2D", 13, 7, 2);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    gr_buffer *buffer = must_make(gr_map_linear(resource, 1, 0, fx.stream));
    GR_AUTO(gr_tensor) *tensor = must_tensor(buffer);
    ck_assert_mem_eq(gr_tensor_get_info(tensor)->shape, ((const int64_t[]){3, 6, 4}),
                     3 * sizeof(int64_t));
    assert_ok(gr_buffer_release(buffer));
    ck_assert(gr_tensor_get_info(tensor)->revoked);
    buffer = must_map_image(resource);
    assert_null(gr_buffer_tensor(buffer, NULL), GR_ERR_STATE, 0, "gr_map_linear()");
    assert_ok(gr_buffer_release(buffer));
    image_delete(&image);
}

GROUP("some kinds", add_kinds_case)

/* Ends the mapping by gr_buffer_release(), gr_buffer_release_many(), an unmap or a close. */
static void end_mapping(int way, gr_resource *resource, gr_buffer *buffer)
{
    if (way == 0)
        assert_ok(gr_buffer_release(buffer));
    else if (way == 1)
        assert_ok(gr_buffer_release_many(&buffer, 1, fx.stream, NULL));
    else if (way == 2)
        assert_ok(gr_resource_unmap(resource, fx.stream));
    else
        assert_ok(gr_resource_close(resource, fx.stream));
    if (way >= 2)
        assert_ok(gr_buffer_release(buffer));
}

SOME_KINDS_TEST(each_way_to_end_a_mapping_revokes_its_tensors, 4)
{
    const int way = _i / SOME_KINDS;
    struct thing *thing = some_thing(_i);
    gr_buffer *buffer = thing_map(thing);
    gr_tensor *tensor = must_tensor(buffer), *view = must_view(tensor);
    gr_tensor *source = pinned_pattern(3), *gone = must_view(tensor);
    assert_ok(gr_tensor_copy(tensor, source, fx.stream));
    gr_tensor_free(gone);
    log_begin(GR_LOG_WARNING);
    end_mapping(way, thing->resource, buffer);
    log_end();
    ck_assert_msg(strstr(log_text(), "2 tensors still referred to the mapping") &&
                      strstr(log_text(), "4096 bytes"),
                  "%s", log_text());
    assert_revoked(tensor);
    assert_revoked(view);
    assert_fails(gr_tensor_copy(source, tensor, fx.stream), GR_ERR_STATE, 0, "ended");
    assert_thing(thing, 3);
    if (way < 3) {
        buffer = thing_map(thing);
        gr_tensor *next = must_tensor(buffer);
        gr_tensor_free(tensor);
        ck_assert(!gr_tensor_get_info(next)->revoked);
        gr_tensor_free(next);
        assert_ok(gr_buffer_release(buffer));
    } else {
        gr_tensor_free(tensor);
    }
    gr_tensor_free(view);
    gr_tensor_free(source);
}

GROUP("what they are", add_resource_case)

TEST(ending_a_mapping_without_tensors_logs_nothing)
{
    log_begin(GR_LOG_WARNING);
    gr_buffer *buffer = must_map(fx.resource);
    gr_tensor_free(must_tensor(buffer));
    assert_ok(gr_buffer_release(buffer));
    log_end();
    ck_assert_str_eq(log_text(), "");
}

GROUP("some kinds", add_kinds_case)

/*
 * The release waits for another stream's writes to a tensor, whether or not the tensor was freed
 * first.
 */
SOME_KINDS_TEST(a_release_waits_for_pending_writes_to_its_tensors, 4)
{
    const bool frees = _i / SOME_KINDS % 2, many = _i / SOME_KINDS / 2;
    struct thing *thing = some_thing(_i);
    gr_tensor *source = pinned_pattern(4);
    CU(StreamSynchronize(fx.stream));
    gr_buffer *buffer = thing_map(thing);
    gr_tensor *tensor = must_tensor(buffer);
    CU(StreamSynchronize(fx.stream));
    struct gate *gate = gate_put(fx.other);
    assert_ok(gr_tensor_copy(tensor, source, fx.other));
    if (frees)
        gr_tensor_free(tensor);
    gate_open_after(gate, 40);
    if (many)
        assert_ok(gr_buffer_release_many(&buffer, 1, fx.stream, NULL));
    else
        assert_ok(gr_buffer_release(buffer));
    CU(StreamSynchronize(fx.stream));
    ck_assert(gate_is_open(gate));
    assert_thing(thing, 4);
    if (!frees)
        gr_tensor_free(tensor);
    gr_tensor_free(source);
}

/*
 * The release also waits for work that grinterop did not submit, if it was reported with
 * gr_tensor_used_on().
 */
SOME_KINDS_TEST(a_release_waits_for_work_reported_by_the_program, 1)
{
    struct thing *thing = some_thing(_i);
    gr_buffer *buffer = thing_map(thing);
    gr_tensor *tensor = must_tensor(buffer);
    CU(StreamSynchronize(fx.stream));
    struct gate *gate = gate_put(fx.other);
    thing_cuda_write_on(thing, buffer, 5, fx.other);
    assert_ok(gr_tensor_used_on(tensor, fx.other));
    elsewhere(free_tensor, tensor);
    gate_open_after(gate, 40);
    assert_ok(gr_buffer_release(buffer));
    CU(StreamSynchronize(fx.stream));
    ck_assert(gate_is_open(gate));
    assert_thing(thing, 5);
}

GROUP("what they are", add_resource_case)

/* The next mapping does not wait for the streams of the previous one. */
TEST(a_mapping_does_not_wait_for_streams_of_the_previous_one)
{
    gr_buffer *buffer = must_map(fx.resource);
    gr_tensor *tensor = must_tensor(buffer);
    assert_ok(gr_tensor_used_on(tensor, fx.other));
    gr_tensor_free(tensor);
    assert_ok(gr_buffer_release(buffer));
    buffer = must_map(fx.resource);
    CU(StreamSynchronize(fx.other));
    struct gate *gate = gate_put(fx.other);
    assert_ok(gr_buffer_release(buffer));
    CU(StreamSynchronize(fx.stream));
    ck_assert(!gate_is_open(gate));
    gate_open(gate);
}

GROUP("some kinds", add_kinds_case)

/* After a deferred release, each of the buffers that serve in turn outlives its tensors. */
static void assert_outlives_tensors(struct thing *thing)
{
    for (int turn = 0; turn < 8; turn++) {
        gr_buffer *buffer = thing_map(thing);
        gr_tensor_free(must_tensor(buffer));
        assert_ok(gr_buffer_release(buffer));
    }
}

SOME_KINDS_TEST(gr_buffer_release_later_waits_for_the_tensors, 1)
{
    struct thing *thing = some_thing(_i);
    gr_buffer *buffer = thing_map(thing);
    gr_tensor *tensor = must_tensor(buffer), *view = must_view(tensor);
    gr_tensor *source = pinned_pattern(6);
    elsewhere(release_elsewhere, buffer);
    gr_tensor_free(view);
    ck_assert(!gr_tensor_get_info(tensor)->revoked);
    assert_ok(gr_tensor_copy(tensor, source, fx.stream));
    ck_assert(gr_resource_get_info(thing->resource)->mapped);
    assert_null(gr_map(thing->resource, fx.stream), GR_ERR_STATE, 0,
                "1 tensor or export still holds the resource's mapping");
    assert_invalid(gr_buffer_release(buffer), "released already");
    assert_null_invalid(gr_buffer_tensor(buffer, NULL), "released already");
    elsewhere(free_tensor, tensor);
    ck_assert(gr_resource_get_info(thing->resource)->mapped);
    buffer = thing_map(thing);
    assert_thing_in_cuda(thing, buffer, 6);
    assert_ok(gr_buffer_release(buffer));
    assert_thing(thing, 6);
    assert_outlives_tensors(thing);
    gr_tensor_free(source);
}

/* A thread that frees the last tensor. stop_there() stops it when the release is deferred. */
static struct letting_go {
    gr_tensor *tensor;
    pthread_barrier_t stopped, go_on;
} letting_go;

static void stop_there(void *user, gr_log_level level, const char *line)
{
    (void)user;
    (void)level;
    if (!strstr(line, "the release is deferred"))
        return;
    pthread_barrier_wait(&letting_go.stopped);
    pthread_barrier_wait(&letting_go.go_on);
}

/* Catches: for a moment neither a tensor nor the list of deferred frees owned the buffer. */
SOME_KINDS_TEST(a_mapping_stays_owned_while_its_last_tensor_is_freed, 1)
{
    pthread_t thread;
    struct thing *thing = some_thing(_i);
    gr_buffer *buffer = thing_map(thing);
    letting_go.tensor = must_tensor(buffer);
    gr_buffer_release_later(buffer);
    pthread_barrier_init(&letting_go.stopped, NULL, 2);
    pthread_barrier_init(&letting_go.go_on, NULL, 2);
    gr_log_add(GR_LOG_INFO, stop_there, NULL);
    pthread_create(&thread, NULL, free_tensor, letting_go.tensor);
    pthread_barrier_wait(&letting_go.stopped);
    gr_log_add(GR_LOG_NONE, stop_there, NULL);
    if (thing->buffer)
        assert_ok(gr_buffer_release(thing_map(thing)));
    else
        assert_null(gr_map(thing->resource, fx.stream), GR_ERR_STATE, 0,
                    "1 tensor or export still holds");
    pthread_barrier_wait(&letting_go.go_on);
    pthread_join(thread, NULL);
    assert_ok(gr_buffer_release(thing_map(thing)));
}

SOME_KINDS_TEST(the_program_can_end_a_mapping_after_gr_buffer_release_later, 2)
{
    struct thing *thing = some_thing(_i);
    gr_buffer *buffer = thing_map(thing);
    GR_AUTO(gr_tensor) *tensor = must_tensor(buffer);
    thing_cuda_write(thing, buffer, 7);
    gr_buffer_release_later(buffer);
    if (_i / SOME_KINDS)
        assert_ok(gr_resource_close(thing->resource, GR_STREAM_OF_MAP));
    else
        assert_ok(gr_resource_unmap(thing->resource, GR_STREAM_OF_MAP));
    assert_revoked(tensor);
    if (!(_i / SOME_KINDS)) {
        assert_thing(thing, 7);
        assert_outlives_tensors(thing);
        thing_fill(thing, 8);
        assert_thing(thing, 8);
    }
}

START(resource_case_buffer(SIZE, 1))
