/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations that the memory files share in addition to soft.h. */
#ifndef GR_SOFTCUDA_DRIVER_DEVICE_MEMORY_H
#define GR_SOFTCUDA_DRIVER_DEVICE_MEMORY_H

#include "softcuda/driver/stream/scheduler.h"

/* Removes a range that belongs to the context and has no owner; false if there is no such range. */
bool soft_range_take_of_context(const soft_context *context, soft_range *removed);

/*
 * Allocates poisoned pages on the device of the context, or on the device of the range if it has no
 * context. Then adds the range, which must be complete except for its base.
 * CUDA_ERROR_OUT_OF_MEMORY also if the device's memory is used up.
 */
CUresult soft_device_memory_new(soft_range *range);

/*
 * Makes the pages of a removed range inaccessible. External memory is not counted for the device.
 */
void soft_device_memory_free(const soft_range *range, const char *what);

/*
 * Counts `size` bytes of the device's memory as used, for memory that is allocated elsewhere; false
 * if the device's memory is used up.
 */
bool soft_device_memory_charge(CUdevice device, size_t size);
void soft_device_memory_uncharge(CUdevice device, size_t size);

/* Gets the size of the device's memory and its unused part, in bytes. */
void soft_device_memory_count(CUdevice device, size_t *unused, size_t *total);

/*
 * For calls that find the context by the pointer: they need no current context, but fail if the
 * current context was destroyed.
 */
CUresult soft_check_no_dead_context(void);

/* Frees stream-ordered memory that starts at `base`, for cuMemFree. */
CUresult soft_pool_free_now(void *base);

/* Whether the pool of the range allows the device to access it. */
bool soft_pool_allows(const soft_range *range, CUdevice device);

/* The handle of the pool that owns the range, or NULL. */
CUmemoryPool soft_pool_handle(const soft_range *range);

#endif
