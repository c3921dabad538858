/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The application's advice about managed memory. It moves nothing here, but can be queried. */
#ifndef GR_SOFTCUDA_DRIVER_MANAGED_ADVICE_H
#define GR_SOFTCUDA_DRIVER_MANAGED_ADVICE_H

#include "softcuda/driver/soft.h"

/* The values of CUmemLocationType. An older cuda.h lacks some. */
enum soft_place_type {
    SOFT_PLACE_NONE = 0,
    SOFT_PLACE_DEVICE = 1,
    SOFT_PLACE_HOST = 2,
    SOFT_PLACE_NODE = 3,         /* a NUMA node of the host */
    SOFT_PLACE_CURRENT_NODE = 4, /* of the calling thread */
};

typedef struct {
    int type;
    int id;
} soft_place;

static inline bool soft_place_is_host(int type)
{
    return type >= SOFT_PLACE_HOST && type <= SOFT_PLACE_CURRENT_NODE;
}

/* Per page; all 0 for a page without advice. */
typedef struct {
    bool read_mostly;
    soft_place preferred;
    soft_place prefetched;
    unsigned accessed_by; /* the devices, one bit each */
    bool accessed_by_host;
} soft_advice;

/*
 * Changes the advice of all pages in [first, end). After CUDA_ERROR_OUT_OF_MEMORY none or some of
 * them have changed.
 */
CUresult soft_advise(uintptr_t first, uintptr_t end,
                     void (*change)(soft_advice *advice, const void *how), const void *how);

/* Advice that all pages share; where they differ, the value of a fresh page. */
soft_advice soft_advice_get(uintptr_t first, uintptr_t end);

/* The memory was freed. */
void soft_advice_drop(const void *base, size_t size);

#endif
