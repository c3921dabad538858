/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Interprets shapes as pictures: finds the dimensions of height, width and channels. */
#include "lib/publish/publish.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/tensor/tensor.h"

#define MOST_CHANNELS 4

static const char *layout_text(gr_layout layout)
{
    static const char *const texts[] = {"",        " (HWC)",  " (CHW)",   " (NV12)",
                                        " (P016)", " (NV16)", " (YUV444)"};
    return (unsigned)layout < sizeof(texts) / sizeof(texts[0]) ? texts[layout] : "";
}

const char *gr_shaped_text(const struct gr_shaped *shaped, char text[GR_SHAPED_TEXT], bool capital)
{
    snprintf(text, GR_SHAPED_TEXT, "%s is %s of %s%s", shaped->what,
             gr_shape_format(shaped->ndim, shaped->shape).text,
             gr_dtype_get_info(shaped->dtype)->name, layout_text(shaped->layout));
    if (capital)
        text[0] = (char)toupper((unsigned char)text[0]);
    return text;
}

/* Whether pictures of this layout have chroma planes. */
static bool is_yuv(gr_layout layout)
{
    return layout >= GR_LAYOUT_NV12 && layout <= GR_LAYOUT_YUV444;
}

static gr_status refuse(const struct gr_shaped *shaped, const char *call, const char *advice)
{
    char text[GR_SHAPED_TEXT];
    return gr_fail(GR_ERR_INVALID_VALUE, call, "%s, which is not a picture: %s",
                   gr_shaped_text(shaped, text, true), advice);
}

/* ---- Pictures of channels -------------------------------------------------------------------- */

/* The dimension of each axis; -1: the axis is missing, and its extent is 1. */
struct axes {
    int slice, row, pixel, channel;
};

static int64_t extent(const struct gr_shaped *s, int axis)
{
    return axis < 0 ? 1 : s->shape[axis];
}

static int64_t stride(const struct gr_shaped *s, int axis)
{
    return axis < 0 ? 0 : s->strides[axis];
}

/*
 * Assigns dimensions, beginning with `first`, to the spatial axes. The channels are after or before
 * these dimensions.
 */
static struct axes lay_out(const struct gr_shaped *s, int first, int space, bool channels)
{
    const bool before = channels && s->layout == GR_LAYOUT_CHW;
    const int end = first + space + before; /* the index after that of the width */
    struct axes axes = {-1, -1, -1, -1};
    if (channels)
        axes.channel = before ? first : end;
    if (space >= 1)
        axes.pixel = end - 1;
    if (space >= 2)
        axes.row = end - 2;
    if (space >= 3)
        axes.slice = end - 3;
    return axes;
}

static gr_status find_axes(const struct gr_shaped *s, int space, struct axes *axes,
                           const char *call)
{
    int first = 0, n = (int)s->ndim;
    while (n > space + 1 && s->shape[first] == 1)
        first++, n--;
    if (n > space + 1)
        return refuse(s, call, "pass a view of one picture of the batch.");
    bool channels = n == space + 1;
    if (channels && s->layout == GR_LAYOUT_SHAPE && s->shape[first + space] > MOST_CHANNELS) {
        if (s->shape[first] != 1)
            return refuse(s, call,
                          s->shape[first] <= MOST_CHANNELS
                              ? "the last dimension is too large for channels, but the first is "
                                "not: if the first has the channels, set `layout` to GR_LAYOUT_CHW."
                              : "the last dimension must have the channels, 1 to 4 of them. If "
                                "another dimension has them, set `layout`.");
        first++, n--;
        channels = false;
    }
    *axes = lay_out(s, first, n - channels, channels);
    const int64_t count = extent(s, axes->channel);
    return count >= 1 && count <= MOST_CHANNELS ? GR_OK
                                                : refuse(s, call, "pictures have 1 to 4 channels.");
}

static void take_axes(const struct gr_shaped *s, struct axes axes, struct gr_picture *picture)
{
    picture->width = extent(s, axes.pixel);
    picture->height = extent(s, axes.row);
    picture->depth = extent(s, axes.slice);
    picture->channels = (unsigned)extent(s, axes.channel);
    picture->pixel = stride(s, axes.pixel);
    picture->row = stride(s, axes.row);
    picture->slice = stride(s, axes.slice);
    picture->channel = stride(s, axes.channel);
}

/* ---- Luma and chroma ------------------------------------------------------------------------- */

/* The dimensions of a plane in a tensor, without outer dimensions of 1. */
struct plane {
    int first, n;
};

static struct plane find_plane(const struct gr_shaped *s, int most)
{
    struct plane plane = {0, (int)s->ndim};
    while (plane.n > most && s->shape[plane.first] == 1)
        plane.first++, plane.n--;
    if (plane.n == 3 && s->shape[plane.first + 2] == 1)
        plane.n--;
    return plane;
}

/* Returns the number of rows of all planes, stacked, for this number of luma rows. */
static int64_t rows_of(gr_layout layout, int64_t height)
{
    if (layout == GR_LAYOUT_YUV444)
        return 3 * height;
    return height + (layout == GR_LAYOUT_NV16 ? height : (height + 1) / 2);
}

static int64_t height_of(gr_layout layout, int64_t rows)
{
    if (layout == GR_LAYOUT_YUV444)
        return rows / 3;
    return layout == GR_LAYOUT_NV16 ? rows / 2 : (2 * rows + 1) / 3;
}

/* Reads YUV444: the planes are the first of three dimensions, or they are stacked in one plane. */
static gr_status read_444(const struct gr_shaped *s, struct gr_picture *p, const char *call)
{
    const char *advice = "YUV444 is (3, H, W) or (H*3, W).";
    struct plane plane = {0, (int)s->ndim};
    while (plane.n > 3 && s->shape[plane.first] == 1)
        plane.first++, plane.n--;
    const int64_t *shape = s->shape + plane.first, *strides = s->strides + plane.first;
    const bool joined = plane.n == 2 || (plane.n == 3 && shape[0] != 3 && shape[2] == 1);
    if (!joined && (plane.n != 3 || shape[0] != 3))
        return refuse(s, call, advice);
    p->height = joined ? shape[0] / 3 : shape[1];
    if (joined && shape[0] != 3 * p->height)
        return refuse(s, call, advice);
    p->width = shape[joined ? 1 : 2];
    p->row = strides[joined ? 0 : 1];
    p->pixel = strides[joined ? 1 : 2];
    const int64_t next = joined ? p->height * p->row : strides[0];
    p->chroma = (struct gr_job_chroma){.u = s->base + (uint64_t)next,
                                       .v = s->base + (uint64_t)(2 * next),
                                       .pixel = p->pixel,
                                       .row = p->row};
    return GR_OK;
}

static void take_pairs(struct gr_picture *p, gr_layout layout, uint64_t base, int64_t row,
                       int64_t pair, int64_t next)
{
    p->chroma = (struct gr_job_chroma){.u = base,
                                       .v = base + (uint64_t)next,
                                       .pixel = pair,
                                       .row = row,
                                       .x_shift = 1,
                                       .y_shift = layout != GR_LAYOUT_NV16};
}

/* Reads luma and chroma that are in one tensor. */
static gr_status read_joined(const struct gr_shaped *s, struct gr_picture *p, const char *call)
{
    const struct plane plane = find_plane(s, 2);
    if (plane.n != 2)
        return refuse(s, call,
                      "NV12 and P016 are (H*3/2, W) and NV16 is (H*2, W); or pass the second plane "
                      "as `chroma`.");
    const int64_t rows = s->shape[plane.first];
    p->height = height_of(s->layout, rows);
    p->width = s->shape[plane.first + 1];
    p->row = s->strides[plane.first];
    p->pixel = s->strides[plane.first + 1];
    if (rows_of(s->layout, p->height) != rows || p->width % 2)
        return refuse(s, call, "NV12 and P016 are (H*3/2, W), NV16 is (H*2, W), with an even W.");
    take_pairs(p, s->layout, s->base + (uint64_t)(p->height * p->row), p->row, 2 * p->pixel,
               p->pixel);
    return GR_OK;
}

static gr_status read_chroma(const struct gr_shaped *s, const struct gr_shaped *chroma,
                             struct gr_picture *p, const char *call)
{
    const struct plane plane = find_plane(chroma, 3);
    const int64_t *shape = chroma->shape + plane.first, *strides = chroma->strides + plane.first;
    const int64_t pairs = (p->width + 1) / 2;
    const int64_t rows = s->layout == GR_LAYOUT_NV16 ? p->height : (p->height + 1) / 2;
    const bool split = plane.n == 3;
    const bool fits = chroma->dtype == s->dtype && (plane.n == 2 || plane.n == 3) &&
                      shape[0] == rows &&
                      (split ? shape[1] == pairs && shape[2] == 2 : shape[1] == 2 * pairs);
    if (!fits) {
        char text[GR_SHAPED_TEXT], theirs[GR_SHAPED_TEXT];
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "%s and %s: the second plane must be (%lld, %lld, 2) or (%lld, %lld).",
                       gr_shaped_text(s, text, true), gr_shaped_text(chroma, theirs, false),
                       (long long)rows, (long long)pairs, (long long)rows, (long long)(2 * pairs));
    }
    take_pairs(p, s->layout, chroma->base, strides[0], split ? strides[1] : 2 * strides[1],
               split ? strides[2] : strides[1]);
    return GR_OK;
}

static gr_status check_yuv_type(const struct gr_shaped *s, const char *call)
{
    const bool wide = s->dtype == GR_DTYPE_U16, narrow = s->dtype == GR_DTYPE_U8;
    if (s->layout == GR_LAYOUT_YUV444 ? wide || narrow
                                      : (s->layout == GR_LAYOUT_P016 ? wide : narrow))
        return GR_OK;
    return refuse(s, call, "NV12 and NV16 are uint8, P016 is uint16, and YUV444 is either.");
}

static gr_status read_yuv(const struct gr_shaped *s, const struct gr_shaped *chroma,
                          struct gr_picture *p, const char *call)
{
    GR_TRY(check_yuv_type(s, call));
    p->is_yuv = true;
    p->depth = 1;
    p->channels = 1;
    if (s->layout == GR_LAYOUT_YUV444)
        return read_444(s, p, call);
    if (!chroma)
        return read_joined(s, p, call);
    const struct plane plane = find_plane(s, 2);
    if (plane.n != 2)
        return refuse(s, call, "with `chroma` set, the tensor must be the luma plane, (H, W).");
    p->height = s->shape[plane.first];
    p->width = s->shape[plane.first + 1];
    p->row = s->strides[plane.first];
    p->pixel = s->strides[plane.first + 1];
    return read_chroma(s, chroma, p, call);
}

gr_status gr_picture_read(const struct gr_shaped *shaped, const struct gr_shaped *chroma,
                          bool volume, struct gr_picture *picture, const char *call)
{
    struct axes axes = {-1, -1, -1, -1};
    *picture = (struct gr_picture){.dtype = shaped->dtype,
                                   .in_array = shaped->memory == GR_MEMORY_ARRAY,
                                   .base = shaped->base,
                                   .memory = shaped->memory,
                                   .shaped = *shaped};
    for (unsigned i = 0; i < shaped->ndim; i++)
        if (shaped->shape[i] > INT32_MAX)
            return refuse(shaped, call, "a dimension is too large for a picture.");
    if (chroma && (!is_yuv(shaped->layout) || shaped->layout == GR_LAYOUT_YUV444))
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`chroma` is set, but %s: set `layout` to GR_LAYOUT_NV12, GR_LAYOUT_P016 or "
                       "GR_LAYOUT_NV16.",
                       GR_PHRASE(picture));
    if (is_yuv(shaped->layout))
        return read_yuv(shaped, chroma, picture, call);
    GR_TRY(find_axes(shaped, volume ? 3 : 2, &axes, call));
    take_axes(shaped, axes, picture);
    return GR_OK;
}

gr_status gr_picture_flip(struct gr_picture *p, const char *call)
{
    struct gr_job_chroma *chroma = &p->chroma;
    if (p->is_yuv && chroma->y_shift && p->height % 2)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "%s with an odd height, %lld: its chroma rows can't be flipped.",
                       GR_PHRASE(p), (long long)p->height);
    p->base += (uint64_t)((p->height - 1) * p->row);
    p->row = -p->row;
    if (!p->is_yuv)
        return GR_OK;
    const int64_t last = (p->height >> chroma->y_shift) - 1;
    chroma->u += (uint64_t)(last * chroma->row);
    chroma->v += (uint64_t)(last * chroma->row);
    chroma->row = -chroma->row;
    return GR_OK;
}

/* ---- Elements copied by position ------------------------------------------------------------- */

/*
 * The dimensions of two tensors of equal shape, the innermost first. Neighbouring dimensions are
 * joined where both tensors are contiguous.
 */
struct joined {
    int n;
    int64_t shape[GR_TENSOR_DIMS], a[GR_TENSOR_DIMS], b[GR_TENSOR_DIMS];
};

static void join(const struct gr_shaped *a, const struct gr_shaped *b, struct joined *j)
{
    j->n = 0;
    for (int i = (int)a->ndim - 1; i >= 0; i--) {
        if (a->shape[i] == 1)
            continue;
        const int last = j->n - 1;
        if (last >= 0 && a->strides[i] == j->a[last] * j->shape[last] &&
            b->strides[i] == j->b[last] * j->shape[last] &&
            (j->shape[last] == 0 || a->shape[i] <= INT64_MAX / j->shape[last])) {
            j->shape[last] *= a->shape[i];
            continue;
        }
        j->shape[j->n] = a->shape[i];
        j->a[j->n] = a->strides[i];
        j->b[j->n++] = b->strides[i];
    }
}

static void take_joined(const struct gr_shaped *s, const struct joined *j, const int64_t *strides,
                        struct gr_picture *p)
{
    *p = (struct gr_picture){.dtype = s->dtype,
                             .base = s->base,
                             .memory = s->memory,
                             .width = j->n > 0 ? j->shape[0] : 1,
                             .height = j->n > 1 ? j->shape[1] : 1,
                             .depth = j->n > 2 ? j->shape[2] : 1,
                             .channels = 1,
                             .pixel =
                                 j->n > 0 ? strides[0] : (int64_t)gr_dtype_get_info(s->dtype)->size,
                             .row = j->n > 1 ? strides[1] : 0,
                             .slice = j->n > 2 ? strides[2] : 0,
                             .shaped = *s};
}

bool gr_pictures_of_elements(const struct gr_shaped *a, const struct gr_shaped *b,
                             struct gr_picture *of_a, struct gr_picture *of_b)
{
    struct joined j;
    join(a, b, &j);
    if (j.n > 3)
        return false;
    take_joined(a, &j, j.a, of_a);
    take_joined(b, &j, j.b, of_b);
    return true;
}
