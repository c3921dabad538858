/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CUDA devices: their numbers, access to each other's memory, and texts for messages. */
#ifndef GR_LIB_CUDA_DEVICE_H
#define GR_LIB_CUDA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include <grinterop/gr.h>

#include "lib/base/cuda_abi.h"

gr_status gr_device_count(int *count);

/* Returns the CUDA device with that ordinal. gr_device_get() checks the ordinal first. */
gr_status gr_device_at(int ordinal, CUdevice *device);
gr_status gr_device_get(int ordinal, CUdevice *device);

/* Returns the ordinal of the device; -1 if CUDA does not list the device. */
gr_status gr_device_ordinal(CUdevice device, int *ordinal);

/* Returns the first device, for calls that prefer no device. */
gr_status gr_device_first(CUdevice *device);

/*
 * Whether kernels of `device` can access memory of `owner`, which may be the same device. *reaches
 * is false for an invalid device. If the query fails, its error is recorded.
 */
gr_status gr_device_reaches(CUdevice device, CUdevice owner, bool *reaches);

/* Queries the device of the current CUDA context. Records the error. */
gr_status gr_current_device(CUdevice *device);

gr_status gr_device_uuid(CUdevice device, CUuuid *uuid);

/* Whether the UUID of a CUDA device equals the 16 bytes of `other`, a UUID from any API. */
bool gr_uuid_is(const CUuuid *uuid, const void *other);

/* One line about a CUDA device: "NVIDIA H200 (CUDA device 0, UUID GPU-...)". */
void gr_device_text(CUdevice device, char *text, size_t size);

/* A line of that kind for each of the first `count` devices, for messages; "none" for 0. */
void gr_device_texts(int count, char *text, size_t size);

#endif
