/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations that the memory files share, beyond soft.h. */
#ifndef GR_SOFTCUDA_DRIVER_DEVICE_MEMORY_H
#define GR_SOFTCUDA_DRIVER_DEVICE_MEMORY_H

#include "softcuda/driver/stream/scheduler.h"

/* Removes any range of the context that has no owner; false if none is left. */
bool soft_range_take_of_context(const soft_context *context, soft_range *removed);

/*
 * Allocates poisoned pages of the context's device, or of the range's own device without a context,
 * and adds the range, which is complete except for its base. CUDA_ERROR_OUT_OF_MEMORY also if the
 * device's memory is used up.
 */
CUresult soft_device_memory_new(soft_range *range);

/* Retires the pages of a removed range. External memory is not counted for the device. */
void soft_device_memory_free(const soft_range *range, const char *what);

/*
 * Counts `size` bytes of the device's memory as used, for memory that is allocated elsewhere; false
 * if the device's memory is used up.
 */
bool soft_device_memory_charge(CUdevice device, size_t size);
void soft_device_memory_uncharge(CUdevice device, size_t size);

/* The device's memory in bytes, total and unused. */
void soft_device_memory_count(CUdevice device, size_t *unused, size_t *total);

/* For calls that find the context by the pointer: no current context is fine, a dead one is not. */
CUresult soft_check_no_dead_context(void);

/* cuMemFree of stream-ordered memory that starts at `base`. */
CUresult soft_pool_free_now(void *base);

/* Whether the pool of the range allows the device to access it. */
bool soft_pool_allows(const soft_range *range, CUdevice device);

/* The pool of the range, or NULL. */
CUmemoryPool soft_pool_handle(const soft_range *range);

#endif
