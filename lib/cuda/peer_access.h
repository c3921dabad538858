/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Enables access by the kernels of one device to the memory of another: "peer access". Memory of
 * pools, and memory of cuMemCreate(), has access rights of its own, which are opened as well.
 */
#ifndef GR_LIB_CUDA_PEER_ACCESS_H
#define GR_LIB_CUDA_PEER_ACCESS_H

#include <stddef.h>

#include "lib/base/cuda_abi.h"

/* From the device of the current context to the memory of the context `owner`. */
CUresult gr_peer_access_enable(CUcontext owner);

/* From `device` to all memory of the current pool of the device `owner`. */
CUresult gr_peer_access_open_pool(CUdevice owner, CUdevice device);

/* From `device` to memory of cuMemCreate(), which is mapped at this address with this size. */
CUresult gr_peer_access_open_range(CUdeviceptr ptr, size_t size, CUdevice device);

#endif
