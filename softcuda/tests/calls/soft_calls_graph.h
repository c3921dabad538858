/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the tests of graphs and of stream capture. */
#ifndef GR_TESTS_SOFT_CALLS_GRAPH_H
#define GR_TESTS_SOFT_CALLS_GRAPH_H

#include "soft_calls.h"

#define COUNT 256
#define SIZE  (COUNT * sizeof(unsigned))

/* The objects of each case. Its end destroys those graphs that are not NULL. */
extern struct graph_things {
    CUgraph graph, other;
    CUgraphExec exec;    /* NULL at first */
    CUdeviceptr a, b, c; /* device memory of COUNT words, which are 0 */
    CUevent event, join;
} g;

TCase *add_graph_case(Suite *suite, const char *name);

CUgraph new_graph(void);
CUgraphExec instantiate(CUgraph graph);
/* Launches the graph in fx.stream, and waits for it. run_graph() also instantiates it. */
void launch_exec(CUgraphExec exec);
void run_graph(CUgraph graph);

/* Add nodes of COUNT words. `after` may be NULL. */
CUgraphNode add_fill(CUgraph graph, CUgraphNode after, CUdeviceptr to, unsigned value);
CUgraphNode add_copy(CUgraph graph, CUgraphNode after, CUdeviceptr to, CUdeviceptr from);
CUgraphNode add_child(CUgraph graph, CUgraphNode after, CUgraph child);
CUgraphNode add_empty(CUgraph graph);
CUDA_MEMCPY3D copy_params(CUdeviceptr to, CUdeviceptr from);
CUDA_MEMSET_NODE_PARAMS fill_params(CUdeviceptr to, unsigned value);

CUgraphNode find_in_clone(CUgraphNode node, CUgraph clone);
/* Expects that the graph has this number of nodes and edges. */
void expect_size(CUgraph graph, size_t nodes, size_t edges);
void expect_words(CUdeviceptr memory, unsigned value);

CUstream new_stream(unsigned flags);
void capture_begin(CUstream stream, CUstreamCaptureMode mode);
/* Ends the capture. The result is also g.graph, and the end of the case destroys it. */
CUgraph capture_end(CUstream stream);
/* The second stream joins the capture of the first. */
void fork_stream(CUstream stream, CUstream other);

/* A host function that increments an unsigned. */
void CUDA_CB add_to(void *number);

#endif
