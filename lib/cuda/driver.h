/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The loaded CUDA driver, for the code of the library itself. */
#ifndef GR_LIB_CUDA_DRIVER_H
#define GR_LIB_CUDA_DRIVER_H

#include <stdatomic.h>

#include <grinterop/driver.h>
#include <grinterop/tensor.h>

#include "lib/cuda/driver_functions.h"
#include "lib/base/log.h"

/* The value of CU_GL_DEVICE_LIST_ALL in cudaGL.h. That header needs an OpenGL header. */
#define GR_GL_DEVICE_LIST_ALL 1

/* NULL until a driver is loaded; constant afterwards. */
extern const struct gr_driver_api *_Atomic gr_driver_table;

/*
 * Returns the table of the loaded driver, or NULL. Never loads a driver and never records an error.
 * Inline, because each map calls this function many times.
 */
static inline const struct gr_driver_api *gr_driver(void)
{
    return atomic_load_explicit(&gr_driver_table, memory_order_acquire);
}

/* Loads the driver like gr_cuda_load(false), and returns its table; NULL after an error. */
const struct gr_driver_api *gr_driver_load(void);

/*
 * Differences between the NVIDIA driver and the software driver for which CUDA has no attribute.
 * They depend on the driver, not on the device.
 */
struct gr_driver_traits {
    const char *note; /* appended to descriptions, such as " (software CUDA driver)" */

    /*
     * The memory type of each gr_memory in copies. The software driver gets CU_MEMORYTYPE_UNIFIED,
     * because it refuses CU_MEMORYTYPE_DEVICE for memory that it did not allocate.
     */
    CUmemorytype copy_types[GR_MEMORY_ARRAY + 1];

    /* Device memory is host memory, and kernels can access all memory of the process. */
    bool host_memory;

    /* A module is a shared object for the CPU, not a fatbin. */
    bool host_kernels;

    /*
     * Calls refuse destroyed streams and events. The NVIDIA driver may mistake them for new ones.
     */
    bool refuses_destroyed;

    /* gr_softcuda_semaphore_create() creates semaphores that several processes can share. */
    bool creates_semaphores;

    /*
     * Whether Mesa's llvmpipe and lavapipe draw, and only for the first CUDA device (the software
     * driver). False: the NVIDIA OpenGL and Vulkan drivers draw, each device for itself.
     */
    bool mesa_draws;

    /*
     * The UUID that the driver gives the first device if it does not use the UUID of lavapipe: in
     * an older driver, and in a process that hides lavapipe. The UUIDs of the other devices have a
     * different last byte. NULL: each device has the UUID that its graphics drivers report.
     */
    const char *own_uuid;
};

extern const struct gr_driver_traits *_Atomic gr_driver_traits_loaded;

/*
 * Returns the traits of the loaded driver, or those of the NVIDIA driver before a driver is loaded.
 */
static inline const struct gr_driver_traits *gr_driver_traits(void)
{
    return atomic_load_explicit(&gr_driver_traits_loaded, memory_order_relaxed);
}

/*
 * Returns a symbol that the loaded driver exports besides the driver API, such as
 * gr_softcuda_semaphore_create. NULL if the driver lacks the symbol.
 */
void *gr_driver_export(const char *name);

/*
 * Finds a file of grinterop: in the subfolder `grinterop` of the folder that contains the library,
 * in that folder itself, or in the installation folder.
 */
bool gr_driver_find_file(const char *name, char *path, size_t size);

/*
 * Describes a second copy of the software driver in the process, whose objects the loaded driver
 * does not know. The text begins with a space, or is empty if there is no such copy.
 */
#define GR_COPIES_SIZE 640
void gr_driver_second_copy(char *text, size_t size);

/* Returns the driver's name of an error code. */
const char *gr_cuda_error_name(CUresult code);

/* Like gr_fail(), for a driver error: records GR_ERR_CUDA and the driver's name of the code. */
GR_API gr_status gr_fail_cuda(CUresult code, const char *call, const char *format, ...)
    GR_PRINTF(3, 4);

/*
 * Like gr_fail_cuda(), for a call that may also report an error of earlier work. The message
 * mentions this, unless gr_cuda_advice() explains the code.
 */
gr_status gr_fail_work(CUresult code, const char *call, const char *format, ...) GR_PRINTF(3, 4);

/*
 * Evaluate a driver call, and return its error from the calling function, recorded by
 * gr_fail_cuda() or gr_fail_work().
 */
#define GR_TRY_DRIVER(fail, result, ...)                                                           \
    do {                                                                                           \
        CUresult tried_ = (result);                                                                \
        if (tried_ != CUDA_SUCCESS)                                                                \
            return fail(tried_, __VA_ARGS__);                                                      \
    } while (0)
#define GR_TRY_CUDA(result, ...) GR_TRY_DRIVER(gr_fail_cuda, result, __VA_ARGS__)
#define GR_TRY_WORK(result, ...) GR_TRY_DRIVER(gr_fail_work, result, __VA_ARGS__)

#endif
