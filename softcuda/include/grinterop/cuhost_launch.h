/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions of libgrinterop-softcudart that programs compiled by grinterop-nvcc use in addition to
 * cuda_runtime_api.h. grinterop-nvcc generates the calls; programs do not write them.
 * grinterop/cuhost.h declares the record of a kernel.
 */
#ifndef GR_CUHOST_LAUNCH_H
#define GR_CUHOST_LAUNCH_H

#include <stddef.h>

#include <grinterop/cuhost.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The launch configuration between <<< and >>>. */
typedef struct gr_cuhost_config {
    unsigned grid[3];
    unsigned block[3];
    size_t shared; /* bytes of dynamic shared memory */
    void *stream;  /* cudaStream_t */
} gr_cuhost_config;

/* Sets the configuration of the next launch of this thread, which gr_cuhost_run() makes. */
void gr_cuhost_configure(const gr_cuhost_config *config);

/*
 * Launches the kernel with the configuration of this thread. The only parameter of the kernel has
 * kernel->params_size bytes at `closure`, which are copied before the call returns. `address` is
 * the function by which the program refers to the kernel, and for which it may have set attributes.
 * cudaGetLastError() returns errors.
 */
void gr_cuhost_run(const gr_cuhost_kernel *kernel, const void *address, const void *closure);

/*
 * Reports a failed assertion. In a kernel, prints the assertion to stderr and ends the kernel; its
 * context returns cudaErrorAssert from then on. Outside a kernel, returns without an effect.
 */
void gr_cuhost_assert(const char *expression, const char *file, unsigned line,
                      const unsigned block[3], const unsigned thread[3]);

/* How a variable was declared. */
enum { GR_CUHOST_DEVICE, GR_CUHOST_CONSTANT, GR_CUHOST_MANAGED };

/*
 * Registers a __device__, __constant__ or __managed__ variable for cudaMemcpyToSymbol() and related
 * calls. A managed variable is managed memory for all calls from then on. Called before main(),
 * like gr_cuhost_add_kernel(). Nothing is copied.
 */
void gr_cuhost_add_variable(const char *name, void *address, size_t size, int kind);

/*
 * Unregisters a variable when its library is unloaded. Another object may then reuse the address of
 * the variable.
 */
void gr_cuhost_remove_variable(void *address);

/*
 * Registers a kernel for cudaLaunchKernel() and for queries by its address. The parameters in
 * `kernel` are those of the function at the address.
 */
void gr_cuhost_add_kernel(const gr_cuhost_kernel *kernel, const char *name, const void *address);

#ifdef __cplusplus
}
#endif

#endif
