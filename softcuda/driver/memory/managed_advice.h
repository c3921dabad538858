/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The application's advice about managed memory. Advice moves no memory here, but can be queried.
 */
#ifndef GR_SOFTCUDA_DRIVER_MANAGED_ADVICE_H
#define GR_SOFTCUDA_DRIVER_MANAGED_ADVICE_H

#include "softcuda/driver/soft.h"

/* The values of CUmemLocationType, of which an older cuda.h lacks some. */
enum soft_place_type {
    SOFT_PLACE_NONE = 0,
    SOFT_PLACE_DEVICE = 1,
    SOFT_PLACE_HOST = 2,
    SOFT_PLACE_NODE = 3,         /* a NUMA node of the host */
    SOFT_PLACE_CURRENT_NODE = 4, /* the NUMA node of the calling thread */
};

typedef struct {
    int type;
    int id;
} soft_place;

static inline bool soft_place_is_host(int type)
{
    return type >= SOFT_PLACE_HOST && type <= SOFT_PLACE_CURRENT_NODE;
}

/* The advice for a page; all 0 for a page without advice. */
typedef struct {
    bool read_mostly;
    soft_place preferred;
    soft_place prefetched;
    unsigned accessed_by; /* the devices that access the page, one bit each */
    bool accessed_by_host;
} soft_advice;

/*
 * Changes the advice of all pages in [first, end). After CUDA_ERROR_OUT_OF_MEMORY the advice of
 * some pages may have changed.
 */
CUresult soft_advise(uintptr_t first, uintptr_t end,
                     void (*change)(soft_advice *advice, const void *how), const void *how);

/*
 * The advice for all pages in [first, end). If pages differ in a value, the result has the value of
 * a page without advice.
 */
soft_advice soft_advice_get(uintptr_t first, uintptr_t end);

/* Removes the advice of memory that was freed. */
void soft_advice_drop(const void *base, size_t size);

#endif
