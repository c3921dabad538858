/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Surface and texture objects of a mapping. The driver destroys them at the call, not in stream order, so
 * those of a mapping that has ended wait here, with an event, until the stream has passed.
 */
#include "image.h"

#include <stdlib.h>

#include "driver.h"

struct object {
    enum gr_object_kind kind;
    unsigned long long handle;
    unsigned level, layer;
};

/* The objects of one mapping. Sets are used again, so that a steady loop allocates none. */
struct gr_objects {
    struct gr_objects *next;
    CUevent done; /* recorded on the stream of the release */
    size_t count, room;
    struct object *items;
};

static void destroy_items(struct gr_objects *set)
{
    const gr_cuda_api *cu = gr_driver();
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i].kind == GR_OBJECT_SURFACE)
            cu->cuSurfObjectDestroy(set->items[i].handle);
        else
            cu->cuTexObjectDestroy(set->items[i].handle);
    }
    set->count = 0;
}

static void free_set(struct gr_objects *set)
{
    destroy_items(set);
    if (set->done)
        gr_driver()->cuEventDestroy(set->done);
    free(set->items);
    free(set);
}

/* Moves the retired sets whose work is done to the idle ones. */
static void collect(gr_resource *resource)
{
    struct gr_objects **link = &resource->retired;
    while (*link) {
        struct gr_objects *set = *link;
        if (gr_driver()->cuEventQuery(set->done) == CUDA_ERROR_NOT_READY) {
            link = &set->next;
            continue;
        }
        destroy_items(set);
        *link = set->next;
        set->next = resource->idle;
        resource->idle = set;
    }
}

static struct gr_objects *take_set(gr_resource *resource)
{
    collect(resource);
    struct gr_objects *set = resource->idle;
    if (set) {
        resource->idle = set->next;
        set->next = NULL;
        return set;
    }
    set = calloc(1, sizeof(*set));
    if (set && gr_driver()->cuEventCreate(&set->done, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
        free(set);
        return NULL;
    }
    return set;
}

CUsurfObject gr_objects_find_surface(const gr_buffer *buffer, unsigned level, unsigned layer)
{
    const struct gr_objects *set = buffer->objects;
    for (size_t i = 0; set && i < set->count; i++) {
        const struct object *o = &set->items[i];
        if (o->kind == GR_OBJECT_SURFACE && o->level == level && o->layer == layer)
            return o->handle;
    }
    return 0;
}

bool gr_objects_reserve(gr_buffer *buffer)
{
    if (!buffer->objects)
        buffer->objects = take_set(buffer->resource);
    struct gr_objects *set = buffer->objects;
    if (!set)
        return false;
    if (set->count < set->room)
        return true;
    size_t room = set->room ? 2 * set->room : 8;
    struct object *items = realloc(set->items, room * sizeof(*items));
    if (!items)
        return false;
    set->items = items;
    set->room = room;
    return true;
}

void gr_objects_add(gr_buffer *buffer, enum gr_object_kind kind, unsigned long long handle,
                    unsigned level, unsigned layer)
{
    struct gr_objects *set = buffer->objects;
    set->items[set->count++] = (struct object){kind, handle, level, layer};
}

void gr_objects_retire(gr_buffer *buffer, CUstream stream)
{
    struct gr_objects *set = buffer->objects;
    buffer->objects = NULL;
    gr_driver()->cuEventRecord(set->done, stream);
    set->next = buffer->resource->retired;
    buffer->resource->retired = set;
}

void gr_objects_free(gr_resource *resource)
{
    struct gr_objects **lists[] = {&resource->retired, &resource->idle};
    for (struct gr_objects *set = resource->retired; set; set = set->next)
        gr_driver()->cuEventSynchronize(set->done);
    for (size_t i = 0; i < 2; i++) {
        while (*lists[i]) {
            struct gr_objects *set = *lists[i];
            *lists[i] = set->next;
            free_set(set);
        }
    }
}
