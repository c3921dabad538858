/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one CUDA device that another one computes with: by peer access. */
#ifndef GR_LIB_PEER_DEVICE_H
#define GR_LIB_PEER_DEVICE_H

#include <stdbool.h>

#include <grinterop/cuda.h>

/*
 * Whether kernels of `device` can use memory of `owner`, which may be the same one. Records the
 * error where the driver does not say; an invalid device is one that does not.
 */
gr_status gr_device_reaches(CUdevice device, CUdevice owner, bool *reaches);

/* The current CUDA context's device. Records the error. */
gr_status gr_current_device(CUdevice *device);

#endif
