/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Graphs: nodes with the work that a stream would run, and edges. An executable graph is a sorted
 * copy of a graph. Graphs are not thread-safe, as in CUDA; only the reference counts are.
 */
#ifndef GR_SOFTCUDA_DRIVER_GRAPH_H
#define GR_SOFTCUDA_DRIVER_GRAPH_H

#include "softcuda/driver/graph/capture_point.h"

typedef struct soft_graph soft_graph;
typedef struct soft_node soft_node;

typedef struct {
    soft_node *from;
    CUgraphEdgeData data;
} soft_edge;

/* What a node does. The fields depend on the type of the node. */
typedef struct soft_node_work {
    void (*run)(void *payload); /* NULL: nothing, also for a copy of 0 bytes */
    void *payload;
    size_t size;
    CUevent event;
    soft_graph *child;
} soft_node_work;

struct soft_node {
    soft_node *next;
    soft_graph *graph;
    CUgraphNode handle;
    CUgraphNode origin; /* the node that this node was copied from */
    CUgraphNodeType type;
    soft_edge *edges; /* the nodes that this node depends on */
    size_t edge_count;
    soft_node_work work;
    bool is_placed;  /* while the graph is sorted or copied */
    soft_node *copy; /* likewise */
};

typedef struct soft_object_use {
    struct soft_object_use *next;
    struct soft_user_object *object;
    unsigned count;
} soft_object_use;

struct soft_graph {
    _Atomic unsigned holders; /* references: the handle or parent, and each launch that runs */
    CUgraph handle;           /* NULL for an executable graph */
    bool is_child;
    soft_node *nodes;
    size_t node_count;
    soft_object_use *objects;
};

/* ---- Graphs (graph.c) ------------------------------------------------------------------------ */

/* Creates a graph with a handle, or an executable graph; NULL if out of memory. */
soft_graph *soft_graph_new(bool executable);

/* Copies a graph. CUDA_ERROR_INVALID_VALUE if an executable graph would have a cycle. */
CUresult soft_graph_copy(soft_graph *graph, bool executable, soft_graph **copy);

/* Drops a reference. */
void soft_graph_drop(soft_graph *graph);

/* CUDA_ERROR_INVALID_VALUE if the handle is not a handle of a graph. */
CUresult soft_graph_get(CUgraph handle, soft_graph **graph);

/* The object of an executable graph is a pointer to the current version of the graph. */
CUresult soft_graph_exec_get(CUgraphExec handle, soft_graph ***exec);

/*
 * Adds a node without work, which depends on `count` nodes of the graph. `data` may be NULL.
 * CUDA_ERROR_INVALID_VALUE if a node is not in the graph, or is there twice.
 */
CUresult soft_node_new(soft_graph *graph, CUgraphNodeType type, const CUgraphNode *from,
                       const CUgraphEdgeData *data, size_t count, soft_node **node);

CUresult soft_node_get(CUgraphNode handle, soft_node **node);

/* Removes the node with its edges, and frees it. */
void soft_node_remove(soft_node *node);

/* The node of the graph or of its child graphs that was copied from `origin`; NULL if none. */
soft_node *soft_node_find(const soft_graph *graph, CUgraphNode origin);

bool soft_node_has_dependents(const soft_node *node);

/* ---- Captures (capture.c) -------------------------------------------------------------------- */

/* Adds a node to the capture of the stream. The node takes the work over, unless the call fails. */
CUresult soft_capture_add(soft_stream *stream, CUgraphNodeType type, const soft_node_work *work);

/* The next task of the stream is stored in *work instead of being queued. */
CUresult soft_capture_work(soft_stream *stream, soft_node_work *work);

/* ---- Work of nodes (graph_work.c) ------------------------------------------------------------ */

/* Whether a task can be a node. Gets the type of the node. */
bool soft_work_type(void (*run)(void *payload), CUgraphNodeType *type);

CUresult soft_work_copy(const soft_node_work *work, bool executable, soft_node_work *copy);
void soft_work_free(soft_node_work *work);

/* ---- User objects (user_object.c) ------------------------------------------------------------ */

CUresult soft_objects_copy(const soft_graph *from, soft_graph *to);
void soft_objects_drop(soft_graph *graph);

#endif
