/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tensors that an import accepts, and errors of producers that it refuses. After a refusal the
 * caller still owns the producer's tensor, and the deleter was not called.
 */
#include "dlpack.h"

#define LATE_MS 60

static TCase *add_taken_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), NULL, settle);
}

/* Frees an import, after which the producer's deleter has run so many times. */
static void import_end(gr_tensor *tensor, struct producer *producer, unsigned deleted)
{
    gr_tensor_free(tensor);
    settle();
    producer_end(producer, deleted);
}

GROUP("taken", add_taken_case)

TEST(an_import_refers_to_the_producers_memory)
{
    struct producer producer;
    produce(&producer);
    gr_tensor *tensor =
        must_make(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, GR_STREAM_NONE));
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    ck_assert_uint_eq(info->ptr, producer.memory);
    ck_assert_int_eq(info->dtype, GR_DTYPE_U8);
    ck_assert_int_eq(info->memory, GR_MEMORY_DEVICE);
    ck_assert_int_eq(info->device, fx.device);
    ck_assert_uint_eq(info->bytes, SIZE);
    ck_assert(!info->read_only && info->compact);
    assert_tensor_bytes(tensor, 7);
    ck_assert_uint_eq(producer.deleted, 0);
    import_end(tensor, &producer, 1);
}

TEST(a_legacy_import_refers_to_the_producers_memory)
{
    struct producer producer;
    produce(&producer);
    gr_tensor *tensor =
        must_make(gr_tensor_from_dlpack(&producer.legacy, GR_DLPACK_LEGACY, fx.stream));
    ck_assert_uint_eq(gr_tensor_get_info(tensor)->ptr, producer.memory);
    assert_tensor_bytes(tensor, 7);
    import_end(tensor, &producer, 1);
}

/*
 * Imports the producer's tensor, whose fields the test has changed, compares the import and frees
 * it.
 */
static void expect_taken(struct producer *producer, CUdeviceptr ptr, unsigned ndim,
                         const int64_t *shape, const int64_t *strides)
{
    producer->legacy.dl_tensor = producer->versioned.dl_tensor;
    for (int legacy = 0; legacy < 2; legacy++) {
        GR_AUTO(gr_tensor) *tensor =
            legacy ? gr_tensor_from_dlpack(&producer->legacy, GR_DLPACK_LEGACY, fx.stream)
                   : gr_tensor_from_dlpack(&producer->versioned, GR_DLPACK_VERSIONED, fx.stream);
        assert_made(tensor);
        const gr_tensor_info *info = gr_tensor_get_info(tensor);
        ck_assert_uint_eq(info->ptr, ptr);
        ck_assert_uint_eq(info->ndim, ndim);
        for (unsigned i = 0; i < ndim; i++) {
            ck_assert_int_eq(info->shape[i], shape[i]);
            ck_assert_int_eq(info->strides[i], strides[i]);
        }
    }
    settle();
    producer_end(producer, 2);
}

TEST(an_import_with_null_strides_is_compact)
{
    struct producer producer;
    produce(&producer);
    DLTensor *t = &producer.versioned.dl_tensor;
    producer.shape[0] = 3, producer.shape[1] = 5;
    t->ndim = 2;
    t->dtype = (DLDataType){kDLFloat, 32, 1};
    t->strides = NULL;
    expect_taken(&producer, producer.memory, 2, (int64_t[]){3, 5}, (int64_t[]){20, 4});
}

TEST(imported_strides_count_elements_and_the_offset_bytes)
{
    struct producer producer;
    produce(&producer);
    DLTensor *t = &producer.versioned.dl_tensor;
    producer.shape[0] = 3, producer.shape[1] = 5;
    producer.strides[0] = -16, producer.strides[1] = 2;
    t->ndim = 2;
    t->dtype = (DLDataType){kDLInt, 16, 1};
    t->byte_offset = 64;
    expect_taken(&producer, producer.memory + 64, 2, (int64_t[]){3, 5}, (int64_t[]){-32, 4});
}

TEST(lanes_are_imported_as_a_dimension)
{
    struct producer producer;
    produce(&producer);
    DLTensor *t = &producer.versioned.dl_tensor;
    producer.shape[0] = 3, producer.shape[1] = 5;
    producer.strides[0] = 8, producer.strides[1] = 1;
    t->ndim = 2;
    t->dtype = (DLDataType){kDLUInt, 8, 4};
    expect_taken(&producer, producer.memory, 3, (int64_t[]){3, 5, 4}, (int64_t[]){32, 4, 1});
    produce(&producer);
    t->ndim = 0;
    t->shape = t->strides = NULL;
    t->dtype = (DLDataType){kDLFloat, 32, 3};
    expect_taken(&producer, producer.memory, 1, (int64_t[]){3}, (int64_t[]){4});
}

TEST(a_tensor_without_elements_needs_no_address)
{
    struct producer producer;
    produce(&producer);
    DLTensor *t = &producer.versioned.dl_tensor;
    producer.shape[0] = 0;
    t->data = NULL;
    t->byte_offset = UINT64_MAX;
    expect_taken(&producer, 0, 1, (int64_t[]){0}, (int64_t[]){1});
}

TEST(a_producer_may_have_no_deleter)
{
    struct producer producer;
    produce(&producer);
    producer.versioned.deleter = NULL;
    producer.legacy.deleter = NULL;
    gr_tensor_free(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, GR_STREAM_NONE));
    gr_tensor_free(gr_tensor_from_dlpack(&producer.legacy, GR_DLPACK_LEGACY, GR_STREAM_NONE));
    settle();
    producer_end(&producer, 0);
}

TEST(an_import_of_a_read_only_tensor_is_read_only)
{
    struct producer producer;
    produce(&producer);
    producer.versioned.flags = DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;
    gr_tensor *tensor =
        must_make(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, fx.stream));
    ck_assert(gr_tensor_get_info(tensor)->read_only);
    unsigned char bytes[SIZE] = {0};
    assert_fails(gr_tensor_copy_from_host(tensor, bytes, SIZE, fx.stream), GR_ERR_STATE, 0,
                 "read-only");
    import_end(tensor, &producer, 1);
}

TEST(a_later_1_x_version_is_accepted)
{
    struct producer producer;
    produce(&producer);
    producer.versioned.version.minor = 99;
    producer.versioned.flags = (uint64_t)1 << 63;
    expect_taken(&producer, producer.memory, 1, (int64_t[]){SIZE}, (int64_t[]){1});
}

TEST(host_pinned_managed_and_device_memory_can_be_imported)
{
    struct producer producer;
    produce(&producer);
    void *pinned;
    CU(MemAllocHost(&pinned, SIZE));
    DLTensor *t = &producer.versioned.dl_tensor;
    t->data = pinned;
    t->device = (DLDevice){kDLCUDAHost, 0};
    gr_tensor *tensor =
        must_make(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, GR_STREAM_NONE));
    ck_assert_int_eq(gr_tensor_get_info(tensor)->memory, GR_MEMORY_PINNED);
    gr_tensor_free(tensor);
    settle();
    static unsigned char bytes[SIZE];
    CUdeviceptr device;
    CU(MemAlloc(&device, SIZE));
    /* other frameworks also use the software driver's device memory as kDLCPU */
    for (int on_device = 0; on_device <= gr_cuda_is_software(); on_device++) {
        t->data = on_device ? (void *)(uintptr_t)device : bytes;
        t->device = (DLDevice){kDLCPU, 0};
        tensor = must_make(
            gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, GR_STREAM_NONE));
        ck_assert_int_eq(gr_tensor_get_info(tensor)->memory,
                         on_device ? GR_MEMORY_DEVICE : GR_MEMORY_HOST);
        gr_tensor_free(tensor);
        settle();
    }
    CU(MemFree(device));
    CU(MemFreeHost(pinned));
    producer_end(&producer, 2 + gr_cuda_is_software());
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void no_shape(DLTensor *t)
{
    t->shape = NULL;
}
static void minus_one_dimension(DLTensor *t)
{
    t->ndim = -1;
}
static void least_dimensions(DLTensor *t)
{
    t->ndim = INT32_MIN;
}
static void nine_dimensions(DLTensor *t)
{
    t->ndim = 9;
}
static void most_dimensions(DLTensor *t)
{
    t->ndim = INT32_MAX;
}
static void eight_dimensions_with_lanes(DLTensor *t)
{
    t->ndim = 8;
    t->dtype.lanes = 2;
}
static void negative_shape(DLTensor *t)
{
    t->shape[0] = -1;
}
static void largest_shape(DLTensor *t)
{
    t->dtype.bits = 16;
    t->shape[0] = INT64_MAX;
}
static void huge_product(DLTensor *t)
{
    t->ndim = 4;
    for (int i = 0; i < 4; i++)
        t->shape[i] = INT64_C(1) << 20;
    t->strides = NULL;
}
static void huge_stride(DLTensor *t)
{
    t->dtype.bits = 64;
    t->strides[0] = INT64_MAX / 4;
}
static void least_stride(DLTensor *t)
{
    t->strides[0] = INT64_MIN;
}
static void huge_span(DLTensor *t)
{
    t->strides[0] = INT64_MAX / 16;
}
static void far_before(DLTensor *t)
{
    t->strides[0] = -(INT64_C(1) << 50);
}
static void no_data(DLTensor *t)
{
    t->data = NULL;
}
static void offset_past_all(DLTensor *t)
{
    t->byte_offset = UINT64_MAX;
}
static void offset_to_the_end(DLTensor *t)
{
    t->byte_offset = UINT64_MAX - (uintptr_t)t->data - 8;
}
static void odd_address(DLTensor *t)
{
    t->dtype.bits = 32;
    t->shape[0] = 4;
    t->byte_offset = 2;
}
static void no_lanes(DLTensor *t)
{
    t->dtype.lanes = 0;
}
static void most_lanes(DLTensor *t)
{
    t->dtype.lanes = UINT16_MAX;
    t->strides[0] = INT64_MAX / 256;
}
static void no_bits(DLTensor *t)
{
    t->dtype.bits = 0;
}
static void seven_bits(DLTensor *t)
{
    t->dtype.bits = 7;
}
static void float8(DLTensor *t)
{
    t->dtype.code = 10;
}
static void unknown_code(DLTensor *t)
{
    t->dtype.code = 255;
}
static void device_0(DLTensor *t)
{
    t->device.device_type = (DLDeviceType)0;
}
static void device_rocm(DLTensor *t)
{
    t->device.device_type = kDLROCM;
}
static void device_vulkan(DLTensor *t)
{
    t->device.device_type = kDLVulkan;
}
static void device_unknown(DLTensor *t)
{
    t->device.device_type = (DLDeviceType)INT32_MAX;
}
static void device_minus_one(DLTensor *t)
{
    t->device = (DLDevice){kDLCUDA, -1};
}
static void device_past_all(DLTensor *t)
{
    char text[32];
    t->device = (DLDevice){kDLCUDA, device_past_last(text, sizeof(text))};
}

static const struct {
    void (*spoil)(DLTensor *tensor);
    gr_status status;
    const char *text;
} wrong[] = {
    {no_shape, GR_ERR_INVALID_VALUE, "its shape is NULL"},
    {minus_one_dimension, GR_ERR_INVALID_VALUE, "-1 dimensions"},
    {least_dimensions, GR_ERR_INVALID_VALUE, "dimensions; grinterop supports 0 to 8"},
    {nine_dimensions, GR_ERR_UNSUPPORTED, "9 dimensions"},
    {most_dimensions, GR_ERR_UNSUPPORTED, "dimensions; grinterop supports 0 to 8"},
    {eight_dimensions_with_lanes, GR_ERR_UNSUPPORTED, "in addition to its lanes"},
    {negative_shape, GR_ERR_INVALID_VALUE, "-1 elements"},
    {largest_shape, GR_ERR_INVALID_VALUE, "9223372036854775807"},
    {huge_product, GR_ERR_INVALID_VALUE, "1048576"},
    {huge_stride, GR_ERR_INVALID_VALUE, "overflows in bytes"},
    {least_stride, GR_ERR_INVALID_VALUE, ""},
    {huge_span, GR_ERR_INVALID_VALUE, ""},
    {far_before, GR_ERR_INVALID_VALUE, "exceeds the address space"},
    {no_data, GR_ERR_INVALID_VALUE, "data is NULL"},
    {offset_past_all, GR_ERR_INVALID_VALUE, "18446744073709551615"},
    {offset_to_the_end, GR_ERR_INVALID_VALUE, "exceeds the address space"},
    {odd_address, GR_ERR_UNSUPPORTED, "uint32"},
    {no_lanes, GR_ERR_INVALID_VALUE, "0 lanes"},
    {most_lanes, GR_ERR_INVALID_VALUE, "overflows in bytes"},
    {no_bits, GR_ERR_UNSUPPORTED, "0 bits"},
    {seven_bits, GR_ERR_UNSUPPORTED, "7 bits"},
    {float8, GR_ERR_UNSUPPORTED, "float8_e4m3fn, DLPack's type code 10 with 8 bits"},
    {unknown_code, GR_ERR_UNSUPPORTED, "type code 255"},
    {device_0, GR_ERR_UNSUPPORTED, "device type 0"},
    {device_rocm, GR_ERR_UNSUPPORTED, "device type 10"},
    {device_vulkan, GR_ERR_UNSUPPORTED, "device type 7"},
    {device_unknown, GR_ERR_UNSUPPORTED, "device type 2147483647"},
    {device_minus_one, GR_ERR_INVALID_VALUE, "CUDA device -1"},
    {device_past_all, GR_ERR_INVALID_VALUE, "CUDA device"},
};
enum { WRONG = sizeof(wrong) / sizeof(wrong[0]) };

GROUP("refused", add_taken_case)

TEST(invalid_dlpack_tensors_are_refused, WRONG)
{
    struct producer producer;
    produce(&producer);
    wrong[_i].spoil(&producer.versioned.dl_tensor);
    assert_null(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, fx.stream),
                wrong[_i].status, 0, wrong[_i].text);
    producer.legacy.dl_tensor = producer.versioned.dl_tensor;
    assert_null(gr_tensor_from_dlpack(&producer.legacy, GR_DLPACK_LEGACY, fx.stream),
                wrong[_i].status, 0, wrong[_i].text);
    settle();
    producer_end(&producer, 0);
}

/* The memory of cuMemAlloc(), of a pool, and of cuMemCreate(), which no context owns. */
TEST(memory_of_another_device_than_the_named_one_is_refused, 3)
{
    struct producer producer;
    int count;
    CU(DeviceGetCount(&count));
    if (count < 2)
        skip("one device");
    produce(&producer);
    DLTensor *from = &producer.versioned.dl_tensor;
    gr_tensor *other =
        must_make(gr_tensor_create(&GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                            .shape = (int64_t[]){SIZE}, .exportable = _i == 2),
                                   fx.stream));
    if (_i)
        from->data = (void *)(uintptr_t)gr_tensor_get_info(other)->ptr;
    from->device = (DLDevice){kDLCUDA, !fx.device};
    assert_null(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, fx.stream),
                GR_ERR_INVALID_VALUE, 0, "number the devices differently");
    gr_tensor_free(other);
    settle();
    producer_end(&producer, 0);
}

/* A CUDA array is the only opaque handle that an import supports. */
TEST(opaque_handles_that_are_not_cuda_arrays_are_refused)
{
    struct producer producer;
    produce(&producer);
    DLTensor *from = &producer.versioned.dl_tensor;
    from->dtype = (DLDataType){kDLOpaqueHandle, 64, 1};
    from->device = (DLDevice){kDLVulkan, 0};
    assert_null(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, fx.stream),
                GR_ERR_UNSUPPORTED, 0, "device type 7");
    from->device = (DLDevice){kDLCPU, 0};
    assert_null(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, fx.stream),
                GR_ERR_UNSUPPORTED, 0, "opaque handle");
    from->device = (DLDevice){kDLCUDA, fx.device};
    from->byte_offset = 4;
    assert_null(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, fx.stream),
                GR_ERR_UNSUPPORTED, 0, "offset of 4");
    from->byte_offset = 0;
    from->data = NULL;
    assert_null(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, fx.stream),
                GR_ERR_UNSUPPORTED, 0, "opaque handle");
    producer_end(&producer, 0);
}

/* An import reads nothing after the version: another major version may have any layout. */
TEST(another_major_version_is_refused)
{
    struct producer producer;
    produce(&producer);
    producer.versioned.dl_tensor.shape = (int64_t *)8;
    for (uint32_t major = 0; major < 4; major += 2) {
        producer.versioned.version = (DLPackVersion){major, 5};
        assert_null(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, fx.stream),
                    GR_ERR_UNSUPPORTED, 0, major ? "DLPack 2.5" : "DLPack 0.5");
    }
    producer.versioned.deleter(&producer.versioned);
    producer_end(&producer, 1);
}

TEST(imports_with_an_invalid_stream_are_refused)
{
    struct producer producer;
    produce(&producer);
    assert_null_invalid(gr_tensor_from_dlpack(&producer.versioned, (gr_dlpack)2, fx.stream),
                        "gr_dlpack");
    assert_null_invalid(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, NULL),
                        "stream");
    assert_null_invalid(gr_tensor_from_dlpack(&producer.legacy, GR_DLPACK_LEGACY, GR_STREAM_OF_MAP),
                        "stream");
    producer_end(&producer, 0);
}

TEST(a_live_producer_tensor_cannot_be_imported_twice)
{
    struct producer producer;
    produce(&producer);
    gr_tensor *tensor =
        must_make(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, fx.stream));
    assert_null_invalid(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, fx.stream),
                        "already been imported");
    ck_assert_uint_eq(producer.deleted, 0);
    gr_tensor_free(tensor);
    settle();
    /* The deleter keeps the producer's struct, so that the producer may pass it again. */
    tensor = must_make(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, fx.stream));
    import_end(tensor, &producer, 2);
}

GROUP("taken", add_taken_case)

TEST(reading_an_import_waits_for_the_producers_stream)
{
    struct producer producer;
    produce(&producer);
    gate_open_after(gate_put(fx.other), LATE_MS);
    CU(MemsetD8Async(producer.memory, 9, SIZE, fx.other));
    gr_tensor *tensor =
        must_make(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, fx.other));
    unsigned char bytes[SIZE];
    tensor_read(tensor, bytes);
    assert_bytes(bytes, SIZE, 9);
    import_end(tensor, &producer, 1);
}

/* The deleter runs after all work on the bytes, on a thread that calls grinterop. */
TEST(the_producers_deleter_runs_after_pending_work)
{
    struct producer producer;
    produce(&producer);
    gr_tensor *tensor =
        must_make(gr_tensor_from_dlpack(&producer.versioned, GR_DLPACK_VERSIONED, GR_STREAM_NONE));
    struct gate *gate = gate_put(fx.stream);
    assert_ok(gr_tensor_used_on(tensor, fx.stream));
    gr_tensor_free(tensor);
    assert_fails(gr_tensor_collect(0), GR_ERR_NOT_READY, 0, "");
    ck_assert_uint_eq(producer.deleted, 0);
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    sleep_ms(5);
    ck_assert_uint_eq(producer.deleted, 0);
    settle();
    ck_assert_uint_eq(producer.deleted, 1);
    ck_assert(pthread_equal(producer.by, pthread_self()));
    producer_end(&producer, 1);
}
