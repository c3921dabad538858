/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Lifetimes of exports and of their source tensors: freed in every order, on other threads, without
 * an OpenGL context, and at the end of the process. Also the order between the streams of consumer
 * and producer.
 */
#include "tests/support/child_check.h"
#include "dlpack.h"

#include <stdlib.h>

static TCase *add_life_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), NULL, settle);
}

GROUP("life", add_life_case)

TEST(an_export_keeps_the_memory_after_its_tensor_is_freed)
{
    struct wrapped wrapped;
    wrap(&wrapped, GR_STREAM_NONE);
    DLManagedTensorVersioned *first = must_export(wrapped.tensor, GR_STREAM_NONE);
    DLManagedTensor *second =
        must_make(gr_tensor_to_dlpack(wrapped.tensor, GR_DLPACK_LEGACY, fx.stream));
    gr_tensor_free(wrapped.tensor);
    settle();
    first->deleter(first);
    settle();
    ck_assert_uint_eq(wrapped.ends, 0);
    ck_assert_uint_eq((uintptr_t)second->dl_tensor.data, wrapped.memory);
    second->deleter(second);
    settle();
    ck_assert_uint_eq(wrapped.ends, 1);
}

TEST(a_tensor_is_usable_after_its_exports_are_deleted)
{
    struct wrapped wrapped;
    wrap(&wrapped, fx.stream);
    for (int i = 0; i < 100; i++) {
        DLManagedTensorVersioned *export = must_export(wrapped.tensor, fx.other);
        export->deleter(export);
    }
    settle();
    ck_assert_uint_eq(wrapped.ends, 0);
    tensor_fill(wrapped.tensor, 3);
    assert_tensor_bytes(wrapped.tensor, 3);
    gr_tensor_free(wrapped.tensor);
    settle();
    ck_assert_uint_eq(wrapped.ends, 1);
}

TEST(memory_is_freed_after_the_consumers_pending_work)
{
    struct wrapped wrapped;
    wrap(&wrapped, GR_STREAM_NONE);
    DLManagedTensorVersioned *export = must_export(wrapped.tensor, fx.other);
    gr_tensor_free(wrapped.tensor);
    struct gate *gate = gate_put(fx.other);
    CU(MemsetD8Async((CUdeviceptr)(uintptr_t) export->dl_tensor.data, 1, SIZE, fx.other));
    export->deleter(export);
    assert_fails(gr_tensor_collect(0), GR_ERR_NOT_READY, 0, "1 tensor is");
    ck_assert_uint_eq(wrapped.ends, 0);
    gate_open(gate);
    settle();
    ck_assert_uint_eq(wrapped.ends, 1);
}

/* Work on the tensor's stream must see what the consumer has written. */
TEST(later_work_waits_for_the_consumers_pending_writes)
{
    GR_AUTO(gr_tensor) *tensor = must_alloc(SIZE);
    tensor_fill(tensor, 1);
    for (int live = 0; live < 2; live++) {
        DLManagedTensorVersioned *export = must_export(tensor, fx.other);
        gate_open_after(gate_put(fx.other), 60);
        CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 2 + live, SIZE, fx.other));
        if (!live)
            export->deleter(export);
        unsigned char bytes[SIZE];
        tensor_read(tensor, bytes);
        assert_bytes(bytes, SIZE, 2 + live);
        if (live)
            export->deleter(export);
    }
}

TEST(calling_the_deleter_twice_records_an_error)
{
    struct wrapped wrapped;
    wrap(&wrapped, GR_STREAM_NONE);
    DLManagedTensorVersioned *export = must_export(wrapped.tensor, GR_STREAM_NONE);
    void (*deleter)(DLManagedTensorVersioned *) = export->deleter;
    deleter(export);
    gr_clear_error();
    deleter(export);
    assert_error(GR_ERR_INVALID_VALUE, 0, "the deleter of gr_tensor_to_dlpack was given");
    DLManagedTensor *legacy =
        must_make(gr_tensor_to_dlpack(wrapped.tensor, GR_DLPACK_LEGACY, GR_STREAM_NONE));
    void (*deleter_legacy)(DLManagedTensor *) = legacy->deleter;
    deleter_legacy(legacy);
    deleter_legacy(legacy);
    assert_error(GR_ERR_INVALID_VALUE, 0, "the deleter of gr_tensor_to_dlpack was given");
    deleter(NULL);
    deleter_legacy(NULL);
    gr_tensor_free(wrapped.tensor);
    settle();
    ck_assert_uint_eq(wrapped.ends, 1);
}

/* Each link of the chain imports an export of the previous link. */
TEST(memory_lives_until_the_last_export_of_a_chain_is_freed)
{
    struct wrapped wrapped;
    wrap(&wrapped, fx.stream);
    tensor_fill(wrapped.tensor, 5);
    gr_tensor *links[9] = {wrapped.tensor};
    for (int i = 1; i < 9; i++) {
        DLManagedTensorVersioned *export = must_export(links[i - 1], fx.stream);
        links[i] = must_make(gr_tensor_from_dlpack(export, GR_DLPACK_VERSIONED, fx.stream));
        gr_tensor_free(links[i - 1]);
    }
    settle();
    ck_assert_uint_eq(wrapped.ends, 0);
    assert_tensor_bytes(links[8], 5);
    ck_assert_uint_eq(gr_tensor_get_info(links[8])->ptr, wrapped.memory);
    gr_tensor_free(links[8]);
    settle();
    ck_assert_uint_eq(wrapped.ends, 1);
}

static gr_tensor *last_of_50000(gr_tensor *last)
{
    for (int i = 0; i < 50000; i++) {
        DLManagedTensorVersioned *export =
            gr_tensor_to_dlpack(last, GR_DLPACK_VERSIONED, GR_STREAM_NONE);
        gr_tensor *next =
            export ? gr_tensor_from_dlpack(export, GR_DLPACK_VERSIONED, GR_STREAM_NONE) : NULL;
        assert_made(next);
        gr_tensor_free(last);
        last = next;
    }
    return last;
}

/* Catches: each deleter ran inside the previous one, until the stack overflowed. */
TEST(freeing_a_chain_of_50000_exports_does_not_recurse)
{
    struct wrapped wrapped;
    wrap(&wrapped, GR_STREAM_NONE);
    gr_tensor *last = last_of_50000(wrapped.tensor);
    ck_assert_uint_eq(wrapped.ends, 0);
    gr_tensor_free(last);
    settle();
    ck_assert_uint_eq(wrapped.ends, 1);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *delete_export(void *export)
{
    ((DLManagedTensorVersioned *)export)->deleter(export);
    return NULL;
}

TEST(exports_can_be_deleted_on_another_thread)
{
    struct wrapped wrapped;
    for (int last = 0; last < 2; last++) {
        wrap(&wrapped, fx.stream);
        DLManagedTensorVersioned *export = must_export(wrapped.tensor, fx.other);
        if (last)
            gr_tensor_free(wrapped.tensor);
        elsewhere(delete_export, export);
        if (!last)
            gr_tensor_free(wrapped.tensor);
        settle();
        ck_assert_uint_eq(wrapped.ends, 1);
    }
}

enum { ROUNDS = 200, THREADS = 4 };

static void *export_and_delete(void *tensor)
{
    CUcontext popped;
    if (fx.cu->CtxPushCurrent(fx.context))
        return NULL;
    for (int i = 0; i < ROUNDS; i++) {
        gr_tensor *back = gr_tensor_from_dlpack(tensor, GR_DLPACK_VERSIONED, GR_STREAM_NONE);
        if (!back)
            return NULL;
        DLManagedTensorVersioned *export =
            gr_tensor_to_dlpack(back, GR_DLPACK_VERSIONED, fx.stream);
        gr_tensor_free(back);
        if (!export)
            return NULL;
        tensor = export;
    }
    fx.cu->CtxPopCurrent(&popped);
    return tensor;
}

/* Each thread imports its export and exports the import again, many times. */
TEST(four_threads_can_export_and_free_the_same_memory)
{
    struct wrapped wrapped;
    wrap(&wrapped, fx.stream);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        DLManagedTensorVersioned *export = must_export(wrapped.tensor, fx.other);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, export_and_delete, export), 0);
    }
    gr_tensor_free(wrapped.tensor);
    for (int i = 0; i < THREADS; i++) {
        void *last;
        ck_assert_int_eq(pthread_join(threads[i], &last), 0);
        ck_assert_ptr_nonnull(last);
        ((DLManagedTensorVersioned *)last)->deleter(last);
    }
    settle();
    ck_assert_uint_eq(wrapped.ends, 1);
}

static TCase *add_mappings_case(Suite *suite, const char *name)
{
    return with_fixture(add_resource_case(suite, name), NULL, settle);
}

GROUP("mappings", add_mappings_case)

static DLManagedTensorVersioned *export_mapping(gr_buffer *buffer, gr_tensor **tensor)
{
    *tensor = gr_buffer_tensor(buffer, NULL);
    assert_made(*tensor);
    return must_export(*tensor, fx.other);
}

TEST(a_mapping_is_exported_without_a_copy)
{
    gr_buffer *buffer = must_map(fx.resource);
    gr_tensor *tensor;
    DLManagedTensorVersioned *export = export_mapping(buffer, &tensor);
    ck_assert_uint_eq((uintptr_t) export->dl_tensor.data, gr_buffer_ptr(buffer));
    ck_assert_int_eq(export->dl_tensor.shape[0], SIZE);
    CU(MemsetD8Async((CUdeviceptr)(uintptr_t) export->dl_tensor.data, 0x41, SIZE, fx.other));
    export->deleter(export);
    gr_tensor_free(tensor);
    assert_ok(gr_buffer_release(buffer));
    assert_gl_bytes(fx.name, SIZE, 0x41);
}

/* OpenGL must also wait for the consumer's stream. */
TEST(a_release_waits_for_the_consumers_pending_writes)
{
    for (int live = 0; live < 2; live++) {
        gr_buffer *buffer = must_map(fx.resource);
        gr_tensor *tensor;
        DLManagedTensorVersioned *export = export_mapping(buffer, &tensor);
        gate_open_after(gate_put(fx.other), 60);
        CU(MemsetD8Async((CUdeviceptr)(uintptr_t) export->dl_tensor.data, 0x51 + live, SIZE,
                         fx.other));
        gr_tensor_free(tensor);
        if (!live)
            export->deleter(export);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_bytes(fx.name, SIZE, 0x51 + live);
        if (live)
            export->deleter(export);
    }
}

TEST(a_release_revokes_the_exported_tensor)
{
    gr_buffer *buffer = must_map(fx.resource);
    gr_tensor *tensor;
    DLManagedTensorVersioned *export = export_mapping(buffer, &tensor);
    assert_ok(gr_buffer_release(buffer));
    ck_assert(gr_tensor_get_info(tensor)->revoked);
    assert_null(gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, fx.stream), GR_ERR_STATE, 0,
                "mapping has ended");
    assert_null(gr_tensor_to_dlpack(tensor, GR_DLPACK_LEGACY, fx.stream), GR_ERR_STATE, 0,
                "mapping has ended");
    elsewhere(delete_export, export);
    gr_tensor_free(tensor);
    assert_gl_bytes(fx.name, SIZE, 1);
    assert_ok(gr_buffer_release(must_map(fx.resource)));
}

static gr_tensor *import_own(gr_tensor *tensor, bool legacy)
{
    if (legacy)
        return gr_tensor_from_dlpack(
            must_make(gr_tensor_to_dlpack(tensor, GR_DLPACK_LEGACY, fx.stream)), GR_DLPACK_LEGACY,
            fx.stream);
    return gr_tensor_from_dlpack(must_export(tensor, fx.stream), GR_DLPACK_VERSIONED, fx.stream);
}

/* Catches: it kept the address of the memory after the mapping had ended. */
TEST(a_release_revokes_imports_of_own_exports, 2)
{
    gr_buffer *buffer = must_map(fx.resource);
    gr_tensor *tensor;
    DLManagedTensorVersioned *late = export_mapping(buffer, &tensor);
    gr_tensor *once = must_make(import_own(tensor, _i)), *again = must_make(import_own(once, !_i));
    gr_tensor_free(must_make(import_own(again, _i)));
    gr_tensor_free(tensor);
    CU(MemsetD8Async(gr_tensor_get_info(again)->ptr, 0x55, SIZE, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    assert_gl_bytes(fx.name, SIZE, 0x55);
    ck_assert(gr_tensor_get_info(once)->revoked && !gr_tensor_get_info(once)->ptr);
    ck_assert(gr_tensor_get_info(again)->revoked && !gr_tensor_get_info(again)->ptr);
    assert_null(gr_tensor_from_dlpack(late, GR_DLPACK_VERSIONED, fx.other), GR_ERR_STATE, 0,
                "mapping that has ended");
    late->deleter(late);
    gr_tensor_free(once);
    gr_tensor_free(again);
    assert_ok(gr_buffer_release(must_map(fx.resource)));
}

TEST(freeing_a_chain_of_50000_exports_of_a_mapping_does_not_recurse)
{
    gr_buffer *buffer = must_map(fx.resource);
    gr_tensor_free(last_of_50000(must_make(gr_buffer_tensor(buffer, NULL))));
    settle();
    ck_assert_uint_eq(gr_buffer_get_info(buffer)->tensors, 0);
    assert_ok(gr_buffer_release(buffer));
}

TEST(gr_buffer_release_later_waits_until_the_export_is_deleted)
{
    gr_buffer *buffer = must_map(fx.resource);
    gr_tensor *tensor;
    DLManagedTensorVersioned *export = export_mapping(buffer, &tensor);
    gr_tensor_free(tensor);
    gr_buffer_release_later(buffer);
    ck_assert(gr_resource_get_info(fx.resource)->mapped);
    assert_null(gr_map(fx.resource, fx.stream), GR_ERR_STATE, 0, "1 tensor or export still holds");
    CU(MemsetD8Async((CUdeviceptr)(uintptr_t) export->dl_tensor.data, 0x61, SIZE, fx.other));
    elsewhere(delete_export, export);
    assert_ok(gr_buffer_release(must_map(fx.resource)));
    assert_gl_bytes(fx.name, SIZE, 0x61);
}

TEST(an_export_outlives_its_resource)
{
    for (int order = 0; order < 3; order++) {
        GLuint name = gl_buffer_filled(SIZE, 1);
        gr_resource *resource = must_register(name);
        gr_buffer *buffer = must_map(resource);
        gr_tensor *tensor;
        DLManagedTensorVersioned *export = export_mapping(buffer, &tensor);
        gr_tensor_free(tensor);
        if (order == 0)
            assert_ok(gr_resource_close(resource, fx.stream));
        gr_resource_free(resource);
        if (order == 1)
            gr_buffer_release_later(buffer);
        elsewhere(delete_export, export);
        if (order != 1)
            assert_ok(gr_buffer_release(buffer));
        assert_gl_bytes(name, SIZE, 1);
    }
}

GROUP("life", add_life_case)

/* Destroying the context frees the memory. The deleter of the owner is still called. */
TEST(an_export_outlives_its_context)
{
    CUcontext popped;
    CUcontext context = new_context(NULL);
    struct wrapped wrapped;
    wrap(&wrapped, GR_STREAM_NONE);
    wrapped.ends = 1; /* the context frees the memory */
    CUstream stream;
    CU(StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DLManagedTensorVersioned *export = must_export(wrapped.tensor, stream);
    CU(CtxPopCurrent(&popped));
    CU(CtxDestroy(context));
    elsewhere(delete_export, export);
    gr_tensor_free(wrapped.tensor);
    settle();
    ck_assert_uint_eq(wrapped.ends, 2);
}

/* ---- The end of the process ------------------------------------------------------------------ */

static DLManagedTensorVersioned *kept;
static struct wrapped kept_memory;
static struct producer kept_producer;

static void delete_kept(void)
{
    kept->deleter(kept);
}

/* The deleter runs at exit without calling the driver. */
CHILD(deleted_at_exit)
{
    atexit(delete_kept);
    fixture_setup();
    GR_AUTO(gr_tensor) *tensor = must_alloc(SIZE);
    kept = gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, fx.stream);
    child_check(kept);
    return 0;
}

CHILD(deleted_before_the_librarys_own_exit)
{
    fixture_setup();
    gr_tensor *tensor = must_alloc(SIZE);
    kept = gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, fx.other);
    child_check(kept);
    gr_tensor_free(tensor);
    atexit(delete_kept);
    return 0;
}

CHILD(mapping_deleted_at_exit)
{
    atexit(delete_kept);
    fixture_setup();
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    gr_tensor *tensor;
    gr_buffer *buffer = must_map(resource);
    kept = export_mapping(buffer, &tensor);
    gr_tensor_free(tensor);
    gr_buffer_release_later(buffer);
    gr_resource_free(resource);
    gr_egl_free(fx.egl);
    return 0;
}

CHILD(never_deleted)
{
    fixture_setup();
    child_check(gr_tensor_to_dlpack(must_alloc(SIZE), GR_DLPACK_VERSIONED, fx.stream));
    wrap(&kept_memory, fx.stream);
    child_check(gr_tensor_to_dlpack(kept_memory.tensor, GR_DLPACK_VERSIONED, fx.other));
    produce(&kept_producer);
    child_check(gr_tensor_from_dlpack(&kept_producer.versioned, GR_DLPACK_VERSIONED, fx.stream));
    struct gate *gate = gate_put(fx.stream);
    gr_tensor_free(kept_memory.tensor);
    gate_open(gate);
    return 0;
}

/*
 * A consumer destroys its stream before its tensor, which the header forbids. The software driver
 * detects this, and the tensor is still freed. A GPU driver would read freed memory.
 */
CHILD(stream_ends_before_its_export)
{
    fixture_setup();
    if (!gr_cuda_is_software())
        return 0;
    wrap(&kept_memory, fx.stream);
    for (int last = 0; last < 2; last++) {
        CUstream stream;
        CU(StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        kept = gr_tensor_to_dlpack(kept_memory.tensor, GR_DLPACK_VERSIONED, stream);
        child_check(kept);
        CU(MemsetD8Async(kept_memory.memory, 1, SIZE, stream));
        /* A destroyed stream cannot be waited for, so the test completes the work first. */
        CU(StreamSynchronize(stream));
        CU(StreamDestroy(stream));
        if (!last)
            tensor_fill(kept_memory.tensor, 2);
        else
            gr_tensor_free(kept_memory.tensor);
        kept->deleter(kept);
    }
    settle();
    child_check(kept_memory.ends == 1);
    return 0;
}

CHILD(import_freed_at_exit)
{
    fixture_setup();
    produce(&kept_producer);
    gr_tensor *tensor =
        gr_tensor_from_dlpack(&kept_producer.versioned, GR_DLPACK_VERSIONED, fx.stream);
    child_check(tensor);
    kept = gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, fx.other);
    child_check(kept);
    gr_tensor_free(tensor);
    atexit(delete_kept);
    return 0;
}

static const char *const ending[] = {
    "deleted_at_exit",         "deleted_before_the_librarys_own_exit",
    "mapping_deleted_at_exit", "never_deleted",
    "import_freed_at_exit",    "stream_ends_before_its_export"};

GROUP("process", add_bare_case)

TEST(a_process_with_undeleted_exports_exits_cleanly, sizeof(ending) / sizeof(ending[0]))
{
    expect_child(ending[_i]);
}
