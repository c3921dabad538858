/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compat.h makes of cudaGLGetDevices and cuGLGetDevices. NVIDIA's headers declare them for a
 * program, with enums that only those have; an int is passed the same way.
 */
#ifndef GR_GL_COMPAT_DEVICES_H
#define GR_GL_COMPAT_DEVICES_H

#include <grinterop/gr.h>

GR_API CUresult CUDAAPI gr_compat_cu_gl_devices(unsigned int *count, CUdevice *devices,
                                                unsigned int size, unsigned int list);
GR_API CUresult CUDAAPI gr_compat_cuda_gl_devices(unsigned int *count, int *devices,
                                                  unsigned int size, unsigned int list);

#endif
