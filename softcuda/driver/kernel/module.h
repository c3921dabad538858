/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Modules and their kernels: shared objects built with grinterop/cuhost.h. A library (cuLibrary...)
 * is a module without a context, and its kernels are functions without a context.
 */
#ifndef GR_SOFTCUDA_DRIVER_MODULE_H
#define GR_SOFTCUDA_DRIVER_MODULE_H

#include "softcuda/driver/owned.h"

#include <grinterop/cuhost.h>

/* Limits per block, as reported by the device attributes. */
#define SOFT_MAX_THREADS 1024
#define SOFT_SHARED      49152

typedef struct soft_module soft_module;

typedef struct soft_function {
    struct soft_function *next; /* in the list of its module */
    soft_module *module;
    const gr_cuhost_kernel *kernel;
    void *function_handle; /* CUfunction */
    void *kernel_handle;   /* CUkernel; NULL if the module is not a library */
    _Atomic int max_dynamic_shared;
    _Atomic int carveout;
    _Atomic bool was_launched;
} soft_function;

struct soft_module {
    soft_owned owned;       /* its context is NULL for a library */
    _Atomic unsigned holds; /* references: the handle, and each launch that is queued or running */
    void *object;           /* the handle that dlopen() returned */
    pthread_mutex_t lock;
    soft_function *functions;    /* the functions that were looked up */
    struct soft_global *globals; /* the variables that were looked up */
};

/* ---- Images (module_image.c) ----------------------------------------------------------------- */

/*
 * Loads a shared object from memory. For an image for GPUs, logs the remedy and returns
 * CUDA_ERROR_NO_BINARY_FOR_GPU. For anything else that is not a module, returns
 * CUDA_ERROR_INVALID_IMAGE.
 */
CUresult soft_image_open(const void *image, void **object);

/*
 * Like soft_image_open(), from a file. The size of a file is known, so a truncated file is refused.
 */
CUresult soft_image_open_file(const char *path, void **object);

/* ---- Modules (module.c) ---------------------------------------------------------------------- */

/* Creates a module. Takes ownership of the object, even on failure. */
CUresult soft_module_new(soft_context *context, enum soft_kind kind, void *object,
                         soft_module **module);

/*
 * Called after the handle of the module was dropped: drops the handles of the module's functions,
 * and the reference of the module's handle.
 */
void soft_module_close(soft_module *module);

void soft_module_hold(soft_module *module);

/* Drops a reference. Dropping the last one unloads the code. */
void soft_module_release(soft_module *module);

/* Gets a variable of a module or library, in the current context. */
CUresult soft_module_global(enum soft_kind kind, const void *handle, const char *name,
                            CUdeviceptr *address, size_t *size);

/* ---- Functions (function.c) ------------------------------------------------------------------ */

/* Finds a kernel of a module or library by name. CUDA_ERROR_NOT_FOUND if there is no such kernel.
 */
CUresult soft_function_find(enum soft_kind kind, const void *handle, const char *name,
                            soft_function **function);

/*
 * Gets the function of a kernel of the module. The first call creates it.
 * CUDA_ERROR_NO_BINARY_FOR_GPU for a record of another version.
 */
CUresult soft_function_of(soft_module *module, const gr_cuhost_kernel *record,
                          soft_function **function);

/*
 * Finds the function of a CUfunction, or of a CUkernel that was passed as a CUfunction, which CUDA
 * allows. NULL if the handle is invalid.
 */
soft_function *soft_function_get(const void *handle);

/* Drops the handles of all functions of a module and frees the functions. */
void soft_function_free_all(soft_module *module);

#endif
