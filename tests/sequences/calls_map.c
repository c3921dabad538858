/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls that map resources. */
#include "calls.h"

/*
 * Whether no other mapping of the object exists. Two mappings of one object at the same time are
 * defined only with interop. With other transports one mapping would access the memory of the
 * other.
 */
static bool has_exclusive_use(const struct world *w, const struct resource *r)
{
    if (!r || r->life != LIVE || r->mapped || r->ring || !r->object->mapped)
        return true;
    if (r->object->ringed)
        return false;
    for (int i = 0; i < RESOURCES; i++) {
        const struct resource *other = &w->resources[i];
        if (other->used && other->mapped && other->object == r->object &&
            (other->transport != GR_TRANSPORT_INTEROP || other->image))
            return false;
    }
    return r->transport == GR_TRANSPORT_INTEROP && !r->image;
}

static bool can_query(const struct world *w, const struct resource *r)
{
    return !r || r->life == LIVE || is_stale_resource(w, r);
}

/* Maps one resource with an access. The model has no mappings that are narrowed to reading. */
static bool map_one(struct world *w, const int *a, gr_map_access access, bool with)
{
    struct resource *r = resource_at(w, a[0]);
    struct buffer *b = buffer_at(w, a[2]);
    const gr_map_options options = GR_INIT(gr_map_options, .access = access);
    const unsigned now = access == GR_MAP_READ_WRITE ? GR_READ_WRITE : (unsigned)access;
    const unsigned made_for = r ? r->flags & (GR_READ_ONLY | GR_WRITE_DISCARD) : 0;
    const bool refused = access && made_for && made_for != now;
    if (access == GR_MAP_READ_ONLY && !made_for)
        return false;
    if (!can_query(w, r) || b->life == LIVE || !is_stream_valid(w, a[1]))
        return false;
    if (map_may(w, r) == MAY(GR_ERR_STATE) && !stream_may(w, a[1], r, false) && !refused)
        collect_one(w, r);
    else
        collect_first(w, r);
    if (!has_exclusive_use(w, r))
        return false;
    CUstream stream = stream_at(w, a[1]);
    unsigned may = map_may(w, r) | stream_may(w, a[1], r, false);
    may |= refused ? MAY(GR_ERR_INVALID_VALUE) : 0;
    gr_buffer *made = !with ? gr_map(handle_of(r), stream)
                            : gr_map_with(handle_of(r), stream, access ? &options : NULL);
    judge_made(w, made, may);
    b->offset = b->size = 0;
    if (!made)
        return true;
    is_mapped(w, r, b, made, stream);
    if (access == GR_MAP_WRITE_DISCARD)
        discard(r, b);
    return true;
}

bool run_gr_map(struct world *w, const int *a)
{
    return map_one(w, a, GR_MAP_AS_REGISTERED, false);
}

bool run_gr_map_with(struct world *w, const int *a)
{
    return map_one(w, a, (gr_map_access)a[3], true);
}

/* The images are small: only level 0 and layer 0 exist. Buffers have neither. */
bool run_gr_map_linear(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[0]);
    struct buffer *b = buffer_at(w, a[3]);
    unsigned level = a[1] == 1, layer = a[1] == 2;
    if (!can_query(w, r) || b->life == LIVE || !is_stream_valid(w, a[2]))
        return false;
    collect_first(w, r);
    if (!has_exclusive_use(w, r))
        return false;
    CUstream stream = stream_at(w, a[2]);
    unsigned may = map_may(w, r) | stream_may(w, a[2], r, false);
    may |= level || layer ? MAY(GR_ERR_INVALID_VALUE) : 0;
    gr_buffer *made = gr_map_linear(handle_of(r), level, layer, stream);
    judge_made(w, made, may);
    b->offset = b->size = 0;
    if (!made)
        return true;
    is_mapped(w, r, b, made, stream);
    b->linear_image = r->image;
    if (r->image)
        b->size = gr_buffer_size(made); /* larger than the data, because rows are padded */
    must(w, b->size >= r->object->size || !r->image);
    return true;
}

/* ---- Many ------------------------------------------------------------------------------------ */

#define MANY 3

/* The errors of mapping a part of a buffer: 8 bytes at an offset, or the whole buffer. */
static unsigned part_may(const struct resource *r, const gr_map_part *part)
{
    if (!part->offset && !part->size)
        return 0;
    const size_t size = r->follows ? r->object->size : r->size;
    bool in = !r->image && part->offset < size && part->size <= size - part->offset;
    return in ? 0 : MAY(GR_ERR_INVALID_VALUE);
}

static unsigned one_may(struct world *w, const int *a, unsigned i, const gr_map_part *part)
{
    struct resource *r = resource_at(w, a[i]);
    unsigned may = map_may(w, r) | stream_may(w, a[MANY], r, false);
    if (!resource_may(r))
        may |= part_may(r, part);
    for (unsigned k = 0; k < i; k++) {
        struct resource *other = resource_at(w, a[k]);
        if (other == r || (!resource_may(r) && !resource_may(other) && other->cuda != r->cuda))
            may |= MAY(GR_ERR_INVALID_VALUE);
    }
    return may;
}

/* Whether the arguments are usable and the places for the new buffers are free. */
static bool many_are_valid(struct world *w, const int *a, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct resource *r = resource_at(w, a[i]);
        if (!can_query(w, r) || buffer_at(w, a[MANY + 2 + i])->life == LIVE)
            return false;
        collect_first(w, r);
        if (!has_exclusive_use(w, r))
            return false;
        for (unsigned k = 0; k < i; k++) {
            struct resource *other = resource_at(w, a[k]);
            bool both = r && other && r != other && r->life == LIVE && other->life == LIVE;
            if (a[MANY + 2 + i] == a[MANY + 2 + k] || (both && r->object == other->object))
                return false;
        }
    }
    return is_stream_valid(w, a[MANY]);
}

/* Arguments: three resources, a stream, a part, three places for buffers, and a count. */
bool run_gr_map_many(struct world *w, const int *a)
{
    unsigned n = (unsigned)a[2 * MANY + 2], may = n ? 0 : MAY(GR_ERR_INVALID_VALUE);
    const bool differ = a[MANY + 1] % 8 >= 4;
    gr_map_part parts[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        parts[i].offset = ((size_t)a[MANY + 1] + (differ ? i : 0)) % 4 * 40;
        parts[i].size = parts[i].offset ? 8 : 0;
    }
    const gr_map_options options =
        differ ? GR_INIT(gr_map_options, .parts = parts)
               : GR_INIT(gr_map_options, .offset = parts[0].offset, .size = parts[0].size);
    gr_resource *list[MANY] = {NULL};
    gr_buffer *out[MANY] = {NULL};
    if (!many_are_valid(w, a, n))
        return false;
    for (unsigned i = 0; i < n; i++) {
        list[i] = handle_of(resource_at(w, a[i]));
        may |= one_may(w, a, i, &parts[i]);
    }
    gr_status status =
        gr_map_many(list, n, stream_at(w, a[MANY]), a[MANY + 1] % 8 == 0 ? NULL : &options, out);
    judge(w, status, may);
    for (unsigned i = 0; i < n; i++) {
        struct buffer *b = buffer_at(w, a[MANY + 2 + i]);
        must(w, (out[i] != NULL) == (status == GR_OK));
        b->offset = parts[i].offset;
        b->size = parts[i].size;
        if (out[i])
            is_mapped(w, resource_at(w, a[i]), b, out[i], stream_at(w, a[MANY]));
    }
    return true;
}
