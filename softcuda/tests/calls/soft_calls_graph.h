/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the tests of graphs and of stream capture. */
#ifndef GR_TESTS_SOFT_CALLS_GRAPH_H
#define GR_TESTS_SOFT_CALLS_GRAPH_H

#include "soft_calls.h"

#define COUNT 256
#define SIZE  (COUNT * sizeof(unsigned))

CUgraphExec instantiate(CUgraph graph);

/* Device memory of COUNT words, which are 0. */
CUdeviceptr new_memory(void);
void expect_words(CUdeviceptr memory, unsigned value);

/* A host function that increments an unsigned number. */
void CUDA_CB add_to(void *number);

#endif
