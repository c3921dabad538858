/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores that CUDA and another API share.
 *
 *     gr_semaphore_desc desc = GR_INIT(
 *         gr_semaphore_desc, .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD,
 *         .fd = fd);                                          exported by vkGetSemaphoreFdKHR
 *     GR_AUTO(gr_semaphore) *done = gr_semaphore_import(&desc);
 *     if (!done)
 *         close(fd);
 *
 *     gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = done, .value = 7);
 *     gr_semaphore_wait(&point, 1, stream);                   `stream` goes on once it is 7 or more
 *
 * Most programs need nothing of this header: vk.h makes semaphores of Vulkan's, and submit.h gives
 * them to resources, whose maps and releases wait and signal by themselves.
 *
 * There are two sorts that matter here. A timeline has a value that only grows, and any number of
 * waits. A binary semaphore is signalled and waited for in turns; it suits resources that are
 * always used together, and timelines suit everything else.
 *
 * Thread   any thread, several at once; each call on a semaphore is one step of its order
 */
#ifndef GR_SEMAPHORE_H
#define GR_SEMAPHORE_H

#include <stdint.h>

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A semaphore that is shared with CUDA. Resources and submits that use it keep it alive. */
typedef struct gr_semaphore gr_semaphore;

/* For gr_resource_set_sync(): no semaphore, the program keeps that order by itself. */
#define GR_SEMAPHORE_NONE ((gr_semaphore *)(size_t)-1)

/* ---- Life ------------------------------------------------------------------------------------ */

/*
 * A semaphore to import. The type says which handle counts; the others are 0.
 *
 *     type (CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_...)  handle        what it is
 *     OPAQUE_FD                                     fd            a binary semaphore
 *     TIMELINE_SEMAPHORE_FD                         fd            a timeline
 *     OPAQUE_WIN32                                  win32_*       a binary semaphore
 *     TIMELINE_SEMAPHORE_WIN32                      win32_*       a timeline
 *     D3D12_FENCE, D3D11_FENCE                      win32_*       a timeline
 *     D3D11_KEYED_MUTEX                             win32_*       a keyed mutex
 *     OPAQUE_WIN32_KMT                              win32_handle  a binary semaphore
 *     D3D11_KEYED_MUTEX_KMT                         win32_handle  a keyed mutex
 *     NVSCISYNC                                     nvscisync     a NvSciSync object
 */
typedef struct gr_semaphore_desc {
    size_t struct_size;

    /* What is imported, as in the table above. 0: refused. */
    CUexternalSemaphoreHandleType type;

    /* A file descriptor. Taken by the driver on success; after an error still the caller's. */
    int fd;

    /* A HANDLE, which stays the caller's. One of the type KMT holds no reference. */
    void *win32_handle;

    /* The name of a handle in its place: UTF-16, ended by a zero. NULL: `win32_handle` counts. */
    const void *win32_name;

    /* A NvSciSyncObj, which stays the caller's, who keeps it alive. */
    const void *nvscisync;

    /* Timelines: the value that it has now. 0: none has been signalled. */
    uint64_t value;
} gr_semaphore_desc;

/*
 * Imports a semaphore into CUDA.
 *
 * Owner    the caller, who frees it
 * Context  the current CUDA context; where there is none, the primary one of device 0
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a rule of the handle type is broken; the message cites it
 *     GR_ERR_UNSUPPORTED    this platform does not have the type; the driver's answer is there
 *     GR_ERR_CUDA           the driver refused
 *     GR_ERR_NO_DRIVER      there is no CUDA driver
 *     GR_ERR_NO_MEMORY
 *
 * Wraps cuImportExternalSemaphore.
 */
GR_API gr_semaphore *gr_semaphore_import(const gr_semaphore_desc *desc);

/*
 * Drops the caller's hold; the import ends with the last hold. NULL is fine.
 *
 * Wraps cuDestroyExternalSemaphore.
 */
GR_API void gr_semaphore_free(gr_semaphore *semaphore);

/* ---- What it is ------------------------------------------------------------------------------ */

/*
 * Whether it has values: timelines and fences of Direct3D. False for NULL, which is
 * GR_ERR_INVALID_VALUE.
 */
GR_API bool gr_semaphore_is_timeline(const gr_semaphore *semaphore);

/*
 * The driver's own semaphore, for calls that grinterop does not wrap.
 *
 * Valid    until the semaphore's last hold goes
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `semaphore` is NULL
 *     GR_ERR_STATE          it works through waits of the host
 */
GR_API CUexternalSemaphore gr_semaphore_external(const gr_semaphore *semaphore);

/*
 * Writes one line about it: its type, its last value, how it is waited for. At most `size` bytes
 * with the terminating zero; returns the length of the whole line, like snprintf.
 */
GR_API int gr_semaphore_describe(const gr_semaphore *semaphore, char *text, size_t size);

/* ---- Signals and waits by hand --------------------------------------------------------------- */

/* One signal or wait. Which fields count depends on the semaphore's type; the others are 0. */
typedef struct gr_semaphore_point {
    size_t struct_size;

    /* Whose signal or wait it is. NULL: refused. */
    gr_semaphore *semaphore;

    /* Timelines: the value to signal, or to wait for. A wait for 0 passes at once. */
    uint64_t value;

    /* Keyed mutexes: the key to release, or to acquire. */
    uint64_t key;

    /* Keyed mutexes: how many milliseconds a wait waits at the most. 0: it does not wait. */
    unsigned timeout_ms;

    /* NvSciSync: the NvSciSyncFence to write, or to wait for. NULL: refused. */
    void *nvsci_fence;

    /* NvSciSync: leaves out the memory barrier for memory imported as NVSCIBUF. */
    bool skip_nvscibuf;
} gr_semaphore_point;

/*
 * Puts n signals into the stream, in one call of the driver; the thread does not wait.
 *
 * What the stream has written before is there when the signal is: where the driver has memory
 * barriers, one comes first. The maps and releases of resources signal their semaphores by
 * themselves; who signals those by hand as well keeps the values in order.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a NULL; n is 0; a field that the type does not have; a value that is
 *                           not greater than the last one signalled through grinterop; semaphores
 *                           of different CUDA contexts
 *     GR_ERR_CUDA           the driver refused, or earlier work of the stream failed
 *
 * Wraps cuSignalExternalSemaphoresAsync, after cuStreamBatchMemOp.
 */
GR_API gr_status gr_semaphore_signal(const gr_semaphore_point points[], size_t n, CUstream stream);

/*
 * Puts n waits into the stream, likewise: what the stream is given later comes after all of them.
 *
 * Errors: as for gr_semaphore_signal(), and
 *     GR_ERR_DEVICE_LOST  the Vulkan device of a semaphore that the host waits for was lost; its
 *                         signals are accepted and left out then, so that mappings can end
 *
 * Wraps cuWaitExternalSemaphoresAsync.
 */
GR_API gr_status gr_semaphore_wait(const gr_semaphore_point points[], size_t n, CUstream stream);

#if defined(__GNUC__)
GR_API void gr_semaphore_at_scope_end(gr_semaphore **semaphore); /* for GR_AUTO(gr_semaphore) */
#endif

#ifdef __cplusplus
}
#endif
#endif
