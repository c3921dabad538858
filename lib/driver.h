/* SPDX-License-Identifier: Apache-2.0 */
/* The loaded CUDA driver, as the library's own code asks for it. */
#ifndef GR_LIB_DRIVER_H
#define GR_LIB_DRIVER_H

#include <stdatomic.h>

#include <grinterop/cuda.h>

#include "lib/printf.h"

/* CU_GL_DEVICE_LIST_ALL of cudaGL.h, which would drag in an OpenGL header. */
#define GR_GL_DEVICE_LIST_ALL 1

/* NULL until a driver is loaded, constant afterwards. */
extern const gr_cuda_api *_Atomic gr_driver_table;

/*
 * The table of the loaded driver, or NULL: never loads, never records an error. Here, since each
 * map asks it many times.
 */
static inline const gr_cuda_api *gr_driver(void)
{
    return atomic_load_explicit(&gr_driver_table, memory_order_acquire);
}

/* The table of the driver, loaded as by gr_cuda_load(false); NULL, and the error. */
const gr_cuda_api *gr_driver_load(void);

/*
 * How CUDA drivers differ that the library works with, where CUDA has no attribute for it: NVIDIA's
 * and the software driver. The driver decides, not the device.
 */
struct gr_driver_traits {
    const char *note; /* ends the description of an object */

    /* Device memory is host memory, and a kernel reaches all of the process's. */
    bool host_memory;

    /* A module is a shared object for the CPU, not a fatbin. */
    bool host_kernels;

    /* Calls refuse destroyed streams and events. NVIDIA's driver may take them for new ones. */
    bool refuses_destroyed;

    /* gr_softcuda_semaphore_create() creates semaphores that cross processes. */
    bool creates_semaphores;

    /*
     * Mesa's llvmpipe and lavapipe draw for the first device, and for no other; NVIDIA's drivers
     * draw for each of theirs.
     */
    bool mesa_draws;

    /*
     * The first device's UUID where it is not lavapipe's: in a driver of an older version, and in a
     * process from which lavapipe is hidden. Other devices differ from it in the last byte. NULL:
     * each device has the UUID that its graphics drivers report.
     */
    const char *own_uuid;
};

extern const struct gr_driver_traits *_Atomic gr_driver_traits_loaded;

/* The loaded driver's; NVIDIA's until one is loaded. */
static inline const struct gr_driver_traits *gr_driver_traits(void)
{
    return atomic_load_explicit(&gr_driver_traits_loaded, memory_order_relaxed);
}

/*
 * What the loaded driver exports beside the driver API, such as gr_softcuda_semaphore_create; NULL:
 * nothing.
 */
void *gr_driver_export(const char *name);

/* As gr_fail(), for what the driver refused: GR_ERR_CUDA, with the driver's name for the code. */
gr_status gr_fail_cuda(CUresult code, const char *call, const char *format, ...) GR_PRINTF(3, 4);

/* Of a call that also reports errors of earlier work, which is said unless the code says it. */
gr_status gr_fail_work(CUresult code, const char *call, const char *format, ...) GR_PRINTF(3, 4);

#endif
