/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Publishing and fetching tensors. The calls copy bytes to bytes, which needs no kernel, so
 * sanitizer builds make these calls, too. test_publish tests everything else.
 */
#include "calls.h"

#include "outside.h"

#include <grinterop/publish.h>
#include <string.h>

#define STEP_OF_OFFSET 8

static bool is_tensor_usable(const struct tensor *t)
{
    return !t || t->life == LIVE;
}

/* Whether the resource belongs to the primary context, as the tensors do. */
static bool contexts_match(const struct world *w, const struct resource *r, const struct tensor *t)
{
    if (!is_tensor_usable(t) || w->cuda == 1 || (r && (r->gone || r->cuda != 0 || r->image)))
        return false;
    return !t || !t->resource || t->resource->object != (r ? r->object : NULL);
}

static unsigned tensor_may(const struct tensor *t, bool fetched)
{
    if (!t)
        return MAY(GR_ERR_INVALID_VALUE);
    return t->revoked || (fetched && t->read_only) ? MAY(GR_ERR_STATE) : 0;
}

static unsigned room_may(const struct tensor *t, size_t offset, size_t room)
{
    return t && t->size + offset > room ? MAY(GR_ERR_INVALID_VALUE) : 0;
}

static unsigned flags_may(const struct resource *r, unsigned wrong)
{
    return r && r->flags & wrong ? MAY(GR_ERR_STATE) : 0;
}

/*
 * Records the bytes that the call has copied. Work of the program on other streams is ordered after
 * the copy.
 */
static void note_copy(struct world *w, struct object *o, size_t offset, struct tensor *t,
                      bool fetched, CUstream stream)
{
    finish_stream(w, 0, stream);
    short *to = fetched ? t->bytes : o->bytes + offset;
    const short *from = fetched ? o->bytes + offset : t->bytes;
    bool unknown = o->disputed || is_disputed(t);
    for (size_t i = 0; i < t->size; i++)
        to[i] = unknown ? UNKNOWN : from[i];
}

/* ---- Mapped buffers -------------------------------------------------------------------------- */

typedef gr_status (*with_buffer_fn)(gr_buffer *, gr_tensor *, const gr_publish_options *, CUstream);

static gr_status publish(gr_buffer *b, gr_tensor *t, const gr_publish_options *o, CUstream stream)
{
    return gr_buffer_publish(b, t, o, stream);
}

/*
 * Publishes or fetches through a mapped buffer. The stream must be that of the map: on another
 * stream the program would have to order the call after the map.
 */
static bool with_buffer(struct world *w, const int *a, bool fetched, with_buffer_fn call)
{
    struct buffer *b = buffer_at(w, a[0]);
    struct tensor *t = tensor_at(w, a[1]);
    const gr_publish_options options =
        GR_INIT(gr_publish_options, .offset = (size_t)a[2] * STEP_OF_OFFSET);
    if ((b && (b->life != LIVE || b->stream_ended)) ||
        !contexts_match(w, b ? b->resource : NULL, t))
        return false;
    unsigned may = tensor_may(t, fetched) | (b ? 0 : MAY(GR_ERR_INVALID_VALUE));
    may |= a[3] == 0 ? MAY(GR_ERR_INVALID_VALUE) : 0;
    if (b && b->resource->mapped != b)
        may |= MAY(GR_ERR_STATE);
    else if (b)
        may |= flags_may(b->resource, fetched ? 0 : GR_READ_ONLY) |
               room_may(t, options.offset, b->size);
    gr_status status =
        call(b ? b->it : NULL, tensor_handle(t), &options, a[3] == 0 ? NULL : GR_STREAM_OF_MAP);
    if (judge(w, status, may))
        note_copy(w, b->resource->object, b->offset + options.offset, t, fetched, b->stream);
    return true;
}

bool run_gr_buffer_publish(struct world *w, const int *a)
{
    return with_buffer(w, a, false, publish);
}

bool run_gr_buffer_fetch(struct world *w, const int *a)
{
    return with_buffer(w, a, true, gr_buffer_fetch);
}

/* ---- Resources that the call maps ------------------------------------------------------------ */

static gr_status publish_to(gr_resource *r, gr_tensor *t, const gr_publish_options *o, CUstream s)
{
    return gr_publish(r, t, o, s);
}

typedef gr_status (*with_resource_fn)(gr_resource *, gr_tensor *, const gr_publish_options *,
                                      CUstream);

static bool with_resource(struct world *w, const int *a, bool fetched, with_resource_fn call)
{
    struct resource *r = resource_at(w, a[0]);
    struct tensor *t = tensor_at(w, a[1]);
    bool live = a[2] < STREAMS && w->streams[a[2]].life == LIVE && w->streams[a[2]].cuda == 0;
    if ((r && r->life != LIVE) || !contexts_match(w, r, t) || (!live && a[2] != STREAM_NULL))
        return false;
    collect_first(w, r);
    if (r && !r->mapped && r->object->mapped)
        return false;
    unsigned may = map_may(w, r) | stream_may(w, a[2], r, false) | tensor_may(t, fetched);
    if (r)
        may |= flags_may(r, fetched ? GR_WRITE_DISCARD : GR_READ_ONLY) |
               room_may(t, 0, r->follows ? r->object->size : r->size);
    if (!judge(w, call(handle_of(r), tensor_handle(t), NULL, stream_at(w, a[2])), may))
        return true;
    if (r->flags & GR_WRITE_DISCARD)
        bytes_are(r->object, 0, r->object->size, UNKNOWN);
    note_copy(w, r->object, 0, t, fetched, stream_at(w, a[2]));
    r->last_may_be_gone = false;
    return true;
}

bool run_gr_publish(struct world *w, const int *a)
{
    return with_resource(w, a, false, publish_to);
}

bool run_gr_fetch(struct world *w, const int *a)
{
    return with_resource(w, a, true, gr_fetch);
}
