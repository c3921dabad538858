/* SPDX-License-Identifier: Apache-2.0 */
/* What an application has advised about managed memory: nothing moves here, but it can be asked. */
#ifndef GR_SOFTCUDA_DRIVER_MANAGED_ADVICE_H
#define GR_SOFTCUDA_DRIVER_MANAGED_ADVICE_H

#include "softcuda/driver/soft.h"

/* CUmemLocationType's numbers, of which an older cuda.h lacks some. */
enum soft_place_type {
    SOFT_PLACE_NONE = 0,
    SOFT_PLACE_DEVICE = 1,
    SOFT_PLACE_HOST = 2,
    SOFT_PLACE_NODE = 3,         /* a NUMA node of the host */
    SOFT_PLACE_CURRENT_NODE = 4, /* the calling thread's */
};

typedef struct {
    int type;
    int id;
} soft_place;

static inline bool soft_place_is_host(int type)
{
    return type >= SOFT_PLACE_HOST && type <= SOFT_PLACE_CURRENT_NODE;
}

/* Of each page, as nobody has said anything about a fresh one: all 0. */
typedef struct {
    bool read_mostly;
    soft_place preferred;
    soft_place prefetched;
    unsigned accessed_by; /* the devices, a bit each */
    bool accessed_by_host;
} soft_advice;

/* Changes the advice of all pages from first up to end. CUDA_ERROR_OUT_OF_MEMORY changes nothing,
 * or some of them. */
CUresult soft_advise(uintptr_t first, uintptr_t end,
                     void (*change)(soft_advice *advice, const void *how), const void *how);

/* What holds for all the pages alike; what doesn't, as of a fresh page. */
soft_advice soft_advice_get(uintptr_t first, uintptr_t end);

/* The memory has ended. */
void soft_advice_forget(const void *base, size_t size);

#endif
