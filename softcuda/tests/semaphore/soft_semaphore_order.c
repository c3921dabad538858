/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The order between streams, and between streams and the host, that the semaphores of the software
 * driver ensure.
 */
#define _GNU_SOURCE
#include "tests/support/driver_symbol.h"
#include "soft_semaphore.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define SIZE 1000

GROUP("orders", add_case)

/*
 * The stream of the writer is blocked for some time. The stream of the reader waits for nothing but
 * the semaphore.
 */
static void read_behind_writer(CUexternalSemaphoreHandleType type)
{
    CUexternalSemaphore written = make_semaphore(type);
    CUdeviceptr memory = 0;
    void *copy = NULL;
    CU(MemAlloc(&memory, SIZE));
    CU(MemAllocHost(&copy, SIZE));
    CU(MemsetD8Async(memory, 1, SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    struct gate *gate = gate_put(fx.stream);
    CU(MemsetD8Async(memory, 2, SIZE, fx.stream));
    put_signal(written, 1, fx.stream);
    put_wait(written, 1, fx.other);
    CU(MemcpyDtoHAsync(copy, memory, SIZE, fx.other));
    assert_waits(fx.other);
    gate_open_after(gate, 20);
    CU(StreamSynchronize(fx.other));
    assert_bytes(copy, SIZE, 2);
    CU(StreamSynchronize(fx.stream));
}

SEMAPHORE_TEST(reader_waits_for_the_writer)
{
    read_behind_writer(BINARY);
    read_behind_writer(TIMELINE);
}

SEMAPHORE_TEST(timeline_wait_needs_at_least_its_value)
{
    int fd = make_fd(true, 10);
    CUexternalSemaphore t = import_copy(fd, TIMELINE);
    gr_softcuda_semaphore *host = NULL;
    assert_result(CUDA_SUCCESS, soft.open(fd, &host), "open");
    close(fd);
    put_wait(t, 0, fx.stream);
    put_wait(t, 9, fx.stream);
    put_wait(t, 10, fx.stream);
    CU(StreamSynchronize(fx.stream));
    put_wait(t, 12, fx.stream);
    put_signal(t, 11, fx.other);
    CU(StreamSynchronize(fx.other));
    assert_waits(fx.stream);
    put_signal(t, 0x100000000, fx.other); /* a greater value than the wait needs */
    CU(StreamSynchronize(fx.stream));
    put_wait(t, 12, fx.stream); /* a wait does not consume the value */
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(soft.value(host), 0x100000000);
    put_wait(t, 0x100000001, fx.stream);
    assert_waits(fx.stream);
    put_signal(t, ~0ull, fx.other);
    CU(StreamSynchronize(fx.stream));
    soft.close(host);
}

/* One signal releases one wait and resets the semaphore. */
SEMAPHORE_TEST(binary_wait_resets_the_semaphore)
{
    CUexternalSemaphore b = import_fd(make_fd(false, 1), BINARY);
    put_wait(b, 0, fx.stream);
    CU(StreamSynchronize(fx.stream));
    put_wait(b, 0, fx.stream);
    put_wait(b, 0, fx.other);
    assert_waits(fx.stream);
    assert_waits(fx.other);
    put_signal(b, 0, CU_STREAM_LEGACY);
    CU(StreamSynchronize(CU_STREAM_LEGACY));
    bool passed[2] = {false, false};
    for (int i = 0; i < 2000 && !passed[0] && !passed[1]; i++) {
        sleep_ms(1);
        passed[0] = fx.cu->StreamQuery(fx.stream) == CUDA_SUCCESS;
        passed[1] = fx.cu->StreamQuery(fx.other) == CUDA_SUCCESS;
    }
    ck_assert(passed[0] != passed[1]);
    assert_waits(passed[0] ? fx.other : fx.stream);
    put_signal(b, 0, CU_STREAM_LEGACY);
    CU(CtxSynchronize());
}

/*
 * The list does not fit into the small buffer for a call. The last semaphore in the list works like
 * the first.
 */
SEMAPHORE_TEST(one_call_signals_or_waits_for_many_semaphores)
{
    enum { MANY = 100 };
    CUexternalSemaphore all[MANY];
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *signals = calloc(MANY, sizeof(*signals));
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *waits = calloc(MANY, sizeof(*waits));
    for (unsigned i = 0; i < MANY; i++) {
        all[i] = make_semaphore(i % 3 ? TIMELINE : BINARY);
        signals[i].params.fence.value = waits[i].params.fence.value = i + 1;
    }
    CU(WaitExternalSemaphoresAsync(all, waits, MANY, fx.stream));
    CU(SignalExternalSemaphoresAsync(all, signals, MANY - 1, fx.other));
    CU(StreamSynchronize(fx.other));
    assert_waits(fx.stream);
    CU(SignalExternalSemaphoresAsync(&all[MANY - 1], &signals[MANY - 1], 1, fx.other));
    CU(StreamSynchronize(fx.stream));
    free(signals);
    free(waits);
}

/* A wait only blocks work that the rules of the legacy default stream order after it. */
SEMAPHORE_TEST(wait_blocks_default_streams_by_the_legacy_rules)
{
    CUexternalSemaphore t = make_semaphore(TIMELINE);
    CUstream blocking = NULL, second = NULL;
    CU(StreamCreate(&blocking, CU_STREAM_DEFAULT));
    CU(StreamCreate(&second, CU_STREAM_DEFAULT));
    CUdeviceptr memory = 0;
    CU(MemAlloc(&memory, SIZE));

    put_wait(t, 1, NULL);
    CU(MemsetD8Async(memory, 1, SIZE, blocking));
    assert_waits(blocking);
    CU(MemsetD8Async(memory, 1, SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    put_signal(t, 1, fx.stream);
    CU(StreamSynchronize(blocking));

    put_wait(t, 2, blocking);
    CU(MemsetD8Async(memory, 1, SIZE, second));
    CU(StreamSynchronize(second));
    CU(MemsetD8Async(memory, 1, SIZE, CU_STREAM_LEGACY));
    assert_waits(CU_STREAM_LEGACY);
    put_signal(t, 2, fx.stream);
    CU(StreamSynchronize(CU_STREAM_LEGACY));
}

SEMAPHORE_TEST(per_thread_calls_use_the_threads_own_stream)
{
    CUexternalSemaphore t = make_semaphore(TIMELINE);
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = 1};
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {.params.fence.value = 2};
    TWIN(cuWaitExternalSemaphoresAsync, _ptsz, (&t, &wait, 1, NULL));
    TWIN(cuSignalExternalSemaphoresAsync, _ptsz, (&t, &signal, 1, NULL));
    assert_waits(CU_STREAM_PER_THREAD);
    put_signal(t, 1, fx.stream);
    CU(StreamSynchronize(CU_STREAM_PER_THREAD));
    put_wait(t, 2, fx.stream);
    CU(StreamSynchronize(fx.stream));
}

static void CUDA_CB count_up(void *user)
{
    ++*(unsigned *)user; /* not atomic: only the semaphores order the two streams */
}

SEMAPHORE_TEST(two_streams_take_turns)
{
    enum { ROUNDS = 200 };
    static unsigned count;
    CUexternalSemaphore t = make_semaphore(TIMELINE), b = make_semaphore(BINARY);
    count = 0;
    for (unsigned i = 1; i <= ROUNDS; i++) {
        CU(LaunchHostFunc(fx.stream, count_up, &count));
        put_signal(t, i, fx.stream);
        put_wait(b, 0, fx.stream);
        put_wait(t, i, fx.other);
        CU(LaunchHostFunc(fx.other, count_up, &count));
        put_signal(b, 0, fx.other);
    }
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(count, 2 * ROUNDS);
    CU(StreamSynchronize(fx.other));
}

/* ---- The host -------------------------------------------------------------------------------- */

SEMAPHORE_TEST(host_signals_and_waits)
{
    int fd = make_fd(true, 3);
    gr_softcuda_semaphore *host = NULL, *again = NULL;
    CUexternalSemaphore t = import_copy(fd, TIMELINE);
    assert_result(CUDA_ERROR_INVALID_VALUE, soft.open(-1, &host), "open");
    assert_result(CUDA_ERROR_INVALID_VALUE, soft.open(fd, NULL), "open");
    assert_result(CUDA_SUCCESS, soft.open(fd, &host), "open");
    assert_result(CUDA_SUCCESS, soft.open(fd, &again), "open");
    ck_assert_int_eq(close(fd), 0);
    soft.close(again);
    soft.close(NULL);
    ck_assert_uint_eq(soft.value(host), 3);
    assert_result(CUDA_SUCCESS, soft.wait(host, 3, 0), "wait");
    assert_result(CUDA_ERROR_NOT_READY, soft.wait(host, 4, 0), "wait");
    assert_result(CUDA_ERROR_NOT_READY, soft.wait(host, 4, 120), "wait");
    put_wait(t, 4, fx.stream);
    put_signal(t, 5, fx.stream);
    assert_waits(fx.stream);
    assert_result(CUDA_SUCCESS, soft.signal(host, 4), "signal");
    assert_result(CUDA_SUCCESS, soft.wait(host, 5, -1), "wait");
    assert_result(CUDA_ERROR_INVALID_VALUE, soft.signal(host, 5), "signal");
    assert_result(CUDA_ERROR_INVALID_VALUE, soft.signal(NULL, 6), "signal");
    assert_result(CUDA_ERROR_INVALID_VALUE, soft.wait(NULL, 6, 0), "wait");
    ck_assert_uint_eq(soft.value(host), 5);
    soft.close(host);

    fd = make_fd(false, 0);
    assert_result(CUDA_SUCCESS, soft.open(fd, &host), "open");
    close(fd);
    assert_result(CUDA_SUCCESS, soft.signal(host, 0), "signal");
    assert_result(CUDA_ERROR_INVALID_VALUE, soft.signal(host, 0), "signal");
    assert_result(CUDA_SUCCESS, soft.wait(host, 0, 0), "wait");
    assert_result(CUDA_ERROR_NOT_READY, soft.wait(host, 0, 0), "wait");
    soft.close(host);
}
