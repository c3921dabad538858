/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The surface and texture objects of mappings. The driver destroys them immediately, not in stream
 * order. So the objects of an ended mapping are kept until an event has passed.
 */
#include "lib/resource/surface_objects.h"

#include <stdlib.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/resource/stream.h"

struct object {
    enum gr_object_kind kind;
    unsigned long long handle;
    unsigned level, layer;
};

/* The objects of one mapping. Sets are reused, so that a steady loop does not allocate. */
struct gr_objects {
    struct gr_objects *next;
    CUevent done; /* an event in the stream of the release */
    size_t count, room;
    struct object *items;
};

static void destroy_items(struct gr_objects *set)
{
    const gr_cuda_api *cu = gr_driver();
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i].kind == GR_OBJECT_SURFACE)
            cu->SurfObjectDestroy(set->items[i].handle);
        else
            cu->TexObjectDestroy(set->items[i].handle);
    }
    set->count = 0;
}

static void free_set(struct gr_objects *set, bool alive)
{
    if (alive) {
        destroy_items(set);
        gr_driver()->EventDestroy(set->done);
    }
    free(set->items);
    free(set);
}

/* Moves retired sets to the idle list when their work is done. */
static void collect(gr_resource *resource)
{
    struct gr_objects **link = &resource->retired;
    while (*link) {
        struct gr_objects *set = *link;
        if (!gr_event_has_passed(set->done)) {
            link = &set->next;
            continue;
        }
        destroy_items(set);
        *link = set->next;
        set->next = resource->idle;
        resource->idle = set;
    }
}

static gr_status take_set(gr_resource *resource, struct gr_objects **taken, const char *call)
{
    collect(resource);
    struct gr_objects *set = resource->idle;
    if (set) {
        resource->idle = set->next;
        set->next = NULL;
        *taken = set;
        return GR_OK;
    }
    set = calloc(1, sizeof(*set));
    if (!set)
        return gr_fail_memory(call);
    gr_status status = gr_event_create(&set->done);
    if (status != GR_OK) {
        free(set);
        return status;
    }
    *taken = set;
    return GR_OK;
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

gr_status gr_objects_reserve(gr_buffer *buffer, const char *call)
{
    gr_status status = GR_OK;
    if (!buffer->objects)
        status = take_set(buffer->resource, &buffer->objects, call);
    if (status != GR_OK)
        return status;
    struct gr_objects *set = buffer->objects;
    if (set->count < set->room)
        return GR_OK;
    size_t room = set->room ? 2 * set->room : 8;
    struct object *items = realloc(set->items, room * sizeof(*items));
    if (!items)
        return gr_fail_memory(call);
    set->items = items;
    set->room = room;
    return GR_OK;
}

void gr_objects_add(gr_buffer *buffer, enum gr_object_kind kind, unsigned long long handle,
                    unsigned level, unsigned layer)
{
    struct gr_objects *set = buffer->objects;
    set->items[set->count++] = (struct object){kind, handle, level, layer};
}

void gr_objects_retire(gr_buffer *buffer, CUstream stream, bool alive)
{
    struct gr_objects *set = buffer->objects;
    buffer->objects = NULL;
    if (alive && gr_driver()->EventRecord(set->done, stream) != CUDA_SUCCESS)
        gr_stream_finish(stream);
    set->next = buffer->resource->retired;
    buffer->resource->retired = set;
}

void gr_objects_free(gr_resource *resource, bool alive)
{
    struct gr_objects **lists[] = {&resource->retired, &resource->idle};
    for (struct gr_objects *set = resource->retired; set && alive; set = set->next)
        gr_event_finish(set->done);
    for (size_t i = 0; i < 2; i++) {
        while (*lists[i]) {
            struct gr_objects *set = *lists[i];
            *lists[i] = set->next;
            free_set(set, alive);
        }
    }
}
