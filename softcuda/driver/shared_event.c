/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events in shared memory. Records have numbers, in the order of the calls; streams reach them in
 * any order. What lies in the memory may come from a hostile process, and is used as numbers only.
 */
#include "softcuda/driver/shared_event.h"
#include "softcuda/driver/peer_wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A record is remembered until the one this many later is reached. */
#define RECORDS 1024

/* A process may die between its change and its call that wakes us. */
#define SLICE_NANOSECONDS 50000000

/* What all processes see. */
typedef struct {
    _Atomic uint64_t latest;
    _Atomic uint32_t changes;
    _Atomic uint64_t reached[RECORDS]; /* the greatest number that was, of those that fall here */
} shared_state;

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "atomics must work across processes");

struct soft_shared_event {
    _Atomic unsigned holders;
    bool is_own; /* the file stays open, for others */
    soft_memfd file;
    soft_ipc_handle handle; /* of one's own */
    shared_state *state;
};

/* A task. */
typedef struct {
    soft_shared_event *event;
    soft_context *context;
    uint64_t number;
} step;

/* ---- Life ------------------------------------------------------------------------------------ */

/* Takes the file over. */
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
    CUresult result = soft_memfd_create(sizeof(shared_state), soft_device_number(device), &file);
    if (result != CUDA_SUCCESS)
        return result;
    result = soft_ipc_describe(SOFT_IPC_EVENT, &file, 0, sizeof(shared_state), &handle);
    if (result != CUDA_SUCCESS) {
        soft_memfd_close(&file);
        return result;
    }
    result = map(&file, true, event);
    if (result != CUDA_SUCCESS)
        return result;
    memset((void *)(*event)->state, 0, sizeof(shared_state));
    (*event)->handle = handle;
    return CUDA_SUCCESS;
}

CUresult soft_shared_event_open(const soft_ipc_handle *handle, soft_shared_event **event)
{
    soft_memfd file;
    CUresult result = soft_ipc_open(SOFT_IPC_EVENT, handle, "cuIpcOpenEventHandle", &file);
    if (result != CUDA_SUCCESS)
        return result;
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

/* For a moment, or until another process or thread has reached something. */
static bool wait_slice(soft_shared_event *event, uint64_t number)
{
    const struct timespec slice = {.tv_nsec = SLICE_NANOSECONDS};
    /* In this order: the kernel sees a change that comes after the look. */
    uint32_t seen = atomic_load(&event->state->changes);
    if (is_reached(event, number))
        return true;
    syscall(SYS_futex, &event->state->changes, FUTEX_WAIT, seen, &slice, NULL, 0);
    return is_reached(event, number);
}

static void run_reach(void *payload)
{
    const step *s = payload;
    reach(s->event, s->number);
    soft_shared_event_drop(s->event);
}

static void run_wait(void *payload)
{
    const step *s = payload;
    time_t since = 0;
    while (!wait_slice(s->event, s->number) &&
           !soft_peer_wait_gives_up(s->context, &since, "an event that no process reaches"))
        ;
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

/* The number is out when the stream refuses, and others may wait for it. */
CUresult soft_shared_event_record(soft_shared_event *event, soft_stream *stream)
{
    const step s = {event, soft_stream_context(stream),
                    atomic_fetch_add(&event->state->latest, 1) + 1};
    CUresult result = push(stream, run_reach, &s);
    if (result != CUDA_SUCCESS)
        reach(event, s.number);
    return result;
}

CUresult soft_shared_event_wait_on(soft_shared_event *event, soft_stream *stream)
{
    const step s = {event, soft_stream_context(stream), atomic_load(&event->state->latest)};
    return is_reached(event, s.number) ? CUDA_SUCCESS : push(stream, run_wait, &s);
}

bool soft_shared_event_is_done(const soft_shared_event *event)
{
    return is_reached(event, atomic_load(&event->state->latest));
}

void soft_shared_event_wait(soft_shared_event *event)
{
    const uint64_t number = atomic_load(&event->state->latest);
    while (!wait_slice(event, number))
        ;
}
