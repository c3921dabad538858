/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions of the runtime API, libgrinterop-softcudart, that programs compiled by grinterop-nvcc
 * use beyond cuda_runtime_api.h. The compiler generates these calls; programs do not make them.
 * grinterop/cuhost.h declares the record of a kernel.
 */
#ifndef GR_CUHOST_LAUNCH_H
#define GR_CUHOST_LAUNCH_H

#include <stddef.h>

#include <grinterop/cuhost.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The configuration between <<< and >>>. */
typedef struct gr_cuhost_config {
    unsigned grid[3];
    unsigned block[3];
    size_t shared; /* bytes of dynamic shared memory */
    void *stream;  /* cudaStream_t */
} gr_cuhost_config;

/* Sets the configuration of this thread's next launch, by gr_cuhost_run(). */
void gr_cuhost_configure(const gr_cuhost_config *config);

/*
 * Launches the kernel with the thread's configuration. Its one parameter has kernel->params_size
 * bytes at `closure`, which are copied before the call returns. `address` is the function by which
 * the program names the kernel, whose attributes it may have set. Errors are kept for
 * cudaGetLastError().
 */
void gr_cuhost_run(const gr_cuhost_kernel *kernel, const void *address, const void *closure);

/*
 * Reports a failed assertion. In a kernel, prints it to the standard error stream and ends the
 * kernel; its context returns cudaErrorAssert from then on. Otherwise returns.
 */
void gr_cuhost_assert(const char *expression, const char *file, unsigned line,
                      const unsigned block[3], const unsigned thread[3]);

/* The declaration of a variable. */
enum { GR_CUHOST_DEVICE, GR_CUHOST_CONSTANT, GR_CUHOST_MANAGED };

/*
 * Registers a __device__, __constant__ or __managed__ variable for cudaMemcpyToSymbol() and related
 * calls. A managed one is managed memory from then on, for all calls. Called before main(), like
 * gr_cuhost_add_kernel(); nothing is copied.
 */
void gr_cuhost_add_variable(const char *name, void *address, size_t size, int kind);

/*
 * Unregisters a variable whose library is unloaded. Other objects at its address are not the
 * variable.
 */
void gr_cuhost_remove_variable(void *address);

/*
 * Registers a kernel that has the parameters of its function, for cudaLaunchKernel() and for
 * queries by the kernel's address.
 */
void gr_cuhost_add_kernel(const gr_cuhost_kernel *kernel, const char *name, const void *address);

#ifdef __cplusplus
}
#endif

#endif
