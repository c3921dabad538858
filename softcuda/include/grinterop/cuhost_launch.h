/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grinterop/cuhost_launch.h: what a program that grinterop-nvcc compiled asks of the runtime API,
 * libgrinterop-softcudart, beyond what cuda_runtime_api.h declares. The compiler writes these
 * calls; programs do not. The record of a kernel is grinterop/cuhost.h's.
 */
#ifndef GR_CUHOST_LAUNCH_H
#define GR_CUHOST_LAUNCH_H

#include <stddef.h>

#include <grinterop/cuhost.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What stands between <<< and >>>. */
typedef struct gr_cuhost_config {
    unsigned grid[3];
    unsigned block[3];
    size_t shared; /* bytes of dynamic shared memory */
    void *stream;  /* cudaStream_t */
} gr_cuhost_config;

/* This thread's next launch is gr_cuhost_run's, and takes this configuration. */
void gr_cuhost_configure(const gr_cuhost_config *config);

/*
 * Launches the kernel with the thread's configuration. Its one parameter is what lies at `closure`,
 * of kernel->params_size bytes, which are copied before the call returns. `address` is the function
 * that the program calls the kernel by, whose attributes it may have set. An error is kept for
 * cudaGetLastError().
 */
void gr_cuhost_run(const gr_cuhost_kernel *kernel, const void *address, const void *closure);

/*
 * An assertion has failed. In a kernel it is said on the standard error stream, and the kernel
 * ends: its context gives cudaErrorAssert from then on. Returns where this thread runs no kernel.
 */
void gr_cuhost_assert(const char *expression, const char *file, unsigned line,
                      const unsigned block[3], const unsigned thread[3]);

/* How a variable was declared. */
enum { GR_CUHOST_DEVICE, GR_CUHOST_CONSTANT, GR_CUHOST_MANAGED };

/*
 * A __device__, __constant__ or __managed__ variable: cudaMemcpyToSymbol() and its relatives get
 * its address. A managed one is managed memory from then on, for all calls. Called before main(),
 * as is gr_cuhost_add_kernel(); nothing is copied.
 */
void gr_cuhost_add_variable(const char *name, void *address, size_t size, int kind);

/* The variable ends: its library is unloaded. What comes to lie there is not the variable. */
void gr_cuhost_remove_variable(void *address);

/*
 * A kernel whose parameters are the function's own, for cudaLaunchKernel(), and for what is asked
 * by a kernel's address.
 */
void gr_cuhost_add_kernel(const gr_cuhost_kernel *kernel, const char *name, const void *address);

#ifdef __cplusplus
}
#endif

#endif
