/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Semaphores shared by CUDA and another API.
 *
 *     gr_semaphore_desc desc = GR_INIT(
 *         gr_semaphore_desc, .type = GR_EXTERNAL_SEMAPHORE_TIMELINE_SEMAPHORE_FD,
 *         .fd = fd);                                          exported by vkGetSemaphoreFdKHR
 *     GR_AUTO(gr_semaphore) *done = gr_semaphore_from_handle(&desc);
 *     if (!done)
 *         close(fd);
 *
 *     gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = done, .value = 7);
 *     gr_semaphore_wait(&point, 1, stream);                   `stream` waits for a value of 7 or
 *                                                             more
 *
 * Most programs do not need this header: vk.h creates Vulkan semaphores, and submit.h assigns them
 * to resources. Then maps and releases wait and signal.
 *
 * A timeline semaphore has a value that only grows, and any number of waits. A binary semaphore
 * alternates between one signal and one wait; use it only for resources that are always used
 * together.
 *
 * Thread   any thread, several at the same time
 */
#ifndef GR_SEMAPHORE_H
#define GR_SEMAPHORE_H

#include <stdint.h>

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A semaphore shared with CUDA. Resources and submits that use it keep it alive. */
typedef struct gr_semaphore gr_semaphore;

/* For gr_resource_set_sync(): no semaphore, because the program itself ensures the order. */
#define GR_SEMAPHORE_NONE GR_HANDLE_(gr_semaphore *, -1)

/* ---- Life ------------------------------------------------------------------------------------ */

/*
 * A semaphore to import. The type selects which handle field is used: leave the other handle fields
 * 0.
 *
 *     type (GR_EXTERNAL_SEMAPHORE_...)              handle        what it is
 *     OPAQUE_FD                                     fd            a binary semaphore
 *     TIMELINE_SEMAPHORE_FD                         fd            a timeline
 *     OPAQUE_WIN32                                  win32_*       a binary semaphore
 *     TIMELINE_SEMAPHORE_WIN32                      win32_*       a timeline
 *     D3D12_FENCE, D3D11_FENCE                      win32_*       a timeline
 *     D3D11_KEYED_MUTEX                             win32_*       a keyed mutex
 *     OPAQUE_WIN32_KMT                              win32_handle  a binary semaphore
 *     D3D11_KEYED_MUTEX_KMT                         win32_handle  a keyed mutex
 *     NVSCISYNC                                     nvscisync     an NvSciSync object
 */
typedef struct gr_semaphore_desc {
    size_t struct_size;

    /* The type, from the table above. Required. */
    unsigned type;

    /* A file descriptor. After success the CUDA driver owns it; after an error, the caller. */
    int fd;

    /* A HANDLE, which the caller still owns. A KMT handle does not keep the semaphore alive. */
    void *win32_handle;

    /* The name of a handle, zero-terminated UTF-16, instead of `win32_handle`. */
    const void *win32_name;

    /* An NvSciSyncObj, which the caller keeps alive. */
    const void *nvscisync;

    /* The current value of a timeline. */
    uint64_t value;
} gr_semaphore_desc;

/*
 * Imports a semaphore into CUDA. The software CUDA driver imports only semaphores that it created:
 * with this driver, share Vulkan semaphores by gr_semaphore_from_vk() with `through_host`.
 *
 * Owner    the caller, who frees it
 * Context  the current CUDA context, or else the primary context of device 0
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  the handle breaks a rule of its type, which the message cites
 *     GR_ERR_UNSUPPORTED    this platform does not support the type; the message has the driver's
 *                           code
 *
 * Wraps cuImportExternalSemaphore.
 */
GR_API gr_semaphore *gr_semaphore_from_handle(const gr_semaphore_desc *desc);

/*
 * Releases the caller's reference; the import ends with the last reference.
 *
 * This call does not wait. If streams have pending signals or waits of gr_semaphore_signal() and
 * gr_semaphore_wait(), a later call that creates or frees a semaphore or a resource ends the
 * import. grinterop does not track your own calls with gr_semaphore_info.external: free the
 * semaphore after the last of these has run.
 *
 * Wraps cuDestroyExternalSemaphore.
 */
GR_API void gr_semaphore_free(gr_semaphore *semaphore);

/* ---- Queries --------------------------------------------------------------------------------- */

/* A semaphore's properties. Owned by the semaphore. */
typedef struct gr_semaphore_info {
    /*
     * The CUDA semaphore, for calls that grinterop does not wrap. NULL: there is none, and the host
     * waits and signals.
     */
    CUexternalSemaphore external;
    bool timeline; /* the semaphore has values: it is a timeline or a Direct3D fence */
} gr_semaphore_info;

/*
 * The properties of a semaphore.
 *
 * Valid    until the last reference is released
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `semaphore` is NULL
 */
GR_API const gr_semaphore_info *gr_semaphore_get_info(const gr_semaphore *semaphore);

/*
 * Writes one line about the semaphore: type, last value, and whether CUDA or the host waits. Writes
 * at most `size` bytes with the terminating zero and returns the length of the whole line, like
 * snprintf.
 */
GR_API int gr_semaphore_describe(const gr_semaphore *semaphore, char *text, size_t size);

/* ---- Explicit signals and waits -------------------------------------------------------------- */

/* One signal or wait. The type of the semaphore decides which fields apply: leave the others 0. */
typedef struct gr_semaphore_point {
    size_t struct_size;

    /* The semaphore. Required. */
    gr_semaphore *semaphore;

    /* Timelines: the value to signal or to wait for. A wait for 0 never blocks. */
    uint64_t value;

    /* Keyed mutexes: the key to release or to acquire. */
    uint64_t key;

    /* Keyed mutexes: the timeout of a wait. */
    unsigned timeout_ms;

    /* NvSciSync: the NvSciSyncFence to write or to wait for. Required. */
    void *nvsci_fence;

    /* NvSciSync: skip the memory barrier for memory imported as NVSCIBUF. */
    bool skip_nvscibuf;
} gr_semaphore_point;

/*
 * Enqueues n signals in the stream, by one driver call. The calling thread does not wait.
 *
 * Earlier writes of the stream are visible after the signal: a memory barrier precedes the signal
 * if the driver supports memory barriers. Maps and releases use the semaphores of their resources;
 * if you also signal these semaphores, keep the values in order.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  an argument is NULL; n is 0; a field that does not apply is set; a
 *                           value is not greater than the last value signalled through grinterop;
 *                           the semaphores belong to different CUDA contexts
 *     GR_ERR_STATE          the stream captures a graph
 *     GR_ERR_CUDA           the driver refused, or earlier work of the stream failed
 *
 * Wraps cuSignalExternalSemaphoresAsync, after cuStreamBatchMemOp.
 */
GR_API gr_status gr_semaphore_signal(const gr_semaphore_point points[], size_t n, CUstream stream);

/*
 * Enqueues n waits in the stream, by one driver call. Later work in the stream waits for all n.
 *
 * Errors: as for gr_semaphore_signal(), and
 *     GR_ERR_DEVICE_LOST  the Vulkan device of a semaphore that the host waits for was lost.
 *                         Signals of such a semaphore are accepted and ignored, so that mappings
 *                         can end
 *
 * Wraps cuWaitExternalSemaphoresAsync.
 */
GR_API gr_status gr_semaphore_wait(const gr_semaphore_point points[], size_t n, CUstream stream);

GR_SCOPE_END(gr_semaphore, gr_semaphore_free)

#ifdef __cplusplus
}
#endif
#endif
