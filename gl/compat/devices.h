/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions that compat.h substitutes for cudaGLGetDevices and cuGLGetDevices. The CUDA headers
 * declare these functions with enums of their own; an int has the same calling convention.
 */
#ifndef GR_GL_COMPAT_DEVICES_H
#define GR_GL_COMPAT_DEVICES_H

#include <cuda.h>
#include <grinterop/gr.h>

GR_API CUresult CUDAAPI gr_compat_cu_gl_devices(unsigned int *count, CUdevice *devices,
                                                unsigned int size, unsigned int list);
GR_API CUresult CUDAAPI gr_compat_cuda_gl_devices(unsigned int *count, int *devices,
                                                  unsigned int size, unsigned int list);

#endif
