/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Random numbers that a seed determines. */
#ifndef GR_TESTS_RANDOM_WALK_H
#define GR_TESTS_RANDOM_WALK_H

#include <stdint.h>

/* Returns a number below n and advances the state, which must not be 0. */
unsigned walk_random(uint32_t *state, unsigned n);

#endif
