/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about memory share with each other, beyond soft.h. */
#ifndef GR_SOFTCUDA_DRIVER_DEVICE_MEMORY_H
#define GR_SOFTCUDA_DRIVER_DEVICE_MEMORY_H

#include "softcuda/driver/stream/scheduler.h"

/* Removes any one range of the context that has no owner; false when none is left. */
bool soft_range_take_of_context(const soft_context *context, soft_range *removed);

/* New poisoned pages of the context's device, or without one of the range's own, known as a range
 * that is filled in but for base. CUDA_ERROR_OUT_OF_MEMORY also when the device's memory is all in
 * use. */
CUresult soft_device_memory_new(soft_range *range);

/* Retires the pages of a range that was removed before. External memory is not the device's own. */
void soft_device_memory_free(const soft_range *range, const char *what);

/* Books size bytes of the device's memory, for memory that is made elsewhere; false if it is all in
 * use. */
bool soft_device_memory_book(CUdevice device, size_t size);
void soft_device_memory_unbook(CUdevice device, size_t size);

/* The bytes of the device's memory, and those of them that are not in use. */
void soft_device_memory_count(CUdevice device, size_t *unused, size_t *total);

/* For calls that find the context by the pointer: fine without a current context, not with a dead
 * one. */
CUresult soft_check_no_dead_context(void);

/* cuMemFree of stream-ordered memory that starts at base. */
CUresult soft_pool_free_now(void *base);

/* Whether the pool that a range comes from lets the device touch its memory. */
bool soft_pool_lets(const soft_range *range, CUdevice device);

/* The pool that a range comes from; NULL if it comes from none. */
CUmemoryPool soft_pool_handle(const soft_range *range);

#endif
