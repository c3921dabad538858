/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The CUDA driver, loaded at run time, and a context with a stream. A program that uses CUDA only
 * through grinterop needs no CUDA headers and no CUDA library.
 *
 *     gr_cuda_load(true);                    loads the software driver if there is no GPU
 *     GR_AUTO(gr_cuda_context) *device = gr_cuda_context_create(0);
 *     if (!device)
 *         gr_error_print(stderr, "CUDA");
 *
 * Thread   any thread, several at the same time
 */
#ifndef GR_DRIVER_H
#define GR_DRIVER_H

#include <grinterop/gr.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The driver ------------------------------------------------------------------------------ */

/*
 * Loads and starts the CUDA driver, unless one is already loaded.
 *
 * The environment variable GR_CUDA_DRIVER selects the driver: "soft" is the software CUDA driver of
 * grinterop; any other value is the file to load. Set-uid programs ignore the variable. The default
 * is libcuda.so.1.
 *
 * If GR_CUDA_DRIVER is not set, libcuda.so.1 cannot start, and `allow_software` is true, the
 * software driver is loaded instead, and a line on the standard error stream says so.
 *
 * The choice lasts until the process ends. Creating a resource, a semaphore or a context also loads
 * the driver, like gr_cuda_load(false).
 *
 * Errors:
 *     GR_ERR_NO_DRIVER  there is no usable CUDA driver; the message names each file that was tried,
 *                       and why it failed
 *
 * Wraps cuInit.
 */
GR_API gr_status gr_cuda_load(bool allow_software);

/* Whether the loaded driver is the software CUDA driver. False before a driver is loaded. */
GR_API bool gr_cuda_is_software(void);

/*
 * The loaded file, such as "libcuda.so.1"; "" before a driver is loaded.
 *
 * Valid    until the process ends
 */
GR_API const char *gr_cuda_driver_path(void);

/*
 * Finds the CUDA device with a UUID that another API reports, such as
 * VkPhysicalDeviceIDProperties.deviceUUID or GL_DEVICE_UUID_EXT. *device is the CUDA ordinal. With
 * the software CUDA driver, the first device has the UUID that Mesa's Vulkan reports.
 *
 *     int device;
 *     gr_cuda_find_device(id_properties.deviceUUID, &device);
 *
 * Errors, with *device unchanged:
 *     GR_ERR_INVALID_VALUE  an argument is NULL
 *     GR_ERR_UNSUPPORTED    no CUDA device has that UUID; the message lists those that CUDA sees
 *
 * Wraps cuDeviceGetCount, cuDeviceGet, cuDeviceGetUuid.
 */
GR_API gr_status gr_cuda_find_device(const unsigned char uuid[16], int *device);

/*
 * For gr_cuda() in cuda.h. Loads the driver. If *made is NULL, calls `fill` and sets *made to
 * `table`; a lock in the library ensures that only one thread does so. Returns `table`, or NULL
 * after GR_ERR_NO_DRIVER. `find` looks up a function by its full name ("cuMemAlloc") and the CUDA
 * version of its variant, with the flags of cuGetProcAddress; NULL if the driver lacks it.
 */
typedef void *(*gr_cuda_find_fn)(const char *name, int version, uint64_t flags);
typedef void (*gr_cuda_fill_fn)(void *table, gr_cuda_find_fn find);
GR_API const void *gr_cuda_table(void **made, gr_cuda_fill_fn fill, void *table);

/* ---- A context and a stream ------------------------------------------------------------------ */

/*
 * A retained primary context, and a stream in it: gr_cuda_context_get_info(). The fields are for
 * programs that were written for 0.2.0. They are not marked as deprecated, because -Werror would
 * then break the builds of these programs.
 */
typedef struct gr_cuda_context {
    CUcontext context; /* as in gr_cuda_context_info */
    CUstream stream;   /* likewise */
} gr_cuda_context;

/*
 * Retains the primary context of the CUDA device with ordinal `device`, makes it current on the
 * calling thread, and creates a non-blocking stream.
 *
 *     GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
 *     CUstream stream = gr_cuda_context_get_info(context)->stream;
 *
 * The CUDA runtime (<<<...>>>) also uses the primary context. A program that has another CUDA
 * context does not need this function.
 *
 * Owner    the caller, who frees it with gr_cuda_context_free(), on the same thread
 *
 * Errors: NULL, with the previous context still current, after
 *     GR_ERR_INVALID_VALUE  there is no such device
 *
 * Wraps cuDevicePrimaryCtxRetain, cuCtxSetCurrent, cuStreamCreate.
 */
GR_API gr_cuda_context *gr_cuda_context_create(int device);

/* The handles of a gr_cuda_context. Owned by it. */
typedef struct gr_cuda_context_info {
    CUcontext context; /* the primary context of the device */
    CUstream stream;   /* a non-blocking stream in it */
} gr_cuda_context_info;

/*
 * Returns the handles. NULL with GR_ERR_INVALID_VALUE if `context` is NULL.
 *
 * Valid    until gr_cuda_context_free()
 */
GR_API const gr_cuda_context_info *gr_cuda_context_get_info(const gr_cuda_context *context);

/*
 * Waits for the stream and destroys it, unless the context was reset, restores the context that was
 * current before gr_cuda_context_create(), and releases the primary context. First free the
 * resources created in this context.
 *
 * Thread   the thread that created the context
 *
 * Errors: reported only by gr_last_error()
 *     GR_ERR_INVALID_VALUE  `context` was freed before
 */
GR_API void gr_cuda_context_free(gr_cuda_context *context);

GR_SCOPE_END(gr_cuda_context, gr_cuda_context_free)

#ifdef __cplusplus
}
#endif
#endif
