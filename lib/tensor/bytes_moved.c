/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/tensor/tensor.h"

#include <grinterop/tensor.h>

static uint64_t moved;

void gr_count_bytes_moved(size_t bytes)
{
    __atomic_fetch_add(&moved, bytes, __ATOMIC_RELAXED);
}

uint64_t gr_bytes_moved(void)
{
    return __atomic_load_n(&moved, __ATOMIC_RELAXED);
}
