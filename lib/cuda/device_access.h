/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Peer access between CUDA devices. */
#ifndef GR_LIB_CUDA_DEVICE_ACCESS_H
#define GR_LIB_CUDA_DEVICE_ACCESS_H

#include <stdbool.h>

#include <grinterop/cuda.h>

/*
 * Whether kernels of `device` can access memory of `owner`, which may be the same device. *reaches
 * is false for an invalid device. If the query fails, its error is recorded.
 */
gr_status gr_device_reaches(CUdevice device, CUdevice owner, bool *reaches);

/* Queries the device of the current CUDA context. Records the error. */
gr_status gr_current_device(CUdevice *device);

#endif
