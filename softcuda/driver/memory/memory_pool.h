/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations shared by the files about pools of stream-ordered memory. */
#ifndef GR_SOFTCUDA_DRIVER_MEMORY_POOL_H
#define GR_SOFTCUDA_DRIVER_MEMORY_POOL_H

#include "softcuda/driver/memory/managed_advice.h"

typedef struct {
    CUmemoryPool handle; /* NULL once destroyed */
    unsigned holders;    /* the handle and each allocation */
    int reuse[3];        /* the three CU_MEMPOOL_ATTR_REUSE_... */
    cuuint64_t threshold;
    cuuint64_t used;
    cuuint64_t used_high;
    cuuint64_t reserved_high;
    size_t max_size;                        /* 0: no limit */
    int place;                              /* index in the table of default pools */
    unsigned memory;                        /* SOFT_POOL_OF_... */
    CUdevice device;                        /* CU_DEVICE_INVALID unless it is device memory */
    unsigned char access[SOFT_MAX_DEVICES]; /* CUmemAccess_flags */
} soft_pool;

extern pthread_mutex_t soft_pool_lock;

/* CUDA_ERROR_INVALID_VALUE if the handle is not a pool's. */
CUresult soft_pool_get(CUmemoryPool handle, soft_pool **pool);

#endif
