/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The end of a semaphore, a stream, a context or a process with pending work. */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "soft_semaphore.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

GROUP("ends", add_case)

SEMAPHORE_TEST(destroyed_semaphore_completes_its_pending_work)
{
    int fd = make_fd(true, 0);
    CUexternalSemaphore waited = import_copy(fd, TIMELINE), signalled = import_copy(fd, TIMELINE);
    CUexternalSemaphore seen = import_fd(fd, TIMELINE);
    ck_assert_ptr_ne(waited, signalled);
    struct gate *gate = gate_put(fx.other);
    put_wait(waited, 1, fx.stream);
    put_signal(signalled, 1, fx.other);
    CU(DestroyExternalSemaphore(waited));
    CU(DestroyExternalSemaphore(signalled));
    assert_waits(fx.stream);
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    put_wait(seen, 1, fx.stream);
    CU(StreamSynchronize(fx.stream));
}

CHILD(signal_backwards)
{
    fixture_setup();
    child_check(soft_semaphores_load());
    int fd = make_fd(true, 5);
    gr_softcuda_semaphore *host = NULL;
    child_check(soft.open(fd, &host) == CUDA_SUCCESS);
    CUexternalSemaphore t = import_fd(fd, TIMELINE);
    put_signal(t, 3, fx.stream);
    CU(StreamSynchronize(fx.stream));
    child_check(soft.value(host) == 5);
    put_signal(t, 5, fx.stream);
    CU(StreamSynchronize(fx.stream));
    child_check(soft.value(host) == 5);
    put_signal(t, 6, fx.stream);
    CU(StreamSynchronize(fx.stream));
    child_check(soft.value(host) == 6);
    soft.close(host);
    fixture_teardown();
    return 0;
}

SEMAPHORE_TEST(timeline_never_goes_back)
{
    char text[4096];
    ck_assert_int_eq(child_run("signal_backwards", text, sizeof(text)), 0);
    const char *first = strstr(text, "signalled with 3, which is not greater than its value 5");
    ck_assert_msg(first, "%s", text);
    ck_assert_msg(strstr(first, "signalled with 5, which is not greater"), "%s", text);
    ck_assert_msg(!strstr(text, "signalled with 6"), "%s", text);
}

/* If the process hangs at its exit, the alarm ends it. */
CHILD(exit_while_streams_wait)
{
    alarm(20);
    fixture_setup();
    child_check(soft_semaphores_load());
    CUexternalSemaphore t = make_semaphore(TIMELINE), b = make_semaphore(BINARY);
    put_wait(t, 1, fx.stream);
    put_signal(b, 0, fx.stream);
    put_wait(b, 0, fx.other);
    put_wait(t, 1, CU_STREAM_LEGACY);
    sleep_ms(20);
    exit(0);
}

/*
 * Destroying the stream returns at once, and destroying the context returns soon. Signals after the
 * wait are not executed.
 */
CHILD(destroy_while_a_stream_waits)
{
    alarm(40);
    fixture_setup();
    child_check(soft_semaphores_load());
    CUstream stream = NULL;
    CUcontext context = new_context(&stream);
    int fd = make_fd(true, 0);
    gr_softcuda_semaphore *behind = NULL;
    child_check(soft.open(fd, &behind) == CUDA_SUCCESS);
    CUexternalSemaphore never = make_semaphore(BINARY), t = import_fd(fd, TIMELINE);
    put_wait(never, 0, stream);
    put_wait(never, 0, stream);
    put_signal(t, 1, stream);
    CU(StreamDestroy(stream));
    put_wait(never, 0, CU_STREAM_LEGACY);
    child_check(soft.value(behind) == 0);
    CU(CtxDestroy(context));
    child_check(soft.value(behind) == 0);
    soft.close(behind);
    fixture_teardown();
    return 0;
}

/* A signal while the context is being destroyed ends the wait in time. */
CHILD(destroy_before_the_signal)
{
    alarm(40);
    fixture_setup();
    child_check(soft_semaphores_load());
    int fd = make_fd(true, 0);
    gr_softcuda_semaphore *behind = NULL;
    child_check(soft.open(fd, &behind) == CUDA_SUCCESS);
    CUexternalSemaphore here = import_copy(fd, TIMELINE);
    CUcontext context = new_context(NULL);
    CUexternalSemaphore there = import_fd(fd, TIMELINE);
    put_wait(there, 1, CU_STREAM_LEGACY);
    put_signal(there, 2, CU_STREAM_LEGACY);
    gate_open_after(gate_put(fx.stream), 100);
    put_signal(here, 1, fx.stream);
    CU(CtxDestroy(context));
    child_check(soft.value(behind) == 2);
    soft.close(behind);
    CU(CtxSetCurrent(fx.context));
    fixture_teardown();
    return 0;
}

SEMAPHORE_TEST(exit_and_destruction_do_not_hang)
{
    char text[4096];
    expect_child("exit_while_streams_wait");
    expect_child("destroy_before_the_signal");
    ck_assert_msg(child_run("destroy_while_a_stream_waits", text, sizeof(text)) == 0, "%s", text);
    const char *first = strstr(text, "a context ends while");
    ck_assert_msg(first && !strstr(first + 1, "a context ends while"), "not reported once: %s",
                  text);
}
