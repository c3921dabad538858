/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* User objects: counted references to an application's data that graphs can hold. */
#include "softcuda/driver/graph/graph.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct soft_user_object {
    _Atomic unsigned count;
    CUuserObject handle;
    void *data;
    CUhostFn destroy;
} soft_user_object;

static CUresult get_object(CUuserObject handle, unsigned count, soft_user_object **object)
{
    SOFT_TRY(soft_check_init());
    *object = soft_handle_get(SOFT_KIND_USER_OBJECT, handle);
    return *object && count && count <= INT_MAX ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void release(soft_user_object *object, unsigned count)
{
    if (atomic_fetch_sub(&object->count, count) != count)
        return;
    soft_handle_drop(SOFT_KIND_USER_OBJECT, object->handle);
    object->destroy(object->data);
    free(object);
}

/* Adds a use to the graph, which takes over `count` references. */
static CUresult add_use(soft_graph *graph, soft_user_object *object, unsigned count)
{
    soft_object_use *use = graph->objects;
    while (use && use->object != object)
        use = use->next;
    if (!use) {
        if (!(use = calloc(1, sizeof(*use))))
            return CUDA_ERROR_OUT_OF_MEMORY;
        use->object = object;
        use->next = graph->objects;
        graph->objects = use;
    }
    use->count += count;
    return CUDA_SUCCESS;
}

CUresult soft_objects_copy(const soft_graph *from, soft_graph *to)
{
    for (const soft_object_use *use = from->objects; use; use = use->next) {
        SOFT_TRY(add_use(to, use->object, 1));
        atomic_fetch_add(&use->object->count, 1);
    }
    return CUDA_SUCCESS;
}

void soft_objects_drop(soft_graph *graph)
{
    for (soft_object_use *use = graph->objects, *next; use; use = next) {
        next = use->next;
        release(use->object, use->count);
        free(use);
    }
}

SOFT_API cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
                            unsigned int initialRefcount, unsigned int flags)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!object_out || !destroy || !initialRefcount || initialRefcount > INT_MAX ||
                     flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC,
                 CUDA_ERROR_INVALID_VALUE);
    soft_user_object *object = calloc(1, sizeof(*object));
    if (!object || !(object->handle = soft_handle_new(SOFT_KIND_USER_OBJECT, object))) {
        free(object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    atomic_init(&object->count, initialRefcount);
    object->data = ptr;
    object->destroy = destroy;
    *object_out = object->handle;
    return CUDA_SUCCESS;
}

SOFT_API cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    SOFT_GET(soft_user_object *, found, get_object(object, count, &found));
    atomic_fetch_add(&found->count, count);
    return CUDA_SUCCESS;
}

SOFT_API cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    SOFT_GET(soft_user_object *, found, get_object(object, count, &found));
    SOFT_FAIL_IF(count > atomic_load(&found->count), CUDA_ERROR_INVALID_VALUE);
    release(found, count);
    return CUDA_SUCCESS;
}

SOFT_API cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                                 unsigned int flags)
{
    SOFT_GET(soft_graph *, holder, soft_graph_get(graph, &holder));
    SOFT_GET(soft_user_object *, found, get_object(object, count, &found));
    SOFT_FAIL_IF(flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE, CUDA_ERROR_INVALID_VALUE);
    SOFT_TRY(add_use(holder, found, count));
    if (!flags)
        atomic_fetch_add(&found->count, count);
    return CUDA_SUCCESS;
}

SOFT_API cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    SOFT_GET(soft_graph *, holder, soft_graph_get(graph, &holder));
    SOFT_GET(soft_user_object *, found, get_object(object, count, &found));
    soft_object_use **link = &holder->objects, *use;
    while (*link && (*link)->object != found)
        link = &(*link)->next;
    if (!(use = *link) || use->count < count)
        return CUDA_ERROR_INVALID_VALUE;
    use->count -= count;
    if (!use->count) {
        *link = use->next;
        free(use);
    }
    release(found, count);
    return CUDA_SUCCESS;
}
