/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the tests of graphs and of stream capture. */
#ifndef GR_TESTS_SOFT_CALLS_GRAPH_H
#define GR_TESTS_SOFT_CALLS_GRAPH_H

#include "soft_calls.h"

#define COUNT 256
#define SIZE  (COUNT * sizeof(unsigned))

CUgraph new_graph(void);
CUgraphExec instantiate(CUgraph graph);

/* Add nodes of COUNT words. `after` may be NULL. */
CUgraphNode add_fill(CUgraph graph, CUgraphNode after, CUdeviceptr to, unsigned value);
CUgraphNode add_copy(CUgraph graph, CUgraphNode after, CUdeviceptr to, CUdeviceptr from);
CUgraphNode add_empty(CUgraph graph);
CUDA_MEMCPY3D copy_params(CUdeviceptr to, CUdeviceptr from);

/* Device memory of COUNT words, which are 0. */
CUdeviceptr new_memory(void);
void expect_words(CUdeviceptr memory, unsigned value);

CUstream new_stream(unsigned flags);
void capture_begin(CUstream stream, CUstreamCaptureMode mode);
CUgraph capture_end(CUstream stream);

/* Host functions: the first waits until the byte is not 0, the second increments an unsigned. */
void CUDA_CB wait_for_byte(void *flag);
void CUDA_CB add_to(void *number);

#endif
