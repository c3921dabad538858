/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores that CUDA and another API share, and the points at which a resource changes hands.
 *
 * A resource of external memory has two semaphores: one that the graphics API signals when it is done
 * (acquire: gr_map() makes the stream wait for it) and one that CUDA signals at release. With timeline
 * semaphores each use has a value of its own, and any number of resources share the two:
 *
 *     gr_resource_set_sync(resource, acquire, release);
 *     for (each frame) {
 *         gr_submit submit;
 *         gr_submit_begin(&resource, 1, &submit);
 *         ... vkQueueSubmit: wait for submit.wait at submit.wait_value, draw,
 *             signal submit.signal to submit.signal_value ...
 *         GR_AUTO(gr_buffer) *buffer = gr_map(resource, stream);     waits for that value, on the stream
 *         ... kernels on `stream` ...
 *     }                                                              signals the next wait_value
 *
 * A timeline semaphore's values only grow, in the order in which signals are carried out. Signal each
 * semaphore from one queue of the graphics API, and begin submits in the order in which they are submitted.
 * On CUDA's side grinterop keeps the order by itself, also over several streams.
 *
 * Threads: any thread, several at once; each call on a semaphore is one step of its order.
 */
#ifndef GR_SEMAPHORE_H
#define GR_SEMAPHORE_H

#include <stdint.h>

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A semaphore that is shared with CUDA. Counted: resources that use it keep it alive. */
typedef struct gr_semaphore gr_semaphore;

/*
 * A semaphore to import. `type` says which of fd, win32_handle, win32_name and nvscisync counts:
 *
 *   OPAQUE_FD                     fd of a binary semaphore. Taken by the driver on success; after an error
 *                                 still the caller's.
 *   TIMELINE_SEMAPHORE_FD         fd of a timeline semaphore, likewise.
 *   OPAQUE_WIN32, TIMELINE_SEMAPHORE_WIN32, D3D12_FENCE, D3D11_FENCE, D3D11_KEYED_MUTEX
 *                                 win32_handle or win32_name; the handle stays the caller's.
 *   OPAQUE_WIN32_KMT, D3D11_KEYED_MUTEX_KMT
 *                                 win32_handle, which holds no reference; no name.
 *   NVSCISYNC                     nvscisync; stays the caller's, which has to keep it alive.
 */
typedef struct gr_semaphore_desc {
    CUexternalSemaphoreHandleType type;
    int fd;
    void *win32_handle;     /* a HANDLE */
    const void *win32_name; /* UTF-16, ended by a zero */
    const void *nvscisync;  /* a NvSciSyncObj */
    uint64_t value;         /* timelines and fences: the value that it has now */
} gr_semaphore_desc;

/*
 * Imports a semaphore into the current CUDA context, else into the primary context of device 0. It is
 * the caller's, freed with gr_semaphore_free(). vk.h makes them of Vulkan's semaphores.
 * Errors: GR_ERR_INVALID_VALUE (a rule of the handle type, which the message cites), GR_ERR_CUDA,
 * GR_ERR_UNSUPPORTED (a type that this platform does not have, with the driver's answer).
 * Wraps cuImportExternalSemaphore.
 */
GR_API gr_semaphore *gr_semaphore_import(const gr_semaphore_desc *info);

/* Drops the caller's hold; the import ends with the last. NULL is fine. Wraps cuDestroyExternalSemaphore. */
GR_API void gr_semaphore_free(gr_semaphore *semaphore);

/* Whether it counts: timelines and D3D fences. False for NULL. */
GR_API bool gr_semaphore_is_timeline(const gr_semaphore *semaphore);

/* The CUexternalSemaphore; NULL for NULL and for a semaphore that works through waits of the host. */
GR_API void *gr_semaphore_handle(const gr_semaphore *semaphore);

/* One line about it, like snprintf: its type, its last value, how it is waited for. */
GR_API int gr_semaphore_describe(const gr_semaphore *semaphore, char *text, size_t size);

/* One signal or wait. Which fields count depends on the semaphore's type; the others must be 0. */
typedef struct gr_semaphore_point {
    gr_semaphore *semaphore;
    uint64_t value;      /* timelines and fences: the value to signal, or to wait for */
    uint64_t key;        /* keyed mutexes: the key to release, or to acquire */
    unsigned timeout_ms; /* keyed mutexes: how long a wait waits, in milliseconds */
    void *nvsci_fence;   /* NvSciSync: the NvSciSyncFence to write, or to wait for */
    bool skip_nvscibuf;  /* NvSciSync: no memory barrier for memory imported as NVSCIBUF */
} gr_semaphore_point;

/*
 * Puts n signals, or waits, into the stream, in one call of the driver; the thread does not wait. Where the driver
 * signals and has memory barriers (CUDA 11.7), one comes before, so that what is signalled has been written. For
 * semaphores that belong to resources gr_map() and release do this: signalling those by hand as well
 * is the caller's to keep in order.
 * Errors: GR_ERR_INVALID_VALUE (NULL, a field that the type does not have, a value that is not greater than
 * the last one signalled through grinterop, semaphores of different CUDA contexts), GR_ERR_CUDA, GR_ERR_VULKAN
 * (the device of a semaphore that the host waits for was lost; signals are accepted then and left out, so that
 * what is mapped can be released).
 * Wraps cuSignalExternalSemaphoresAsync, after cuStreamBatchMemOp, and cuWaitExternalSemaphoresAsync.
 */
GR_API gr_status gr_semaphore_signal(const gr_semaphore_point points[], size_t n, CUstream stream);
GR_API gr_status gr_semaphore_wait(const gr_semaphore_point points[], size_t n, CUstream stream);

/* ---- Resources ------------------------------------------------------------------------------- */

/*
 * Gives a resource of external memory its two semaphores: `acquire` is signalled by the graphics API and
 * waited for by gr_map(), `release` the other way. Either may be NULL: then nothing is waited for or
 * signalled, and the caller sees to it. The resource keeps both alive until it is closed or given others;
 * giving it others waits for its last release, and forgets a submit that was begun.
 * Not while it is mapped (GR_ERR_STATE). GR_ERR_INVALID_VALUE: the same one twice, a keyed mutex or
 * NvSciSync (use gr_semaphore_wait() and gr_semaphore_signal()), another CUDA context, a resource of OpenGL's, whose
 * transport orders the work by itself.
 */
GR_API gr_status gr_resource_set_sync(gr_resource *resource, gr_semaphore *acquire,
                                      gr_semaphore *release);

/* What a submit of the graphics API that uses resources has to wait for, and to signal. */
typedef struct gr_submit {
    gr_semaphore *wait;    /* NULL: there is nothing to wait for */
    uint64_t wait_value;   /* 0 for a binary semaphore */
    gr_semaphore *signal;  /* NULL: the resources have no acquire semaphore */
    uint64_t signal_value; /* 0 for a binary semaphore */
} gr_submit;

/*
 * Begins a use of the resources by the graphics API: tells what its submit has to wait for (CUDA's last
 * release of any of them) and to signal. The next gr_map() of each waits for that signal, so the submit
 * has to follow, or gr_submit_free(). All resources have the same two semaphores.
 * Errors: GR_ERR_STATE (a resource is mapped or closed; a binary semaphore's last signal has not been waited
 * for), GR_ERR_INVALID_VALUE (NULL, n is 0, different semaphores).
 */
GR_API gr_status gr_submit_begin(gr_resource *const resources[], size_t n, gr_submit *submit);

/*
 * Takes the last gr_submit_begin() of these resources back, where the submit did not happen: the next map
 * waits for what it would have waited for before. Before any other begin on the same semaphores.
 * GR_ERR_STATE: it was not the last one.
 */
GR_API gr_status gr_submit_free(gr_resource *const resources[], size_t n,
                                  const gr_submit *submit);

#if defined(__GNUC__)
GR_API void gr_semaphore_at_scope_end(gr_semaphore **semaphore); /* for GR_AUTO(gr_semaphore) */
#endif

#ifdef __cplusplus
}
#endif
#endif
