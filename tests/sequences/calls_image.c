/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Mapped images: queries for their arrays, and copies. */
#include "calls.h"

#include "outside.h"

#include <string.h>

/*
 * Whether a query may be called with the buffer. NULL is allowed, and so is a buffer that is no
 * longer mapped.
 */
static bool can_query(const struct buffer *b)
{
    return !b || (b->life == LIVE && !b->resource->gone);
}

static bool is_image(const struct buffer *b)
{
    return b->resource->image && b->resource->mapped == b;
}

/* The errors that every image query may return. Only level 0 and layer 0 exist. */
static unsigned image_may(const struct world *w, const struct buffer *b, unsigned past)
{
    if (!b)
        return MAY(GR_ERR_INVALID_VALUE);
    (void)w;
    return (is_image(b) ? 0 : MAY(GR_ERR_STATE)) | (past ? MAY(GR_ERR_INVALID_VALUE) : 0);
}

static gr_buffer *it(const struct buffer *b)
{
    return b ? b->it : NULL;
}

bool run_gr_buffer_get_image_info(struct world *w, const int *a)
{
    struct buffer *b = buffer_at(w, a[0]);
    if (!can_query(b))
        return false;
    const gr_image_info *info = gr_buffer_get_image_info(it(b));
    if (judge_made(w, info, image_may(w, b, 0)))
        must(w, info->width == 4 && info->height == 4 && info->texel_bytes == 4);
    return true;
}

bool run_gr_buffer_array(struct world *w, const int *a)
{
    struct buffer *b = buffer_at(w, a[0]);
    unsigned level = a[1] == 1, layer = a[1] == 2;
    if (!can_query(b))
        return false;
    judge_made(w, gr_buffer_array(it(b), level, layer), image_may(w, b, level + layer));
    return true;
}

/* With the copy transport, a read-only mapping has all layers in one array. */
bool run_gr_buffer_mipmapped_array(struct world *w, const int *a)
{
    struct buffer *b = buffer_at(w, a[0]);
    if (!can_query(b))
        return false;
    judge_made(w, gr_buffer_mipmapped_array(it(b)), image_may(w, b, 0));
    return true;
}

bool run_gr_buffer_surface(struct world *w, const int *a)
{
    struct buffer *b = buffer_at(w, a[0]);
    unsigned level = a[1] == 1, layer = a[1] == 2;
    if (!can_query(b))
        return false;
    unsigned may = image_may(w, b, level + layer);
    if (b && !(b->resource->flags & GR_SURFACE_LOAD_STORE))
        may |= MAY(GR_ERR_STATE);
    CUsurfObject surface = gr_buffer_surface(it(b), level, layer);
    judge(w, surface ? GR_OK : gr_last_error()->status, may);
    return true;
}

bool run_gr_buffer_texture(struct world *w, const int *a)
{
    struct buffer *b = buffer_at(w, a[0]);
    const gr_texture_options options =
        GR_INIT(gr_texture_options, .level = a[1] == 1, .layer = a[1] == 2,
                .filter = a[2] & 1 ? GR_FILTER_LINEAR : GR_FILTER_POINT,
                .normalized_coordinates = a[2] & 2 ? GR_CHOICE_YES : GR_CHOICE_DEFAULT,
                .whole = (a[2] & 4) != 0);
    if (!can_query(b))
        return false;
    bool past = (a[1] == 1 || a[1] == 2) && !options.whole;
    CUtexObject texture = gr_buffer_texture(it(b), a[1] == 3 ? NULL : &options);
    judge(w, texture ? GR_OK : gr_last_error()->status, image_may(w, b, past));
    return true;
}

/* Whether the model knows whether the resource is mapped. */
static bool can_ask(const struct resource *r)
{
    return !r || (r->life == LIVE && !r->gone && !r->ring &&
                  (!r->mapped || (r->mapped->life == LIVE && can_query(r->mapped))));
}

static unsigned kept_may(const struct resource *r, bool surface)
{
    if (!r)
        return MAY(GR_ERR_INVALID_VALUE);
    /* After gr_buffer_release_later() the program has no mapping, even if the library still has. */
    bool wrong = r->closed || !r->mapped || r->later || r->kept || !r->image;
    return wrong || (surface && !(r->flags & GR_SURFACE_LOAD_STORE)) ? MAY(GR_ERR_STATE) : 0;
}

bool run_gr_resource_surface(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[0]);
    if (!can_ask(r))
        return false;
    CUsurfObject surface = gr_resource_surface(handle_of(r), 0, 0);
    judge(w, surface ? GR_OK : gr_last_error()->status, kept_may(r, true));
    must(w, !surface || surface == gr_buffer_surface(r->mapped->it, 0, 0));
    return true;
}

bool run_gr_resource_texture(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[0]);
    if (!can_ask(r))
        return false;
    CUtexObject texture = gr_resource_texture(handle_of(r), NULL);
    judge(w, texture ? GR_OK : gr_last_error()->status, kept_may(r, false));
    must(w, !texture || texture == gr_buffer_texture(r->mapped->it, NULL));
    return true;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

#define ROW 16 /* bytes per row */

/*
 * The errors of a copy. The stream must be that of the map, by its handle or as GR_STREAM_OF_MAP.
 * On another stream the program would have to order the copy after the map.
 */
static unsigned copy_may(const struct world *w, const struct buffer *b, int choice)
{
    unsigned may = image_may(w, b, choice == 1 || choice == 2);
    if (b && b->resource->mapped == b && b->stream_ended)
        may |= MAY(GR_ERR_CUDA);
    return may;
}

/* The host memory is pageable, so the call waits. With pinned memory it would not. */
bool run_gr_buffer_copy_to_linear(struct world *w, const int *a)
{
    unsigned char bytes[4 * ROW];
    struct buffer *b = buffer_at(w, a[0]);
    const gr_linear_desc to = GR_INIT(gr_linear_desc, .host = bytes, .pitch = a[1] == 3 ? ROW : 0);
    if (!can_query(b) || (b && (b->stream_ended || b->linear_image)))
        return false;
    gr_status status = gr_buffer_copy_to_linear(it(b), a[1] == 1, a[1] == 2, &to, GR_STREAM_OF_MAP);
    if (!judge(w, status, copy_may(w, b, a[1])))
        return true;
    finish_stream(w, b->resource->cuda, b->stream);
    compare(w, b->resource->object, bytes, 0, sizeof(bytes));
    return true;
}

bool run_gr_buffer_copy_from_linear(struct world *w, const int *a)
{
    unsigned char bytes[4 * ROW];
    struct buffer *b = buffer_at(w, a[0]);
    const gr_linear_desc from = GR_INIT(gr_linear_desc, .host = bytes);
    if (!can_query(b) || (b && (b->stream_ended || b->linear_image)))
        return false;
    memset(bytes, a[2], sizeof(bytes));
    unsigned may = copy_may(w, b, a[1]);
    if (b && b->resource->flags & GR_READ_ONLY)
        may |= MAY(GR_ERR_STATE);
    gr_status status =
        gr_buffer_copy_from_linear(it(b), a[1] == 1, a[1] == 2, &from, GR_STREAM_OF_MAP);
    if (!judge(w, status, may))
        return true;
    finish_stream(w, b->resource->cuda, b->stream);
    struct object *o = b->resource->object;
    bytes_are(o, 0, o->size, o->disputed ? UNKNOWN : a[2] & 255);
    return true;
}
