/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tensors as fields of the CUDA array interface, and when their bytes are ready. */
#include "tests/support/support.h"

#include <string.h>

#include <grinterop/tensor.h>

#define SIZE    4096
#define LATE_MS 60

static gr_tensor *must_alloc_on(gr_memory memory, CUstream stream)
{
    return must_make(
        gr_tensor_create(&GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U16, .ndim = 3,
                                  .shape = (int64_t[]){16, SIZE / 16 / 4, 2}, .memory = memory),
                         stream));
}

static void settle(void)
{
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
}

static TCase *add_array_interface_case(Suite *suite, const char *name)
{
    return with_fixture(add_resource_case(suite, name), NULL, settle);
}

GROUP("array interface", add_array_interface_case)

TEST(interface_fields_match_the_tensor)
{
    GR_AUTO(gr_tensor) *tensor = must_alloc_on(GR_MEMORY_DEVICE, fx.stream);
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    const gr_array_interface *array = must_make(gr_tensor_array_interface(tensor, fx.stream));
    ck_assert_uint_eq(array->data, info->ptr);
    ck_assert(!array->read_only);
    ck_assert_str_eq(array->typestr, "<u2");
    ck_assert_uint_eq(array->ndim, 3);
    ck_assert_int_eq(array->shape[0], 16);
    ck_assert_int_eq(array->shape[1], SIZE / 16 / 4);
    ck_assert_int_eq(array->shape[2], 2);
    ck_assert_ptr_null(array->strides);
    ck_assert_ptr_null(array->stream);
    ck_assert_uint_eq(array->version, 3);
}

TEST(the_interface_of_a_strided_view_has_its_strides)
{
    GR_AUTO(gr_tensor) *tensor = must_alloc_on(GR_MEMORY_DEVICE, fx.stream);
    GR_AUTO(gr_tensor) *view = must_make(
        gr_tensor_view(tensor, &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2,
                                        .shape = (int64_t[]){7, 5}, .strides = (int64_t[]){-64, 4},
                                        .offset = 6 * 64, .read_only = true)));
    const gr_array_interface *array = must_make(gr_tensor_array_interface(view, GR_STREAM_NONE));
    ck_assert_uint_eq(array->data, gr_tensor_get_info(tensor)->ptr + 6 * 64);
    ck_assert(array->read_only);
    ck_assert_str_eq(array->typestr, "<f4");
    ck_assert_ptr_nonnull(array->strides);
    ck_assert_int_eq(array->strides[0], -64);
    ck_assert_int_eq(array->strides[1], 4);
}

TEST(a_tensor_without_elements_has_address_0)
{
    GR_AUTO(gr_tensor) *tensor = must_make(gr_tensor_create(
        &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = (int64_t[]){0}),
        fx.stream));
    const gr_array_interface *array = must_make(gr_tensor_array_interface(tensor, fx.stream));
    ck_assert_uint_eq(array->data, 0);
    ck_assert_int_eq(array->shape[0], 0);
}

/*
 * Without a consumer's stream, the field `stream` is the tensor's own stream. The value 0 is never
 * used.
 */
TEST(the_interface_names_the_stream_to_wait_for)
{
    CUstream streams[] = {fx.stream, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    for (size_t i = 0; i < 3; i++) {
        GR_AUTO(gr_tensor) *tensor = must_alloc_on(GR_MEMORY_DEVICE, streams[i]);
        const gr_array_interface *array =
            must_make(gr_tensor_array_interface(tensor, GR_STREAM_NONE));
        ck_assert_ptr_eq(array->stream, streams[i]);
        array = must_make(gr_tensor_array_interface(tensor, fx.other));
        ck_assert_ptr_null(array->stream);
    }
}

/* Fills the tensor late on fx.other, and reports that stream with gr_tensor_used_on(). */
static void fill_late(gr_tensor *tensor, int value)
{
    gate_open_after(gate_put(fx.other), LATE_MS);
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, (unsigned char)value, SIZE, fx.other));
    assert_ok(gr_tensor_used_on(tensor, fx.other));
}

static void expect_on(CUstream stream, const gr_array_interface *array, int value)
{
    unsigned char bytes[SIZE];
    cuda_read(bytes, array->data, SIZE, stream);
    assert_bytes(bytes, SIZE, value);
}

TEST(the_named_stream_waits_for_all_reported_writes)
{
    gr_tensor *tensor = must_alloc_on(GR_MEMORY_DEVICE, fx.stream);
    fill_late(tensor, 1);
    const gr_array_interface *array = must_make(gr_tensor_array_interface(tensor, GR_STREAM_NONE));
    expect_on(array->stream, array, 1);
    fill_late(tensor, 2);
    CUstream third;
    CU(StreamCreate(&third, CU_STREAM_NON_BLOCKING));
    array = must_make(gr_tensor_array_interface(tensor, third));
    expect_on(third, array, 2);
    gr_tensor_free(tensor);
    settle();
    CU(StreamDestroy(third));
}

TEST(the_bytes_are_ready_if_no_stream_is_named)
{
    GR_AUTO(gr_tensor) *tensor = must_alloc_on(GR_MEMORY_DEVICE, GR_STREAM_NONE);
    fill_late(tensor, 3);
    const gr_array_interface *array = must_make(gr_tensor_array_interface(tensor, GR_STREAM_NONE));
    ck_assert_ptr_null(array->stream);
    expect_on(fx.stream, array, 3);
}

TEST(host_memory_has_no_array_interface)
{
    gr_tensor *host = must_alloc_on(GR_MEMORY_HOST, fx.stream);
    assert_null(gr_tensor_array_interface(host, fx.stream), GR_ERR_UNSUPPORTED, 0,
                "gr_tensor_to_dlpack");
    gr_tensor_free(host);
    gr_tensor *pinned = must_alloc_on(GR_MEMORY_PINNED, fx.stream);
    assert_made(gr_tensor_array_interface(pinned, fx.stream));
    gr_tensor_free(pinned);
}

TEST(revoked_tensors_have_no_array_interface)
{
    gr_buffer *buffer = must_map(fx.resource);
    GR_AUTO(gr_tensor) *tensor = must_make(gr_buffer_tensor(buffer, NULL));
    const gr_array_interface *array = must_make(gr_tensor_array_interface(tensor, GR_STREAM_NONE));
    ck_assert_uint_eq(array->data, gr_buffer_ptr(buffer));
    ck_assert_ptr_eq(array->stream, fx.stream);
    assert_ok(gr_buffer_release(buffer));
    assert_null(gr_tensor_array_interface(tensor, GR_STREAM_NONE), GR_ERR_STATE, 0,
                "mapping has ended");
}

START(resource_case_buffer(SIZE, 1))
