/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "model.h"

#include <string.h>

/* ---- Errors ---------------------------------------------------------------------------------- */

static unsigned handle_may(const struct world *w, CUstream stream, const struct resource *r)
{
    if (is_stale_stream(w, stream))
        return MAY(GR_ERR_CUDA);
    for (int i = 0; i < STREAMS; i++)
        if (w->streams[i].life == LIVE && w->streams[i].it == stream)
            return r && w->streams[i].cuda != r->cuda ? MAY(GR_ERR_CUDA) : 0;
    return 0;
}

unsigned stream_may(const struct world *w, int choice, const struct resource *r, bool of_map)
{
    bool none = choice == STREAM_NULL || choice == STREAM_NONE;
    if (none || (choice == STREAM_OF_MAP && !of_map))
        return MAY(GR_ERR_INVALID_VALUE);
    if (choice != STREAM_OF_MAP)
        return handle_may(w, stream_at(w, choice), r);
    if (!r || !r->mapped || !r->mapped->stream_ended)
        return 0;
    /* The stream of the map has ended, but a new stream may have the same address. */
    CUstream stream = r->mapped->stream;
    return stream_lives(w, stream) ? handle_may(w, stream, r) : MAY(GR_ERR_CUDA);
}

unsigned resource_may(const struct resource *r)
{
    return !r || r->life != LIVE ? MAY(GR_ERR_INVALID_VALUE) : 0;
}

gr_graphics_api api_of(const struct resource *r)
{
    return r->external         ? GR_GRAPHICS_EXTERNAL
           : r->object->vulkan ? GR_GRAPHICS_VULKAN
                               : GR_GRAPHICS_OPENGL;
}

bool is_here(const struct world *w, const struct resource *r)
{
    return r->object->context == ANY_CONTEXT || r->object->context == w->gl;
}

unsigned context_may(const struct world *w, const struct resource *r)
{
    return is_here(w, r) ? 0 : MAY(GR_ERR_GL);
}

unsigned map_may(const struct world *w, const struct resource *r)
{
    if (resource_may(r))
        return resource_may(r);
    const struct object *o = r->object;
    bool other = !o->immutable && (o->deleted || (o->size != r->size && !r->follows));
    bool wrong =
        r->closed || r->mapped || other || r->begun || r->ring || r->undecided || r->is_new;
    return (wrong ? MAY(GR_ERR_STATE) : 0) | context_may(w, r) | (r->gone ? MAY(GR_ERR_CUDA) : 0);
}

unsigned loss_may(const struct resource *r)
{
    const bool lost = r->object->deleted && r->mapped && !(r->flags & GR_READ_ONLY) &&
                      (r->image || r->transport != GR_TRANSPORT_INTEROP);
    return r->gone || lost ? MAY(GR_ERR_PARTIAL) : 0;
}

unsigned end_may(const struct world *w, const struct resource *r, int choice)
{
    return context_may(w, r) | loss_may(r) | (r->gone ? 0 : stream_may(w, choice, r, true));
}

/* ---- Effects of a success -------------------------------------------------------------------- */

void bytes_are(struct object *object, size_t offset, size_t size, int value)
{
    for (size_t i = offset; i < offset + size; i++)
        bytes_of(object)[i] = (short)value;
}

static int current_cuda(const struct world *w)
{
    return w->cuda < CUDA_CONTEXTS ? w->cuda : 0;
}

void resource_is_made(struct world *w, struct resource *r, gr_resource *it, struct object *object,
                      unsigned flags)
{
    struct object own = r->own;
    *r = (struct resource){.life = LIVE,
                           .it = it,
                           .own = own,
                           .size = object->size,
                           .flags = flags,
                           .transport = GR_TRANSPORT_INTEROP,
                           .cuda = current_cuda(w),
                           .image = object->target != GL_ARRAY_BUFFER,
                           .used = true};
    r->object = object;
}

void discard(const struct resource *r, const struct buffer *b)
{
    struct object *o = r->object;
    if ((r->transport == GR_TRANSPORT_COPY || r->transport == GR_TRANSPORT_PEER) && !r->image)
        bytes_are(o, b->offset, b->size, UNKNOWN);
    else
        bytes_are(o, 0, o->size, UNKNOWN);
}

void is_mapped(struct world *w, struct resource *r, struct buffer *b, gr_buffer *it,
               CUstream stream)
{
    size_t offset = b->offset, size = b->size;
    if (r->follows)
        r->size = r->object->size;
    *b = (struct buffer){.life = LIVE,
                         .it = it,
                         .resource = r,
                         .stream = stream,
                         .offset = offset,
                         .size = size ? size : r->size - offset,
                         .mapping = ++w->mappings};
    r->mapped = b;
    r->out++;
    if (r->object->mapped++ > 0)
        r->object->disputed = true;
    if (r->object->disputed)
        bytes_are(r->object, 0, r->object->size, UNKNOWN);
    else if (r->flags & GR_WRITE_DISCARD)
        discard(r, b);
}

static bool is_exported(const struct world *w, const struct tensor *t)
{
    for (int i = 0; i < EXPORTS; i++)
        if (w->exports[i].life == LIVE && w->exports[i].tensor == t)
            return true;
    return false;
}

unsigned tensors_of(const struct world *w, const struct resource *r)
{
    unsigned count = 0;
    for (int i = 0; i < TENSORS; i++) {
        const struct tensor *t = &w->tensors[i];
        count += t->used && t->resource == r && r->mapped && t->mapping == r->mapped->mapping &&
                 (t->life == LIVE || is_exported(w, t));
    }
    return count;
}

void tensors_are_revoked(struct world *w, const struct resource *r)
{
    for (int i = 0; i < TENSORS; i++)
        if (w->tensors[i].used && w->tensors[i].resource == r &&
            w->tensors[i].mapping == r->mapped->mapping)
            w->tensors[i].revoked = true;
}

/*
 * Notes that gr_buffer_release_later() was called. If tensors refer to the mapping, they keep it.
 * Otherwise the library keeps the mapping until the context of the resource is current.
 */
void note_set_aside(struct world *w, struct buffer *b)
{
    struct resource *r = b->resource;
    bool kept = r->mapped == b && tensors_of(w, r) > 0;
    if (r->mapped != b || (!kept && !context_may(w, r))) {
        is_released(w, b);
        return;
    }
    r->kept = kept;
    r->later = !kept;
    r->aside = *b;
    r->mapped = &r->aside;
    b->life = ENDED;
    r->out--;
}

static bool has_view(const struct world *w, const struct tensor *t)
{
    for (int i = 0; i < TENSORS; i++)
        if (w->tensors[i].used && w->tensors[i].base == t)
            return true;
    return false;
}

/* Ends tensors without users. The end of one may leave others without users. */
void tensors_are_swept(struct world *w)
{
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < TENSORS; i++) {
            struct tensor *t = &w->tensors[i];
            if (!t->used || t->life == LIVE || has_view(w, t) || is_exported(w, t) ||
                (t->bytes == t->own && drawn_by(w, t)))
                continue;
            t->used = false;
            if (t->import_of)
                t->import_of->life = ENDED;
            again = true;
        }
    }
}

static void sweep_after(struct world *w, const struct tensor *t)
{
    struct resource *r = t->resource;
    bool of_mapping = r && !t->revoked;
    tensors_are_swept(w);
    if (of_mapping && r->kept && !tensors_of(w, r)) {
        r->kept = false;
        r->later = true;
    }
}

void tensor_is_freed(struct world *w, struct tensor *t)
{
    t->life = ENDED;
    sweep_after(w, t);
}

void export_is_ended(struct world *w, struct export *x)
{
    x->life = ENDED;
    sweep_after(w, x->tensor);
}

void is_unmapped(struct world *w, struct resource *r)
{
    if (!r->mapped)
        return;
    tensors_are_revoked(w, r);
    struct object *o = r->object;
    if (r->gone || o->disputed)
        bytes_are(o, 0, o->size, UNKNOWN);
    r->mapped = NULL;
    r->later = r->kept = false;
    r->last_may_be_gone = false;
    if (--o->mapped == 0)
        o->disputed = o->shared;
}

void forget_if_ended(struct resource *r)
{
    if (r->life == LIVE || r->mapped || r->ring)
        return;
    r->closed = true;
    if (!r->out)
        r->used = false;
}

void is_released(struct world *w, struct buffer *b)
{
    struct resource *r = b->resource;
    if (r->mapped == b)
        is_unmapped(w, r);
    b->life = ENDED;
    r->out--;
    forget_if_ended(r);
}

void slot_is_left(struct slot *slot)
{
    struct resource *r = slot->resource;
    if (slot->state == SLOT_NONE)
        return;
    slot->state = SLOT_NONE;
    r->ring = NULL;
    r->object->ringed = false;
    r->object->mapped--;
    r->last_may_be_gone = true;
    bytes_are(r->object, 0, r->object->size, UNKNOWN);
    forget_if_ended(r);
}

void ring_is_freed(struct ring *ring)
{
    ring->life = ENDED;
    for (int i = 0; i < ALL_SLOTS; i++)
        slot_is_left(&ring->slots[i]);
}

void submit_is_left(struct resource *r)
{
    for (int i = 0; r->begun && i < 2; i++)
        if (r->begun->list[i] == r)
            r->begun->list[i] = NULL;
    r->begun = NULL;
}

void note_release(struct world *w, struct resource *r)
{
    (void)w;
    submit_is_left(r);
    r->life = ENDED;
    forget_if_ended(r);
}

/* Ends a mapping whose release was deferred. The place of its buffer is already free. */
void collect_one(struct world *w, struct resource *r)
{
    if (!r || !r->later || !is_here(w, r))
        return;
    is_unmapped(w, r);
    forget_if_ended(r);
}

void collect_freed(struct world *w)
{
    for (int i = 0; i < RESOURCES; i++) {
        struct resource *r = &w->resources[i];
        if (r->used && r->later && r->life != LIVE && r->object->context == ANY_CONTEXT)
            collect_one(w, r);
    }
}

/*
 * The headers do not say which failing calls end a deferred mapping, so this function makes a call
 * that must end it.
 */
void collect_first(struct world *w, struct resource *r)
{
    if (!r || !r->later || r->life != LIVE || !is_here(w, r))
        return;
    gr_resource_wait(r->it, 0);
    collect_one(w, r);
}

void maybe_collected(struct world *w)
{
    for (int i = 0; i < RESOURCES; i++)
        if (w->resources[i].life == LIVE && w->resources[i].later &&
            !gr_resource_get_info(w->resources[i].it)->mapped)
            is_unmapped(w, &w->resources[i]);
}

void collect_later(struct world *w)
{
    for (int i = 0; i < RESOURCES; i++)
        if (w->resources[i].used && w->resources[i].object->context != ANY_CONTEXT)
            collect_one(w, &w->resources[i]);
}
