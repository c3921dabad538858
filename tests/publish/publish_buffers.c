/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Publishes tensors to buffers and rings, and tests that a publish is ordered with the CUDA
 * streams.
 */
#include "publish_support.h"

#include <math.h>
#include <string.h>

#include "tests/ring/ring.h"
#include "tests/ring/ring_tensor.h"

static unsigned char texels[IMAGE_MOST_BYTES], expected[IMAGE_MOST_BYTES];

GROUP("buffers", add_image_case)

TEST(buffers_get_the_bytes_of_a_tensor_with_the_same_type)
{
    static const int64_t shape[] = {3, 5};
    const GLuint name = gl_buffer_filled(100, 9);
    GR_AUTO(gr_resource) *resource = must_register(name);
    pattern_fill(expected, 60, 5);
    gr_tensor *tensor = tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 2, shape, expected);
    gr_tensor *back = tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 2, shape, NULL);
    const gr_publish_options o = GR_INIT(gr_publish_options, .offset = 8);
    assert_ok(gr_publish(resource, tensor, &o, fx.stream));
    gl_read(name, texels, 100);
    ck_assert_mem_eq(texels + 8, expected, 60);
    assert_bytes(texels, 8, 9);
    assert_bytes(texels + 68, 32, 9);
    assert_ok(gr_fetch(resource, back, &o, fx.stream));
    tensor_to_host(back, texels, 60);
    ck_assert_mem_eq(texels, expected, 60);
    tensors_end();
}

static double published(double value, const gr_publish_options *options, gr_dtype dtype)
{
    const int64_t four[] = {1, 1, 4};
    const int32_t integers[] = {(int32_t)value, (int32_t)value, (int32_t)value};
    const double numbers[] = {value, value, value};
    const GLuint name = gl_buffer_filled(32, 0);
    GR_AUTO(gr_resource) *resource = must_register(name);
    const gr_tensor_desc target = GR_INIT(gr_tensor_desc, .dtype = dtype, .ndim = 3, .shape = four);
    gr_publish_options o = *options;
    union {
        int32_t integers[4];
        double numbers[4];
    } got;
    o.target = &target;
    gr_tensor *tensor = tensor_of(dtype, GR_LAYOUT_SHAPE, 3, (const int64_t[]){1, 1, 3},
                                  dtype == GR_DTYPE_I32 ? (const void *)integers : numbers);
    assert_ok(gr_publish(resource, tensor, &o, fx.stream));
    gl_read(name, &got, sizeof(got));
    const int channel = options->alpha_f64 ? 3 : 1;
    return dtype == GR_DTYPE_I32 ? got.integers[channel] : got.numbers[channel];
}

/* Catches: scale, bias and alpha had the 24 bits of a float. */
TEST(numbers_of_the_options_have_53_bits)
{
    need_publish_kernels();
    const double third[] = {1 / 3.0, 1 / 3.0, 1 / 3.0, 1}, tenth[] = {0.1, 0.1, 0.1, 1};
    const double odd[] = {16777217, 16777217, 16777217, 0};
    const gr_publish_options thirds = GR_INIT(gr_publish_options, .scale_f64 = third);
    const gr_publish_options tenths = GR_INIT(gr_publish_options, .scale_f64 = tenth);
    const gr_publish_options more = GR_INIT(gr_publish_options, .bias_f64 = odd);
    const gr_publish_options alphas = GR_INIT(gr_publish_options, .alpha_f64 = odd);
    ck_assert_double_eq(published(2000000000, &tenths, GR_DTYPE_I32), 200000000);
    ck_assert_double_eq(published(3, &thirds, GR_DTYPE_F64), 1);
    ck_assert_double_eq(published(1, &more, GR_DTYPE_F64), 16777218);
    ck_assert_double_eq(published(1, &alphas, GR_DTYPE_F64), 16777217);
    ck_assert_double_eq(published(1, &alphas, GR_DTYPE_I32), 16777217);
    tensors_end();
}

/* Catches: all elements had the numbers of the first channel where the buffer has the same shape.
 */
TEST(each_channel_of_an_equal_shape_has_its_own_numbers)
{
    need_publish_kernels();
    static const int64_t shape[] = {1, 2, 3};
    const double ones[] = {1, 1, 1, 1, 1, 1}, numbers[] = {2, 3, 4, 0};
    const gr_publish_options options[] = {GR_INIT(gr_publish_options, .scale_f64 = numbers),
                                          GR_INIT(gr_publish_options, .bias_f64 = numbers)};
    double got[6];
    const GLuint name = gl_buffer_filled(sizeof(got), 0);
    GR_AUTO(gr_resource) *resource = must_register(name);
    gr_tensor *tensor = tensor_of(GR_DTYPE_F64, GR_LAYOUT_SHAPE, 3, shape, ones);
    for (int added = 0; added < 2; added++) {
        assert_ok(gr_publish(resource, tensor, &options[added], fx.stream));
        gl_read(name, got, sizeof(got));
        for (int i = 0; i < 6; i++)
            ck_assert_double_eq(got[i], numbers[i % 3] + added);
    }
    tensors_end();
}

static const struct {
    gr_dtype from, to;
    union {
        double f64;
        int64_t integer;
    } value;
    uint16_t bits;
} narrowed[] = {
    {GR_DTYPE_F64, GR_DTYPE_F16, {1 + 0x1p-11 + 0x1p-40}, 0x3c01},
    {GR_DTYPE_F64, GR_DTYPE_F16, {1 + 0x3p-11 - 0x1p-40}, 0x3c01},
    {GR_DTYPE_F64, GR_DTYPE_F16, {-1 - 0x1p-11 - 0x1p-40}, 0xbc01},
    {GR_DTYPE_F64, GR_DTYPE_F16, {-1 - 0x3p-11 + 0x1p-40}, 0xbc01},
    {GR_DTYPE_F64, GR_DTYPE_F16, {1 + 0x1p-11}, 0x3c00},
    {GR_DTYPE_F64, GR_DTYPE_F16, {0x1p-25 + 0x1p-60}, 0x0001},
    {GR_DTYPE_F64, GR_DTYPE_F16, {-0x1p-200}, 0x8000},
    {GR_DTYPE_F64, GR_DTYPE_F16, {65520 - 0x1p-20}, 0x7bff},
    {GR_DTYPE_F64, GR_DTYPE_F16, {65520}, 0x7c00},
    {GR_DTYPE_F64, GR_DTYPE_F16, {-INFINITY}, 0xfc00},
    {GR_DTYPE_F64, GR_DTYPE_F16, {(double)NAN}, 0x7fff},
    {GR_DTYPE_F64, GR_DTYPE_BF16, {1 + 0x1p-8 + 0x1p-40}, 0x3f81},
    {GR_DTYPE_F64, GR_DTYPE_BF16, {1 + 0x3p-8 - 0x1p-40}, 0x3f81},
    {GR_DTYPE_F64, GR_DTYPE_BF16, {0x1p-134 + 0x1p-170}, 0x0001},
    {GR_DTYPE_F64, GR_DTYPE_BF16, {-0x1.ffp127 + 0x1p90}, 0xff7f},
    {GR_DTYPE_F64, GR_DTYPE_BF16, {0x1p1000}, 0x7f80},
    {GR_DTYPE_F64, GR_DTYPE_BF16, {(double)NAN}, 0x7fff},
    {GR_DTYPE_I32, GR_DTYPE_BF16, {.integer = 0x40400001}, 0x4e81},
    {GR_DTYPE_U32, GR_DTYPE_BF16, {.integer = 0x80800001}, 0x4f01},
    {GR_DTYPE_I64, GR_DTYPE_BF16, {.integer = -0x10100000001}, 0xd381},
    {GR_DTYPE_U64, GR_DTYPE_BF16, {.integer = 0x4040000000001}, 0x5881},
};

/* Catches: values were first rounded to floats, then ties of these to even. */
TEST(wide_values_are_rounded_once, sizeof(narrowed) / sizeof(narrowed[0]))
{
    need_publish_kernels();
    static const int64_t shape[] = {1};
    uint16_t bits;
    const GLuint name = gl_buffer_filled(2, 0);
    GR_AUTO(gr_resource) *resource = must_register(name);
    const gr_tensor_desc target =
        GR_INIT(gr_tensor_desc, .dtype = narrowed[_i].to, .ndim = 1, .shape = shape);
    gr_tensor *tensor =
        tensor_of(narrowed[_i].from, GR_LAYOUT_SHAPE, 1, shape, &narrowed[_i].value);
    assert_ok(
        gr_publish(resource, tensor, &GR_INIT(gr_publish_options, .target = &target), fx.stream));
    gl_read(name, &bits, sizeof(bits));
    ck_assert_uint_eq(bits, narrowed[_i].bits);
    tensors_end();
}

/*
 * Vertices of three floats, 16 bytes apart, from a tensor with gaps between its rows. Also
 * publishes half floats.
 */
TEST(buffers_with_another_type_and_strides_get_converted_elements)
{
    need_publish_kernels();
    static const int64_t shape[] = {4, 3}, strides[] = {16, 4}, turned[] = {-16, 4};
    float values[16], got[16];
    for (int i = 0; i < 16; i++)
        values[i] = (float)i / 4;
    const GLuint name = gl_buffer_filled(64, 0);
    GR_AUTO(gr_resource) *resource = must_register(name);
    gr_tensor *all = tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 1, (int64_t[]){16}, values);
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2,
                                        .shape = shape, .strides = turned, .offset = 48);
    gr_tensor *tensor = must_make(gr_tensor_view(all, &desc));
    const gr_tensor_desc target = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2,
                                          .shape = shape, .strides = strides);
    assert_ok(
        gr_publish(resource, tensor, &GR_INIT(gr_publish_options, .target = &target), fx.stream));
    gl_read(name, got, 64);
    for (int i = 0; i < 16; i++)
        ck_assert_msg(got[i] == (i % 4 == 3 ? 0 : values[(3 - i / 4) * 4 + i % 4]), "%d: %g", i,
                      (double)got[i]);
    const gr_tensor_desc halves =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F16, .ndim = 2, .shape = shape);
    uint16_t small[12];
    assert_ok(
        gr_publish(resource, tensor, &GR_INIT(gr_publish_options, .target = &halves), fx.stream));
    gl_read(name, small, sizeof(small));
    for (int i = 0; i < 12; i++)
        ck_assert_uint_eq(small[i], element_bits(GR_DTYPE_F16, values[(3 - i / 3) * 4 + i % 3]));
    gr_tensor_free(tensor);
    tensors_end();
}

/*
 * Publishes a tensor of (3, 4, 5) bytes, channels first, to a buffer of (4, 5, 4) bytes, channels
 * last.
 */
TEST(buffers_get_pictures_in_another_layout)
{
    need_publish_kernels();
    static const int64_t chw[] = {3, 4, 5}, hwc[] = {4, 5, 4};
    const GLuint name = gl_buffer_filled(80, 0);
    GR_AUTO(gr_resource) *resource = must_register(name);
    pattern_fill(expected, 60, 6);
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_CHW, 3, chw, expected);
    const gr_tensor_desc target = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3,
                                          .shape = hwc, .layout = GR_LAYOUT_HWC);
    assert_ok(gr_publish(resource, tensor,
                         &GR_INIT(gr_publish_options, .target = &target, .flip = true), fx.stream));
    gl_read(name, texels, 80);
    for (int i = 0; i < 80; i++) {
        const int c = i % 4, x = i / 4 % 5, y = 3 - i / 20;
        ck_assert_int_eq(texels[i], c == 3 ? 255 : expected[c * 20 + y * 5 + x]);
    }
    tensors_end();
}

/* Catches: elements that share bytes were written in an undefined order. */
TEST(targets_with_a_stride_of_0_are_refused, 3)
{
    need_publish_kernels();
    static const int64_t shape[] = {4, 3}, wrong[][2] = {{0, 1}, {3, 0}, {0, 0}};
    const GLuint name = gl_buffer_filled(16, 7);
    GR_AUTO(gr_resource) *resource = must_register(name);
    gr_tensor *all = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 2, shape, expected);
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 2,
                                        .shape = shape, .strides = wrong[_i]);
    gr_tensor *shared = must_make(gr_tensor_view(all, &desc));
    assert_fails(gr_fetch(resource, shared, NULL, fx.stream), GR_ERR_INVALID_VALUE, 0, "share");
    assert_fails(
        gr_publish(resource, all, &GR_INIT(gr_publish_options, .target = &desc), fx.stream),
        GR_ERR_INVALID_VALUE, 0, "share");
    gl_read(name, texels, 16);
    assert_bytes(texels, 16, 7);
    assert_ok(gr_publish(resource, shared, NULL, fx.stream));
    gr_tensor_free(shared);
    tensors_end();
}

TEST(tensors_of_large_elements_and_empty_tensors_are_published)
{
    need_publish_kernels();
    static const int64_t shape[] = {3, 2}, strides[] = {24, 8}, turned[] = {8, 24};
    static const int64_t four[] = {2, 2, 2, 2};
    static const int64_t scattered[] = {64, 16, 4, 1}, empty[] = {4, 0, 7};
    const GLuint name = gl_buffer_filled(256, 0);
    GR_AUTO(gr_resource) *resource = must_register(name);
    pattern_fill(expected, 48, 8);
    gr_tensor *doubles = tensor_of(GR_DTYPE_F64, GR_LAYOUT_SHAPE, 2, shape, expected);
    const gr_tensor_desc apart = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F64, .ndim = 2,
                                         .shape = shape, .strides = strides);
    assert_ok(
        gr_publish(resource, doubles, &GR_INIT(gr_publish_options, .target = &apart), fx.stream));
    gl_read(name, texels, 72);
    for (int i = 0; i < 3; i++)
        ck_assert_mem_eq(texels + 24 * i, expected + 16 * i, 16);
    const gr_tensor_desc columns = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F64, .ndim = 2,
                                           .shape = shape, .strides = turned);
    assert_ok(
        gr_publish(resource, doubles, &GR_INIT(gr_publish_options, .target = &columns), fx.stream));
    gl_read(name, texels, 48);
    for (int i = 0; i < 6; i++)
        ck_assert_mem_eq(texels + 8 * (i % 2 * 3 + i / 2), expected + 8 * i, 8);
    gr_tensor *bytes = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 4, four, expected);
    const gr_tensor_desc far = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 4,
                                       .shape = four, .strides = scattered);
    assert_fails(
        gr_publish(resource, bytes, &GR_INIT(gr_publish_options, .target = &far), fx.stream),
        GR_ERR_UNSUPPORTED, 0, "three dimensions");
    gl_read(name, expected, 48);
    assert_ok(gr_publish(resource, tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3, empty, NULL), NULL,
                         fx.stream));
    gl_read(name, texels, 48);
    ck_assert_mem_eq(texels, expected, 48);
    tensors_end();
}

GROUP("order", add_image_case)

/* The stream of the producer is blocked, and the tensor is freed right after the publish. */
TEST(publish_waits_for_the_producers_stream)
{
    const GLuint name = gl_buffer_filled(64, 0);
    GR_AUTO(gr_resource) *resource = must_register(name);
    CUdeviceptr memory;
    CUevent event;
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = (const int64_t[]){64});
    CU(MemAlloc(&memory, 64));
    CU(EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CU(MemsetD8Async(memory, 1, 64, fx.stream));
    CU(StreamSynchronize(fx.stream));
    for (int by_event = 0; by_event < 2; by_event++) {
        struct gate *gate = gate_put(fx.other);
        CU(MemsetD8Async(memory, (unsigned char)(7 + by_event), 64, fx.other));
        CU(EventRecord(event, fx.other));
        gr_tensor *tensor = must_make(gr_tensor_from_memory(
            &desc, (void *)(uintptr_t)memory, by_event ? GR_STREAM_NONE : fx.other, NULL, NULL));
        const gr_publish_options o =
            GR_INIT(gr_publish_options, .wait_event = by_event ? event : NULL);
        gate_open_after(gate, 20);
        assert_ok(gr_publish(resource, tensor, &o, fx.stream));
        gr_tensor_free(tensor);
        gl_read(name, texels, 64);
        assert_bytes(texels, 64, 7 + by_event);
    }
    CU(StreamSynchronize(fx.other));
    assert_ok(gr_tensor_collect(1000));
    CU(EventDestroy(event));
    CU(MemFree(memory));
}

/* Catches: a publish without elements returned before it waited. */
TEST(a_publish_of_an_empty_tensor_waits_for_the_event, 2)
{
    GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(64, 0));
    gr_tensor *empty = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 1, (int64_t[]){0}, NULL);
    gr_buffer *buffer = _i ? must_make(gr_map(resource, fx.stream)) : NULL;
    CUdeviceptr memory;
    CUevent event;
    CU(MemAlloc(&memory, 64));
    CU(EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CU(MemsetD8Async(memory, 1, 64, fx.stream));
    CU(StreamSynchronize(fx.stream));
    struct gate *gate = gate_put(fx.other);
    CU(MemsetD8Async(memory, 7, 64, fx.other));
    CU(EventRecord(event, fx.other));
    const gr_publish_options o = GR_INIT(gr_publish_options, .wait_event = event);
    gate_open_after(gate, 20);
    assert_ok(buffer ? gr_buffer_publish(buffer, empty, &o, fx.stream)
                     : gr_publish(resource, empty, &o, fx.stream));
    cuda_read(texels, memory, 64, fx.stream);
    assert_bytes(texels, 64, 7);
    assert_ok(gr_buffer_release(buffer));
    CU(StreamSynchronize(fx.other));
    CU(EventDestroy(event));
    CU(MemFree(memory));
    tensors_end();
}

/*
 * Another stream writes the host memory of a tensor, which a kernel converts. A fetch then returns
 * with the values.
 */
TEST(conversions_of_host_memory_are_in_stream_order)
{
    need_publish_kernels();
    const GLuint name = gl_buffer_filled(64, 0);
    GR_AUTO(gr_resource) *resource = must_register(name);
    const int64_t shape[] = {64};
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 1,
                                        .shape = shape, .memory = GR_MEMORY_HOST);
    const gr_tensor_desc target =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = shape);
    const gr_publish_options o = GR_INIT(gr_publish_options, .target = &target);
    float values[64];
    void *pinned;
    CUdeviceptr ones;
    CU(MemAllocHost(&pinned, sizeof(values)));
    CU(MemAlloc(&ones, sizeof(values)));
    CU(MemsetD32Async(ones, 0x3f800000, 64, fx.other));
    memset(pinned, 0, sizeof(values));
    struct gate *gate = gate_put(fx.other);
    CU(MemcpyDtoHAsync(pinned, ones, sizeof(values), fx.other));
    gr_tensor *tensor = must_make(gr_tensor_from_memory(&desc, pinned, fx.other, NULL, NULL));
    gr_tensor *back = must_make(gr_tensor_from_memory(&desc, values, GR_STREAM_NONE, NULL, NULL));
    gate_open_after(gate, 20);
    assert_ok(gr_publish(resource, tensor, &o, fx.stream));
    gr_tensor_free(tensor);
    assert_ok(gr_fetch(resource, back, &o, fx.stream));
    for (int i = 0; i < 64; i++)
        ck_assert_float_eq(values[i], 1);
    gr_tensor_free(back);
    gl_read(name, texels, 64);
    assert_bytes(texels, 64, 255);
    CU(StreamSynchronize(fx.other));
    assert_ok(gr_tensor_collect(1000));
    CU(MemFree(ones));
    CU(MemFreeHost(pinned));
}

/*
 * The tensor and the resource belong to different CUDA contexts, and both use the legacy stream.
 *
 * Catches: the library took the two streams for one, since they have the same handle.
 */
TEST(publish_waits_for_the_stream_of_a_tensor_from_another_context)
{
    const GLuint name = gl_buffer_filled(64, 0);
    GR_AUTO(gr_resource) *resource = must_register(name);
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = (const int64_t[]){64});
    CUcontext context = new_context(NULL);
    gr_tensor *tensor = must_make(gr_tensor_create(&desc, CU_STREAM_LEGACY));
    ck_assert_ptr_eq(gr_tensor_get_info(tensor)->context, context);
    const CUdeviceptr memory = gr_tensor_get_info(tensor)->ptr;
    CU(MemsetD8Async(memory, 1, 64, CU_STREAM_LEGACY));
    CU(StreamSynchronize(CU_STREAM_LEGACY));
    gate_open_after(gate_put(CU_STREAM_LEGACY), 60);
    CU(MemsetD8Async(memory, 7, 64, CU_STREAM_LEGACY));
    CU(CtxSetCurrent(fx.context));
    assert_ok(gr_publish(resource, tensor, NULL, CU_STREAM_LEGACY));
    gl_read(name, texels, 64);
    assert_bytes(texels, 64, 7);
    gr_tensor_free(tensor);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    end_context(context);
}

GROUP("rings", add_image_case)

TEST(a_tensor_is_published_to_the_next_slot_of_a_ring)
{
    GR_AUTO(gr_ring) *ring = must_make_ring(2, NULL);
    pattern_fill(expected, RING_SIZE, 3);
    const int64_t shape[] = {RING_SIZE}, wrong[] = {RING_SIZE + 1};
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 1, shape, expected);
    gr_tensor *large = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 1, wrong, NULL);
    assert_invalid(ring_publish(ring, large, fx.stream, 0), "buffer");
    assert_slots(ring, 2, 0, 0, 0);
    assert_ok(ring_publish(ring, tensor, fx.stream, 0));
    assert_slots(ring, 1, 0, 1, 0);
    const gr_slot *slot;
    must_acquire_read(ring, GR_SIDE_CUDA, &slot, 1);
    gl_read(ring_name(slot->resource), texels, RING_SIZE);
    ck_assert_mem_eq(texels, expected, RING_SIZE);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
    assert_invalid(ring_fetch(ring, tensor, fx.stream, 0), "the graphics API reads");
    assert_invalid(ring_fetch(ring, tensor, GR_STREAM_NONE, 0), "CUDA's work needs a stream");
    const gr_publish_options options = GR_INIT(gr_publish_options, .ring = ring);
    GR_AUTO(gr_resource) *resource = gr_create_gl_buffer(RING_SIZE, GR_READ_WRITE, NULL);
    assert_invalid(gr_publish(resource, tensor, &options, fx.stream), "without a resource");
    gr_buffer *buffer = gr_map(resource, fx.stream);
    assert_invalid(gr_buffer_publish(buffer, tensor, &options, fx.stream), "without a resource");
    assert_ok(gr_buffer_release(buffer));
    tensors_end();
}

TEST(a_tensor_is_fetched_from_the_next_frame_of_a_ring)
{
    GR_AUTO(gr_ring) *ring =
        must_make_ring(2, &GR_INIT(gr_ring_options, .producer = GR_SIDE_GRAPHICS));
    const int64_t shape[] = {RING_SIZE}, wrong[] = {RING_SIZE + 1};
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 1, shape, NULL);
    gr_tensor *large = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 1, wrong, NULL);
    assert_fails(ring_fetch(ring, tensor, fx.stream, 0), GR_ERR_NOT_READY, 0, "");
    write_frame(ring, GR_SIDE_GRAPHICS, 0x42);
    assert_invalid(ring_fetch(ring, large, fx.stream, 0), "buffer");
    assert_ok(ring_fetch(ring, tensor, fx.stream, 0));
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(texels, gr_tensor_get_info(tensor)->ptr, RING_SIZE));
    assert_bytes(texels, RING_SIZE, 0x42);
    assert_frames(ring, 1, 1, 0);
    tensors_end();
}
