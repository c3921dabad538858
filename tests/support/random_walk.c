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

size_t walk_pick(const struct walk_kind *kinds, size_t count, unsigned (*pick)(unsigned n))
{
    unsigned all = 0;
    for (size_t i = 0; i < count; i++)
        all += kinds[i].weight;
    unsigned at = pick(all);
    size_t kind = 0;
    while (at >= kinds[kind].weight)
        at -= kinds[kind++].weight;
    return kind;
}
