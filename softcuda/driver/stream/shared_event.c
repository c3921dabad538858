/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Events in shared memory. Records are numbered in the order of the calls; streams reach them in
 * any order. A hostile process may have written the shared memory, so its contents are only used as
 * numbers. A process may die before its streams reach its records. So a wait checks whether the
 * process that recorded the event is alive.
 */
#include "softcuda/driver/stream/shared_event.h"
#include "softcuda/driver/stream/peer_wait.h"
#include "softcuda/driver/context/process.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * The number of records whose state is kept: the state of record n is kept until record n + RECORDS
 * is reached.
 */
#define RECORDS 1024

/*
 * The longest sleep of a waiting thread: a process may die after it changes the state and before it
 * wakes the waiting threads.
 */
#define SLICE_NANOSECONDS 50000000

/*
 * One word contains the number of the latest record and the PID of its process, so that both change
 * atomically; PIDs have 22 bits. Another word contains the start time of that process. It is
 * written after the first word, so a reader may find the start time of an older record. The second
 * word therefore also contains the last 22 bits of the record's number.
 */
#define PROCESS_BITS 22
#define START_BITS   42

#define LOW_BITS(word, bits) ((word) & (((uint64_t)1 << (bits)) - 1))

/* The state in the shared memory. */
typedef struct {
    _Atomic uint64_t latest;
    _Atomic uint32_t changes;
    /* Of the records with this index, the greatest number that was reached. */
    _Atomic uint64_t reached[RECORDS];
    _Atomic uint64_t started[RECORDS]; /* the start time for the latest record with this index */
} shared_state;

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "atomics must work across processes");

struct soft_shared_event {
    _Atomic unsigned holders;
    /* Created by this process: the file stays open, so that other processes can open it. */
    bool is_own;
    soft_memfd file;
    soft_ipc_handle handle; /* the handle, if is_own */
    shared_state *state;
};

typedef struct {
    uint64_t number;
    pid_t process;
} event_record;

/* The data of a task. */
typedef struct {
    soft_shared_event *event;
    soft_context *context;
    event_record record;
} step;

/* ---- Creating and opening -------------------------------------------------------------------- */

/* Maps the state and creates the event, which takes over the file. */
static CUresult map(const soft_memfd *file, bool is_own, soft_shared_event **event)
{
    soft_shared_event *e = calloc(1, sizeof(*e));
    shared_state *state = e ? (void *)soft_memfd_map(file, 0, sizeof(*state)) : NULL;
    if (!state) {
        free(e);
        soft_memfd_close(&(soft_memfd){.fd = file->fd});
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *e = (soft_shared_event){.holders = 1, .is_own = is_own, .file = *file, .state = state};
    if (!is_own)
        soft_memfd_close(&e->file);
    *event = e;
    return CUDA_SUCCESS;
}

CUresult soft_shared_event_new(CUdevice device, soft_shared_event **event)
{
    soft_memfd file;
    soft_ipc_handle handle;
    SOFT_TRY(soft_memfd_create(sizeof(shared_state), soft_device_number(device), &file));
    CUresult result = soft_ipc_describe(SOFT_IPC_EVENT, &file, 0, sizeof(shared_state), &handle);
    if (result != CUDA_SUCCESS) {
        soft_memfd_close(&file);
        return result;
    }
    SOFT_TRY(map(&file, true, event));
    memset((void *)(*event)->state, 0, sizeof(shared_state));
    (*event)->handle = handle;
    return CUDA_SUCCESS;
}

CUresult soft_shared_event_open(const soft_ipc_handle *handle, soft_shared_event **event)
{
    soft_memfd file;
    SOFT_TRY(soft_ipc_open(SOFT_IPC_EVENT, handle, "cuIpcOpenEventHandle", &file));
    if (file.size < sizeof(shared_state) || !soft_memfd_can_place(&file)) {
        soft_memfd_close(&file);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return map(&file, false, event);
}

void soft_shared_event_hold(soft_shared_event *event)
{
    atomic_fetch_add_explicit(&event->holders, 1, memory_order_relaxed);
}

void soft_shared_event_drop(soft_shared_event *event)
{
    if (!event || atomic_fetch_sub_explicit(&event->holders, 1, memory_order_acq_rel) != 1)
        return;
    soft_pages_retire(event->state, sizeof(*event->state), "the state of a shared event");
    if (event->is_own)
        soft_memfd_close(&event->file);
    free(event);
}

const soft_ipc_handle *soft_shared_event_handle(const soft_shared_event *event)
{
    return event->is_own ? &event->handle : NULL;
}

/* ---- Records --------------------------------------------------------------------------------- */

static event_record latest(const soft_shared_event *event)
{
    uint64_t word = atomic_load(&event->state->latest);
    return (event_record){word >> PROCESS_BITS, (pid_t)LOW_BITS(word, PROCESS_BITS)};
}

static event_record add_record(soft_shared_event *event)
{
    const pid_t process = getpid();
    const uint64_t start = soft_process_own_start();
    uint64_t before = atomic_load(&event->state->latest), after;
    do
        after = ((before >> PROCESS_BITS) + 1) << PROCESS_BITS | (uint64_t)process;
    while (!atomic_compare_exchange_weak(&event->state->latest, &before, after));
    const uint64_t number = after >> PROCESS_BITS;
    atomic_store(&event->state->started[number % RECORDS],
                 number << START_BITS | LOW_BITS(start, START_BITS));
    return (event_record){number, process};
}

static bool is_reached(const soft_shared_event *event, uint64_t number)
{
    return atomic_load(&event->state->reached[number % RECORDS]) >= number;
}

static void reach(soft_shared_event *event, uint64_t number)
{
    _Atomic uint64_t *reached = &event->state->reached[number % RECORDS];
    uint64_t before = atomic_load(reached);
    while (before < number && !atomic_compare_exchange_weak(reached, &before, number))
        ;
    atomic_fetch_add(&event->state->changes, 1);
    syscall(SYS_futex, &event->state->changes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/*
 * Waits for a short time, or until another process or thread has reached any record. Returns
 * whether the record with this number is reached.
 */
static bool wait_slice(soft_shared_event *event, uint64_t number)
{
    const struct timespec slice = {.tv_nsec = SLICE_NANOSECONDS};
    /*
     * Reads `changes` before is_reached() checks the record: if a record is reached later, the
     * kernel sees another value and the wait returns at once.
     */
    uint32_t seen = atomic_load(&event->state->changes);
    if (is_reached(event, number))
        return true;
    syscall(SYS_futex, &event->state->changes, FUTEX_WAIT, seen, &slice, NULL, 0);
    return is_reached(event, number);
}

/* Whether the record can no longer be reached: its process has ended without reaching it. */
static bool is_lost(const soft_shared_event *event, const event_record *record)
{
    uint64_t word = atomic_load(&event->state->started[record->number % RECORDS]);
    bool is_of_it = word >> START_BITS == LOW_BITS(record->number, 64 - START_BITS);
    uint64_t start = is_of_it ? LOW_BITS(word, START_BITS) : 0;
    if (!soft_process_has_ended(record->process, start) || is_reached(event, record->number))
        return false;
    soft_log(SOFT_WARN,
             "a wait for an event of process %d failed, because that process ended before its "
             "stream reached the event: CUDA_ERROR_EXTERNAL_DEVICE",
             (int)record->process);
    return true;
}

static void run_reach(void *payload)
{
    const step *s = payload;
    reach(s->event, s->record.number);
    soft_shared_event_drop(s->event);
}

/*
 * Fails the context after a wait for a lost record, because the work after the wait would use wrong
 * bytes.
 */
static void run_wait(void *payload)
{
    const step *s = payload;
    time_t since = 0;
    bool lost = false;
    while (!wait_slice(s->event, s->record.number) && !(lost = is_lost(s->event, &s->record)) &&
           !soft_peer_wait_gives_up(s->context, &since, "an event that no process reaches"))
        ;
    if (lost)
        soft_context_fail(s->context, CUDA_ERROR_EXTERNAL_DEVICE);
    soft_shared_event_drop(s->event);
}

static CUresult push(soft_stream *stream, void (*run)(void *payload), const step *s)
{
    soft_shared_event_hold(s->event);
    CUresult result = soft_stream_push_copy(stream, run, s, sizeof(*s));
    if (result != CUDA_SUCCESS)
        soft_shared_event_drop(s->event);
    return result;
}

/*
 * If the stream refuses the task, other processes may already wait for the published number, so the
 * record is marked as reached.
 */
CUresult soft_shared_event_record(soft_shared_event *event, soft_stream *stream)
{
    const step s = {event, soft_stream_context(stream), add_record(event)};
    CUresult result = push(stream, run_reach, &s);
    if (result != CUDA_SUCCESS)
        reach(event, s.record.number);
    return result;
}

CUresult soft_shared_event_wait_on(soft_shared_event *event, soft_stream *stream)
{
    const step s = {event, soft_stream_context(stream), latest(event)};
    if (!s.record.number) /* the event was never recorded */
        return CUDA_SUCCESS;
    return is_reached(event, s.record.number) ? soft_stream_order(stream)
                                              : push(stream, run_wait, &s);
}

bool soft_shared_event_is_done(const soft_shared_event *event)
{
    return is_reached(event, latest(event).number);
}

CUresult soft_shared_event_wait(soft_shared_event *event)
{
    const event_record record = latest(event);
    while (!wait_slice(event, record.number))
        if (is_lost(event, &record))
            return CUDA_ERROR_EXTERNAL_DEVICE;
    return CUDA_SUCCESS;
}
