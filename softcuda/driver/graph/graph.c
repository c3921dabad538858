/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Graphs: creation, copies, nodes, edges and queries. */
#include "softcuda/driver/graph/graph.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- Graphs and nodes ------------------------------------------------------------------------ */

soft_graph *soft_graph_new(bool executable)
{
    soft_graph *graph = calloc(1, sizeof(*graph));
    if (!graph)
        return NULL;
    atomic_init(&graph->holders, 1);
    graph->handle = executable ? NULL : soft_handle_new(SOFT_KIND_GRAPH, graph);
    if (!executable && !graph->handle) {
        free(graph);
        return NULL;
    }
    return graph;
}

static void node_free(soft_node *node)
{
    if (node->handle)
        soft_handle_drop(SOFT_KIND_GRAPH_NODE, node->handle);
    soft_work_free(&node->work);
    free(node->edges);
    free(node);
}

void soft_graph_drop(soft_graph *graph)
{
    if (!graph || atomic_fetch_sub(&graph->holders, 1) != 1)
        return;
    if (graph->handle)
        soft_handle_drop(SOFT_KIND_GRAPH, graph->handle);
    for (soft_node *node = graph->nodes, *next; node; node = next) {
        next = node->next;
        node_free(node);
    }
    soft_objects_drop(graph);
    free(graph);
}

SOFT_GETTER(soft_graph_get, CUgraph, soft_graph *, SOFT_KIND_GRAPH, CUDA_ERROR_INVALID_VALUE)
SOFT_GETTER(soft_graph_exec_get, CUgraphExec, soft_graph **, SOFT_KIND_GRAPH_EXEC,
            CUDA_ERROR_INVALID_VALUE)
SOFT_GETTER(soft_node_get, CUgraphNode, soft_node *, SOFT_KIND_GRAPH_NODE, CUDA_ERROR_INVALID_VALUE)

static void append(soft_graph *graph, soft_node *node)
{
    soft_node **link = &graph->nodes;
    while (*link)
        link = &(*link)->next;
    *link = node;
    node->next = NULL;
    node->graph = graph;
    graph->node_count++;
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static soft_edge *find_edge(soft_node *node, const soft_node *from)
{
    for (size_t i = 0; i < node->edge_count; i++)
        if (node->edges[i].from == from)
            return &node->edges[i];
    return NULL;
}

static CUresult add_edge(soft_node *node, soft_node *from, const CUgraphEdgeData *data)
{
    SOFT_FAIL_IF(from->graph != node->graph || from == node || find_edge(node, from),
                 CUDA_ERROR_INVALID_VALUE);
    soft_edge *edges = realloc(node->edges, (node->edge_count + 1) * sizeof(*edges));
    SOFT_FAIL_IF(!edges, CUDA_ERROR_OUT_OF_MEMORY);
    node->edges = edges;
    edges[node->edge_count] = (soft_edge){.from = from};
    if (data)
        edges[node->edge_count].data = *data;
    node->edge_count++;
    return CUDA_SUCCESS;
}

static void remove_edge(soft_node *node, soft_edge *edge)
{
    size_t after = (size_t)(node->edges + --node->edge_count - edge);
    memmove(edge, edge + 1, after * sizeof(*edge));
}

CUresult soft_node_new(soft_graph *graph, CUgraphNodeType type, const CUgraphNode *from,
                       const CUgraphEdgeData *data, size_t count, soft_node **node)
{
    SOFT_FAIL_IF(count && !from, CUDA_ERROR_INVALID_VALUE);
    soft_node *made = calloc(1, sizeof(*made));
    SOFT_FAIL_IF(!made, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult result = CUDA_SUCCESS;
    made->type = type;
    made->graph = graph;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        soft_node *before = soft_handle_get(SOFT_KIND_GRAPH_NODE, from[i]);
        result = before ? add_edge(made, before, data ? &data[i] : NULL) : CUDA_ERROR_INVALID_VALUE;
    }
    if (result == CUDA_SUCCESS && graph->handle &&
        !(made->handle = soft_handle_new(SOFT_KIND_GRAPH_NODE, made)))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        node_free(made);
        return result;
    }
    append(graph, made);
    *node = made;
    return CUDA_SUCCESS;
}

bool soft_node_has_dependents(const soft_node *node)
{
    for (soft_node *other = node->graph->nodes; other; other = other->next)
        if (find_edge(other, node))
            return true;
    return false;
}

void soft_node_remove(soft_node *node)
{
    soft_graph *graph = node->graph;
    soft_node **link = &graph->nodes;
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    for (soft_node *other = graph->nodes; other; other = other->next) {
        soft_edge *edge = find_edge(other, node);
        if (edge)
            remove_edge(other, edge);
    }
    graph->node_count--;
    node_free(node);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static bool is_ready(const soft_node *node)
{
    for (size_t i = 0; i < node->edge_count; i++)
        if (!node->edges[i].from->is_placed)
            return false;
    return true;
}

/* Sorts the nodes, so that each comes after those that it depends on. False if there is a cycle. */
static bool sort(soft_graph *graph)
{
    soft_node *left = graph->nodes, **end = &graph->nodes;
    for (soft_node *node = left; node; node = node->next)
        node->is_placed = false;
    while (left) {
        soft_node **link = &left;
        while (*link && !is_ready(*link))
            link = &(*link)->next;
        soft_node *ready = *link;
        if (!ready) {
            *end = left;
            return false;
        }
        *link = ready->next;
        ready->is_placed = true;
        *end = ready;
        end = &ready->next;
        *end = NULL;
    }
    return true;
}

static CUresult copy_nodes(const soft_graph *graph, soft_graph *copy)
{
    const bool executable = !copy->handle;
    for (soft_node *node = graph->nodes; node; node = node->next) {
        SOFT_TRY(soft_node_new(copy, node->type, NULL, NULL, 0, &node->copy));
        node->copy->origin = node->handle ? node->handle : node->origin;
        SOFT_TRY(soft_work_copy(&node->work, executable, &node->copy->work));
    }
    for (const soft_node *node = graph->nodes; node; node = node->next)
        for (size_t i = 0; i < node->edge_count; i++)
            SOFT_TRY(add_edge(node->copy, node->edges[i].from->copy, &node->edges[i].data));
    return soft_objects_copy(graph, copy);
}

CUresult soft_graph_copy(soft_graph *graph, bool executable, soft_graph **copy)
{
    *copy = soft_graph_new(executable);
    CUresult result = *copy ? copy_nodes(graph, *copy) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS && executable && !sort(*copy))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        soft_graph_drop(*copy);
    return result;
}

soft_node *soft_node_find(const soft_graph *graph, CUgraphNode origin)
{
    soft_node *found = NULL;
    for (soft_node *node = graph->nodes; node && !found; node = node->next) {
        if (node->origin == origin)
            return node;
        if (node->work.child)
            found = soft_node_find(node->work.child, origin);
    }
    return found;
}

/* ---- Entry points ---------------------------------------------------------------------------- */

SOFT_API cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!phGraph || flags, CUDA_ERROR_INVALID_VALUE);
    const soft_graph *graph = soft_graph_new(false);
    SOFT_FAIL_IF(!graph, CUDA_ERROR_OUT_OF_MEMORY);
    *phGraph = graph->handle;
    return CUDA_SUCCESS;
}

SOFT_API cuGraphDestroy(CUgraph hGraph)
{
    SOFT_GET(soft_graph *, graph, soft_graph_get(hGraph, &graph));
    SOFT_FAIL_IF(graph->is_child, CUDA_ERROR_INVALID_VALUE);
    soft_graph_drop(graph);
    return CUDA_SUCCESS;
}

SOFT_API cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    soft_graph *graph, *copy;
    SOFT_TRY(soft_graph_get(originalGraph, &graph));
    SOFT_FAIL_IF(!phGraphClone, CUDA_ERROR_INVALID_VALUE);
    SOFT_TRY(soft_graph_copy(graph, false, &copy));
    *phGraphClone = copy->handle;
    return CUDA_SUCCESS;
}

SOFT_API cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
                                CUgraph hClonedGraph)
{
    SOFT_GET(soft_graph *, graph, soft_graph_get(hClonedGraph, &graph));
    SOFT_GET(soft_node *, node, soft_node_get(hOriginalNode, &node));
    node = soft_node_find(graph, hOriginalNode);
    SOFT_FAIL_IF(!phNode || !node, CUDA_ERROR_INVALID_VALUE);
    *phNode = node->handle;
    return CUDA_SUCCESS;
}

SOFT_API cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    SOFT_GET(soft_node *, node, soft_node_get(hNode, &node));
    SOFT_FAIL_IF(!type, CUDA_ERROR_INVALID_VALUE);
    *type = node->type;
    return CUDA_SUCCESS;
}

SOFT_API cuGraphDestroyNode(CUgraphNode hNode)
{
    SOFT_GET(soft_node *, node, soft_node_get(hNode, &node));
    soft_node_remove(node);
    return CUDA_SUCCESS;
}

/*
 * The arrays of a query. They have room for `limit` entries, and unused entries become NULL.
 * Without arrays the query only counts.
 */
typedef struct {
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    size_t limit, count;
} answer;

static void put(answer *a, CUgraphNode from, CUgraphNode to, CUgraphEdgeData data)
{
    size_t i = a->count++;
    if (i >= a->limit)
        return;
    if (a->from)
        a->from[i] = from;
    if (a->to)
        a->to[i] = to;
    if (a->data)
        a->data[i] = data;
}

static CUresult finish(answer *a, size_t *count)
{
    *count = a->count;
    if (!a->from && !a->to)
        return CUDA_SUCCESS;
    if (*count > a->limit)
        *count = a->limit;
    while (a->count < a->limit)
        put(a, NULL, NULL, (CUgraphEdgeData){0});
    return CUDA_SUCCESS;
}

/* Answers with the edges between these nodes; NULL matches any node. */
static void put_edges(answer *a, const soft_graph *graph, const soft_node *from,
                      const soft_node *to)
{
    for (const soft_node *node = graph->nodes; node; node = node->next)
        for (size_t i = 0; i < node->edge_count; i++)
            if ((!from || node->edges[i].from == from) && (!to || node == to))
                put(a, node->edges[i].from->handle, node->handle, node->edges[i].data);
}

static CUresult list_nodes(CUgraph handle, CUgraphNode *nodes, size_t *count, bool roots)
{
    SOFT_GET(soft_graph *, graph, soft_graph_get(handle, &graph));
    SOFT_FAIL_IF(!count, CUDA_ERROR_INVALID_VALUE);
    answer a = {.from = nodes, .limit = *count};
    for (const soft_node *node = graph->nodes; node; node = node->next)
        if (!roots || !node->edge_count)
            put(&a, node->handle, NULL, (CUgraphEdgeData){0});
    return finish(&a, count);
}

SOFT_FORWARD(cuGraphGetNodes, (CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes),
             list_nodes(hGraph, nodes, numNodes, false))
SOFT_FORWARD(cuGraphGetRootNodes, (CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes),
             list_nodes(hGraph, rootNodes, numRootNodes, true))

#if CUDA_VERSION >= 12030
SOFT_API cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *edgeData, size_t *numEdges)
{
    SOFT_GET(soft_graph *, graph, soft_graph_get(hGraph, &graph));
    SOFT_FAIL_IF(!numEdges || !from != !to, CUDA_ERROR_INVALID_VALUE);
    answer a = {.from = from, .to = to, .data = edgeData, .limit = *numEdges};
    put_edges(&a, graph, NULL, NULL);
    return finish(&a, numEdges);
}

/* Answers with the nodes at the other ends of the edges from or to a node. */
static CUresult put_neighbours(CUgraphNode handle, bool dependent, CUgraphNode *nodes,
                               CUgraphEdgeData *data, size_t *count)
{
    SOFT_GET(soft_node *, node, soft_node_get(handle, &node));
    SOFT_FAIL_IF(!count, CUDA_ERROR_INVALID_VALUE);
    answer a = {.from = dependent ? NULL : nodes,
                .to = dependent ? nodes : NULL,
                .data = data,
                .limit = *count};
    put_edges(&a, node->graph, dependent ? node : NULL, dependent ? NULL : node);
    return finish(&a, count);
}

SOFT_FORWARD(cuGraphNodeGetDependencies_v2,
             (CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData,
              size_t *numDependencies),
             put_neighbours(hNode, false, dependencies, edgeData, numDependencies))
SOFT_FORWARD(cuGraphNodeGetDependentNodes_v2,
             (CUgraphNode hNode, CUgraphNode *dependentNodes, CUgraphEdgeData *edgeData,
              size_t *numDependentNodes),
             put_neighbours(hNode, true, dependentNodes, edgeData, numDependentNodes))

/* Adds the edges, or removes them. After an error those before it stay changed. */
static CUresult change_edges(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                             const CUgraphEdgeData *data, size_t count, bool adds)
{
    SOFT_GET(soft_graph *, graph, soft_graph_get(handle, &graph));
    SOFT_FAIL_IF(count && (!from || !to), CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++) {
        soft_node *first, *second;
        SOFT_TRY(soft_node_get(from[i], &first));
        SOFT_TRY(soft_node_get(to[i], &second));
        SOFT_FAIL_IF(first->graph != graph || second->graph != graph, CUDA_ERROR_INVALID_VALUE);
        soft_edge *edge = find_edge(second, first);
        if (adds)
            SOFT_TRY(add_edge(second, first, data ? &data[i] : NULL));
        else if (edge)
            remove_edge(second, edge);
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

SOFT_FORWARD(cuGraphAddDependencies_v2,
             (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
              const CUgraphEdgeData *edgeData, size_t numDependencies),
             change_edges(hGraph, from, to, edgeData, numDependencies, true))
SOFT_FORWARD(cuGraphRemoveDependencies_v2,
             (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
              const CUgraphEdgeData *edgeData, size_t numDependencies),
             change_edges(hGraph, from, to, edgeData, numDependencies, false))
#endif
