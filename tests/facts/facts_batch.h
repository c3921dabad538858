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

/* The thing is the first member. The others are of its kind; the last two of others if `mixed`. */
void batch_make(struct thing *thing, bool mixed);

/* Sets `buffers`, if the map fails to `untouched`. */
gr_status batch_map(void);

/* Each member has the pattern of its own seed, from this one on. */
void batch_cuda_write(unsigned seed);
const char *batch_differs(unsigned seed);

#endif
