/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The driver functions for code outside of libgrinterop: its own table, like gr_cuda(). Inside the
 * library see gr_driver().
 */
#ifndef GR_LIB_CUDA_DRIVER_OUTSIDE_H
#define GR_LIB_CUDA_DRIVER_OUTSIDE_H

#include <stdatomic.h>

#include <grinterop/driver.h>

#include "lib/base/public_atomic.h"
#include "lib/cuda/driver_functions.h"

static inline void gr_driver_fill(void *table, gr_cuda_find_fn find)
{
    struct gr_driver_api *api = table;
    api->missing = gr_driver_missing;
#define FILL(name, version, parameters)                                                            \
    gr_driver_set(api, &api->name, find("cu" #name, version, 0));
    GR_DRIVER_FUNCTIONS(FILL, FILL)
#undef FILL
}

/* Returns the table; NULL after GR_ERR_NO_DRIVER. */
static inline const struct gr_driver_api *gr_driver_functions(void)
{
    static struct gr_driver_api table;
    static void *made;
    if (atomic_load_explicit(GR_PUBLIC_ATOMIC(void *, made), memory_order_acquire))
        return &table;
    return gr_cuda_table(&made, gr_driver_fill, &table);
}

#endif
