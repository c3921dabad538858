/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Declarations for all files of the software CUDA driver: exporting entry points, handles,
 * contexts, streams and their tasks, memory ranges, and the log.
 */
#ifndef GR_SOFTCUDA_DRIVER_SOFT_H
#define GR_SOFTCUDA_DRIVER_SOFT_H

#include "softcuda/driver/export.h"

#include <pthread.h>
#include <stdint.h>

/*
 * SOFT_API starts the definition of an entry point, and SOFT_FORWARD defines one that only makes a
 * call. SOFT_API_ptsz and SOFT_API_ptds also define the twin of the entry point for the per-thread
 * default stream. SOFT_API_v1 defines the older name of an entry point NAME_v2.
 */
#define SOFT_API SOFT_EXPORTED CUresult CUDAAPI
#define SOFT_FORWARD(name, params, call)                                                           \
    SOFT_API name params                                                                           \
    {                                                                                              \
        return call;                                                                               \
    }
#define SOFT_API_v1(name, params, args) SOFT_FORWARD(name, params, name##_v2 args)
#define SOFT_TWIN(twin, params, variable, call)                                                    \
    SOFT_PER_THREAD_TWIN(CUresult, soft_default_stream_is_per_thread, twin, params, variable, call)
#define SOFT_API_ptsz(name, params, args)                                                          \
    SOFT_TWIN(name##_ptsz, params, , name args) SOFT_API name params
#define SOFT_API_ptds(name, params, args)                                                          \
    SOFT_TWIN(name##_ptds, params, , name args) SOFT_API name params

/*
 * Defines a synchronous entry point and its asynchronous variant, which has a stream as the last
 * parameter. `call` uses `stream` and `asynchronous`.
 */
#define SOFT_API_both(name, name_async, params, call)                                              \
    SOFT_API_variant(name, name##_ptds, params, false, const CUstream stream = NULL, call)         \
        SOFT_API_variant(name_async, name_async##_ptsz, (SOFT_LIST params, CUstream stream), true, \
                         , call)
#define SOFT_API_variant(name, twin, params, is_asynchronous, variable, call)                      \
    SOFT_TWIN(twin, params, const bool asynchronous = is_asynchronous; variable, call)             \
    SOFT_API name params                                                                           \
    {                                                                                              \
        const bool asynchronous = is_asynchronous;                                                 \
        variable;                                                                                  \
        return call;                                                                               \
    }

extern _Thread_local bool soft_default_stream_is_per_thread;

/* ---- Log (log.c) ----------------------------------------------------------------------------- */

enum soft_log_level {
    SOFT_DEBUG, /* only with GR_LOG=debug */
    SOFT_WARN,  /* always */
};

/* Writes one line to stderr; the format needs no newline. */
void soft_log(enum soft_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * For entry points and cases that are not implemented: logs `what` once and returns
 * CUDA_ERROR_NOT_SUPPORTED. *logged is a static variable of the caller, initially 0.
 */
CUresult soft_unsupported(int *logged, const char *what);

/* ---- Devices (device_list.c, device.c) ------------------------------------------------------- */

/* The maximum number of devices. Each valid CUdevice is below this number. */
#define SOFT_MAX_DEVICES 8

/*
 * Reads the environment variables, for cuInit. CUDA_ERROR_NO_DEVICE if they hide all devices,
 * CUDA_ERROR_INVALID_DEVICE if they name a device twice.
 */
CUresult soft_devices_init(void);

/* The number of visible devices, and the number of all devices. */
int soft_device_count(void);
int soft_device_all(void);

/*
 * Convert between a CUdevice and its number among all devices, which is the same in every process.
 * For a hidden device the CUdevice is CU_DEVICE_INVALID.
 */
int soft_device_number(CUdevice device);
CUdevice soft_device_of_number(int number);

/* The number of the device that OpenGL and Vulkan draw on. */
#define SOFT_DRAWING_DEVICE 0

void soft_device_uuid(int number, CUuuid *uuid);

/* Like soft_check_init, then CUDA_ERROR_INVALID_DEVICE for an invalid device. */
CUresult soft_check_device(CUdevice dev);

/* ---- Handles (handle_table.c) ---------------------------------------------------------------- */

/* Returns a new number for a context, stream or thread. Needs no lock. */
uint64_t soft_next_id(void);

/*
 * A handle (CUstream, CUevent, ...) is a number made of a slot, a generation and a kind, not an
 * address. Garbage, handles of another kind and stale handles are therefore detected without
 * touching memory. Handles never equal NULL, CU_STREAM_LEGACY or CU_STREAM_PER_THREAD.
 */
enum soft_kind {
    SOFT_KIND_CONTEXT = 1,
    SOFT_KIND_STREAM,
    SOFT_KIND_EVENT,
    SOFT_KIND_POOL,
    SOFT_KIND_MODULE,
    SOFT_KIND_FUNCTION,
    SOFT_KIND_GRAPHICS,
    SOFT_KIND_ARRAY,
    SOFT_KIND_MIPMAP,
    SOFT_KIND_LIBRARY,
    SOFT_KIND_KERNEL,
    SOFT_KIND_EXTERNAL_MEMORY,
    SOFT_KIND_ALLOCATION, /* allocated by cuMemCreate */
    SOFT_KIND_SEMAPHORE,
    SOFT_KIND_GRAPH,
    SOFT_KIND_GRAPH_NODE,
    SOFT_KIND_GRAPH_EXEC,
    SOFT_KIND_USER_OBJECT,
};

/* Creates a handle for the object; NULL if out of memory. All three functions are thread-safe. */
void *soft_handle_new(enum soft_kind kind, void *object);

/*
 * Returns the object; NULL if the handle is not a valid handle of this kind. Never dereferences the
 * handle.
 */
void *soft_handle_get(enum soft_kind kind, const void *handle);

/*
 * Defines a function that checks that the driver may be called, then finds the object of a handle;
 * `error` if the handle is not a valid handle of this kind.
 */
#define SOFT_GETTER(name, handle_type, object_type, kind, error)                                   \
    CUresult name(handle_type handle, object_type *object)                                         \
    {                                                                                              \
        SOFT_TRY(soft_check_init());                                                               \
        *object = soft_handle_get(kind, handle);                                                   \
        return *object ? CUDA_SUCCESS : error;                                                     \
    }

/*
 * Invalidates the handle and returns its object; NULL as in soft_handle_get. If two threads drop
 * the same handle, only one thread gets the object.
 */
void *soft_handle_drop(enum soft_kind kind, const void *handle);

/* ---- Contexts (context.c) -------------------------------------------------------------------- */

typedef struct soft_context soft_context;

/*
 * CUDA_ERROR_NOT_INITIALIZED before cuInit, CUDA_ERROR_DEINITIALIZED while the process exits,
 * CUDA_ERROR_NOT_PERMITTED inside a host function or callback of a stream; otherwise CUDA_SUCCESS.
 */
CUresult soft_check_init(void);

/*
 * Like soft_check_init, then gets the calling thread's current context: CUDA_ERROR_INVALID_CONTEXT
 * if there is none, CUDA_ERROR_CONTEXT_IS_DESTROYED if it was destroyed, or the context's sticky
 * error. context may be NULL.
 */
CUresult soft_check_context(soft_context **context);

/* The same for calls that query a context: logs nothing if none is current. */
CUresult soft_query_context(soft_context **context);

/* The device that a context is on. */
CUdevice soft_context_device(const soft_context *context);

/* The application's handle of the context. */
CUcontext soft_context_handle(const soft_context *context);

/*
 * Sets the sticky error: every later call in the context returns it, as after a kernel fault. If
 * the context already has a sticky error, that error stays.
 */
void soft_context_fail(soft_context *context, CUresult error);

/*
 * Sets the sticky error of all contexts: an invalid access to the memory of another device fails
 * both devices.
 */
void soft_contexts_fail(CUresult error);

/*
 * Registers a hook, which is called whenever a context is about to be destroyed or reset: after its
 * pending work has completed, and while its streams and memory still exist. There can be at most 12
 * hooks. They are registered while the driver is loaded, by SOFT_AT_CONTEXT_END().
 */
void soft_context_at_destroy(void (*hook)(soft_context *context));
#define SOFT_AT_CONTEXT_END(hook)                                                                  \
    __attribute__((constructor)) static void add_##hook(void)                                      \
    {                                                                                              \
        soft_context_at_destroy(hook);                                                             \
    }

/* ---- Streams (stream.c, scheduler.c) --------------------------------------------------------- */

typedef struct soft_stream soft_stream;

/*
 * Converts an application's handle to a stream. NULL (the legacy default stream, or the per-thread
 * default stream in a _ptsz call), CU_STREAM_LEGACY and CU_STREAM_PER_THREAD require a current
 * context, with the codes of soft_check_context. The handle of a created stream requires none.
 * CUDA_ERROR_INVALID_HANDLE for any other handle. The memory of a destroyed stream stays valid, but
 * pushing to the stream fails.
 */
CUresult soft_stream_get(CUstream handle, soft_stream **stream);

soft_context *soft_stream_context(const soft_stream *stream);

/*
 * Queues run(arg). It runs after all tasks queued in the stream before. If the stream is the legacy
 * default stream or a blocking stream, it also runs after the tasks that the rules of the legacy
 * default stream order before it. It runs on the stream's thread and may block, as waits do. arg
 * must stay valid until run has been called. On failure (CUDA_ERROR_OUT_OF_MEMORY, or
 * CUDA_ERROR_INVALID_HANDLE for a destroyed stream) run is never called. Tasks that are still
 * queued when the process exits are not run either.
 */
CUresult soft_stream_push(soft_stream *stream, void (*run)(void *arg), void *arg);

/*
 * Like soft_stream_push, but run gets a copy of size bytes at data, aligned to 16. The copy is
 * freed when run returns. Copies of up to SOFT_PAYLOAD bytes come from a pool, which avoids an
 * allocation per call.
 */
#define SOFT_PAYLOAD 448
CUresult soft_stream_push_copy(soft_stream *stream, void (*run)(void *copy), const void *data,
                               size_t size);

/*
 * Like soft_stream_push_copy, for work that any thread can run: kernels, copies and fills. A thread
 * that waits for the stream may run it. soft_stream_run_work() also waits for the stream, and
 * returns the context's sticky error, if any.
 */
CUresult soft_stream_push_work(soft_stream *stream, void (*run)(void *copy), const void *data,
                               size_t size);
CUresult soft_stream_run_work(soft_stream *stream, void (*run)(void *copy), const void *data,
                              size_t size);

/* The number of seconds before a long task is logged, from GR_SOFT_PATIENCE. (patience.c) */
unsigned soft_patience(void);

/*
 * Logs once per process that a launch has run for soft_patience() seconds; ignores other tasks. The
 * caller must hold soft_lock. (launch.c)
 */
void soft_launch_log_slow(void (*run)(void *copy), const void *copy);

/*
 * For calls that have nothing to do in the stream: orders later work after earlier work as an empty
 * task does by the rules of the legacy default stream. Does nothing while the stream is captured.
 */
CUresult soft_stream_order(soft_stream *stream);

/* Blocks until all tasks queued so far have completed. Returns the context's sticky error, if any.
 */
CUresult soft_stream_wait(soft_stream *stream);

/* Like soft_stream_wait, for all streams of a context. */
CUresult soft_context_wait(soft_context *context);

/* Whether all streams of the context are empty. */
bool soft_context_is_idle(const soft_context *context);

/* ---- Memory ranges (memory_range.c, pages.c) ------------------------------------------------- */

enum soft_memory {
    SOFT_MEMORY_DEVICE = 1, /* cuMemAlloc and related calls; also the globals of a module */
    SOFT_MEMORY_POOL,       /* stream-ordered */
    SOFT_MEMORY_HOST,       /* pinned memory that the driver allocated */
    SOFT_MEMORY_REGISTERED, /* the application's own memory, pinned */
    SOFT_MEMORY_MANAGED,
    SOFT_MEMORY_GRAPHICS, /* a mapped graphics resource */
    SOFT_MEMORY_EXTERNAL, /* a view of imported memory, see soft_pages_map */
    SOFT_MEMORY_VIRTUAL,  /* one mapping of cuMemMap that cuMemSetAccess made accessible */
};

/* The flags of an external range whose memory was created by this driver, in any process. */
#define SOFT_EXTERNAL_OWN 1u

/* A memory range. The device address and the host address are the same number for all kinds. */
typedef struct {
    unsigned char *base;
    size_t size; /* as requested, in bytes */
    enum soft_memory kind;
    const char *what; /* for fault messages; NULL if the driver did not allocate the memory */
    /* Flags of the call that created the memory; for virtual memory, its handle types. */
    unsigned flags;
    soft_context *context; /* may be NULL */
    CUdevice device;       /* set by soft_range_add if there is a context */
    unsigned access;       /* virtual memory only: the devices that may access it, one bit each */
    bool syncs_copies;     /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    /*
     * the pool, resource or other object that owns the range; only the file that added the range
     * uses this pointer
     */
    void *owner;
    uint64_t id; /* unique in the process; set by soft_range_add */
} soft_range;

/*
 * Adds a range, which argument checks then accept: it becomes a known range.
 * CUDA_ERROR_OUT_OF_MEMORY, or CUDA_ERROR_INVALID_VALUE if it overlaps another known range.
 */
CUresult soft_range_add(const soft_range *range);

/*
 * Removes the known range of that kind (0: any) that starts exactly at base; false if there is
 * none. removed may be NULL.
 */
bool soft_range_remove(const void *base, enum soft_memory kind, soft_range *removed);

/* Finds the known range that contains the address; false if there is none. range may be NULL. */
bool soft_range_find(const void *address, soft_range *range);

/* Sets which devices may access the range of virtual memory that starts at base. */
void soft_range_set_access(const void *base, unsigned access);

/* Sets syncs_copies of the range that starts at base. */
void soft_range_set_syncs(const void *base, bool syncs);

/*
 * The number of bytes from the address to the end of its range; 0 if the address is in no range.
 * Adjacent mappings of virtual memory count as one range if one of `devices`, a mask with one bit
 * per device, may access them.
 */
size_t soft_range_reach(const void *address, unsigned devices);

/*
 * True if [address, address + size) lies within one known range. Adjacent mappings that the same
 * device may access count as one range. This is the argument check of launches and copies.
 */
bool soft_range_holds(const void *address, size_t size);

/*
 * The functions below allocate memory with guards: SOFT_GUARD_SIZE inaccessible bytes before the
 * first page and after the last page, so that most out-of-bounds accesses fault. Guards take two of
 * the process's memory maps (vm.max_map_count). After SOFT_MOST_GUARDED allocations, further memory
 * has no guards.
 */
#define SOFT_GUARD_SIZE   ((size_t)64 * 1024)
#define SOFT_MOST_GUARDED 28000

/*
 * Counts guards that other files create. False if the limit is reached; they are counted
 * nevertheless.
 */
bool soft_guards_reserve(size_t count);
void soft_guards_release(size_t count);

/* The alignment of device memory, which texture objects require. */
#define SOFT_ALIGNMENT 512

/*
 * Allocates size bytes, filled with SOFT_POISON if `poison`; NULL if out of memory. The bytes start
 * at a multiple of alignment, which is a power of 2 up to the page size. They end as near to the
 * end of their last page as the alignment allows.
 */
#define SOFT_POISON 0xCB
void *soft_pages_new(size_t size, size_t alignment, bool poison);

/* Maps size bytes of the file at offset for reading and writing. Returns the address of the first
 * byte, which has the same offset in its page as in the file; NULL if out of memory. */
void *soft_pages_map(int fd, size_t offset, size_t size);

/*
 * Replaces the pages of size bytes with pages of the file at offset, and copies the contents of the
 * old pages. No thread may write to the pages meanwhile. False if out of memory.
 */
bool soft_pages_share(void *base, size_t size, int fd, size_t offset);

/*
 * Reserves inaccessible pages at the hint if it is a multiple of alignment and the addresses are
 * free. Otherwise reserves them at another multiple. NULL if out of memory.
 */
void *soft_pages_reserve(void *hint, size_t size, size_t alignment);

/*
 * Makes the pages inaccessible and frees their memory. The addresses stay reserved for some time,
 * so that a late access faults. The fault message then contains `what`, a string constant such as
 * "device memory after cuMemFree". size is the size at allocation.
 */
void soft_pages_retire(void *pages, size_t size, const char *what);

/*
 * Make the pages of size bytes inaccessible, or read-only, or accessible again. While they are
 * guarded, a fault prints a message that contains `what`. If guarded pages lie within other guarded
 * pages, the message names the inner ones. CUDA_ERROR_OUT_OF_MEMORY if the kernel refuses.
 */
CUresult soft_pages_guard(void *pages, size_t size, const char *what);
CUresult soft_pages_guard_writes(void *pages, size_t size, const char *what);
CUresult soft_pages_unguard(void *pages, size_t size);

/*
 * The CUDA version that introduced each function. since.awk generates the table, which ends with a
 * NULL name.
 */
struct soft_since {
    const char *name;
    int version;
};
extern const struct soft_since soft_since[];

#endif
