/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the software CUDA driver share: how an entry point is exported, handles,
 * contexts, streams and their tasks, known memory ranges, and the log. An entry point that takes or
 * implies a stream has a second symbol for programs built with the per-thread default stream, see
 * SOFT_API_ptsz.
 */
#ifndef GR_SOFTCUDA_DRIVER_SOFT_H
#define GR_SOFTCUDA_DRIVER_SOFT_H

/* Asks cuda.h for the prototypes of every versioned symbol under its own name, so that the compiler
 * checks each entry point against the header and no macro renames it. */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Exporting. What is defined with these is what is implemented: the Makefile reads the objects'
 * symbols and makes a stub of everything else that cuda.h declares (unsupported.awk).
 *
 * SOFT_API starts the definition. SOFT_API_ptsz and SOFT_API_ptds do so, and define the per-thread
 * twin of the entry point from it: CU_STREAM_PER_THREAD stands in for a NULL or implied stream
 * during the call.
 */
#define SOFT_API __attribute__((visibility("default"))) CUresult CUDAAPI

#define SOFT_PER_THREAD_TWIN(symbol, name, params, args)                                           \
    __attribute__((visibility("default"))) CUresult CUDAAPI symbol params;                         \
    __attribute__((visibility("default"))) CUresult CUDAAPI symbol params                          \
    {                                                                                              \
        soft_default_stream_is_per_thread = true;                                                  \
        CUresult result = name args;                                                               \
        soft_default_stream_is_per_thread = false;                                                 \
        return result;                                                                             \
    }
#define SOFT_API_ptsz(name, params, args)                                                          \
    SOFT_PER_THREAD_TWIN(name##_ptsz, name, params, args) SOFT_API name params
#define SOFT_API_ptds(name, params, args)                                                          \
    SOFT_PER_THREAD_TWIN(name##_ptds, name, params, args) SOFT_API name params

extern _Thread_local bool soft_default_stream_is_per_thread;

/* Returns what the call gives, unless that is CUDA_SUCCESS. */
#define SOFT_TRY(...)                                                                              \
    do {                                                                                           \
        CUresult tried_ = (__VA_ARGS__);                                                           \
        if (tried_ != CUDA_SUCCESS)                                                                \
            return tried_;                                                                         \
    } while (0)

/* ---- Log (log.c) ----------------------------------------------------------------------------- */

enum soft_log_level {
    SOFT_DEBUG, /* only with GR_LOG=debug */
    SOFT_WARN,  /* always */
};

/* Writes one line to stderr; the format needs no newline. */
void soft_log(enum soft_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For an entry point, or a case of one, that isn't implemented: logs the sentence once (*logged is
 * the memory of that, a static that starts as 0) and returns CUDA_ERROR_NOT_SUPPORTED. */
CUresult soft_unsupported(int *logged, const char *what);

/* ---- Devices (device_list.c, device.c) ------------------------------------------------------- */

/* As many as there can be. A device is a CUdevice below this number. */
#define SOFT_MAX_DEVICES 8

/* Reads the environment, for cuInit. CUDA_ERROR_NO_DEVICE if that hides all devices,
 * CUDA_ERROR_INVALID_DEVICE if it names one twice. */
CUresult soft_devices_find(void);

/* How many a program sees, and how many there are. */
int soft_device_count(void);
int soft_device_all(void);

/* A device's number among all, which is the same in every process; and the device of that number,
 * or CU_DEVICE_INVALID if it is hidden. */
int soft_device_number(CUdevice device);
CUdevice soft_device_of_number(int number);

/* The number of the device that OpenGL and Vulkan draw on. */
#define SOFT_DRAWING_DEVICE 0

void soft_device_uuid(int number, CUuuid *uuid);

/* As soft_check_init, then CUDA_ERROR_INVALID_DEVICE for what is no device. */
CUresult soft_check_device(CUdevice dev);

/* ---- Handles (handle_table.c) ---------------------------------------------------------------- */

/* An unused number for a context, stream or thread. Needs no lock. */
uint64_t soft_next_id(void);

/*
 * What an application gets as CUstream, CUevent, ... is a number made of a slot, a generation and a
 * kind, not an address, so that a handle that is garbage, of another kind or of something destroyed
 * is told from a good one without touching memory. Handles never equal NULL, CU_STREAM_LEGACY or
 * CU_STREAM_PER_THREAD.
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
    SOFT_KIND_ALLOCATION, /* of cuMemCreate */
    SOFT_KIND_SEMAPHORE,
    SOFT_KIND_OTHER,
};

/* A new handle for object, or NULL when there is no memory. Thread-safe, as all three are. */
void *soft_handle_new(enum soft_kind kind, void *object);

/* The object, or NULL if the handle isn't (or is no longer) one of this kind. Never dereferences
 * it. */
void *soft_handle_get(enum soft_kind kind, const void *handle);

/* Ends the handle and returns its object; NULL as soft_handle_get. Of two threads that end one
 * handle, only one gets the object. */
void *soft_handle_drop(enum soft_kind kind, const void *handle);

/* ---- Contexts (context.c) -------------------------------------------------------------------- */

typedef struct soft_context soft_context;

/* CUDA_ERROR_NOT_INITIALIZED before cuInit, CUDA_ERROR_DEINITIALIZED while the process exits,
 * CUDA_ERROR_NOT_PERMITTED inside a host function or callback of a stream; else CUDA_SUCCESS. */
CUresult soft_check_init(void);

/* As soft_check_init, then the calling thread's current context: CUDA_ERROR_INVALID_CONTEXT when
 * there is none, CUDA_ERROR_CONTEXT_IS_DESTROYED when it was destroyed, or the context's sticky
 * error. context may be NULL. */
CUresult soft_check_context(soft_context **context);

/* The device that a context is on. */
CUdevice soft_context_device(const soft_context *context);

/* The context as an application sees it. */
CUcontext soft_context_handle(const soft_context *context);

/* Makes every later call in the context return error, as after a kernel that faulted. The first
 * error stays. */
void soft_context_fail(soft_context *context, CUresult error);

/* The same for all contexts: an access to what another device has ends the work of both. */
void soft_contexts_fail(CUresult error);

/* Calls hook whenever a context is about to be destroyed or reset, after its pending work has
 * completed and while its streams and memory still exist. At most 12 hooks; register them from a
 * constructor function. */
void soft_context_at_destroy(void (*hook)(soft_context *context));

/* ---- Streams (stream.c, scheduler.c) --------------------------------------------------------- */

typedef struct soft_stream soft_stream;

/*
 * Turns an application's handle into a stream: NULL (the legacy default stream, or the per-thread
 * one in a _ptsz call), CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are those of the current context
 * and need one, with the codes of soft_check_context; a created stream needs no current context.
 * CUDA_ERROR_INVALID_HANDLE for anything else. A stream's memory stays valid when the stream is
 * destroyed: pushing to it is then an error.
 */
CUresult soft_stream_get(CUstream handle, soft_stream **stream);

/* The context that a stream belongs to. */
soft_context *soft_stream_context(const soft_stream *stream);

/*
 * Queues run(arg) behind everything queued before and, if the stream is the legacy one or blocking,
 * behind what the legacy default stream's rules order before it. It runs on the stream's own
 * thread; it may block (that is what a wait is). arg must stay valid until run has been called.
 * Returns CUDA_ERROR_OUT_OF_MEMORY or CUDA_ERROR_INVALID_HANDLE (stream destroyed), and then run is
 * never called. Tasks that are still queued when the process exits are never called either.
 */
CUresult soft_stream_push(soft_stream *stream, void (*run)(void *arg), void *arg);

/* The same with a copy of size bytes at data, which lives in the task's record: run gets the copy's
 * address (aligned to 16) and the copy ends when run returns. Up to SOFT_PAYLOAD bytes come from a
 * pool, so that a steady loop allocates nothing. */
#define SOFT_PAYLOAD 448
CUresult soft_stream_push_copy(soft_stream *stream, void (*run)(void *copy), const void *data,
                               size_t size);

/* Seconds; GR_SOFT_PATIENCE says how many. (patience.c) */
unsigned soft_patience(void);

/* Says once in the process that a task has run for soft_patience(), if it is a launch. Under
 * soft_lock. (launch.c) */
void soft_launch_takes_long(void (*run)(void *copy), const void *copy);

/* Blocks the caller until all that is queued now has completed; returns the context's sticky error
 * if any. */
CUresult soft_stream_wait(soft_stream *stream);

/* The same for all the streams of a context. */
CUresult soft_context_wait(soft_context *context);

/* Whether nothing is queued in any of its streams. */
bool soft_context_is_idle(const soft_context *context);

/* ---- Memory ranges (memory_range.c, pages.c) ------------------------------------------------- */

enum soft_memory {
    SOFT_MEMORY_DEVICE = 1, /* cuMemAlloc and its relatives; also a module's globals */
    SOFT_MEMORY_POOL,       /* stream-ordered */
    SOFT_MEMORY_HOST,       /* allocated pinned */
    SOFT_MEMORY_REGISTERED, /* the application's own, pinned */
    SOFT_MEMORY_MANAGED,
    SOFT_MEMORY_GRAPHICS, /* a mapped graphics resource */
    SOFT_MEMORY_EXTERNAL, /* a view of imported memory, see soft_pages_map */
    SOFT_MEMORY_VIRTUAL,  /* one mapping of cuMemMap that cuMemSetAccess made accessible */
};

/* The flags of an external range whose memory cuMemCreate made. */
#define SOFT_EXTERNAL_OWN 1u

/* Device and host addresses are the same number for all of them. */
typedef struct {
    unsigned char *base;
    size_t size; /* as asked for, in bytes */
    enum soft_memory kind;
    const char *what;      /* for the message of a fault; NULL: no memory of the driver's */
    unsigned flags;        /* of the call that made it; of virtual memory, its handle types */
    soft_context *context; /* may be NULL */
    CUdevice device;       /* set by soft_range_add where there is a context */
    unsigned access;       /* of virtual memory: the devices, a bit each, that may access it */
    bool syncs_copies;     /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    void *owner;           /* for the file that added it, e.g. the pool or the resource */
    uint64_t id;           /* unique in the process; set by soft_range_add */
} soft_range;

/* Makes the range known to argument checks. CUDA_ERROR_OUT_OF_MEMORY, or CUDA_ERROR_INVALID_VALUE
 * when it overlaps a known one. */
CUresult soft_range_add(const soft_range *range);

/* Forgets the range that starts exactly at base and is of that kind (0: any); false if there is
 * none. removed may be NULL. */
bool soft_range_remove(const void *base, enum soft_memory kind, soft_range *removed);

/* The range that holds address; false if there is none. range may be NULL. */
bool soft_range_find(const void *address, soft_range *range);

/* Sets who may access the range of virtual memory that starts at base. */
void soft_range_set_access(const void *base, unsigned access);

/* Sets syncs_copies of the range that starts at base. */
void soft_range_set_syncs(const void *base, bool syncs);

/* Bytes from address to the end of its range, 0 if there is none. Mappings of virtual memory that
 * lie end to end, and that one of the devices (a bit each) may access, are as one range. */
size_t soft_range_reach(const void *address, unsigned devices);

/* True if [address, address + size) lies within one known range, in the sense of soft_range_reach.
 * The argument check of launches and copies. */
bool soft_range_holds(const void *address, size_t size);

/*
 * The functions below make memory with SOFT_GUARD_SIZE inaccessible bytes before its first page and
 * behind its last one, so that most accesses that miss it fault. Such memory takes two of the
 * process's memory maps (vm.max_map_count). Past SOFT_MOST_GUARDED of them memory has no guards.
 */
#define SOFT_GUARD_SIZE   ((size_t)64 * 1024)
#define SOFT_MOST_GUARDED 28000

/*
 * Books guards that are made elsewhere; false if there are enough. They are booked in both cases.
 */
bool soft_guards_book(size_t count);
void soft_guards_unbook(size_t count);

/* What addresses of device memory are multiples of: what texture objects ask for. */
#define SOFT_ALIGNMENT 512

/*
 * size bytes, filled with the byte SOFT_POISON if asked; NULL when there is no memory. They begin
 * at a multiple of alignment, a power of 2, and end as near to the end of their last page as that
 * allows. A page is the largest alignment.
 */
#define SOFT_POISON 0xCB
void *soft_pages_new(size_t size, size_t alignment, bool poison);

/* Pages that show size bytes of the file from offset on, for reading and writing. The result is the
 * address of the first byte, which is as far into its page as offset is; NULL when there is no
 * memory. */
void *soft_pages_map(int fd, size_t offset, size_t size);

/* Puts the file's pages from offset on in place of those that hold size bytes, with the same bytes
 * in them; nobody may write meanwhile. False when there is no memory. */
bool soft_pages_share(void *base, size_t size, int fd, size_t offset);

/* Inaccessible pages at the hint, if it is a multiple of alignment and they are free there, or else
 * at another multiple; NULL when there is no memory. */
void *soft_pages_reserve(void *hint, size_t size, size_t alignment);

/* Makes the pages inaccessible and gives their memory back. The addresses stay unused for a while,
 * so that a late access faults; the message then names what (a string constant, e.g. "device memory
 * after cuMemFree"). size is the one that they were made with. */
void soft_pages_retire(void *pages, size_t size, const char *what);

/* Makes the pages that hold size bytes inaccessible, or only unwritable, and accessible again;
 * until then an access that faults prints a line first that names what. Where guarded pages are
 * part of others, theirs is the name. CUDA_ERROR_OUT_OF_MEMORY if the kernel refuses. */
CUresult soft_pages_guard(void *pages, size_t size, const char *what);
CUresult soft_pages_guard_writes(void *pages, size_t size, const char *what);
CUresult soft_pages_unguard(void *pages, size_t size);

/* The CUDA version that each function came with, made by since.awk; ends with a NULL name. */
struct soft_since {
    const char *name;
    int version;
};
extern const struct soft_since soft_since[];

#endif
