/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Buffers of the shared transport. CUDA computes on the OpenGL device or on another one. */
#ifndef GR_TESTS_SHARED_BUFFER_H
#define GR_TESTS_SHARED_BUFFER_H

#include "support.h"

/* The reason why OpenGL and the fixture's CUDA context cannot share storage; NULL if they can. */
const char *shared_missing(void);

/* OpenGL writes and CUDA reads, then the reverse. The buffer must be new. */
void shared_bytes_both_ways(gr_resource *resource, size_t size);

#endif
