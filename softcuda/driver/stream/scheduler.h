/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Declarations that contexts, streams and events share. soft_lock protects everything in this file
 * unless a comment says otherwise; tasks run without the lock. Contexts and streams are reused and
 * never freed, so that a stale pointer can be checked.
 */
#ifndef GR_SOFTCUDA_DRIVER_SCHEDULER_H
#define GR_SOFTCUDA_DRIVER_SCHEDULER_H

#include "softcuda/driver/soft.h"

typedef struct soft_task soft_task;
typedef struct soft_event soft_event;

enum soft_stream_kind {
    SOFT_STREAM_LEGACY,
    /* Ordered with the legacy stream; default streams of threads are also of this kind. */
    SOFT_STREAM_BLOCKING,
    SOFT_STREAM_NON_BLOCKING,
};

struct soft_stream {
    soft_stream *next; /* in the context's list, or in the list of unused streams */
    soft_context *context;
    CUstream handle;
    enum soft_stream_kind kind;
    unsigned flags;
    int priority;
    uint64_t id;
    uint64_t owner;  /* the thread whose default stream it is; 0 for other streams */
    bool open;       /* the stream accepts new tasks */
    bool started;    /* its thread was started */
    soft_task *head; /* the oldest unfinished task; it may be running */
    soft_task *tail;
    bool running;      /* a thread runs the head of the queue */
    bool napping;      /* the stream's thread will look at the queue soon, even without a signal */
    unsigned naps;     /* how often the thread still naps before it sleeps */
    unsigned waiters;  /* the number of threads that wait for `progress` */
    uint64_t finished; /* the number of tasks that have finished */
    struct soft_capture_point
        *capture; /* NULL: the stream is not captured; see graph/capture_point.h */
    /* wakes the stream's thread: the head of the queue may have become ready */
    pthread_cond_t wake;
    pthread_cond_t progress; /* wakes waiters: a task has finished */
};

struct soft_context {
    soft_context *next; /* in the list of all contexts */
    CUcontext handle;
    uint64_t id; /* has another value each time the context is reused */
    CUdevice device;
    unsigned flags;
    bool alive;
    bool primary;
    CUresult sticky;
    size_t limits[CU_LIMIT_MAX];
    /*
     * The number of cuCtxAttach calls without a cuCtxDetach call: while it is not 0, cuCtxDetach
     * only decrements it.
     */
    unsigned attached;
    unsigned cache_settings[2]; /* stored by context_setting.c */
    soft_stream *legacy;
    /* All streams, including the legacy stream and streams that are closing. */
    soft_stream *streams;
    soft_event *events;
};

extern pthread_mutex_t soft_lock;

/* ---- Process state (init.c) ------------------------------------------------------------------ */

/* True after the process has begun to exit: no further task starts. Needs no lock. */
bool soft_is_exiting(void);

/*
 * True while this thread is inside an application's host function, which must not call the driver.
 */
extern _Thread_local bool soft_in_callback;

/* ---- Tasks (scheduler.c); these functions take soft_lock ------------------------------------- */

/*
 * The sticky error that the stream's context had when the task of this thread began. Kernels,
 * copies, fills and host functions that follow a failure are dropped, as on a GPU.
 */
extern _Thread_local CUresult soft_task_error;

/* Creates a task with `size` bytes of payload; NULL if out of memory. */
soft_task *soft_task_new(size_t size);

/* The payload of the task, aligned to 16. */
void *soft_task_payload(soft_task *task);

/*
 * Queues the task as soft_stream_push_work() does. The task then belongs to the stream; after a
 * failure it is freed. run() gets the payload.
 */
CUresult soft_task_push(soft_stream *stream, soft_task *task, void (*run)(void *payload));

/* The number of the task that was queued last in any stream. */
uint64_t soft_newest_task(void);

/*
 * The number of the oldest queued or running task of all streams; if there is none, the number of
 * the next task.
 */
uint64_t soft_oldest_task(void);

/* ---- Streams; called with the lock held ------------------------------------------------------ */

soft_stream *soft_stream_open(soft_context *context, enum soft_stream_kind kind, int priority);

/*
 * Drops the handle of the stream. Queued work still runs; then the thread ends and the stream can
 * be reused.
 */
void soft_stream_close(soft_stream *stream);

bool soft_stream_idle(const soft_stream *stream);

/* Closes the default streams of a thread that is ending, in all contexts. */
void soft_stream_close_owned(uint64_t owner);

/* Waits for all work that is queued in the context now. Releases the lock during the wait. */
void soft_context_drain(soft_context *context);

/* Like soft_context_drain() for every context. Takes the lock. */
void soft_contexts_drain(void);

/* ---- Capture (capture.c); may be called with the lock held ----------------------------------- */

/* Adds a node with this work after the nodes of the stream. */
CUresult soft_capture_push(soft_stream *stream, void (*run)(void *payload), const void *data,
                           size_t size);

/*
 * For an operation that no graph can contain: invalidates the capture of the stream and returns
 * CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
 */
CUresult soft_capture_refuse(const soft_stream *stream);

/*
 * For calls such as cuMemAlloc. If a capture that is not relaxed forbids them on this thread,
 * invalidates the captures and returns CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
 */
CUresult soft_capture_check_unsafe(void);

/* Like soft_capture_check_legacy(), for any stream, with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED. */
CUresult soft_capture_check_context(const soft_context *context);

/*
 * Ends or leaves the capture of a stream that is being destroyed, with soft_lock held. Returns the
 * graph, for soft_graph_drop() without the lock; NULL if there is none.
 */
struct soft_graph *soft_capture_abandon(soft_stream *stream);

/* Frees a point and sets it to NULL. */
void soft_capture_forget(struct soft_capture_point **point);

/* ---- Contexts, events and memory ------------------------------------------------------------- */

/* The list of all contexts, the newest first. */
extern soft_context *soft_contexts;

/* Destroys the events of a context. Takes the lock. */
void soft_event_destroy_all(soft_context *context);

/* Frees the memory of a context. */
void soft_memory_destroy_all(soft_context *context);

#endif
