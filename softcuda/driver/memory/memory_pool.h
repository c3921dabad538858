/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations that the files about pools of stream-ordered memory share. */
#ifndef GR_SOFTCUDA_DRIVER_MEMORY_POOL_H
#define GR_SOFTCUDA_DRIVER_MEMORY_POOL_H

#include "softcuda/driver/memory/managed_advice.h"

typedef struct {
    CUmemoryPool handle; /* NULL once the pool is destroyed */
    unsigned holders;    /* the number of holders: the handle and each allocation */
    int reuse[3];        /* the values of the three CU_MEMPOOL_ATTR_REUSE_... attributes */
    cuuint64_t threshold;
    cuuint64_t used;
    cuuint64_t used_high;
    cuuint64_t reserved_high;
    size_t max_size; /* 0: no limit */
    int place;       /* the index in the table of default pools */
    unsigned memory; /* SOFT_POOL_OF_... */
    /* CU_DEVICE_INVALID for memory that is not on a device */
    CUdevice device;
    unsigned char access[SOFT_MAX_DEVICES]; /* CUmemAccess_flags */
} soft_pool;

extern pthread_mutex_t soft_pool_lock;

/* Finds a pool. CUDA_ERROR_INVALID_VALUE if the handle is not the handle of a pool. */
CUresult soft_pool_get(CUmemoryPool handle, soft_pool **pool);

#endif
