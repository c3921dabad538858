/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Publishing and fetching tensors. The calls copy bytes to bytes, which needs no kernel, so
 * sanitizer builds make these calls, too; NV12 is fetched if there are kernels. test_publish tests
 * everything else.
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
    if (!is_tensor_usable(t) || is_drawn(w, t) || w->cuda == 1 ||
        (r && (r->gone || r->cuda != 0 || r->image)))
        return false;
    if (t && r && r->object->of && r->object->of == t->bytes)
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
    short *to = fetched ? t->bytes : bytes_of(o) + offset;
    const short *from = fetched ? bytes_of(o) + offset : t->bytes;
    bool unknown = o->disputed || is_disputed(t);
    for (size_t i = 0; i < t->size; i++)
        to[i] = unknown ? UNKNOWN : from[i];
}

/* ---- Mapped buffers -------------------------------------------------------------------------- */

/*
 * Publishes or fetches through a mapped buffer. The stream must be that of the map: on another
 * stream the program would have to order the call after the map.
 */
static bool with_buffer(struct world *w, const int *a, bool fetched)
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
    gr_buffer *it = b ? b->it : NULL;
    CUstream stream = a[3] == 0 ? NULL : GR_STREAM_OF_MAP;
    gr_status status = fetched ? gr_buffer_fetch(it, tensor_handle(t), &options, stream)
                               : gr_buffer_publish(it, tensor_handle(t), &options, stream);
    if (judge(w, status, may))
        note_copy(w, b->resource->object, b->offset + options.offset, t, fetched, b->stream);
    return true;
}

bool run_gr_buffer_publish(struct world *w, const int *a)
{
    return with_buffer(w, a, false);
}

bool run_gr_buffer_fetch(struct world *w, const int *a)
{
    return with_buffer(w, a, true);
}

/* ---- YUV ------------------------------------------------------------------------------------- */

#define SIDE 4

/* The value of a grey pixel whose channels are known; otherwise UNKNOWN. */
static short grey_at(const short *pixel)
{
    return pixel[0] == pixel[1] && pixel[1] == pixel[2] ? pixel[0] : UNKNOWN;
}

/* In full range a grey pixel has its value as luma, and no colour: 128. */
static void note_nv12(struct tensor *t, const short *from, size_t pixel)
{
    for (size_t i = 0; i < SIDE * SIDE; i++)
        t->bytes[i] = grey_at(from + i * pixel);
    for (size_t y = 0; y < SIDE; y += 2)
        for (size_t x = 0; x < SIDE; x += 2) {
            const short *luma = t->bytes + y * SIDE + x;
            short *chroma = t->bytes + SIDE * SIDE + y / 2 * SIDE + x;
            const bool grey = luma[0] != UNKNOWN && luma[1] != UNKNOWN && luma[SIDE] != UNKNOWN &&
                              luma[SIDE + 1] != UNKNOWN;
            chroma[0] = chroma[1] = grey ? 128 : UNKNOWN;
        }
}

static bool can_fetch(struct world *w, const struct buffer *b, const struct tensor *t, size_t size)
{
    if (!b || b->life != LIVE || b->stream_ended || !t || t->life != LIVE || t->revoked ||
        t->size < size)
        return false;
    const struct resource *r = b->resource;
    const bool same = (r->object->of && r->object->of == t->bytes) ||
                      (t->resource && t->resource->object == r->object);
    return w->cuda != 1 && r->mapped == b && !r->gone && r->cuda == 0 && !same && !is_drawn(w, t);
}

/* Fetches NV12 from a 4 x 4 picture: an image, or RGB in a buffer. */
bool run_fetch_nv12(struct world *w, const int *a)
{
    static const int64_t nv12[] = {SIDE * 3 / 2, SIDE}, rgb[] = {SIDE, SIDE, 3};
    struct buffer *b = buffer_at(w, a[0]);
    struct tensor *t = tensor_at(w, a[1]);
    if (!can_fetch(w, b, t, SIDE * SIDE * 3 / 2))
        return false;
    struct object *o = b->resource->object;
    const bool image = b->resource->image;
    const size_t offset = image ? 0 : (size_t)a[2] * STEP_OF_OFFSET;
    const gr_tensor_desc shape =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 2, .shape = nv12);
    const gr_tensor_desc target =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = rgb);
    const gr_publish_options options =
        GR_INIT(gr_publish_options, .layout = GR_LAYOUT_NV12, .full_range = true, .offset = offset,
                .target = image ? NULL : &target);
    unsigned may = t->read_only ? MAY(GR_ERR_STATE) : 0;
    may |= !image && offset + SIDE * SIDE * 3 > b->size ? MAY(GR_ERR_INVALID_VALUE) : 0;
    gr_tensor *view = gr_tensor_view(t->it, &shape);
    if (!judge_made(w, view, 0))
        return true;
    const gr_status status = gr_buffer_fetch(b->it, view, &options, GR_STREAM_OF_MAP);
    /* without nvcc there are no kernels, and those with sanitizers of clang do not load */
    const bool lacks = (status == GR_ERR_UNSUPPORTED || status == GR_ERR_CUDA) &&
                       strstr(gr_last_error()->message, "nvcc");
    if (!lacks && judge(w, status, may)) {
        finish_stream(w, 0, b->stream);
        note_nv12(t, bytes_of(o) + (image ? 0 : b->offset) + offset, image ? 4 : 3);
        for (size_t i = 0; i < SIDE * SIDE * 3 / 2 && (o->disputed || is_disputed(t)); i++)
            t->bytes[i] = UNKNOWN;
    }
    gr_tensor_free(view);
    if (judge(w, gr_tensor_collect(GR_WAIT_FOREVER), 0))
        collect_freed(w);
    return true;
}

/* ---- All layers ------------------------------------------------------------------------------ */

/* Of a 2D image, which has one layer. */
bool run_fetch_layers(struct world *w, const int *a)
{
    static const int64_t layers[] = {1, SIDE, SIDE, 4};
    enum { SIZE = SIDE * SIDE * 4 };
    struct buffer *b = buffer_at(w, a[0]);
    struct tensor *t = tensor_at(w, a[1]);
    if (!can_fetch(w, b, t, SIZE) || b->linear_image)
        return false;
    struct object *o = b->resource->object;
    const gr_tensor_desc shape =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 4, .shape = layers);
    const gr_publish_options options = GR_INIT(gr_publish_options, .layer = GR_ALL_LAYERS);
    unsigned may = t->read_only ? MAY(GR_ERR_STATE) : 0;
    may |= b->resource->image ? 0 : MAY(GR_ERR_INVALID_VALUE);
    gr_tensor *view = gr_tensor_view(t->it, &shape);
    if (!judge_made(w, view, 0))
        return true;
    if (judge(w, gr_buffer_fetch(b->it, view, &options, GR_STREAM_OF_MAP), may)) {
        finish_stream(w, 0, b->stream);
        const bool unknown = o->disputed || is_disputed(t);
        for (size_t i = 0; i < SIZE; i++)
            t->bytes[i] = unknown ? UNKNOWN : bytes_of(o)[i];
    }
    gr_tensor_free(view);
    if (judge(w, gr_tensor_collect(GR_WAIT_FOREVER), 0))
        collect_freed(w);
    return true;
}

/* ---- Resources that the call maps ------------------------------------------------------------ */

static bool with_resource(struct world *w, const int *a, bool fetched)
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
    CUstream stream = stream_at(w, a[2]);
    gr_status status = fetched ? gr_fetch(handle_of(r), tensor_handle(t), NULL, stream)
                               : gr_publish(handle_of(r), tensor_handle(t), NULL, stream);
    if (!judge(w, status, may))
        return true;
    if (r->flags & GR_WRITE_DISCARD)
        bytes_are(r->object, 0, r->object->size, UNKNOWN);
    note_copy(w, r->object, 0, t, fetched, stream);
    r->last_may_be_gone = false;
    return true;
}

bool run_gr_publish(struct world *w, const int *a)
{
    return with_resource(w, a, false);
}

bool run_gr_fetch(struct world *w, const int *a)
{
    return with_resource(w, a, true);
}
