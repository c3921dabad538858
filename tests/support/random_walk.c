/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* See random_walk.h. */
#include "random_walk.h"

unsigned walk_random(uint32_t *state, unsigned n)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state % n;
}
