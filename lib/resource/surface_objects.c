/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The surface and texture objects of mappings. The driver destroys them immediately, not in stream
 * order. So the objects of an ended mapping are kept until an event has passed, and a later mapping
 * needs the memory or the resource is closed.
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

/* Takes a set whose objects are no longer in use, or makes one. */
static gr_status take_set(gr_resource *resource, struct gr_objects **taken, const char *call)
{
    for (struct gr_objects **link = &resource->objects; *link; link = &(*link)->next) {
        struct gr_objects *set = *link;
        if (!gr_event_has_passed(set->done))
            continue;
        destroy_items(set);
        *link = set->next;
        *taken = set;
        return GR_OK;
    }
    struct gr_objects *set = calloc(1, sizeof(*set));
    if (!set)
        return gr_fail_memory(call);
    gr_status status = gr_event_create(&set->done);
    if (status == GR_OK)
        *taken = set;
    else
        free(set);
    return status;
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
    set->next = buffer->resource->objects;
    buffer->resource->objects = set;
}

void gr_objects_free(gr_resource *resource, bool alive)
{
    while (resource->objects) {
        struct gr_objects *set = resource->objects;
        resource->objects = set->next;
        if (alive) {
            gr_event_finish(set->done);
            destroy_items(set);
            gr_driver()->EventDestroy(set->done);
        }
        free(set->items);
        free(set);
    }
}
