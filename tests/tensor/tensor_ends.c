/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * When the deleters of tensors run: after the streams, on any thread, when the context is
 * destroyed, and at exit.
 */
#define _POSIX_C_SOURCE 200809L
#include "tensor.h"
#include "tests/support/child_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

GROUP("ends", add_case)

static unsigned ends;

static void note_end(void *user)
{
    ck_assert_ptr_eq(user, &ends);
    ends++;
}

static unsigned char memory[256];

static gr_tensor *wrap_on(CUstream stream)
{
    ends = 0;
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                  .shape = (const int64_t[]){256}, .memory = GR_MEMORY_HOST);
    return must_make(gr_tensor_from_memory(&desc, memory, stream, note_end, &ends));
}

TEST(a_deleter_runs_once_even_after_a_second_free, 2)
{
    gr_tensor *tensor = wrap_on(_i ? fx.stream : GR_STREAM_NONE);
    ck_assert_ptr_eq(gr_tensor_get_info(tensor)->data, memory);
    gr_tensor_free(tensor);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    ck_assert_uint_eq(ends, 1);
    gr_clear_error();
    gr_tensor_free(tensor);
    assert_error(GR_ERR_INVALID_VALUE, 0, "gr_tensor_free was given");
    ck_assert_uint_eq(ends, 1);
}

TEST(a_failed_wrap_calls_no_deleter)
{
    ends = 0;
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = (gr_dtype)99);
    assert_null_invalid(gr_tensor_from_memory(&desc, memory, fx.stream, note_end, &ends), "dtype");
    ck_assert_uint_eq(ends, 0);
}

TEST(the_deleter_runs_after_the_last_view_is_freed, 3)
{
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U16, .ndim = 1, .shape = (const int64_t[]){3});
    gr_tensor *tensor = wrap_on(GR_STREAM_NONE);
    gr_tensor *first = gr_tensor_view(tensor, &desc),
              *second = must_make(gr_tensor_view(first, &desc));
    gr_tensor *all[] = {tensor, first, second};
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(ends, 0);
        gr_tensor_free(all[(i + _i) % 3]);
    }
    ck_assert_uint_eq(ends, 1);
}

/*
 * The pending work is on the tensor's own stream, or on another stream reported with
 * gr_tensor_used_on().
 */
TEST(the_deleter_runs_after_pending_work, 2)
{
    gr_tensor *tensor = wrap_on(fx.stream);
    struct gate *gate = gate_put(_i ? fx.other : fx.stream);
    if (_i)
        assert_ok(gr_tensor_used_on(tensor, fx.other));
    gr_tensor_free(tensor);
    ck_assert_uint_eq(ends, 0);
    assert_fails(gr_tensor_collect(0), GR_ERR_NOT_READY, 0, "1 tensor is still used");
    assert_fails(gr_tensor_collect(20), GR_ERR_TIMEOUT, 0, "after 20 ms");
    gr_tensor_free(must_alloc(GR_DTYPE_U8, GR_MEMORY_HOST, 0, NULL));
    ck_assert_uint_eq(ends, 0);
    gate_open_after(gate, 20);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    ck_assert_uint_eq(ends, 1);
}

/* gr_tensor_create(), like other calls, also frees tensors whose streams have finished. */
TEST(a_later_call_runs_deferred_deleters)
{
    gr_tensor *tensor = wrap_on(fx.stream);
    struct gate *gate = gate_put(fx.stream);
    gr_tensor_free(tensor);
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(ends, 0);
    tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_HOST, 0, NULL);
    ck_assert_uint_eq(ends, 1);
    gr_tensor_free(tensor);
}

TEST(a_busy_stream_does_not_defer_the_tensors_of_another)
{
    CUstream streams[] = {fx.stream, fx.other, fx.stream, fx.other, fx.stream};
    gr_tensor *tensors[5];
    for (int i = 0; i < 5; i++)
        tensors[i] = wrap_on(streams[i]);
    /* one gate only: on a GPU the host functions of two streams may wait for each other */
    struct gate *gate = gate_put(fx.stream);
    for (int i = 0; i < 4; i++)
        gr_tensor_free(tensors[i]);
    CU(StreamSynchronize(fx.other));
    assert_fails(gr_tensor_collect(0), GR_ERR_NOT_READY, 0, "2 tensors are still used");
    ck_assert_uint_eq(ends, 2);
    gr_tensor_free(tensors[4]);
    assert_fails(gr_tensor_collect(0), GR_ERR_NOT_READY, 0, "3 tensors are still used");
    gate_open(gate);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    ck_assert_uint_eq(ends, 5);
}

static void end_by_another(void *user)
{
    gr_tensor **other = user;
    gr_tensor_free(*other);
    *other = NULL;
    gr_tensor_free(must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 1, (const int64_t[]){5}));
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
}

TEST(a_deleter_may_call_grinterop, 2)
{
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .memory = GR_MEMORY_HOST);
    gr_tensor *inner = wrap_on(fx.stream);
    gr_tensor *outer =
        must_make(gr_tensor_from_memory(&desc, memory, fx.stream, end_by_another, &inner));
    struct gate *gate = _i ? gate_put(fx.stream) : NULL;
    gr_tensor_free(outer);
    if (gate)
        gate_open(gate);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    ck_assert_ptr_null(inner);
    ck_assert_uint_eq(ends, 1);
}

TEST(tensors_can_be_freed_on_another_thread)
{
    elsewhere(free_tensor, wrap_on(fx.stream));
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    ck_assert_uint_eq(ends, 1);
    for (int i = 0; i < 4; i++)
        elsewhere(free_tensor, must_alloc(GR_DTYPE_U8, each_memory[i], 1, (const int64_t[]){512}));
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
}

/* CU_STREAM_PER_THREAD is a different stream on each thread. */
TEST(a_free_on_another_thread_waits_for_the_per_thread_stream)
{
    gr_tensor *tensor = wrap_on(CU_STREAM_PER_THREAD);
    struct gate *gate = gate_put(CU_STREAM_PER_THREAD);
    elsewhere(free_tensor, tensor);
    ck_assert_uint_eq(ends, 0);
    gate_open(gate);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    ck_assert_uint_eq(ends, 1);
}

/*
 * Waits on the per-thread stream of this thread. The tensor's stream has the same handle, but is
 * the stream of another thread.
 */
static void *wait_on_own_stream(void *tensor)
{
    CU(CtxSetCurrent(fx.context));
    assert_ok(gr_tensor_wait(tensor, CU_STREAM_PER_THREAD));
    bool done = gr_cuda()->StreamQuery(CU_STREAM_PER_THREAD) == CUDA_SUCCESS;
    return done ? tensor : NULL;
}

TEST(the_per_thread_streams_of_two_threads_are_ordered)
{
    gr_tensor *tensor = wrap_on(CU_STREAM_PER_THREAD);
    struct gate *gate = gate_put(CU_STREAM_PER_THREAD);
    ck_assert_ptr_null(elsewhere(wait_on_own_stream, tensor));
    gate_open(gate);
    gr_tensor_free(tensor);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
}

TEST(a_tensor_waits_for_nine_reported_streams)
{
    CUstream streams[9];
    struct gate *gates[9];
    gr_tensor *tensor = wrap_on(GR_STREAM_NONE);
    for (int i = 0; i < 9; i++) {
        CU(StreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        gates[i] = gate_put(streams[i]);
        assert_ok(gr_tensor_used_on(tensor, streams[i]));
        assert_ok(gr_tensor_used_on(tensor, streams[i]));
    }
    gr_tensor_free(tensor);
    for (int i = 0; i < 9; i++) {
        assert_fails(gr_tensor_collect(0), GR_ERR_NOT_READY, 0, "still used");
        gate_open(gates[i]);
        CU(StreamSynchronize(streams[i]));
        CU(StreamDestroy(streams[i]));
    }
    assert_ok(gr_tensor_collect(0));
    ck_assert_uint_eq(ends, 1);
}

/* A stream that was passed to gr_tensor_used_on() may be destroyed afterwards. */
TEST(a_stream_may_be_destroyed_after_its_use_was_recorded)
{
    CUstream stream;
    CU(StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    gr_tensor *tensor = wrap_on(fx.stream);
    assert_ok(gr_tensor_used_on(tensor, stream));
    CU(StreamDestroy(stream));
    assert_ok(gr_tensor_wait(tensor, fx.other));
    gr_tensor_free(tensor);
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    ck_assert_uint_eq(ends, 1);
}

/* ---- A destroyed context --------------------------------------------------------------------- */

TEST(tensors_of_a_destroyed_context_can_be_freed)
{
    CUstream stream;
    CUcontext context = new_context(&stream);
    gr_tensor *tensors[5];
    for (int i = 0; i < 4; i++) {
        gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                      .shape = (const int64_t[]){512}, .memory = each_memory[i]);
        tensors[i] = must_make(gr_tensor_create(&desc, stream));
    }
    tensors[4] = wrap_on(stream);
    end_context(context);
    gr_clear_error();
    for (int i = 0; i < 5; i++)
        gr_tensor_free(tensors[i]);
    assert_ok(gr_tensor_collect(0));
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    ck_assert_uint_eq(ends, 1);
}

TEST(deferred_deleters_run_after_their_context_is_destroyed)
{
    CUstream stream;
    CUcontext context = new_context(&stream);
    gr_tensor *tensor = wrap_on(stream);
    struct gate *gate = gate_put(stream);
    gr_tensor_free(tensor);
    ck_assert_uint_eq(ends, 0);
    gate_open(gate);
    end_context(context);
    assert_ok(gr_tensor_collect(0));
    ck_assert_uint_eq(ends, 1);
}

/* ---- The end of the process ------------------------------------------------------------------ */

static gr_tensor *left_over;

/* Registered with atexit() before all other exit functions, so that it runs last. */
static void free_at_exit(void)
{
    gr_tensor_free(left_over);
}

static void say_end(void *user)
{
    (void)user;
    printf("an end at exit\n");
    fflush(stdout);
}

CHILD(ends_with_tensors)
{
    atexit(free_at_exit);
    fixture_setup();
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                  .shape = (const int64_t[]){256}, .memory = GR_MEMORY_HOST);
    left_over = must_make(gr_tensor_from_memory(&desc, memory, fx.stream, say_end, NULL));
    must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 1, (const int64_t[]){100});
    struct gate *gate = gate_put(fx.stream);
    gr_tensor_free(wrap_on(fx.stream));
    assert_fails(gr_tensor_collect(0), GR_ERR_NOT_READY, 0, "still used");
    if (!gr_cuda_is_software()) /* the driver of a GPU may wait for the stream at exit */
        gate_open(gate);
    return 0;
}

/*
 * The handler runs when the exit has begun, but before that of the driver. No driver call may
 * follow, and so the tensor does not wait for its stream.
 */
CHILD(ends_before_the_driver)
{
    fx.cu = gr_cuda_load(true) == GR_OK ? gr_cuda() : NULL;
    gr_cuda_context *context = fx.cu ? gr_cuda_context_create(0) : NULL;
    child_check(context);
    atexit(free_at_exit);
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                  .shape = (const int64_t[]){256}, .memory = GR_MEMORY_HOST);
    struct gate *gate = gate_put(context->stream);
    left_over = must_make(gr_tensor_from_memory(&desc, memory, context->stream, say_end, NULL));
    if (!gr_cuda_is_software())
        gate_open(gate);
    return 0;
}

TEST(a_tensor_freed_at_exit_does_not_wait_for_its_stream)
{
    char text[16384];
    int status = child_run("ends_before_the_driver", text, sizeof(text));
    ck_assert_msg(status == 0 && strstr(text, "an end at exit"), "%d: %s", status, text);
}

TEST(a_process_with_tensors_exits_cleanly)
{
    char text[16384];
    setenv("GR_LOG", "info", 1);
    int status = child_run("ends_with_tensors", text, sizeof(text));
    unsetenv("GR_LOG");
    ck_assert_msg(status == 0, "%d: %s", status, text);
    ck_assert_msg(strstr(text, "1 tensor open, without gr_tensor_free(): (100,) of uint8"), "%s",
                  text);
    ck_assert_msg(strstr(text, "an end at exit"), "%s", text);
}
