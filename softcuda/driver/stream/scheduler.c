/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The scheduler: one thread and one queue per stream. The number of a task orders it among all
 * tasks of the process; the rules of the legacy default stream compare these numbers. A task stays
 * at the head of its queue while it runs, so the head is always the oldest unfinished task.
 *
 * Waking a thread takes longer than a small kernel. So a thread that waits for a stream runs the
 * stream's work itself, and the stream's thread naps for some time after such a wait, instead of
 * sleeping: work that is queued meanwhile does not wake it.
 */
#include "softcuda/driver/stream/scheduler.h"
#include "softcuda/driver/kernel/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct soft_task {
    soft_task *next;
    uint64_t number;
    void (*run)(void *arg);
    void *arg;
    bool pooled;
    bool is_work; /* see soft_stream_push_work() */
    alignas(16) unsigned char payload[];
};

/* A stream's thread naps this often after a wait for the stream, and this long. */
#define NAPS            4
#define NAP_NANOSECONDS 100000

pthread_mutex_t soft_lock = PTHREAD_MUTEX_INITIALIZER;
_Thread_local CUresult soft_task_error;

static soft_task *unused_tasks;
static soft_stream *unused_streams;
static uint64_t last_number;

soft_task *soft_task_new(size_t size)
{
    if (size > SOFT_PAYLOAD) {
        soft_task *large = size < SIZE_MAX / 2 ? malloc(sizeof(*large) + size) : NULL;
        if (large)
            large->pooled = false;
        return large;
    }
    pthread_mutex_lock(&soft_lock);
    soft_task *task = unused_tasks;
    if (task)
        unused_tasks = task->next;
    pthread_mutex_unlock(&soft_lock);
    if (!task)
        task = malloc(sizeof(*task) + SOFT_PAYLOAD);
    if (task)
        task->pooled = true;
    return task;
}

void *soft_task_payload(soft_task *task)
{
    return task->payload;
}

static void task_free_locked(soft_task *task)
{
    if (!task->pooled) {
        free(task);
        return;
    }
    task->next = unused_tasks;
    unused_tasks = task;
}

/* True if the head of the stream's queue is newer than the head of the other stream's queue. */
static bool is_behind(const soft_stream *stream, const soft_stream *other)
{
    return other->head && other->head->number < stream->head->number;
}

static bool head_is_ready(const soft_stream *stream)
{
    if (!stream->head || soft_is_exiting())
        return false;
    const soft_context *context = stream->context;
    if (stream->kind == SOFT_STREAM_BLOCKING)
        return !(context->legacy && is_behind(stream, context->legacy));
    if (stream->kind == SOFT_STREAM_LEGACY) {
        for (const soft_stream *other = context->streams; other; other = other->next)
            if (other->kind == SOFT_STREAM_BLOCKING && is_behind(stream, other))
                return false;
    }
    return true;
}

/* Wakes the streams that may have become ready because this stream has finished a task. */
static void wake_ready_streams(const soft_stream *stream)
{
    const soft_context *context = stream->context;
    if (stream->kind == SOFT_STREAM_BLOCKING && context->legacy && context->legacy->head)
        pthread_cond_signal(&context->legacy->wake);
    if (stream->kind == SOFT_STREAM_LEGACY) {
        for (soft_stream *other = context->streams; other; other = other->next)
            if (other->kind == SOFT_STREAM_BLOCKING && other->head)
                pthread_cond_signal(&other->wake);
    }
}

/*
 * Called without the lock, because a woken thread needs the lock first and may run on this core at
 * once. The stream is never freed, and this thread checks the queue again.
 */
static void wake_waiters(soft_stream *stream)
{
    pthread_mutex_unlock(&soft_lock);
    pthread_cond_broadcast(&stream->progress);
    pthread_mutex_lock(&soft_lock);
}

static void recycle(soft_stream *stream)
{
    soft_stream **link = &stream->context->streams;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    stream->started = false;
    stream->naps = 0;
    stream->next = unused_streams;
    unused_streams = stream;
}

static int wait_until(pthread_cond_t *condition, unsigned seconds, long nanoseconds)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds + (end.tv_nsec + nanoseconds) / 1000000000;
    end.tv_nsec = (end.tv_nsec + nanoseconds) % 1000000000;
    return pthread_cond_timedwait(condition, &soft_lock, &end);
}

/*
 * Waits for the condition, or for soft_patience() seconds. If no task has finished by then, the
 * task at the head has run for that long, or has not become ready.
 */
static void wait_patiently(soft_stream *stream, pthread_cond_t *condition)
{
    const uint64_t finished = stream->finished;
    if (wait_until(condition, soft_patience(), 0) == ETIMEDOUT && stream->finished == finished &&
        head_is_ready(stream))
        soft_launch_log_slow(stream->head->run, stream->head->arg);
}

static void wait_for_progress(soft_stream *stream)
{
    stream->waiters++;
    wait_patiently(stream, &stream->progress);
    stream->waiters--;
}

/* Runs the head of the queue. Releases the lock meanwhile. */
static void run_head(soft_stream *stream)
{
    soft_task *task = stream->head;
    stream->running = true;
    soft_task_error = stream->context->sticky;
    pthread_mutex_unlock(&soft_lock);
    task->run(task->arg);
    soft_task_error = CUDA_SUCCESS;
    pthread_mutex_lock(&soft_lock);
    stream->running = false;
    stream->finished++;
    stream->head = task->next;
    task_free_locked(task);
    wake_ready_streams(stream);
    if (stream->waiters)
        wake_waiters(stream);
}

/* The stream's thread has nothing to run. */
static void rest(soft_stream *stream)
{
    if (stream->running) {
        wait_patiently(stream, &stream->wake);
    } else if (stream->naps == 0) {
        pthread_cond_wait(&stream->wake, &soft_lock);
    } else {
        stream->naps--;
        stream->napping = true;
        (void)wait_until(&stream->wake, 0, NAP_NANOSECONDS);
        stream->napping = false;
    }
}

static void *stream_main(void *argument)
{
    soft_stream *stream = argument;
    pthread_setname_np(pthread_self(), "cuda-stream");
    void *signal_stack = soft_fault_begin_thread();
    pthread_mutex_lock(&soft_lock);
    while (stream->open || stream->head) {
        if (!stream->running && head_is_ready(stream))
            run_head(stream);
        else
            rest(stream);
    }
    recycle(stream);
    pthread_mutex_unlock(&soft_lock);
    soft_fault_end_thread(signal_stack);
    return NULL;
}

/*
 * The stream's thread blocks all signals except those of its own faults, so that the application's
 * threads handle the others.
 */
static bool start_thread(soft_stream *stream)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        sigdelset(&blocked, own[i]);

    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_t thread;
    stream->started = pthread_create(&thread, &attributes, stream_main, stream) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return stream->started;
}

static CUresult enqueue_locked(soft_stream *stream, soft_task *task)
{
    SOFT_FAIL_IF(!stream->open, CUDA_ERROR_INVALID_HANDLE);
    SOFT_FAIL_IF(!stream->started && !start_thread(stream), CUDA_ERROR_OUT_OF_MEMORY);
    task->next = NULL;
    task->number = ++last_number;
    if (stream->head)
        stream->tail->next = task;
    else
        stream->head = task;
    stream->tail = task;
    return CUDA_SUCCESS;
}

enum runner {
    STREAM_THREAD,
    ANY_THREAD,
    ANY_THREAD_AT_ONCE, /* the caller waits for the stream next */
};

static CUresult enqueue(soft_stream *stream, soft_task *task, void (*run)(void *), void *arg,
                        enum runner runner)
{
    task->run = run;
    task->arg = arg;
    task->is_work = runner != STREAM_THREAD;
    pthread_mutex_lock(&soft_lock);
    CUresult result = stream->capture ? soft_capture_refuse(stream) : enqueue_locked(stream, task);
    if (result != CUDA_SUCCESS)
        task_free_locked(task);
    const bool wakes = runner == STREAM_THREAD ||
                       (runner == ANY_THREAD && !(stream->napping && stream->head == task));
    pthread_mutex_unlock(&soft_lock);
    if (result == CUDA_SUCCESS &&
        wakes) /* without the lock, for the same reason as in wake_waiters() */
        pthread_cond_signal(&stream->wake);
    return result;
}

CUresult soft_task_push(soft_stream *stream, soft_task *task, void (*run)(void *payload))
{
    return enqueue(stream, task, run, task->payload, ANY_THREAD);
}

CUresult soft_stream_push(soft_stream *stream, void (*run)(void *arg), void *arg)
{
    soft_task *task = soft_task_new(0);
    return task ? enqueue(stream, task, run, arg, STREAM_THREAD) : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult push_copy(soft_stream *stream, void (*run)(void *copy), const void *data,
                          size_t size, enum runner runner)
{
    if (stream->capture)
        return soft_capture_push(stream, run, data, size);
    soft_task *task = soft_task_new(size);
    SOFT_FAIL_IF(!task, CUDA_ERROR_OUT_OF_MEMORY);
    if (size)
        memcpy(task->payload, data, size);
    return enqueue(stream, task, run, task->payload, runner);
}

CUresult soft_stream_push_copy(soft_stream *stream, void (*run)(void *copy), const void *data,
                               size_t size)
{
    return push_copy(stream, run, data, size, STREAM_THREAD);
}

CUresult soft_stream_push_work(soft_stream *stream, void (*run)(void *copy), const void *data,
                               size_t size)
{
    return push_copy(stream, run, data, size, ANY_THREAD);
}

CUresult soft_stream_run_work(soft_stream *stream, void (*run)(void *copy), const void *data,
                              size_t size)
{
    SOFT_TRY(push_copy(stream, run, data, size, ANY_THREAD_AT_ONCE));
    return soft_stream_wait(stream);
}

static void run_nothing(void *copy)
{
    (void)copy;
}

/* An empty task orders nothing in a non-blocking stream, or if no task is queued. */
CUresult soft_stream_order(soft_stream *stream)
{
    if (stream->capture || stream->kind == SOFT_STREAM_NON_BLOCKING ||
        soft_context_is_idle(stream->context))
        return CUDA_SUCCESS;
    return soft_stream_push_work(stream, run_nothing, NULL, 0);
}

uint64_t soft_newest_task(void)
{
    SOFT_LOCK(&soft_lock);
    return last_number;
}

uint64_t soft_oldest_task(void)
{
    SOFT_LOCK(&soft_lock);
    uint64_t oldest = last_number + 1;
    for (const soft_context *context = soft_contexts; context; context = context->next)
        for (const soft_stream *stream = context->streams; stream; stream = stream->next)
            if (stream->head && stream->head->number < oldest)
                oldest = stream->head->number;
    return oldest;
}

static soft_stream *stream_new(void)
{
    soft_stream *stream = unused_streams;
    if (stream) {
        unused_streams = stream->next;
        return stream;
    }
    stream = calloc(1, sizeof(*stream));
    if (!stream)
        return NULL;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&stream->wake, &attributes);
    pthread_cond_init(&stream->progress, &attributes);
    pthread_condattr_destroy(&attributes);
    return stream;
}

soft_stream *soft_stream_open(soft_context *context, enum soft_stream_kind kind, int priority)
{
    soft_stream *stream = stream_new();
    if (!stream)
        return NULL;
    stream->handle = soft_handle_new(SOFT_KIND_STREAM, stream);
    if (!stream->handle) {
        stream->next = unused_streams;
        unused_streams = stream;
        return NULL;
    }
    stream->context = context;
    stream->kind = kind;
    stream->flags = kind == SOFT_STREAM_NON_BLOCKING ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
    stream->priority = priority;
    stream->id = soft_next_id();
    stream->owner = 0;
    stream->open = true;
    stream->next = context->streams;
    context->streams = stream;
    return stream;
}

void soft_stream_close(soft_stream *stream)
{
    if (!stream->open)
        return;
    stream->open = false;
    soft_capture_abandon(stream);
    soft_handle_drop(SOFT_KIND_STREAM, stream->handle);
    if (stream->started)
        pthread_cond_signal(&stream->wake);
    else
        recycle(stream);
}

bool soft_stream_idle(const soft_stream *stream)
{
    return !stream->head;
}

void soft_stream_close_owned(uint64_t owner)
{
    for (soft_context *context = soft_contexts; context; context = context->next) {
        soft_stream *next;
        for (soft_stream *stream = context->streams; stream; stream = next) {
            next = stream->next;
            if (stream->owner == owner)
                soft_stream_close(stream);
        }
    }
}

/* True if a wait for one stream (NULL: all streams) includes the other stream. */
static bool wait_includes(const soft_stream *waited_for, const soft_stream *other)
{
    if (!waited_for || waited_for == other)
        return true;
    return waited_for->kind == SOFT_STREAM_LEGACY && other->kind == SOFT_STREAM_BLOCKING;
}

/* Runs the head of the queue if this thread can; otherwise leaves it to the stream's thread. */
static bool help(soft_stream *stream, uint64_t number)
{
    if (stream->running || !head_is_ready(stream))
        return false;
    if (!stream->head->is_work || !soft_fault_can_run()) {
        pthread_cond_signal(&stream->wake);
        return false;
    }
    run_head(stream);
    if (!stream->open || (stream->head && stream->head->number > number))
        pthread_cond_signal(&stream->wake);
    return true;
}

/* Waits until the streams have no task with this number or a lower one. */
static void drain(soft_context *context, const soft_stream *waited_for, uint64_t number)
{
    soft_stream *stream = context->streams;
    while (stream) {
        bool is_done = !stream->head || stream->head->number > number;
        if (wait_includes(waited_for, stream))
            stream->naps = NAPS;
        else
            is_done = true;
        if (is_done) {
            stream = stream->next;
            continue;
        }
        if (!help(stream, number))
            wait_for_progress(stream);
        stream = context->streams; /* the list may have changed during the wait */
    }
}

CUresult soft_stream_wait(soft_stream *stream)
{
    if (stream->capture)
        return soft_capture_refuse(stream);
    SOFT_TRY(soft_capture_check_unsafe());
    SOFT_LOCK(&soft_lock);
    soft_context *context = stream->context;
    drain(context, stream, last_number);
    return context->sticky;
}

void soft_context_drain(soft_context *context)
{
    drain(context, NULL, last_number);
}

void soft_contexts_drain(void)
{
    SOFT_LOCK(&soft_lock);
    for (soft_context *context = soft_contexts; context; context = context->next)
        soft_context_drain(context);
}

bool soft_context_is_idle(const soft_context *context)
{
    bool idle = true;
    SOFT_LOCK(&soft_lock);
    for (const soft_stream *stream = context->streams; stream; stream = stream->next)
        idle = idle && soft_stream_idle(stream);
    return idle;
}

CUresult soft_context_wait(soft_context *context)
{
    SOFT_LOCK(&soft_lock);
    soft_context_drain(context);
    return context->sticky;
}
