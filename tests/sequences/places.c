/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The objects at the places of the world, and whether an object may be passed to a call. */
#include "model.h"

unsigned pick(struct world *w, unsigned n)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 17;
    w->random ^= w->random << 5;
    return (unsigned)(((uint64_t)w->random * n) >> 32);
}

struct resource *resource_at(struct world *w, int place)
{
    return place >= 0 && place < RESOURCES ? &w->resources[place] : NULL;
}

struct buffer *buffer_at(struct world *w, int place)
{
    return place >= 0 && place < BUFFERS ? &w->buffers[place] : NULL;
}

struct tensor *tensor_at(struct world *w, int place)
{
    return place >= 0 && place < TENSORS ? &w->tensors[place] : NULL;
}

struct object *object_at(struct world *w, int place)
{
    bool is_one = place >= 0 && place < OBJECTS && !w->objects[place].lost;
    return is_one ? &w->objects[place] : NULL;
}

gr_resource *handle_of(const struct resource *r)
{
    return r ? r->it : NULL;
}

gr_tensor *tensor_handle(const struct tensor *t)
{
    return t ? t->it : NULL;
}

gr_ring *ring_handle(const struct ring *ring)
{
    return ring ? ring->it : NULL;
}

bool is_discarded(const struct resource *r)
{
    return r && r->flags & GR_WRITE_DISCARD;
}

bool is_disputed(const struct tensor *t)
{
    return t->resource && t->resource->object->disputed;
}

const struct resource *drawn_by(const struct world *w, const struct tensor *t)
{
    for (int i = 0; i < RESOURCES; i++)
        if (w->resources[i].used && w->resources[i].object->of == t->bytes)
            return &w->resources[i];
    return NULL;
}

bool is_drawn(const struct world *w, const struct tensor *t)
{
    const struct resource *r = t ? drawn_by(w, t) : NULL;
    return r && !r->mapped;
}

bool is_stale_resource(const struct world *w, const struct resource *r)
{
    if (!w->alone || r->life != ENDED || !r->it)
        return false;
    for (int i = 0; i < RESOURCES; i++)
        if (w->resources[i].life == LIVE && w->resources[i].it == r->it)
            return false;
    return true;
}

static bool ring_uses_stream(const struct world *w, const gr_buffer *buffer)
{
    for (int i = 0; i < RINGS * ALL_SLOTS; i++) {
        const struct ring *ring = &w->rings[i / ALL_SLOTS];
        const struct slot *slot = &ring->slots[i % ALL_SLOTS];
        if (ring->life == LIVE && (slot->state == SLOT_WRITING || slot->state == SLOT_READING) &&
            slot->it->buffer == buffer)
            return true;
    }
    return false;
}

/*
 * Whether the buffer has ended and its memory was not reused. Later maps of its resource reuse the
 * memory of a buffer.
 */
bool is_stale_buffer(const struct world *w, const struct buffer *b)
{
    if (!w->alone || b->life != ENDED || ring_uses_stream(w, b->it))
        return false;
    for (int i = 0; i < BUFFERS; i++)
        if (w->buffers[i].life == LIVE && w->buffers[i].it == b->it)
            return false;
    return true;
}

bool is_stale_tensor(const struct world *w, const struct tensor *t)
{
    if (!w->alone || t->life != ENDED)
        return false;
    for (int i = 0; i < TENSORS; i++)
        if (w->tensors[i].life == LIVE && w->tensors[i].it == t->it)
            return false;
    return true;
}

bool stream_lives(const struct world *w, CUstream stream)
{
    for (int i = 0; i < STREAMS; i++)
        if (w->streams[i].life == LIVE && w->streams[i].it == stream)
            return true;
    return false;
}

bool is_stale_stream(const struct world *w, CUstream stream)
{
    if (stream_lives(w, stream))
        return false;
    for (int i = 0; i < STREAMS; i++)
        if (w->streams[i].life == ENDED && w->streams[i].it == stream)
            return true;
    return false;
}

CUstream stream_at(const struct world *w, int choice)
{
    switch (choice) {
    case STREAM_NULL:
        return NULL;
    case STREAM_LEGACY:
        return CU_STREAM_LEGACY;
    case STREAM_PER_THREAD:
        return CU_STREAM_PER_THREAD;
    case STREAM_OF_MAP:
        return GR_STREAM_OF_MAP;
    case STREAM_NONE:
        return GR_STREAM_NONE;
    default:
        return w->streams[choice].it;
    }
}

bool is_stream_valid(const struct world *w, int choice)
{
    if (choice < 0 || choice >= STREAMS)
        return choice >= 0 && choice < STREAM_CHOICES;
    if (w->streams[choice].life == LIVE)
        return true;
    return w->streams[choice].life == ENDED && w->alone && w->software &&
           is_stale_stream(w, w->streams[choice].it);
}

bool is_tensor_valid(const struct world *w, const struct tensor *t)
{
    return !t || t->life == LIVE || is_stale_tensor(w, t);
}
