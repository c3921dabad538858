/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Interprets shapes as pictures: finds the dimensions of height, width and channels. */
#include "lib/publish/publish.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/tensor/tensor.h"

#define MOST_CHANNELS 4

const char *gr_shaped_text(const struct gr_shaped *shaped, char text[GR_SHAPED_TEXT], bool capital)
{
    static const char *const layouts[] = {"",          " (HWC)",  " (CHW)",    " (NV12)",
                                          " (P016)",   " (NV16)", " (YUV444)", " (YUV420)",
                                          " (YUV422)", " (YUYV)", " (UYVY)"};
    const unsigned layout = shaped->layout;
    snprintf(text, GR_SHAPED_TEXT, "%s is %s of %s%s", shaped->what,
             gr_shape_format(shaped->ndim, shaped->shape).text,
             gr_dtype_get_info(shaped->dtype)->name,
             layout < sizeof(layouts) / sizeof(layouts[0]) ? layouts[layout] : "");
    if (capital)
        text[0] = (char)toupper((unsigned char)text[0]);
    return text;
}

/* How a YUV layout stores chroma. */
struct yuv_layout {
    bool narrow, wide; /* elements may have 8 bits, or 16 bits */
    bool is_planar;    /* U and V are two planes */
    bool is_woven;     /* luma and chroma alternate in one plane */
    unsigned x_shift, y_shift;
};

/* Returns NULL for layouts without chroma. */
static const struct yuv_layout *yuv_of(gr_layout layout)
{
    static const struct yuv_layout all[] = {
        [GR_LAYOUT_NV12] = {.narrow = true, .x_shift = 1, .y_shift = 1},
        [GR_LAYOUT_P016] = {.wide = true, .x_shift = 1, .y_shift = 1},
        [GR_LAYOUT_NV16] = {.narrow = true, .x_shift = 1},
        [GR_LAYOUT_YUV444] = {.narrow = true, .wide = true, .is_planar = true},
        [GR_LAYOUT_YUV420] =
            {.narrow = true, .wide = true, .is_planar = true, .x_shift = 1, .y_shift = 1},
        [GR_LAYOUT_YUV422] = {.narrow = true, .wide = true, .is_planar = true, .x_shift = 1},
        [GR_LAYOUT_YUYV] = {.narrow = true, .is_woven = true, .x_shift = 1},
        [GR_LAYOUT_UYVY] = {.narrow = true, .is_woven = true, .x_shift = 1},
    };
    return layout >= GR_LAYOUT_NV12 && layout <= GR_LAYOUT_UYVY ? &all[layout] : NULL;
}

static gr_status refuse(const struct gr_shaped *shaped, const char *advice)
{
    char text[GR_SHAPED_TEXT];
    return gr_fail(GR_ERR_INVALID_VALUE, "%s, which is not a picture: %s",
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
 * these dimensions, but each layer has channels of its own.
 */
static struct axes lay_out(const struct gr_shaped *s, int first, int space, bool channels,
                           bool layers)
{
    const bool before = channels && s->layout == GR_LAYOUT_CHW;
    const int end = first + space + before; /* the index after that of the width */
    struct axes axes = {-1, -1, -1, -1};
    if (channels)
        axes.channel = before ? first + layers : end;
    if (space >= 1)
        axes.pixel = end - 1;
    if (space >= 2)
        axes.row = end - 2;
    if (space >= 3)
        axes.slice = before && layers ? first : end - 3;
    return axes;
}

static gr_status find_axes(const struct gr_shaped *s, enum gr_slices slices, struct axes *axes)
{
    const int space = slices == GR_ONE_SLICE ? 2 : 3;
    const bool layers = slices == GR_LAYERS;
    int first = 0, n = (int)s->ndim;
    while (n > space + 1 && s->shape[first] == 1)
        first++, n--;
    if (n > space + 1)
        return refuse(s, "pass a view of one picture of the batch, or for an image with layers set "
                         "`layer` to GR_ALL_LAYERS, or `layers`, and for tiles `columns`.");
    bool channels = n == space + 1;
    if (channels && s->layout == GR_LAYOUT_SHAPE && s->shape[first + space] > MOST_CHANNELS) {
        if (s->shape[first] != 1)
            return refuse(s, s->shape[first + layers] <= MOST_CHANNELS
                                 ? "the last dimension is too large for channels, but another is "
                                   "not: if that has the channels, set `layout` to GR_LAYOUT_CHW."
                                 : "the last dimension must have the channels, 1 to 4 of them. If "
                                   "another dimension has them, set `layout`.");
        first++, n--;
        channels = false;
    }
    *axes = lay_out(s, first, n - channels, channels, layers);
    const int64_t count = extent(s, axes->channel);
    return count >= 1 && count <= MOST_CHANNELS ? GR_OK
                                                : refuse(s, "pictures have 1 to 4 channels.");
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

static void take_luma(const struct gr_shaped *s, int row, int64_t height, struct gr_picture *p)
{
    p->height = height;
    p->width = s->shape[row + 1];
    p->row = s->strides[row];
    p->pixel = s->strides[row + 1];
}

static struct gr_job_plane beside(const struct gr_job_plane *plane, int64_t bytes)
{
    struct gr_job_plane moved = *plane;
    moved.base += (uint64_t)bytes;
    return moved;
}

/* Reads YUV444: the planes are the first of three dimensions, or they are stacked in one plane. */
static gr_status read_444(const struct gr_shaped *s, struct gr_picture *p)
{
    const char *advice = "YUV444 is (3, H, W) or (H*3, W).";
    struct plane plane = {0, (int)s->ndim};
    while (plane.n > 3 && s->shape[plane.first] == 1)
        plane.first++, plane.n--;
    const int64_t *shape = s->shape + plane.first;
    const bool joined = plane.n == 2 || (plane.n == 3 && shape[0] != 3 && shape[2] == 1);
    if (!joined && (plane.n != 3 || shape[0] != 3))
        return refuse(s, advice);
    if (joined && shape[0] % 3)
        return refuse(s, advice);
    take_luma(s, plane.first + !joined, joined ? shape[0] / 3 : shape[1], p);
    const int64_t next = joined ? p->height * p->row : s->strides[plane.first];
    const struct gr_job_plane luma = {s->base, p->pixel, p->row};
    p->chroma.u = beside(&luma, next);
    p->chroma.v = beside(&luma, 2 * next);
    return GR_OK;
}

/* Reads YUYV and UYVY: each pixel has luma, and u or v. */
static gr_status read_woven(const struct gr_shaped *s, struct gr_picture *p)
{
    const struct plane plane = find_plane(s, 3);
    const int64_t *shape = s->shape + plane.first;
    if (plane.n != 3 || shape[2] != 2 || shape[1] % 2)
        return refuse(s, "YUYV and UYVY are (H, W, 2), with an even W.");
    take_luma(s, plane.first, shape[0], p);
    p->channels = 2;
    p->channel = s->strides[plane.first + 2];
    p->chroma.luma = s->layout == GR_LAYOUT_UYVY;
    p->chroma.u = (struct gr_job_plane){s->base, 2 * p->pixel, p->row};
    if (!p->chroma.luma)
        p->chroma.u = beside(&p->chroma.u, p->channel);
    p->chroma.v = beside(&p->chroma.u, p->pixel);
    return GR_OK;
}

/* Reads luma and pairs of u and v that are stacked in one tensor. */
static gr_status read_joined(const struct gr_shaped *s, struct gr_picture *p)
{
    const struct plane plane = find_plane(s, 2);
    if (plane.n != 2)
        return refuse(s,
                      "NV12 and P016 are (H*3/2, W) and NV16 is (H*2, W); or pass the second plane "
                      "as `chroma`. (H, W, 2) is GR_LAYOUT_YUYV or GR_LAYOUT_UYVY.");
    const int64_t rows = s->shape[plane.first];
    const int64_t height = p->chroma.y_shift ? (2 * rows + 1) / 3 : rows / 2;
    take_luma(s, plane.first, height, p);
    const unsigned shift = p->chroma.y_shift;
    if (height + ((height + shift) >> shift) != rows || p->width % 2)
        return refuse(s, "NV12 and P016 are (H*3/2, W), NV16 is (H*2, W), with an even W.");
    p->chroma.u = (struct gr_job_plane){s->base, 2 * p->pixel, p->row};
    p->chroma.u = beside(&p->chroma.u, p->height * p->row);
    p->chroma.v = beside(&p->chroma.u, p->pixel);
    return GR_OK;
}

/* Whether a tensor is a plane of this size, which `to` then describes. */
static bool is_plane(const struct gr_shaped *s, gr_dtype dtype, int64_t rows, int64_t columns,
                     struct gr_job_plane *to)
{
    const struct plane plane = find_plane(s, 2);
    const int64_t *shape = s->shape + plane.first, *strides = s->strides + plane.first;
    *to = (struct gr_job_plane){s->base, strides[1], strides[0]};
    return s->dtype == dtype && plane.n == 2 && shape[0] == rows && shape[1] == columns;
}

/* Whether a tensor is (rows, columns, 2). */
static bool is_pairs(const struct gr_shaped *s, gr_dtype dtype, int64_t rows, int64_t columns,
                     struct gr_job_chroma *to)
{
    const struct plane plane = find_plane(s, 3);
    const int64_t *shape = s->shape + plane.first, *strides = s->strides + plane.first;
    to->u = (struct gr_job_plane){s->base, strides[1], strides[0]};
    to->v = beside(&to->u, strides[2]);
    return s->dtype == dtype && plane.n == 3 && shape[0] == rows && shape[1] == columns &&
           shape[2] == 2;
}

static gr_status refuse_plane(const struct gr_shaped *luma, const struct gr_shaped *plane,
                              const char *name, const char *wanted)
{
    char text[GR_SHAPED_TEXT], theirs[GR_SHAPED_TEXT];
    return gr_fail(GR_ERR_INVALID_VALUE, "%s, and %s: the %s plane must be %s of %s.",
                   gr_shaped_text(luma, text, true), gr_shaped_text(plane, theirs, false), name,
                   wanted, gr_dtype_get_info(luma->dtype)->name);
}

/* Reads chroma that is in other tensors than luma: pairs in `u`, or both planes. */
static gr_status read_chroma(const struct gr_shaped *s, const struct gr_shaped *u,
                             const struct gr_shaped *v, struct gr_picture *p)
{
    struct gr_job_chroma *c = &p->chroma;
    const int64_t columns = (p->width + c->x_shift) >> c->x_shift;
    const int64_t rows = (p->height + c->y_shift) >> c->y_shift, all = 2 * columns;
    char wanted[96];
    snprintf(wanted, sizeof(wanted), v ? "(%lld, %lld)" : "(%lld, %lld, 2) or (%lld, %lld)",
             (long long)rows, (long long)columns, (long long)rows, (long long)all);
    if (v && !is_plane(u, s->dtype, rows, columns, &c->u))
        return refuse_plane(s, u, "U", wanted);
    if (v && !is_plane(v, s->dtype, rows, columns, &c->v))
        return refuse_plane(s, v, "V", wanted);
    if (v || is_pairs(u, s->dtype, rows, columns, c))
        return GR_OK;
    if (!is_plane(u, s->dtype, rows, all, &c->u))
        return refuse_plane(s, u, "UV", wanted);
    c->v = beside(&c->u, c->u.pixel);
    c->u.pixel = c->v.pixel = 2 * c->u.pixel;
    return GR_OK;
}

static gr_status read_yuv(const struct gr_shaped *s, const struct yuv_layout *layout,
                          const struct gr_shaped *u, const struct gr_shaped *v,
                          struct gr_picture *p)
{
    if (!(s->dtype == GR_DTYPE_U8 && layout->narrow) && !(s->dtype == GR_DTYPE_U16 && layout->wide))
        return refuse(s,
                      "NV12, NV16, YUYV and UYVY are uint8, P016 is uint16, and YUV420, YUV422 and "
                      "YUV444 are either.");
    p->is_yuv = true;
    p->depth = 1;
    p->channels = 1;
    p->chroma.x_shift = layout->x_shift;
    p->chroma.y_shift = layout->y_shift;
    if (u) {
        const struct plane plane = find_plane(s, 2);
        if (plane.n != 2)
            return refuse(s, "with `chroma` set, the tensor must be the luma plane, (H, W).");
        take_luma(s, plane.first, s->shape[plane.first], p);
        return read_chroma(s, u, v, p);
    }
    if (layout->is_woven)
        return read_woven(s, p);
    if (s->layout == GR_LAYOUT_YUV444)
        return read_444(s, p);
    if (layout->is_planar)
        return refuse(s, "YUV420 and YUV422 are three tensors: pass Y, U as `chroma` and V as "
                         "`chroma_v`.");
    return read_joined(s, p);
}

gr_status gr_picture_read(const struct gr_shaped *shaped, const struct gr_shaped *u,
                          const struct gr_shaped *v, enum gr_slices slices,
                          struct gr_picture *picture)
{
    struct axes axes = {-1, -1, -1, -1};
    *picture = (struct gr_picture){.dtype = shaped->dtype,
                                   .in_array = shaped->memory == GR_MEMORY_ARRAY,
                                   .base = shaped->base,
                                   .memory = shaped->memory,
                                   .shaped = *shaped};
    for (unsigned i = 0; i < shaped->ndim; i++)
        if (shaped->shape[i] > INT32_MAX)
            return refuse(shaped, "a dimension is too large for a picture.");
    const struct yuv_layout *yuv = yuv_of(shaped->layout);
    GR_REFUSE_IF(
        u && (!yuv || yuv->is_woven || (yuv->is_planar && !v)),
        "%s is set, but %s: set `layout` to %s.", v ? "`chroma_v`" : "`chroma`", GR_PHRASE(picture),
        v ? "GR_LAYOUT_YUV420, GR_LAYOUT_YUV422 or GR_LAYOUT_YUV444"
          : "GR_LAYOUT_NV12, GR_LAYOUT_P016 or GR_LAYOUT_NV16, or pass V as `chroma_v`, too");
    if (yuv && slices == GR_LAYERS)
        return refuse(shaped, "YUV has no layers and no tiles: set `layer` to one of them, and "
                              "`layers` and `columns` to 0.");
    if (yuv)
        return read_yuv(shaped, yuv, u, v, picture);
    GR_TRY(find_axes(shaped, slices, &axes));
    picture->width = extent(shaped, axes.pixel);
    picture->height = extent(shaped, axes.row);
    picture->depth = extent(shaped, axes.slice);
    picture->channels = (unsigned)extent(shaped, axes.channel);
    picture->pixel = stride(shaped, axes.pixel);
    picture->row = stride(shaped, axes.row);
    picture->slice = stride(shaped, axes.slice);
    picture->channel = stride(shaped, axes.channel);
    return GR_OK;
}

gr_status gr_picture_flip(struct gr_picture *p)
{
    struct gr_job_chroma *chroma = &p->chroma;
    GR_REFUSE_IF(p->is_yuv && chroma->y_shift && p->height % 2,
                 "%s with an odd height, %lld: its chroma rows can't be flipped. Omit `flip`, and "
                 "flip the image where it is drawn or written.",
                 GR_SENTENCE(p), (long long)p->height);
    p->base += (uint64_t)((p->height - 1) * p->row);
    p->row = -p->row;
    if (!p->is_yuv)
        return GR_OK;
    const int64_t last = (p->height >> chroma->y_shift) - 1;
    for (int i = 0; i < 2; i++) {
        struct gr_job_plane *plane = i ? &chroma->v : &chroma->u;
        *plane = beside(plane, last * plane->row);
        plane->row = -plane->row;
    }
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
                             .pixel = j->n > 0 ? strides[0] : (int64_t)gr_dtype_size(s->dtype),
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
