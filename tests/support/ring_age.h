/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks the age of the newest frame of a ring. */
#ifndef GR_TESTS_RING_AGE_H
#define GR_TESTS_RING_AGE_H

#include "tests/support/support.h"

#include <grinterop/ring.h>

/* The newest frame was handed over between these times of monotonic_ns(). */
static inline void assert_age(gr_ring *ring, uint64_t first, uint64_t last)
{
    const uint64_t before = monotonic_ns(), age = gr_ring_get_info(ring)->newest_age_ns;
    ck_assert_uint_ge(age, before - last);
    ck_assert_uint_le(age, monotonic_ns() - first);
    ck_assert_uint_gt(age, 0);
}

#endif
