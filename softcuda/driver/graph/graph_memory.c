/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory of graphs. The pages exist from the addition of the allocation node until the last graph
 * with that node is gone, so the nodes do nothing when a graph runs, and a free has no effect.
 */
#include "softcuda/driver/graph/graph.h"
#include "softcuda/driver/memory/device_memory.h"

#include <stdatomic.h>
#include <stdlib.h>

/* CU_MEM_ALLOCATION_TYPE_MANAGED, which an older cuda.h lacks. */
#define ALLOCATION_MANAGED 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static soft_graph_memory *memories;
/* Bytes per device, by CUgraphMem_attribute. Reserved bytes are those until the next trim. */
static cuuint64_t bytes[SOFT_MAX_DEVICES][4];

static void raise_to(cuuint64_t *highest, cuuint64_t value)
{
    if (*highest < value)
        *highest = value;
}

static void count(CUdevice device, size_t size, bool is_new)
{
    cuuint64_t *of = bytes[device];
    of[CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT] += is_new ? size : -size;
    raise_to(&of[CU_GRAPH_MEM_ATTR_USED_MEM_HIGH], of[CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT]);
    raise_to(&of[CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT], of[CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT]);
    raise_to(&of[CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH], of[CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT]);
}

CUresult soft_graph_memory_new(CUDA_MEM_ALLOC_NODE_PARAMS *params, soft_graph_memory **memory)
{
    if (!params || !params->bytesize || params->poolProps.handleTypes ||
        (params->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED &&
         (int)params->poolProps.allocType != ALLOCATION_MANAGED) ||
        params->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    CUdevice device = params->poolProps.location.id;
    SOFT_TRY(soft_check_device(device));
    soft_graph_memory *made = calloc(1, sizeof(*made));
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = soft_pool_allocate(&params->dptr, params->bytesize, NULL, device);
    if (result != CUDA_SUCCESS) {
        free(made);
        return result;
    }
    atomic_init(&made->holders, 1);
    made->params = *params;
    made->params.accessDescs = NULL;
    made->params.accessDescCount = 0;
    pthread_mutex_lock(&lock);
    made->next = memories;
    memories = made;
    count(device, params->bytesize, true);
    pthread_mutex_unlock(&lock);
    *memory = made;
    return CUDA_SUCCESS;
}

void soft_graph_memory_drop(soft_graph_memory *memory)
{
    if (!memory || atomic_fetch_sub(&memory->holders, 1) != 1)
        return;
    pthread_mutex_lock(&lock);
    soft_graph_memory **link = &memories;
    while (*link != memory)
        link = &(*link)->next;
    *link = memory->next;
    count(memory->params.poolProps.location.id, memory->params.bytesize, false);
    pthread_mutex_unlock(&lock);
    soft_pool_free((void *)(uintptr_t)memory->params.dptr, false);
    free(memory);
}

bool soft_graph_memory_owns(CUdeviceptr pointer)
{
    pthread_mutex_lock(&lock);
    const soft_graph_memory *memory = memories;
    while (memory && memory->params.dptr != pointer)
        memory = memory->next;
    pthread_mutex_unlock(&lock);
    return memory;
}

CUresult soft_capture_allocate(soft_stream *stream, CUdeviceptr *pointer, size_t size)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                   .id = soft_context_device(soft_stream_context(stream))}},
        .bytesize = size};
    soft_node_work work = {0};
    SOFT_TRY(soft_graph_memory_new(&params, &work.memory));
    CUresult result = soft_capture_add(stream, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &work);
    if (result != CUDA_SUCCESS)
        soft_graph_memory_drop(work.memory);
    else
        *pointer = params.dptr;
    return result;
}

CUresult soft_capture_free(soft_stream *stream, CUdeviceptr pointer)
{
    return soft_capture_add(stream, CU_GRAPH_NODE_TYPE_MEM_FREE,
                            &(soft_node_work){.freed = pointer});
}

/* Makes a number of bytes the same as another one. */
static CUresult set_bytes(CUdevice device, CUgraphMem_attribute to, CUgraphMem_attribute from)
{
    SOFT_TRY(soft_check_device(device));
    pthread_mutex_lock(&lock);
    bytes[device][to] = bytes[device][from];
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

SOFT_API cuDeviceGraphMemTrim(CUdevice device)
{
    return set_bytes(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
                     CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
}

SOFT_API cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    SOFT_TRY(soft_check_device(device));
    if (!value || (unsigned)attr > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    *(cuuint64_t *)value = bytes[device][attr];
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

/* The highest values can be set to 0, which makes them the current ones. */
SOFT_API cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    if (!value || *(const cuuint64_t *)value)
        return CUDA_ERROR_INVALID_VALUE;
    if (attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
        return set_bytes(device, attr, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
    if (attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return set_bytes(device, attr, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
    return CUDA_ERROR_INVALID_VALUE;
}
