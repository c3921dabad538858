/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Events shared between processes by cuIpc... handles, and the use of such events in one process.
 */
#define _GNU_SOURCE
#include "client_calls.h"

#include "tests/support/child_check.h"
#include "softcuda/tests/kernels/soft_launch.h"

#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LAZY   CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
#define SHARED (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)

/* CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, which an older cuda.h lacks. */
#define EVENTS_SUPPORTED ((CUdevice_attribute)125)

static CUevent new_event(void)
{
    CUevent event = NULL;
    DRV(cuEventCreate, (&event, SHARED));
    return event;
}

static bool has_events(void)
{
    int has = 0;
    DRV(cuDeviceGetAttribute, (&has, EVENTS_SUPPORTED, fx.device));
    ck_assert(has || !gr_cuda_is_software());
    if (has && !gr_cuda_is_software()) {
        /* The NVIDIA driver opens a file for the first shared event and keeps the file open. */
        DRV(cuEventDestroy_v2, (new_event()));
        fx.fds = open_fds();
    }
    return has;
}

#define EVENT_TEST(...)                                                                            \
    TEST_UNLESS(has_events() ? NULL : "the device has no events for other processes", __VA_ARGS__)

/* Creates an event, and passes its handle to children by this name. */
static CUevent exported(const char *name)
{
    CUipcEventHandle handle, same;
    CUevent event = new_event();
    DRV(cuIpcGetEventHandle, (&handle, event));
    DRV(cuIpcGetEventHandle, (&same, event));
    ck_assert_mem_eq(&same, &handle, sizeof(handle));
    put_handle(name, &handle);
    return event;
}

static CUevent opened(const char *name)
{
    CUipcEventHandle handle;
    CUevent event = NULL;
    take_handle(name, &handle);
    DRV(cuIpcOpenEventHandle, (&event, handle));
    return event;
}

GROUP("events of other processes", add_case)

EVENT_TEST(shared_event_orders_streams_of_one_process)
{
    CUevent event = new_event();
    float time = 0;
    DRV(cuEventQuery, (event));
    DRV(cuEventSynchronize, (event));
    DRV(cuStreamWaitEvent, (fx.stream, event, 0));
    struct gate *gate = gate_put(fx.stream);
    DRV(cuEventRecord, (event, fx.stream));
    DRV(cuStreamWaitEvent, (fx.other, event, 0));
    GIVES(ERROR_NOT_READY, cuEventQuery, (event));
    GIVES(ERROR_NOT_READY, cuStreamQuery, (fx.other));
    gate_open(gate);
    DRV(cuEventSynchronize, (event));
    DRV(cuEventQuery, (event));
    CU(StreamSynchronize(fx.other));
    GIVES(ERROR_INVALID_HANDLE, cuEventElapsedTime, (&time, event, event));
}

/*
 * A wait is for the latest record at the time of its call, even if a later record was reached
 * first.
 */
SOFT_TEST(wait_uses_the_latest_record_at_its_call)
{
    CUstream third = NULL;
    CUevent event = new_event();
    DRV(cuStreamCreate, (&third, CU_STREAM_NON_BLOCKING));
    struct gate *gate = gate_put(fx.stream);
    DRV(cuEventRecord, (event, fx.stream));
    DRV(cuStreamWaitEvent, (third, event, 0));
    DRV(cuEventRecord, (event, fx.other));
    CU(StreamSynchronize(fx.other));
    DRV(cuEventQuery, (event));
    usleep(2000);
    GIVES(ERROR_NOT_READY, cuStreamQuery, (third));
    DRV(cuEventDestroy_v2, (event));
    gate_open(gate);
    DRV(cuStreamSynchronize, (third));
}

EVENT_TEST(plain_events_have_no_ipc_handle)
{
    CUipcEventHandle handle;
    CUevent plain = NULL, shared = new_event(), again = NULL;
    DRV(cuEventCreate, (&plain, CU_EVENT_DISABLE_TIMING));
    GIVES(ERROR_INVALID_HANDLE, cuIpcGetEventHandle, (&handle, plain));
    INVALID(cuIpcGetEventHandle, (NULL, shared));
    DRV(cuIpcGetEventHandle, (&handle, shared));
    GIVES(ERROR_INVALID_CONTEXT, cuIpcOpenEventHandle, (&again, handle));
    INVALID(cuIpcOpenEventHandle, (NULL, handle));
    memset(&handle, 0, sizeof(handle));
    CUresult of_nothing = DRIVER(cuIpcOpenEventHandle)(&again, handle);
    ck_assert(of_nothing == CUDA_ERROR_INVALID_VALUE ||
              (!gr_cuda_is_software() && of_nothing == CUDA_ERROR_MAP_FAILED));
    ck_assert_ptr_eq(again, NULL);
    DRV(cuCtxSetCurrent, (NULL));
    GIVES(ERROR_INVALID_CONTEXT, cuIpcGetEventHandle, (&handle, shared));
    GIVES(ERROR_INVALID_CONTEXT, cuIpcOpenEventHandle, (&again, handle));
}

/* ---- Two processes --------------------------------------------------------------------------- */

/* A child writes this when all its work is queued. */
#define QUEUED '\001'

/* Waits for the fill of the parent, then fills the memory again. */
CHILD(take_a_turn)
{
    CUipcMemHandle handle;
    CUdeviceptr memory = 0, copy = 0;
    unsigned char seen = 0;
    alarm(50);
    fixture_setup();
    DRV(cuMemAlloc_v2, (&copy, SIZE));
    take_handle("MEMORY", &handle);
    DRV(cuIpcOpenMemHandle_v2, (&memory, handle, LAZY));
    CUevent filled = opened("FILLED"), answered = opened("ANSWERED");
    GIVES(ERROR_NOT_READY, cuEventQuery, (filled));
    DRV(cuStreamWaitEvent, (fx.stream, filled, 0));
    DRV(cuMemcpyDtoDAsync_v2, (copy, memory, SIZE, fx.stream));
    DRV(cuMemsetD8Async, (memory, 6, SIZE, fx.stream));
    DRV(cuEventRecord, (answered, fx.stream));
    child_check(write(STDOUT_FILENO, &(char){QUEUED}, 1) == 1);
    DRV(cuEventSynchronize, (filled));
    CU(StreamSynchronize(fx.stream));
    DRV(cuMemcpyDtoH_v2, (&seen, copy, 1));
    child_check(seen == 5);
    DRV(cuEventDestroy_v2, (filled));
    DRV(cuEventDestroy_v2, (answered));
    DRV(cuIpcCloseMemHandle, (memory));
    return 0;
}

/* Waits for QUEUED, and skips all other output of the child. */
static void await_queued(const struct child_process *child)
{
    char byte = 0;
    while (byte != QUEUED)
        ck_assert_msg(read(child->output, &byte, 1) == 1, "the child ended too early");
}

EVENT_TEST(events_order_the_work_of_two_processes)
{
    CUipcMemHandle handle;
    CUdeviceptr memory = 0, copy = 0;
    unsigned char seen = 0;
    char text[4096];
    DRV(cuMemAlloc_v2, (&copy, SIZE));
    DRV(cuMemAlloc_v2, (&memory, SIZE));
    DRV(cuIpcGetMemHandle, (&handle, memory));
    put_handle("MEMORY", &handle);
    CUevent filled = exported("FILLED"), answered = exported("ANSWERED");
    struct gate *gate = gate_put(fx.stream);
    DRV(cuMemsetD8Async, (memory, 5, SIZE, fx.stream));
    DRV(cuEventRecord, (filled, fx.stream));
    struct child_process child = child_start("take_a_turn");
    await_queued(&child);
    GIVES(ERROR_NOT_READY, cuEventQuery, (answered));
    DRV(cuStreamWaitEvent, (fx.other, answered, 0));
    DRV(cuMemcpyDtoDAsync_v2, (copy, memory, SIZE, fx.other));
    gate_open(gate);
    CU(StreamSynchronize(fx.other));
    READS(seen, 6, cuMemcpyDtoH_v2, (&seen, copy, 1));
    DRV(cuEventQuery, (answered));
    int status = child_end(&child, text, sizeof(text));
    ck_assert_msg(status == 0, "the child ended with 0x%x: %.3500s", (unsigned)status, text);
}

/* ---- Peers that are hostile, or die ---------------------------------------------------------- */

/* Flips each byte of the handle in turn. A few bytes have no effect. */
CHILD(opens_changed_events)
{
    CUipcEventHandle good, again;
    int refused = 0;
    fixture_setup();
    take_handle("EVENT", &good);
    for (size_t i = 0; i < sizeof(good); i++) {
        CUipcEventHandle bad = good;
        CUevent event = NULL;
        bad.reserved[i] ^= 0x41;
        CUresult result = DRIVER(cuIpcOpenEventHandle)(&event, bad);
        child_check(result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE);
        refused += result != CUDA_SUCCESS;
        if (result == CUDA_SUCCESS)
            DRV(cuEventDestroy_v2, (event));
    }
    child_check(refused >= 48);
    CUevent event = opened("EVENT");
    GIVES(ERROR_INVALID_HANDLE, cuIpcGetEventHandle,
          (&again, event)); /* only the process that created the event can export it */
    INVALID(cuIpcOpenMemHandle_v2, (&(CUdeviceptr){0}, *(CUipcMemHandle *)(void *)&good, LAZY));
    DRV(cuEventDestroy_v2, (event));
    return 0;
}

SOFT_TEST(changed_event_handles_are_refused)
{
    exported("EVENT");
    expect_child("opens_changed_events");
}

/* Records an event, but dies before its stream reaches the record. */
CHILD(dies_before_the_record)
{
    fixture_setup();
    CUevent event = opened("EVENT");
    gate_put(fx.stream);
    DRV(cuEventRecord, (event, fx.stream));
    raise(SIGKILL);
    return 1;
}

/*
 * Starts a child and returns when its pipe is closed, because the child has died. The parent has
 * not waited for the child yet.
 */
static struct child_process dead_child(void)
{
    char text[4096];
    struct child_process child = child_start("dies_before_the_record");
    while (read(child.output, text, sizeof(text)) > 0)
        ;
    return child;
}

static void reap(const struct child_process *child)
{
    char text[4096];
    int status = child_end(child, text, sizeof(text));
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Catches: a host wait for an event of a dead process never returned. */
SOFT_TEST(host_wait_fails_if_the_recording_process_died)
{
    CUevent event = exported("EVENT");
    struct child_process child = dead_child();
    GIVES(ERROR_NOT_READY, cuEventQuery, (event));
    GIVES(ERROR_EXTERNAL_DEVICE, cuEventSynchronize, (event));
    reap(&child);
    GIVES(ERROR_EXTERNAL_DEVICE, cuEventSynchronize, (event));
    GIVES(ERROR_NOT_READY, cuEventQuery, (event));
    CU(CtxSynchronize());
    DRV(cuEventRecord, (event, fx.stream)); /* a record by a live process */
    DRV(cuEventSynchronize, (event));
    DRV(cuEventQuery, (event));
}

/* Creates a context with a stream that waits for the event. */
static CUcontext context_that_waits(CUevent event, CUstream *stream)
{
    CUcontext context = new_context(stream);
    DRV(cuStreamWaitEvent, (*stream, event, 0));
    return context;
}

/* Work after the wait would use wrong bytes, so the context of the wait fails. */
SOFT_TEST(context_fails_if_its_stream_waits_for_a_dead_process)
{
    CUstream stream = NULL;
    CUevent event = exported("EVENT");
    struct child_process child = dead_child();
    CUcontext context = context_that_waits(event, &stream);
    GIVES(ERROR_EXTERNAL_DEVICE, cuStreamSynchronize, (stream));
    GIVES(ERROR_EXTERNAL_DEVICE, cuCtxSynchronize, ());
    reap(&child);
    DRIVER(cuCtxDestroy_v2)(context);
    DRV(cuCtxSetCurrent, (fx.context));
    CU(CtxSynchronize());
}

/*
 * Starts a process with this PID, which does nothing. Returns 0 if this user may not choose the
 * PID.
 */
static pid_t start_as(pid_t number)
{
    struct clone_args how = {
        .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number, .set_tid_size = 1};
    long started = syscall(SYS_clone3, &how, sizeof(how));
    if (started == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (started == 0)
        syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
    return started > 0 ? (pid_t)started : 0;
}

SOFT_TEST(reuse_of_a_pid_does_not_hide_a_death)
{
    CUevent event = exported("EVENT");
    struct child_process child = dead_child();
    reap(&child);
    pid_t other = start_as(child.pid);
    if (!other)
        skip("this user may not choose a process's number");
    ck_assert_int_eq(other, child.pid);
    GIVES(ERROR_EXTERNAL_DEVICE, cuEventSynchronize, (event));
    ck_assert_int_eq(kill(other, SIGKILL), 0);
    ck_assert_int_eq(waitpid(other, NULL, 0), other);
}

static CUevent to_be_reached;
static struct gate *gate_of_child;

/* The state of the first thread: Z after its end, S while it sleeps. */
static char first_thread_of(pid_t process)
{
    char path[64], state = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    child_check(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
    fclose(file);
    return state;
}

/*
 * Reaches the event once the first thread has ended, and the parent has slept in its wait for more
 * than the 50 ms after which it looks at this process.
 */
static void *reach_later_and_exit(void *unused)
{
    int asleep = 0;
    (void)unused;
    while (first_thread_of(getpid()) != 'Z')
        usleep(1000);
    child_check(write(STDOUT_FILENO, &(char){QUEUED}, 1) == 1);
    for (; asleep < 120; usleep(1000))
        asleep += first_thread_of(getppid()) == 'S';
    DRV(cuCtxSetCurrent, (fx.context));
    gate_open(gate_of_child);
    DRV(cuEventSynchronize, (to_be_reached));
    _exit(0);
}

/* Linux reports a process without its first thread as a zombie. */
CHILD(goes_on_without_its_first_thread)
{
    pthread_t thread;
    alarm(50);
    fixture_setup();
    to_be_reached = opened("EVENT");
    gate_of_child = gate_put(fx.stream);
    DRV(cuEventRecord, (to_be_reached, fx.stream));
    child_check(pthread_create(&thread, NULL, reach_later_and_exit, NULL) == 0);
    pthread_exit(NULL);
}

SOFT_TEST(process_without_its_first_thread_counts_as_alive)
{
    char text[4096];
    CUevent event = exported("EVENT");
    struct child_process child = child_start("goes_on_without_its_first_thread");
    await_queued(&child);
    GIVES(ERROR_NOT_READY, cuEventQuery, (event));
    DRV(cuEventSynchronize, (event));
    int status = child_end(&child, text, sizeof(text));
    ck_assert_msg(status == 0, "the child ended with 0x%x: %.3500s", (unsigned)status, text);
}

/*
 * The destruction of a context returns although the recording process is alive and blocks the
 * stream of the record.
 */
SOFT_TEST(context_ends_although_a_record_is_never_reached)
{
    CUstream stream = NULL;
    CUevent event = new_event();
    struct gate *gate = gate_put(fx.stream);
    DRV(cuEventRecord, (event, fx.stream));
    CUcontext context = context_that_waits(event, &stream);
    time_t before = time(NULL);
    DRIVER(cuCtxDestroy_v2)(context);
    ck_assert_int_le(time(NULL) - before, 8);
    DRV(cuCtxSetCurrent, (fx.context));
    GIVES(ERROR_NOT_READY, cuEventQuery, (event));
    gate_open(gate);
    DRV(cuEventSynchronize, (event));
}
