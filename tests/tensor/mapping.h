/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Mappings of some kinds of buffers, for tests of their tensors. */
#ifndef GR_TESTS_MAPPING_H
#define GR_TESTS_MAPPING_H

#include "tensor.h"
#include "tests/kinds/kinds.h"

#define SIZE THING_SIZE

/*
 * A test that runs so often for each of SORTS kinds, which differ in how they own and order the
 * bytes. _i / SORTS is the number of the run. All kinds would take too long on a GPU.
 */
#define SORTS 4
#define SORT_TEST(title, times)                                                                    \
    TEST_UNLESS(kind_missing(sort(_i), GR_READ_WRITE), title, SORTS *(times))

/* The kind for _i, and a new resource of that kind. */
const struct kind *sort(int i);
struct thing *sort_make(int i);

gr_tensor *must_tensor(gr_buffer *buffer);
gr_tensor *must_view(gr_tensor *tensor);
void assert_revoked(gr_tensor *tensor);

/* Creates a tensor of pinned memory, filled with the pattern of things with that seed. */
gr_tensor *pinned_pattern(unsigned seed);

#endif
