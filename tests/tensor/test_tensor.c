/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tensors with allocated or with wrapped memory, and their properties. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/support.h"

#include <string.h>

#include <grinterop/tensor.h>

#include "tensor.h"

GROUP("types", add_bare_case)

TEST(a_dtype_has_a_size_and_two_names)
{
    static const struct {
        gr_dtype dtype;
        size_t size;
        const char *name, *typestr;
    } types[] = {{GR_DTYPE_U8, 1, "uint8", "|u1"},      {GR_DTYPE_I64, 8, "int64", "<i8"},
                 {GR_DTYPE_F16, 2, "float16", "<f2"},   {GR_DTYPE_BF16, 2, "bfloat16", "<V2"},
                 {GR_DTYPE_F32, 4, "float32", "<f4"},   {GR_DTYPE_BOOL, 1, "bool", "|b1"},
                 {GR_DTYPE_C64, 8, "complex64", "<c8"}, {GR_DTYPE_C128, 16, "complex128", "<c16"}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const gr_dtype_info *info = gr_dtype_get_info(types[i].dtype);
        ck_assert_uint_eq(info->size, types[i].size);
        ck_assert_str_eq(info->name, types[i].name);
        ck_assert_str_eq(info->typestr, types[i].typestr);
    }
    for (int i = GR_DTYPE_U8; i <= GR_DTYPE_C128; i++) {
        const gr_dtype_info *info = gr_dtype_get_info((gr_dtype)i);
        ck_assert_int_eq(gr_dtype_parse(info->name), i);
        ck_assert_int_eq(gr_dtype_parse(info->typestr), i);
        ck_assert_int_eq(gr_dtype_parse(info->typestr + 1), i);
    }
    ck_assert_int_eq(gr_dtype_parse("=f4"), GR_DTYPE_F32);
    ck_assert_int_eq(gr_dtype_parse(">u1"), GR_DTYPE_U8);
}

TEST(invalid_dtypes_are_refused)
{
    assert_null_invalid(gr_dtype_parse("float"), "\"float\" is not a dtype");
    assert_null_invalid(gr_dtype_parse(""), "\"\" is not a dtype");
    assert_null_invalid(gr_dtype_parse("<"), "is not a dtype");
    assert_null(gr_dtype_parse(">f4"), GR_ERR_UNSUPPORTED, 0, "\"<f4\"");
    assert_null_invalid(gr_dtype_get_info((gr_dtype)16), "16 is not a dtype");
    assert_null_invalid(gr_dtype_get_info((gr_dtype)-1), "-1 is not a dtype");
    assert_null_invalid(gr_dtype_get_info((gr_dtype)0), "0 is not a dtype");
}

GROUP("making", add_case)

TEST(tensor_properties_match_the_description, 4)
{
    const int64_t shape[] = {2, 3, 4}, strides[] = {64, 16, 4};
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 3, .shape = shape,
                .strides = strides, .layout = GR_LAYOUT_HWC, .memory = each_memory[_i]);
    GR_AUTO(gr_tensor) *tensor = must_make(gr_tensor_create(&desc, fx.stream));
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    ck_assert_uint_ne(info->ptr, 0);
    ck_assert_int_eq(info->data == (void *)(uintptr_t)info->ptr,
                     each_memory[_i] != GR_MEMORY_DEVICE);
    ck_assert_int_eq(info->dtype, GR_DTYPE_F32);
    ck_assert_uint_eq(info->ndim, 3);
    ck_assert_mem_eq(info->shape, shape, sizeof(shape));
    ck_assert_mem_eq(info->strides, strides, sizeof(strides));
    ck_assert_int_eq(info->layout, GR_LAYOUT_HWC);
    ck_assert_int_eq(info->memory, each_memory[_i]);
    ck_assert_int_eq(info->device, fx.device);
    ck_assert_uint_eq(info->bytes, 96);
    ck_assert(!info->read_only && !info->compact && !info->revoked);
}

TEST(bytes_copied_from_the_host_can_be_read_back, 4)
{
    unsigned char out[60], in[60];
    GR_AUTO(gr_tensor) *tensor =
        must_alloc(GR_DTYPE_U8, each_memory[_i], 3, (const int64_t[]){3, 4, 5});
    ck_assert(gr_tensor_get_info(tensor)->compact);
    pattern_fill(out, sizeof(out), 7);
    assert_ok(gr_tensor_copy_from_host(tensor, out, sizeof(out), fx.stream));
    tensor_to_host(tensor, in, sizeof(in));
    assert_pattern(in, sizeof(in), 7);
}

TEST(a_tensor_without_dimensions_has_one_element, 4)
{
    uint32_t in = 0xcafe, out = 0;
    GR_AUTO(gr_tensor) *tensor = must_alloc(GR_DTYPE_U32, each_memory[_i], 0, NULL);
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    ck_assert_uint_eq(info->bytes, 4);
    ck_assert(info->compact);
    assert_ok(gr_tensor_copy_from_host(tensor, &in, 4, fx.stream));
    tensor_to_host(tensor, &out, 4);
    ck_assert_uint_eq(out, in);
}

TEST(a_tensor_with_a_dimension_of_size_0_has_no_bytes, 4)
{
    GR_AUTO(gr_tensor) *tensor =
        must_alloc(GR_DTYPE_F64, each_memory[_i], 3, (const int64_t[]){5, 0, 7});
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    ck_assert_uint_eq(info->bytes, 0);
    ck_assert_uint_eq(info->ptr, 0);
    ck_assert(info->compact);
    assert_ok(gr_tensor_copy_to_host(tensor, NULL, 0, fx.stream));
    assert_ok(gr_tensor_copy_from_host(tensor, NULL, 0, fx.stream));
    GR_AUTO(gr_tensor) *copy = must_make(gr_tensor_clone(tensor, GR_MEMORY_PINNED, fx.stream));
    assert_ok(gr_tensor_copy(copy, tensor, fx.stream));
}

TEST(waiting_for_a_tensor_without_a_stream_does_not_block, 4)
{
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                  .shape = (const int64_t[]){64}, .memory = each_memory[_i]);
    struct gate *gate = gate_put(fx.other);
    gr_tensor *tensor = must_make(gr_tensor_create(&desc, GR_STREAM_NONE));
    assert_ok(gr_tensor_wait(tensor, fx.stream));
    CU(StreamSynchronize(fx.stream));
    if (each_memory[_i] == GR_MEMORY_PINNED || each_memory[_i] == GR_MEMORY_MANAGED)
        gate_open(gate); /* freeing this memory waits for all streams */
    gr_tensor_free(tensor);
    gate_open(gate);
}

/* Shapes and strides of the invalid descriptions below. */
static const int64_t shapes[][9] = {
    {2, 3},           {2, -3}, {INT64_MAX, 2}, {INT64_MAX / 4, 2}, {1, 1, 1, 1, 1, 1, 1, 1, 1},
    {0, INT64_MAX, 3}};
static const int64_t steps[][2] = {{-12, 4}, {0, 4}, {8, 4}, {INT64_MAX, 4}, {INT64_MIN, 4}};
static const struct {
    gr_tensor_desc desc;
    const char *text;
} wrong[] = {
#define WRONG(text, ...)                                                                           \
    {                                                                                              \
        {.struct_size = sizeof(gr_tensor_desc), __VA_ARGS__}, text                                 \
    }
    WRONG("`dtype` is 0", .ndim = 2, .shape = shapes[0]),
    WRONG("`dtype` is 16", .dtype = (gr_dtype)16, .ndim = 2, .shape = shapes[0]),
    WRONG("`shape` is NULL", .dtype = GR_DTYPE_F32, .ndim = 2),
    WRONG("at most 8 dimensions", .dtype = GR_DTYPE_F32, .ndim = 9, .shape = shapes[4]),
    WRONG("at most 8 dimensions", .dtype = GR_DTYPE_F32, .ndim = ~0u, .shape = shapes[4]),
    WRONG("shape (2, -3) is negative", .dtype = GR_DTYPE_F32, .ndim = 2, .shape = shapes[1]),
    WRONG("larger than any memory", .dtype = GR_DTYPE_U8, .ndim = 2, .shape = shapes[2]),
    WRONG("larger than any memory", .dtype = GR_DTYPE_F64, .ndim = 2, .shape = shapes[3]),
    WRONG("larger than any memory", .dtype = GR_DTYPE_U8, .ndim = 3, .shape = shapes[5]),
    WRONG("`layout` is 11", .dtype = GR_DTYPE_F32, .layout = (gr_layout)11),
    WRONG("`memory` is 5", .dtype = GR_DTYPE_F32, .memory = (gr_memory)5),
    WRONG("with these strides is larger", .dtype = GR_DTYPE_F32, .ndim = 2, .shape = shapes[0],
          .strides = steps[3]),
    WRONG("with these strides is larger", .dtype = GR_DTYPE_F32, .ndim = 2, .shape = shapes[0],
          .strides = steps[4]),
    WRONG("`offset` is 4", .dtype = GR_DTYPE_F32, .ndim = 2, .shape = shapes[0], .offset = 4),
    /* gr_tensor_from_memory() accepts the descriptions from here on. */
    WRONG("(-12, 4) of the shape (2, 3) are negative or", .dtype = GR_DTYPE_F32, .ndim = 2,
          .shape = shapes[0], .strides = steps[0]),
    WRONG("let elements share bytes", .dtype = GR_DTYPE_F32, .ndim = 2, .shape = shapes[0],
          .strides = steps[1]),
    WRONG("let elements share bytes", .dtype = GR_DTYPE_F32, .ndim = 2, .shape = shapes[0],
          .strides = steps[2]),
};
enum { WRONGS = sizeof(wrong) / sizeof(wrong[0]), OF_ALLOC = 3 };

TEST(invalid_descriptions_are_refused, WRONGS)
{
    unsigned char bytes[64];
    assert_null_invalid(gr_tensor_create(&wrong[_i].desc, fx.stream), wrong[_i].text);
    if (_i < WRONGS - OF_ALLOC)
        assert_null_invalid(gr_tensor_from_memory(&wrong[_i].desc, bytes, fx.stream, NULL, NULL),
                            wrong[_i].text);
}

/*
 * A dimension of size 1, and every dimension of a tensor without elements, takes no step, so its
 * stride does not matter.
 */
TEST(strides_of_size_1_dimensions_can_have_any_value, 8)
{
    static const int64_t nowhere[] = {INT64_MIN, INT64_MAX, -1, 3};
    const int64_t step = nowhere[_i / 2], shape[] = {1, _i % 2 ? 0 : 3, 1};
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 3, .shape = shape,
                                  .strides = (const int64_t[]){step, _i % 2 ? step : 4, step});
    GR_AUTO(gr_tensor) *tensor = must_make(gr_tensor_create(&desc, fx.stream));
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    ck_assert_uint_eq(info->bytes, _i % 2 ? 0 : 12);
    ck_assert(info->compact);
    GR_AUTO(gr_tensor) *view = must_make(gr_tensor_view(tensor, &desc));
    GR_AUTO(gr_tensor) *clone = must_make(gr_tensor_clone(view, GR_MEMORY_PINNED, fx.stream));
    assert_ok(gr_tensor_copy(view, clone, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

TEST(invalid_streams_and_pointers_are_refused)
{
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32);
    float value = 1;
    assert_null_invalid(gr_tensor_create(&desc, GR_STREAM_OF_MAP), "no meaning");
    assert_null_invalid(gr_tensor_from_memory(&desc, &value, NULL, NULL, NULL), "stream is NULL");
    assert_null_invalid(gr_tensor_from_memory(&desc, NULL, fx.stream, NULL, NULL),
                        "`data` is NULL");
    GR_AUTO(gr_tensor) *tensor = must_alloc(GR_DTYPE_F32, GR_MEMORY_DEVICE, 0, NULL);
    assert_invalid(gr_tensor_used_on(tensor, GR_STREAM_NONE), "GR_STREAM_NONE");
    assert_null_invalid(gr_tensor_clone(tensor, (gr_memory)9, fx.stream), "`memory` is 9");
}

/* Catches: such tensors were created, and kernels then failed or read other bytes. */
TEST(memory_that_cuda_cannot_access_is_refused, 3)
{
    static const gr_memory kinds[] = {GR_MEMORY_DEVICE, GR_MEMORY_PINNED, GR_MEMORY_MANAGED};
    static unsigned char bytes[4];
    int accesses_all;
    CUdeviceptr freed;
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                  .shape = (const int64_t[]){4}, .memory = kinds[_i]);
    CU(DeviceGetAttribute(&accesses_all, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, fx.device));
    if (accesses_all)
        skip("kernels of this device can access all memory");
    assert_null(gr_tensor_from_memory(&desc, bytes, GR_STREAM_NONE, NULL, NULL),
                GR_ERR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, "GR_MEMORY_HOST");
    CU(MemAlloc(&freed, 1 << 26));
    CU(MemFree(freed));
    assert_null(gr_tensor_from_memory(&desc, (void *)(uintptr_t)freed, GR_STREAM_NONE, NULL, NULL),
                GR_ERR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, "been freed");
    desc.shape = (const int64_t[]){0};
    gr_tensor_free(must_make(gr_tensor_from_memory(&desc, bytes, GR_STREAM_NONE, NULL, NULL)));
}

TEST(allocating_too_many_bytes_returns_no_memory, 4)
{
    if (each_memory[_i] == GR_MEMORY_HOST && sanitizer())
        skip("%s ends the program if malloc() is called for that much", sanitizer());
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                .shape = (const int64_t[]){INT64_MAX / 2}, .memory = each_memory[_i]);
    assert_null(gr_tensor_create(&desc, fx.stream), GR_ERR_NO_MEMORY, -1, "memory");
}

GROUP("views", add_case)

TEST(a_view_refers_to_the_bytes_of_its_tensor, 4)
{
    unsigned char bytes[24], in[24];
    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)i;
    gr_tensor *tensor = must_alloc(GR_DTYPE_U8, each_memory[_i], 2, (const int64_t[]){4, 6});
    assert_ok(gr_tensor_copy_from_host(tensor, bytes, sizeof(bytes), fx.stream));
    gr_tensor_desc turned =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 2, .shape = (const int64_t[]){6, 2},
                .strides = (const int64_t[]){1, -6}, .offset = 18, .read_only = true);
    gr_tensor *view = must_make(gr_tensor_view(tensor, &turned));
    gr_tensor_free(tensor); /* the view keeps the memory alive */
    ck_assert_int_eq(gr_tensor_get_info(view)->memory, each_memory[_i]);
    tensor_to_host(view, in, 12);
    for (unsigned i = 0; i < 12; i++)
        ck_assert_uint_eq(in[i], 18 + i / 2 - i % 2 * 6);
    assert_fails(gr_tensor_copy_from_host(view, in, 12, fx.stream), GR_ERR_STATE, 0, "read-only");
    turned.offset = 6;
    turned.read_only = false;
    GR_AUTO(gr_tensor) *again = must_make(gr_tensor_view(view, &turned));
    gr_tensor_free(view);
    ck_assert(gr_tensor_get_info(again)->read_only);
    tensor_to_host(again, in, 12);
    ck_assert_uint_eq(in[0], 18);
}

TEST(a_view_beyond_its_tensor_is_refused)
{
    GR_AUTO(gr_tensor) *tensor =
        must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 1, (const int64_t[]){100});
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2, .shape = (const int64_t[]){5, 5});
    gr_tensor *view = must_make(gr_tensor_view(tensor, &desc));
    desc.offset = 1;
    assert_null_invalid(gr_tensor_view(tensor, &desc),
                        "which has 100 bytes: the shape needs 100 from byte 1 on");
    desc.offset = SIZE_MAX;
    assert_null_invalid(gr_tensor_view(tensor, &desc), "does not fit in");
    desc.offset = 79;
    desc.strides = (const int64_t[]){-20, 4};
    assert_null_invalid(gr_tensor_view(tensor, &desc), "spans 80 bytes before it");
    desc.offset = 80;
    gr_tensor *flipped = must_make(gr_tensor_view(tensor, &desc));
    desc.memory = GR_MEMORY_HOST;
    assert_null_invalid(gr_tensor_view(tensor, &desc), "leave the field 0");
    desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = (const int64_t[]){0},
                   .offset = 100);
    gr_tensor_free(must_make(gr_tensor_view(tensor, &desc)));
    gr_tensor_free(flipped);
    gr_tensor_free(view);
}

GROUP("threads", add_case)

enum { ROUNDS = 60 };

static pthread_mutex_t handing = PTHREAD_MUTEX_INITIALIZER;
static gr_tensor *handed;

/* Passes a tensor to the other thread, and frees the tensor that the other thread has passed. */
static void hand_over(gr_tensor *tensor)
{
    pthread_mutex_lock(&handing);
    gr_tensor *found = handed;
    handed = tensor;
    pthread_mutex_unlock(&handing);
    gr_tensor_free(found);
}

static void *work(void *stream_of)
{
    CUstream stream = *(CUstream *)stream_of;
    unsigned char out[256], in[256];
    if (fx.cu->CtxSetCurrent(fx.context) != CUDA_SUCCESS)
        return "no context";
    pattern_fill(out, sizeof(out), 3);
    for (int i = 0; i < ROUNDS; i++) {
        gr_tensor_desc desc =
            GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                    .shape = (const int64_t[]){256}, .memory = each_memory[i % 4]);
        gr_tensor *tensor = gr_tensor_create(&desc, stream);
        if (gr_tensor_copy_from_host(tensor, out, 256, stream) != GR_OK ||
            gr_tensor_copy_to_host(tensor, in, 256, stream) != GR_OK ||
            fx.cu->StreamSynchronize(stream) != CUDA_SUCCESS || memcmp(in, out, 256))
            return "a copy failed";
        hand_over(tensor);
    }
    return NULL;
}

TEST(two_threads_can_free_each_others_tensors)
{
    pthread_t threads[2];
    CUstream streams[] = {fx.stream, fx.other};
    void *failed;
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &streams[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &failed);
        ck_assert_msg(!failed, "%s", (const char *)failed);
    }
    hand_over(NULL);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
}
