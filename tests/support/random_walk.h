/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Random numbers, and the random choice of the next step. */
#ifndef GR_TESTS_RANDOM_WALK_H
#define GR_TESTS_RANDOM_WALK_H

#include <stddef.h>
#include <stdint.h>

/* Returns a number below n and advances the state, which must not be 0. */
unsigned walk_random(uint32_t *state, unsigned n);

/* A kind of step, and its relative frequency. */
struct walk_kind {
    const char *name;
    unsigned weight;
    void (*run)(void);
};

/* Picks a kind; pick(n) returns a number below n. */
size_t walk_pick(const struct walk_kind *kinds, size_t count, unsigned (*pick)(unsigned n));

#endif
