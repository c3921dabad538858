/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The batch of test_facts: several resources for gr_map_many() and gr_buffer_release_many(). */
#ifndef GR_TESTS_FACTS_BATCH_H
#define GR_TESTS_FACTS_BATCH_H

#include "tests/kinds/kinds.h"

enum { BATCH = 4 };

extern struct thing *batch[BATCH];
extern gr_resource *resources[BATCH];
extern gr_buffer *buffers[BATCH + 1]; /* NULL at the end */
extern gr_buffer *const untouched;    /* an entry of `buffers` that a map has not set */

/*
 * Makes the thing the first member, and makes the other members: of the same kind, but the last two
 * of other kinds if `mixed`.
 */
void batch_make(struct thing *thing, bool mixed);

/* Maps all members into `buffers`, whose entries stay `untouched` if the map fails. */
gr_status batch_map(void);

/* Each member has the pattern of its own seed, from this one on. */
void batch_cuda_write(unsigned seed);
const char *batch_differs(unsigned seed);

#endif
