/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Describes CUDA devices in messages. */
#ifndef GR_LIB_CUDA_DEVICE_TEXT_H
#define GR_LIB_CUDA_DEVICE_TEXT_H

#include <stddef.h>

#include <grinterop/cuda.h>

/* One line about a CUDA device: "NVIDIA H200 (CUDA device 0, UUID GPU-...)". */
void gr_device_text(CUdevice device, char *text, size_t size);

#endif
