/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Random calls on tensors, views, exports and imports of some memories. Each memory must be freed
 * once, on any thread, after its last reference is gone and not earlier.
 */
#include "dlpack.h"
#include "tests/support/random_walk.h"

#define SEED     20261121u
#define STEPS    4000
#define MEMORIES 4
#define HANDLES  24

enum kind { NOTHING, TENSOR, EXPORT, LEGACY };

/* A reference to a memory. */
struct handle {
    enum kind kind;
    struct memory *memory;
    /*
     * A tensor that wraps the memory itself, not an import. grinterop orders only the uses of such
     * tensors.
     */
    bool own;
    union {
        gr_tensor *tensor;
        DLManagedTensorVersioned *export;
        DLManagedTensor *legacy;
    } it;
};

static struct memory {
    struct wrapped wrapped;
    unsigned handles; /* the number of references; 0: this memory does not exist */
    unsigned char value;
} memories[MEMORIES];
static struct handle handles[HANDLES];
static uint32_t state;

static unsigned pick(unsigned n)
{
    return walk_random(&state, n);
}

/* A random handle of that kind. NULL if the first random choice is of another kind. */
static struct handle *some(enum kind kind)
{
    struct handle *handle = &handles[pick(HANDLES)];
    return handle->kind == kind ? handle : NULL;
}

static CUstream some_stream(void)
{
    return pick(2) ? fx.stream : fx.other;
}

static CUstream some_consumer(void)
{
    return pick(3) ? some_stream() : GR_STREAM_NONE;
}

static void refer(struct handle *handle, enum kind kind, struct memory *memory, bool own)
{
    *handle = (struct handle){.kind = kind, .memory = memory, .own = own};
    memory->handles++;
}

static void expect_alive(void)
{
    for (size_t i = 0; i < MEMORIES; i++)
        ck_assert_uint_eq(memories[i].wrapped.ends, 0);
}

/* Drops a reference. After the last one the memory is freed once the streams have finished. */
static void let_go(struct handle *handle)
{
    struct memory *memory = handle->memory;
    handle->kind = NOTHING;
    if (--memory->handles)
        return;
    settle();
    ck_assert_uint_eq(memory->wrapped.ends, 1);
    memory->wrapped.ends = 0;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void step_wrap(void)
{
    struct handle *handle = some(NOTHING);
    struct memory *memory = &memories[pick(MEMORIES)];
    if (!handle || memory->handles)
        return;
    wrap(&memory->wrapped, some_consumer());
    refer(handle, TENSOR, memory, true);
    handle->it.tensor = memory->wrapped.tensor;
    tensor_fill(handle->it.tensor, memory->value = (unsigned char)pick(256));
}

static void step_export(void)
{
    struct handle *from = some(TENSOR), *to = some(NOTHING);
    if (!from || !to)
        return;
    bool legacy = pick(2);
    refer(to, legacy ? LEGACY : EXPORT, from->memory, false);
    if (legacy)
        to->it.legacy = must_make(gr_tensor_dlpack_legacy(from->it.tensor, some_consumer()));
    else
        to->it.export = must_make(gr_tensor_dlpack(from->it.tensor, some_consumer()));
}

/* Imports an export. Imports can form chains, since a consumer exports what it has imported. */
static void step_import(void)
{
    struct handle *handle = some(pick(2) ? EXPORT : LEGACY);
    if (!handle)
        return;
    gr_tensor *tensor = handle->kind == LEGACY
                            ? gr_tensor_from_dlpack_legacy(handle->it.legacy, some_consumer())
                            : gr_tensor_from_dlpack(handle->it.export, some_consumer());
    assert_made(tensor);
    handle->kind = TENSOR;
    handle->it.tensor = tensor;
}

static void step_view(void)
{
    struct handle *from = some(TENSOR), *to = some(NOTHING);
    if (!from || !to)
        return;
    refer(to, TENSOR, from->memory, from->own);
    to->it.tensor = must_make(
        gr_tensor_view(from->it.tensor, &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 1,
                                                 .shape = (int64_t[]){SIZE / 4})));
}

static void *end_handle(void *ended)
{
    struct handle *handle = ended;
    if (handle->kind == TENSOR)
        gr_tensor_free(handle->it.tensor);
    else if (handle->kind == EXPORT)
        handle->it.export->deleter(handle->it.export);
    else
        handle->it.legacy->deleter(handle->it.legacy);
    return NULL;
}

/* Frees a reference on this thread or on a thread without a context. */
static void step_end(void)
{
    struct handle *handle = &handles[pick(HANDLES)];
    if (handle->kind == NOTHING)
        return;
    if (pick(3))
        end_handle(handle);
    else
        elsewhere(end_handle, handle);
    let_go(handle);
}

static void step_write(void)
{
    struct handle *handle = some(TENSOR);
    CUstream stream = some_stream();
    if (!handle || !handle->own)
        return;
    handle->memory->value++;
    assert_ok(gr_tensor_wait(handle->it.tensor, stream));
    CU(MemsetD8Async(handle->memory->wrapped.memory, handle->memory->value, SIZE, stream));
    assert_ok(gr_tensor_used_on(handle->it.tensor, stream));
}

static void step_read(void)
{
    struct handle *handle = some(TENSOR);
    if (handle && handle->own)
        assert_tensor_bytes(handle->it.tensor, handle->memory->value);
}

static void step_collect(void)
{
    if (gr_tensor_collect(0) != GR_OK)
        assert_error(GR_ERR_NOT_READY, 0, "used by a stream");
}

static const struct walk_kind kinds[] = {
    {"wrap", 6, step_wrap},  {"export", 30, step_export},  {"import", 30, step_import},
    {"view", 10, step_view}, {"end", 14, step_end},        {"write", 10, step_write},
    {"read", 10, step_read}, {"collect", 4, step_collect},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static TCase *add_walk_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), NULL, settle);
}

GROUP("walk", add_walk_case)

TEST(random_calls_free_each_memory_once)
{
    state = SEED;
    for (int step = 0; step < STEPS; step++) {
        kinds[walk_pick(kinds, KINDS, pick)].run();
        expect_alive();
    }
    for (size_t i = 0; i < HANDLES; i++) {
        if (handles[i].kind == NOTHING)
            continue;
        end_handle(&handles[i]);
        let_go(&handles[i]);
    }
}
