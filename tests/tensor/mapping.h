/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Mappings of some kinds of buffers, for tests of their tensors. */
#ifndef GR_TESTS_MAPPING_H
#define GR_TESTS_MAPPING_H

#include "tensor.h"
#include "tests/kinds/kinds.h"

#define SIZE THING_SIZE

/*
 * A test that runs so often for each of SOME_KINDS kinds, which differ in how they own and order
 * the bytes. _i / SOME_KINDS is the number of the run. All kinds would take too long on a GPU.
 */
#define SOME_KINDS 4
#define SOME_KINDS_TEST(title, times)                                                              \
    TEST_UNLESS(kind_missing(some_kind(_i), GR_READ_WRITE), title, SOME_KINDS *(times))

/* The kind for _i, and a new resource of that kind. */
const struct kind *some_kind(int i);
struct thing *some_thing(int i);

gr_tensor *must_tensor(gr_buffer *buffer);
gr_tensor *must_view(gr_tensor *tensor);
void assert_revoked(gr_tensor *tensor);

/* Creates a tensor of pinned memory, filled with the pattern of things with that seed. */
gr_tensor *pinned_pattern(unsigned seed);

#endif
