/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies of tensors with any shapes and strides, compared with a copy element by element. Also the
 * order between streams, and refusals.
 */
#include "tests/support/support.h"
#include "tests/support/random_walk.h"

#include <stdlib.h>
#include <string.h>

#include <grinterop/tensor.h>

#include "tensor.h"

/* ---- Any strides ----------------------------------------------------------------------------- */

enum { ROOM = 1 << 14, CASES = 150 };

/* A tensor with random strides, inside memory with known bytes. */
struct strided {
    gr_tensor *whole, *tensor;
    int64_t strides[GR_TENSOR_DIMS];
    size_t first; /* the offset of element 0 in bytes */
    unsigned char bytes[ROOM];
};

struct random_shape {
    unsigned ndim;
    int64_t shape[GR_TENSOR_DIMS];
    gr_dtype dtype;
    size_t element;
};

static uint32_t state;

static unsigned pick(unsigned n)
{
    return walk_random(&state, n);
}

static struct random_shape pick_shape(void)
{
    static const gr_dtype dtypes[] = {GR_DTYPE_U8, GR_DTYPE_F16, GR_DTYPE_F32, GR_DTYPE_C128};
    struct random_shape s = {.ndim = pick(6), .dtype = dtypes[pick(4)]};
    s.element = gr_dtype_get_info(s.dtype)->size;
    for (unsigned i = 0; i < s.ndim; i++)
        s.shape[i] = pick(8) ? 1 + pick(4) : pick(2);
    return s;
}

/*
 * Picks strides: dimensions in any order, with or without gaps, and in either direction. With
 * `may_stand`, a stride may also be 0.
 */
static void pick_strides(struct strided *t, const struct random_shape *s, bool may_stand)
{
    bool used[GR_TENSOR_DIMS] = {false};
    int64_t step = (int64_t)s->element, before = 0;
    bool plain = !pick(4);
    for (unsigned n = 0; n < s->ndim; n++) {
        unsigned i = plain ? s->ndim - 1 - n : pick(s->ndim);
        while (used[i])
            i = (i + 1) % s->ndim;
        used[i] = true;
        t->strides[i] = step;
        if (!plain && !pick(3))
            t->strides[i] += pick(9);
        step = t->strides[i] * (s->shape[i] ? s->shape[i] : 1);
        if (may_stand && !pick(8))
            t->strides[i] = 0;
        else if (!plain && !pick(3))
            t->strides[i] = -t->strides[i];
        if (t->strides[i] < 0 && s->shape[i])
            before -= (s->shape[i] - 1) * t->strides[i];
    }
    t->first = (size_t)before + pick(40);
}

static void make_strided(struct strided *t, const struct random_shape *s, unsigned seed,
                         bool may_stand)
{
    pick_strides(t, s, may_stand);
    t->whole = must_alloc(GR_DTYPE_U8, each_memory[pick(4)], 1, (const int64_t[]){ROOM});
    pattern_fill(t->bytes, ROOM, seed);
    assert_ok(gr_tensor_copy_from_host(t->whole, t->bytes, ROOM, fx.stream));
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = s->dtype, .ndim = s->ndim,
                                  .shape = s->shape, .strides = t->strides, .offset = t->first);
    t->tensor = must_make(gr_tensor_view(t->whole, &desc));
}

static void end_strided(struct strided *t)
{
    gr_tensor_free(t->tensor);
    gr_tensor_free(t->whole);
}

static size_t place(const struct strided *t, const struct random_shape *s, const int64_t *at)
{
    int64_t offset = (int64_t)t->first;
    for (unsigned i = 0; i < s->ndim; i++)
        offset += at[i] * t->strides[i];
    return (size_t)offset;
}

/* Advances to the next element. Returns false after the last one. */
static bool next(const struct random_shape *s, int64_t *at)
{
    for (unsigned i = s->ndim; i-- > 0; at[i] = 0)
        if (++at[i] < s->shape[i])
            return true;
    return false;
}

static bool is_empty(const struct random_shape *s)
{
    bool empty = false;
    for (unsigned i = 0; i < s->ndim; i++)
        empty = empty || !s->shape[i];
    return empty;
}

static void copy_elements(struct strided *to, const struct strided *from,
                          const struct random_shape *s)
{
    int64_t at[GR_TENSOR_DIMS] = {0};
    if (is_empty(s))
        return;
    do
        memcpy(to->bytes + place(to, s, at), from->bytes + place(from, s, at), s->element);
    while (next(s, at));
}

static void assert_same_bytes(const struct strided *t, unsigned number, const char *what)
{
    unsigned char *read = must_read(t->whole, fx.stream);
    size_t i = 0;
    while (i < ROOM && read[i] == t->bytes[i])
        i++;
    ck_assert_msg(i == ROOM, "case %u: byte %zu of %s differs", number, i, what);
    free(read);
}

GROUP("strides", add_case)

TEST(tensors_with_any_strides_are_copied, 4)
{
    static struct strided to, from;
    for (unsigned i = 0; i < CASES; i++) {
        state = 1 + i + 1000 * (unsigned)_i;
        struct random_shape s = pick_shape();
        make_strided(&to, &s, 5, false);
        make_strided(&from, &s, 9, true);
        assert_ok(gr_tensor_copy(to.tensor, from.tensor, fx.stream));
        copy_elements(&to, &from, &s);
        assert_same_bytes(&to, i, "the target");
        assert_same_bytes(&from, i, "the source");
        end_strided(&to);
        end_strided(&from);
    }
}

/* Copies to and from host memory, in element order. */
TEST(tensors_with_any_strides_are_copied_to_and_from_the_host, 4)
{
    static struct strided t;
    static unsigned char plain[ROOM];
    for (unsigned i = 0; i < CASES; i++) {
        state = 1 + i + 1000 * (unsigned)_i;
        struct random_shape s = pick_shape();
        make_strided(&t, &s, 5, false);
        size_t bytes = gr_tensor_get_info(t.tensor)->bytes, n = 0;
        int64_t at[GR_TENSOR_DIMS] = {0};
        pattern_fill(plain, bytes, 33);
        assert_ok(gr_tensor_copy_from_host(t.tensor, plain, bytes, fx.stream));
        for (bool more = bytes > 0; more; more = next(&s, at), n += s.element)
            memcpy(t.bytes + place(&t, &s, at), plain + n, s.element);
        assert_same_bytes(&t, i, "the target");
        unsigned char *read = must_read(t.tensor, fx.stream);
        assert_pattern(read, bytes, 33);
        free(read);
        end_strided(&t);
    }
}

TEST(a_clone_is_compact, 4)
{
    unsigned char bytes[96];
    pattern_fill(bytes, sizeof(bytes), 12);
    GR_AUTO(gr_tensor) *tensor =
        must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 1, (const int64_t[]){96});
    assert_ok(gr_tensor_copy_from_host(tensor, bytes, sizeof(bytes), fx.stream));
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2, .shape = (const int64_t[]){3, 2},
                .strides = (const int64_t[]){-32, 8}, .offset = 64, .layout = GR_LAYOUT_CHW,
                .read_only = true);
    GR_AUTO(gr_tensor) *view = must_make(gr_tensor_view(tensor, &desc));
    GR_AUTO(gr_tensor) *copy = must_make(gr_tensor_clone(view, each_memory[_i], fx.other));
    const gr_tensor_info *info = gr_tensor_get_info(copy);
    ck_assert(info->compact && !info->read_only);
    ck_assert_int_eq(info->memory, each_memory[_i]);
    ck_assert_int_eq(info->layout, GR_LAYOUT_CHW);
    unsigned char *read = must_read(copy, fx.stream);
    for (int i = 0; i < 6; i++)
        ck_assert_mem_eq(read + 4 * i, bytes + 64 - 32 * (i / 2) + 8 * (i % 2), 4);
    free(read);
}

GROUP("order", add_case)

/*
 * The driver copies these kinds of memory without blocking, on any stream. Allocating pinned memory
 * may wait for all streams, so the tests do that before they put a gate into a stream.
 */
static const gr_memory unhurried[] = {GR_MEMORY_DEVICE, GR_MEMORY_MANAGED};

static gr_tensor *pinned_filled(int value)
{
    gr_tensor *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_PINNED, 1, (const int64_t[]){64});
    memset(gr_tensor_get_info(tensor)->data, value, 64);
    return tensor;
}

static void assert_pinned(const gr_tensor *tensor, CUstream stream, int value)
{
    CU(StreamSynchronize(stream));
    assert_bytes(gr_tensor_get_info(tensor)->data, 64, value);
}

/* A read on one stream sees what an earlier copy has written on another stream. */
TEST(copies_follow_earlier_writes, 4)
{
    CUstream writer = _i / 2 ? fx.stream : fx.other, reader = _i / 2 ? fx.other : fx.stream;
    GR_AUTO(gr_tensor) *from = pinned_filled(0x5A), *to = pinned_filled(0);
    GR_AUTO(gr_tensor) *tensor =
        must_alloc(GR_DTYPE_U8, unhurried[_i % 2], 1, (const int64_t[]){64});
    CU(StreamSynchronize(fx.stream));
    struct gate *gate = gate_put(writer);
    assert_ok(gr_tensor_copy(tensor, from, writer));
    assert_ok(gr_tensor_copy(to, tensor, reader));
    ck_assert_int_eq(fx.cu->StreamQuery(reader), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    assert_pinned(to, reader, 0x5A);
}

/* A write waits for earlier reads that are pending on another stream. */
TEST(writes_follow_earlier_reads, 2)
{
    GR_AUTO(gr_tensor) *first = pinned_filled(1), *second = pinned_filled(2);
    GR_AUTO(gr_tensor) *to = pinned_filled(0);
    GR_AUTO(gr_tensor) *tensor = must_alloc(GR_DTYPE_U8, unhurried[_i], 1, (const int64_t[]){64});
    assert_ok(gr_tensor_copy(tensor, first, fx.stream));
    CU(StreamSynchronize(fx.stream));
    struct gate *gate = gate_put(fx.other);
    assert_ok(gr_tensor_copy(to, tensor, fx.other));
    assert_ok(gr_tensor_copy(tensor, second, fx.stream));
    ck_assert_int_eq(fx.cu->StreamQuery(fx.stream), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    assert_pinned(to, fx.other, 1);
    assert_ok(gr_tensor_copy(to, tensor, fx.stream));
    assert_pinned(to, fx.stream, 2);
}

/* Freed memory is not reused while a copy still reads it. */
TEST(memory_is_not_reused_while_a_copy_reads_it)
{
    gr_tensor *first = pinned_filled(1), *second = pinned_filled(2), *to = pinned_filled(0);
    gr_tensor *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 1, (const int64_t[]){64});
    assert_ok(gr_tensor_copy(tensor, first, fx.stream));
    CU(StreamSynchronize(fx.stream));
    struct gate *gate = gate_put(fx.other);
    assert_ok(gr_tensor_copy(to, tensor, fx.other));
    gr_tensor_free(tensor);
    gr_tensor *next = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 1, (const int64_t[]){64});
    assert_ok(gr_tensor_copy(next, second, fx.stream));
    CU(StreamSynchronize(fx.stream));
    gate_open(gate);
    assert_pinned(to, fx.other, 1);
    gr_tensor *all[] = {first, second, to, next};
    for (int i = 0; i < 4; i++)
        gr_tensor_free(all[i]);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
}

GROUP("refused", add_case)

static gr_tensor *two_by_three;

static gr_tensor *view_of(gr_tensor_desc desc)
{
    return must_make(gr_tensor_view(two_by_three, &desc));
}

TEST(copies_that_do_not_fit_are_refused)
{
    const int64_t shape[] = {2, 3}, turned[] = {3, 2}, flat[] = {6}, none[] = {0, 4};
    unsigned char bytes[24] = {0};
    two_by_three = must_alloc(GR_DTYPE_F32, GR_MEMORY_DEVICE, 2, shape);
    gr_tensor *others[] = {
        view_of(GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2, .shape = turned)),
        view_of(GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 1, .shape = flat)),
        view_of(GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_I32, .ndim = 2, .shape = shape)),
        view_of(GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2, .shape = shape,
                        .read_only = true)),
        view_of(GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2, .shape = shape,
                        .strides = none))};
    static const struct {
        gr_status status;
        const char *text;
    } wrong[] = {{GR_ERR_INVALID_VALUE, "the destination is (3, 2), the source is (2, 3)"},
                 {GR_ERR_INVALID_VALUE, "the destination is (6,), the source is (2, 3)"},
                 {GR_ERR_INVALID_VALUE, "the types int32 and float32"},
                 {GR_ERR_STATE, "read-only"},
                 {GR_ERR_INVALID_VALUE, "shape (2, 3) has stride 0 in dimension 0"}};
    for (int i = 0; i < 5; i++)
        assert_fails(gr_tensor_copy(others[i], two_by_three, fx.stream), wrong[i].status, 0,
                     wrong[i].text);
    for (int i = 3; i < 5; i++)
        assert_fails(gr_tensor_copy_from_host(others[i], bytes, 24, fx.stream), wrong[i].status, 0,
                     wrong[i].text);
    assert_invalid(gr_tensor_copy_to_host(two_by_three, bytes, 23, fx.stream),
                   "`bytes` is 23, but the elements of shape (2, 3) and type float32 have 24");
    for (int i = 0; i < 5; i++)
        gr_tensor_free(others[i]);
    gr_tensor_free(two_by_three);
}

/*
 * Catches: the copy refused stride 0, with which elements would share bytes, although the tensor
 * has no elements.
 */
TEST(tensors_without_elements_can_be_copied_with_stride_0)
{
    const int64_t shape[] = {3, 0}, strides[] = {0, 4};
    unsigned char byte = 1;
    GR_AUTO(gr_tensor) *tensor =
        must_make(gr_tensor_create(&GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2,
                                            .shape = shape, .strides = strides),
                                   fx.stream));
    assert_ok(gr_tensor_copy_from_host(tensor, &byte, 0, fx.stream));
    assert_ok(gr_tensor_copy(tensor, tensor, fx.stream));
}

GROUP("devices", add_case)

static const char *second_device(CUdevice *device)
{
    int count = 0;
    CU(DeviceGetCount(&count));
    if (count < 2)
        return "there is only one CUDA device";
    CU(DeviceGet(device, fx.device == 0 ? 1 : 0));
    return NULL;
}

TEST(tensors_are_copied_between_two_devices, 2)
{
    CUdevice device = 0;
    const char *missing = second_device(&device);
    if (missing)
        skip("%s", missing);
    gr_cuda_context *there = must_make(gr_cuda_context_create(device));
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 2, .shape = (const int64_t[]){40, 50},
                .strides = (const int64_t[]){_i ? 64 : 50, 1});
    gr_tensor *other = must_make(gr_tensor_create(&desc, there->stream));
    ck_assert_int_eq(gr_tensor_get_info(other)->device, device);
    CU(CtxSetCurrent(fx.context));
    unsigned char bytes[2000];
    pattern_fill(bytes, sizeof(bytes), 77);
    gr_tensor *here = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 2, (const int64_t[]){40, 50});
    gr_tensor *back = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 2, (const int64_t[]){40, 50});
    assert_ok(gr_tensor_copy_from_host(here, bytes, sizeof(bytes), fx.stream));
    assert_ok(gr_tensor_copy(other, here, there->stream));
    assert_ok(gr_tensor_copy(back, other, fx.other));
    unsigned char *read = must_read(back, fx.stream);
    assert_pattern(read, sizeof(bytes), 77);
    free(read);
    /* The driver reports on which device wrapped memory is. */
    void *pointer = (void *)(uintptr_t)gr_tensor_get_info(other)->ptr;
    gr_tensor *wrapped = must_make(gr_tensor_from_memory(&desc, pointer, fx.stream, NULL, NULL));
    ck_assert_int_eq(gr_tensor_get_info(wrapped)->device, device);
    gr_tensor_free(wrapped);
    gr_tensor_free(other);
    gr_tensor_free(here);
    gr_tensor_free(back);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    gr_cuda_context_free(there);
    CU(CtxSetCurrent(fx.context));
}

GROUP("contexts", add_case)

static gr_tensor *on_legacy(unsigned char value)
{
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = (const int64_t[]){64});
    gr_tensor *tensor = must_make(gr_tensor_create(&desc, CU_STREAM_LEGACY));
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, value, 64, CU_STREAM_LEGACY));
    CU(StreamSynchronize(CU_STREAM_LEGACY));
    return tensor;
}

static void assert_value(gr_tensor *tensor, unsigned char value)
{
    unsigned char *read = must_read(tensor, CU_STREAM_LEGACY);
    assert_bytes(read, 64, value);
    free(read);
}

/*
 * Both tensors are created on the legacy stream, each in its own CUDA context. The copy runs in the
 * context of the target. One copy must wait for work in the source's context. Another copy must
 * wait for work in the target's context, and a later write to the source must wait for that copy.
 *
 * Catches: the two legacy streams were mistaken for one, since they have the same handle.
 */
TEST(default_streams_of_two_contexts_are_ordered, 2)
{
    static const CUstream streams[] = {CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    const CUstream stream = streams[_i];
    unsigned char bytes[64];
    memset(bytes, 3, sizeof(bytes));
    CUcontext context = new_context(NULL);
    gr_tensor *from = on_legacy(1);
    CU(CtxSetCurrent(fx.context));
    gr_tensor *to = on_legacy(0);
    CU(CtxSetCurrent(context));
    gate_open_after(gate_put(CU_STREAM_LEGACY), 60);
    CU(MemsetD8Async(gr_tensor_get_info(from)->ptr, 2, 64, CU_STREAM_LEGACY));
    CU(CtxSetCurrent(fx.context));
    assert_ok(gr_tensor_copy(to, from, stream));
    assert_value(to, 2);
    gate_open_after(gate_put(stream), 60);
    assert_ok(gr_tensor_copy(to, from, stream));
    assert_ok(gr_tensor_copy_from_host(from, bytes, sizeof(bytes), stream));
    assert_value(to, 2);
    assert_value(from, 3);
    gr_tensor_free(to);
    gr_tensor_free(from);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    end_context(context);
}
