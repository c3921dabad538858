/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* DLPack exports: each field, and when the bytes are ready. */
#include "dlpack.h"

#include <string.h>

#define LATE_MS 60

static TCase *add_fields_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), NULL, settle);
}

GROUP("fields", add_fields_case)

static void check_fields(const gr_tensor *tensor, const DLTensor *seen)
{
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    ck_assert_uint_eq((uintptr_t)seen->data, info->ptr);
    ck_assert_uint_eq(seen->byte_offset, 0);
    ck_assert_int_eq(seen->device.device_type, dlpack_device().device_type);
    ck_assert_int_eq(seen->device.device_id, dlpack_device().device_id);
    ck_assert_uint_eq(seen->ndim, info->ndim);
    ck_assert_uint_eq(seen->dtype.lanes, 1);
    ck_assert_uint_eq(seen->dtype.bits, 8 * gr_dtype_get_info(info->dtype)->size);
    for (unsigned i = 0; i < info->ndim; i++) {
        ck_assert_int_eq(seen->shape[i], info->shape[i]);
        ck_assert_int_eq(seen->strides[i] * (int64_t)gr_dtype_get_info(info->dtype)->size,
                         info->strides[i]);
    }
}

TEST(export_fields_match_the_tensor)
{
    GR_AUTO(gr_tensor) *tensor = must_alloc_as(GR_DTYPE_F16, 3, (int64_t[]){5, 6, 4});
    DLManagedTensorVersioned *export = must_export(tensor, fx.other);
    ck_assert_uint_eq(export->version.major, 1);
    ck_assert_uint_eq(export->version.minor, 3);
    ck_assert_uint_eq(export->flags, 0);
    check_fields(tensor, &export->dl_tensor);
    export->deleter(export);
    DLManagedTensor *legacy = must_make(gr_tensor_to_dlpack(tensor, GR_DLPACK_LEGACY, fx.other));
    check_fields(tensor, &legacy->dl_tensor);
    legacy->deleter(legacy);
}

static const struct {
    gr_dtype dtype;
    unsigned code;
} types[] = {
    {GR_DTYPE_U8, kDLUInt},     {GR_DTYPE_U16, kDLUInt},    {GR_DTYPE_U32, kDLUInt},
    {GR_DTYPE_U64, kDLUInt},    {GR_DTYPE_I8, kDLInt},      {GR_DTYPE_I16, kDLInt},
    {GR_DTYPE_I32, kDLInt},     {GR_DTYPE_I64, kDLInt},     {GR_DTYPE_F16, kDLFloat},
    {GR_DTYPE_BF16, kDLBfloat}, {GR_DTYPE_F32, kDLFloat},   {GR_DTYPE_F64, kDLFloat},
    {GR_DTYPE_BOOL, kDLBool},   {GR_DTYPE_C64, kDLComplex}, {GR_DTYPE_C128, kDLComplex},
};
enum { TYPES = sizeof(types) / sizeof(types[0]) };

/* Exporting and importing a tensor preserves its type. */
TEST(each_dtype_has_its_dlpack_code, TYPES)
{
    gr_dtype dtype = types[_i].dtype;
    GR_AUTO(gr_tensor) *tensor = must_alloc_as(dtype, 1, (int64_t[]){3});
    DLManagedTensorVersioned *export = must_export(tensor, fx.stream);
    ck_assert_uint_eq(export->dl_tensor.dtype.code, types[_i].code);
    ck_assert_uint_eq(export->dl_tensor.dtype.bits, 8 * gr_dtype_get_info(dtype)->size);
    GR_AUTO(gr_tensor) *back =
        must_make(gr_tensor_from_dlpack(export, GR_DLPACK_VERSIONED, GR_STREAM_NONE));
    ck_assert_int_eq(gr_tensor_get_info(back)->dtype, dtype);
}

TEST(each_memory_kind_has_its_dlpack_device)
{
    const struct {
        gr_memory memory;
        int type;
    } memories[] = {{GR_MEMORY_DEVICE, dlpack_device().device_type},
                    {GR_MEMORY_HOST, kDLCPU},
                    {GR_MEMORY_PINNED, kDLCUDAHost},
                    {GR_MEMORY_MANAGED, kDLCUDAManaged}};
    for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++) {
        GR_AUTO(gr_tensor) *tensor = gr_tensor_create(
            &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .memory = memories[i].memory),
            fx.stream);
        if (!tensor && gr_last_error()->status == GR_ERR_UNSUPPORTED) {
            gr_clear_error();
            continue; /* this machine has no managed memory */
        }
        assert_made(tensor);
        DLManagedTensorVersioned *export = must_export(tensor, fx.stream);
        ck_assert_int_eq(export->dl_tensor.device.device_type, memories[i].type);
        if (memories[i].memory != GR_MEMORY_DEVICE)
            ck_assert_int_eq(export->dl_tensor.device.device_id, 0);
        GR_AUTO(gr_tensor) *back =
            must_make(gr_tensor_from_dlpack(export, GR_DLPACK_VERSIONED, fx.stream));
        ck_assert_int_eq(gr_tensor_get_info(back)->memory, memories[i].memory);
    }
}

/*
 * ovrtx passes CUDA arrays to Warp in this form. The handle lacks the type and shape, which the
 * driver reports.
 */
TEST(a_cuda_array_is_exported_as_an_opaque_handle, 2)
{
    CUarray array;
    const CUDA_ARRAY_DESCRIPTOR desc = {
        .Width = 5, .Height = 3, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    CU(ArrayCreate(&array, &desc));
    gr_tensor *tensor = must_make(gr_tensor_from_memory(
        &GR_INIT(gr_tensor_desc, .memory = GR_MEMORY_ARRAY), array, fx.stream, NULL, NULL));
    DLManagedTensorVersioned *export =
        _i ? NULL : gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, fx.stream);
    DLManagedTensor *legacy = _i ? gr_tensor_to_dlpack(tensor, GR_DLPACK_LEGACY, fx.stream) : NULL;
    ck_assert(export || legacy);
    DLTensor *seen = export ? &export->dl_tensor : &legacy->dl_tensor;
    ck_assert(seen->data == (void *)array && seen->dtype.code == kDLOpaqueHandle);
    ck_assert(seen->device.device_type == kDLCUDA && seen->device.device_id == fx.device);
    ck_assert(seen->ndim == 3 && seen->shape[0] == 3 && seen->shape[1] == 5 && seen->shape[2] == 4);
    seen->ndim = 2; /* as a renderer exports it */
    gr_tensor *back = export ? gr_tensor_from_dlpack(export, GR_DLPACK_VERSIONED, fx.stream)
                             : gr_tensor_from_dlpack(legacy, GR_DLPACK_LEGACY, fx.stream);
    assert_made(back);
    const gr_tensor_info *info = gr_tensor_get_info(back);
    ck_assert(info->array == array && info->memory == GR_MEMORY_ARRAY);
    ck_assert(info->dtype == GR_DTYPE_U8 && info->ndim == 3 && info->shape[2] == 4);
    gr_tensor_free(back);
    gr_tensor_free(tensor);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    CU(ArrayDestroy(array));
}

TEST(export_flags_report_read_only_and_copies)
{
    struct wrapped wrapped;
    wrap(&wrapped, fx.stream);
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                  .shape = (int64_t[]){SIZE}, .read_only = true);
    gr_tensor *view = must_make(gr_tensor_view(wrapped.tensor, &desc));
    DLManagedTensorVersioned *export = must_export(view, fx.stream);
    ck_assert_uint_eq(export->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
    gr_tensor *back = must_make(gr_tensor_from_dlpack(export, GR_DLPACK_VERSIONED, GR_STREAM_NONE));
    ck_assert(gr_tensor_get_info(back)->read_only);
    gr_tensor_free(back);
    assert_null(gr_tensor_to_dlpack(view, GR_DLPACK_LEGACY, fx.stream), GR_ERR_STATE, 0,
                "read-only");
    gr_tensor *copy = must_make(gr_tensor_clone(view, GR_MEMORY_DEVICE, fx.stream));
    export = must_export(copy, fx.stream);
    ck_assert_uint_eq(export->flags, DLPACK_FLAG_BITMASK_IS_COPIED);
    export->deleter(export);
    gr_tensor_free(copy);
    gr_tensor_free(view);
    gr_tensor_free(wrapped.tensor);
    settle();
    ck_assert_uint_eq(wrapped.ends, 1);
}

/* ---- Shapes and strides ---------------------------------------------------------------------- */

static gr_tensor *view_of(gr_tensor *tensor, gr_dtype dtype, unsigned ndim, const int64_t *shape,
                          const int64_t *strides, size_t offset, bool negative)
{
    return must_make(gr_tensor_view(
        tensor, &GR_INIT(gr_tensor_desc, .dtype = dtype, .ndim = ndim, .shape = shape,
                         .strides = strides, .offset = offset, .negative_strides = negative)));
}

/* Exports the tensor, compares the strides, which are in elements, and frees both. */
static void expect_strides(gr_tensor *view, const int64_t *strides)
{
    DLManagedTensorVersioned *export = must_export(view, fx.stream);
    for (int32_t i = 0; i < export->dl_tensor.ndim; i++)
        ck_assert_int_eq(export->dl_tensor.strides[i], strides[i]);
    export->deleter(export);
    gr_tensor_free(view);
}

TEST(exported_strides_count_elements)
{
    GR_AUTO(gr_tensor) *all = must_alloc(SIZE);
    /* Tests rows with a pitch, the interleaved planes of a picture, and an offset. */
    expect_strides(view_of(all, GR_DTYPE_F32, 2, (int64_t[]){7, 5}, (int64_t[]){64, 4}, 0, false),
                   (int64_t[]){16, 1});
    expect_strides(
        view_of(all, GR_DTYPE_U16, 3, (int64_t[]){3, 7, 5}, (int64_t[]){2, 64, 6}, 32, false),
        (int64_t[]){1, 32, 3});
    /* Every index of the first dimension refers to the same elements. */
    expect_strides(view_of(all, GR_DTYPE_U16, 2, (int64_t[]){9, 5}, (int64_t[]){0, 2}, 32, false),
                   (int64_t[]){0, 1});
}

TEST(exported_strides_of_size_1_dimensions_are_compact)
{
    GR_AUTO(gr_tensor) *all = must_alloc(SIZE);
    expect_strides(view_of(all, GR_DTYPE_F32, 4, (int64_t[]){1, 3, 1, 5},
                           (int64_t[]){-7, 32, 13, 4}, 0, false),
                   (int64_t[]){24, 8, 5, 1});
    /* This tensor has no elements. */
    expect_strides(
        view_of(all, GR_DTYPE_F32, 3, (int64_t[]){4, 0, 5}, (int64_t[]){3, -9, 1}, 0, false),
        (int64_t[]){5, 5, 1});
}

TEST(exporting_strides_that_split_an_element_is_refused)
{
    GR_AUTO(gr_tensor) *all = must_alloc(SIZE);
    GR_AUTO(gr_tensor) *odd =
        view_of(all, GR_DTYPE_F32, 2, (int64_t[]){7, 5}, (int64_t[]){30, 4}, 0, false);
    assert_null(gr_tensor_to_dlpack(odd, GR_DLPACK_VERSIONED, fx.stream), GR_ERR_UNSUPPORTED, 0,
                "stride of 30 bytes");
    assert_null(gr_tensor_to_dlpack(odd, GR_DLPACK_LEGACY, fx.stream), GR_ERR_UNSUPPORTED, 0,
                "gr_tensor_clone");
}

/* A GPU faults on an element whose address is not a multiple of its size. */
TEST(exporting_a_misaligned_address_is_refused)
{
    static const int64_t shape[] = {4}, none[] = {0};
    GR_AUTO(gr_tensor) *all = must_alloc(SIZE);
    gr_tensor *odd = view_of(all, GR_DTYPE_F32, 1, shape, NULL, 2, false);
    assert_null(gr_tensor_to_dlpack(odd, GR_DLPACK_VERSIONED, fx.stream), GR_ERR_UNSUPPORTED, 0,
                "misaligned for a");
    assert_null(gr_tensor_to_dlpack(odd, GR_DLPACK_LEGACY, fx.stream), GR_ERR_UNSUPPORTED, 0,
                "misaligned for a");
    gr_tensor_free(odd);
    expect_strides(view_of(all, GR_DTYPE_F16, 1, shape, NULL, 2, false), (int64_t[]){1});
    expect_strides(view_of(all, GR_DTYPE_C128, 1, shape, NULL, 8, false), (int64_t[]){1});
    expect_strides(view_of(all, GR_DTYPE_F32, 1, none, NULL, 1, false), (int64_t[]){1});
}

TEST(negative_strides_are_exported_only_if_enabled)
{
    GR_AUTO(gr_tensor) *all = must_alloc(SIZE);
    int64_t shape[] = {7, 5}, flipped[] = {-64, 4};
    gr_tensor *refused = view_of(all, GR_DTYPE_F32, 2, shape, flipped, 6 * 64, false);
    assert_null(gr_tensor_to_dlpack(refused, GR_DLPACK_VERSIONED, fx.stream), GR_ERR_UNSUPPORTED, 0,
                "negative_strides");
    gr_tensor_free(refused);
    gr_tensor *asked = view_of(all, GR_DTYPE_F32, 2, shape, flipped, 6 * 64, true);
    DLManagedTensorVersioned *export = must_export(asked, fx.stream);
    ck_assert_uint_eq((uintptr_t) export->dl_tensor.data, gr_tensor_get_info(all)->ptr + 6 * 64);
    export->deleter(export);
    expect_strides(asked, (int64_t[]){-16, 1});
}

TEST(tensors_with_0_or_1_elements_are_exported)
{
    gr_tensor *scalar = must_alloc_as(GR_DTYPE_F64, 0, NULL);
    DLManagedTensorVersioned *export = must_export(scalar, fx.stream);
    ck_assert_int_eq(export->dl_tensor.ndim, 0);
    ck_assert_ptr_nonnull(export->dl_tensor.data);
    gr_tensor *back = must_make(gr_tensor_from_dlpack(export, GR_DLPACK_VERSIONED, fx.stream));
    ck_assert_uint_eq(gr_tensor_get_info(back)->bytes, 8);
    gr_tensor_free(back);
    gr_tensor_free(scalar);
    gr_tensor *none = must_alloc_as(GR_DTYPE_F64, 3, (int64_t[]){4, 0, 9});
    export = must_export(none, fx.stream);
    ck_assert_ptr_null(export->dl_tensor.data);
    back = must_make(gr_tensor_from_dlpack(export, GR_DLPACK_VERSIONED, fx.stream));
    ck_assert_uint_eq(gr_tensor_get_info(back)->bytes, 0);
    ck_assert_int_eq(gr_tensor_get_info(back)->shape[2], 9);
    gr_tensor_free(back);
    gr_tensor_free(none);
    GR_AUTO(gr_tensor) *some = must_alloc(SIZE);
    none = view_of(some, GR_DTYPE_U8, 1, (int64_t[]){0}, NULL, 64, false);
    export = must_export(none, fx.stream);
    ck_assert_ptr_null(export->dl_tensor.data);
    export->deleter(export);
    gr_tensor_free(none);
}

GROUP("ready", add_fields_case)

/* A consumer on another stream sees the results of earlier work on the tensor's stream. */
TEST(the_consumers_stream_waits_for_pending_writes)
{
    gr_tensor *tensor = must_alloc(SIZE);
    tensor_fill(tensor, 1);
    CUdeviceptr copy;
    CU(MemAlloc(&copy, SIZE));
    gate_open_after(gate_put(fx.stream), LATE_MS);
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 2, SIZE, fx.stream));
    DLManagedTensorVersioned *export = must_export(tensor, fx.other);
    CU(MemcpyAsync(copy, (CUdeviceptr)(uintptr_t) export->dl_tensor.data, SIZE, fx.other));
    CU(StreamSynchronize(fx.other));
    unsigned char bytes[SIZE];
    CU(MemcpyDtoH(bytes, copy, SIZE));
    assert_bytes(bytes, SIZE, 2);
    export->deleter(export);
    gr_tensor_free(tensor);
    CU(MemFree(copy));
}

/* A consumer without streams sees the bytes as soon as the call returns. */
TEST(exporting_pinned_memory_waits_for_pending_writes)
{
    GR_AUTO(gr_tensor) *tensor = must_alloc(SIZE);
    tensor_fill(tensor, 1);
    gate_open_after(gate_put(fx.stream), LATE_MS);
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 2, SIZE, fx.stream));
    GR_AUTO(gr_tensor) *pinned = must_make(gr_tensor_clone(tensor, GR_MEMORY_PINNED, fx.stream));
    DLManagedTensorVersioned *export = must_export(pinned, CU_STREAM_LEGACY);
    assert_bytes(export->dl_tensor.data, SIZE, 2);
    export->deleter(export);
}

/*
 * The device memory of the software driver is memory of the process, which a consumer may read
 * without a stream.
 */
TEST(exporting_without_a_stream_waits_on_the_software_driver)
{
    if (!gr_cuda_is_software())
        skip("on a GPU consumers wait by their streams");
    GR_AUTO(gr_tensor) *tensor = must_alloc(SIZE);
    tensor_fill(tensor, 1);
    gate_open_after(gate_put(fx.stream), LATE_MS);
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 3, SIZE, fx.stream));
    DLManagedTensorVersioned *export = must_export(tensor, GR_STREAM_NONE);
    assert_bytes(export->dl_tensor.data, SIZE, 3);
    export->deleter(export);
}

TEST(exporting_without_a_stream_does_not_wait_on_a_gpu)
{
    if (gr_cuda_is_software())
        skip("the software driver's memory is process memory: the call waits");
    GR_AUTO(gr_tensor) *tensor = must_alloc(SIZE);
    struct gate *gate = gate_put(fx.stream);
    DLManagedTensorVersioned *export = must_export(tensor, GR_STREAM_NONE);
    ck_assert(!gate_is_open(gate));
    CU(StreamSynchronize(fx.other));
    gate_open(gate);
    export->deleter(export);
}

TEST(exporting_needs_a_valid_stream)
{
    gr_tensor *tensor = must_alloc(SIZE);
    assert_null_invalid(gr_tensor_to_dlpack(tensor, (gr_dlpack)2, fx.stream), "gr_dlpack");
    assert_null_invalid(gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, GR_STREAM_OF_MAP),
                        "stream");
    gr_tensor_free(tensor);
}
