/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's side of a probe: bytes that it writes to a resource, and reads from it. */
#ifndef INFO_PROBE_CUDA_H
#define INFO_PROBE_CUDA_H

#include "tools/info/probe_try.h"

/* Makes the CUDA context current, which has a stream. */
bool probe_cuda(struct probe_try *t);

/* Other bytes for each seed. */
void probe_pattern(struct probe_try *t, unsigned seed);

/* Whether `got` are the bytes of `sent`; `reader` read, `writer` wrote them. */
bool probe_same(struct probe_try *t, const char *reader, const char *writer, size_t size);

/* Maps the buffer or image, writes `sent` to it, or reads it into `got`, and releases it. */
bool probe_write(struct probe_try *t, gr_resource *resource);
bool probe_read(struct probe_try *t, gr_resource *resource);

/* Writes the frame's part of `sent` to the ring's next slot. */
bool probe_write_frame(struct probe_try *t, gr_ring *ring, size_t frame);

#endif
