/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Plans the conversion from one picture to the other, and selects the kernel. */
#include "lib/publish/publish.h"

#include <string.h>

#include "lib/base/error.h"

#define MOST_SLICES 65535 /* the maximum number of blocks of a launch along z */

/* ---- Types ----------------------------------------------------------------------------------- */

/* Returns the element type; GR_JOB_U8 for a type that no kernel converts. */
static uint32_t element_of(gr_dtype dtype)
{
    static const unsigned char elements[] = {
#define ELEMENT(constant, kernel, size, name, typestr, code)                                       \
    [GR_DTYPE_##constant] = GR_JOB_##constant,
        GR_CONVERTED_TYPES(ELEMENT)};
#undef ELEMENT
    return (size_t)dtype < sizeof(elements) ? elements[dtype] : GR_JOB_U8;
}

static bool has_kernels(gr_dtype dtype)
{
    return dtype == GR_DTYPE_U8 || element_of(dtype) != GR_JOB_U8;
}

/* The range of an integer type. Doubles represent the ends of 64 bits as the next power of two. */
struct range {
    double least, most;
};

static struct range range_of(gr_dtype dtype)
{
    switch (dtype) {
    case GR_DTYPE_BOOL:
        return (struct range){0, 1};
    case GR_DTYPE_I8:
        return (struct range){INT8_MIN, INT8_MAX};
    case GR_DTYPE_I16:
        return (struct range){INT16_MIN, INT16_MAX};
    case GR_DTYPE_I32:
        return (struct range){INT32_MIN, INT32_MAX};
    case GR_DTYPE_I64:
        return (struct range){-0x1p63, 0x1p63};
    case GR_DTYPE_U16:
        return (struct range){0, UINT16_MAX};
    case GR_DTYPE_U32:
        return (struct range){0, UINT32_MAX};
    case GR_DTYPE_U64:
        return (struct range){0, 0x1p64};
    default:
        return (struct range){0, UINT8_MAX};
    }
}

/* Returns the integer that means 1. */
static float unit_of(const struct gr_picture *p)
{
    const bool whole =
        p->is_number || gr_dtype_is_float(p->dtype) || element_of(p->dtype) >= GR_JOB_U32;
    return whole ? 1 : (float)range_of(p->dtype).most;
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/*
 * Converts to a half-precision float: rounds to nearest, ties to even; values that are too large
 * become infinite.
 */
static uint32_t half_bits(float value)
{
    const uint32_t all = float_bits(value), sign = all >> 16 & 0x8000u, rest = all & 0x7fffffffu;
    if (rest > 0x7f800000u)
        return 0x7fff;
    if (rest >= 0x477ff000u)
        return sign | 0x7c00u;
    if (rest < 0x38800000u)
        return sign | (float_bits((value < 0 ? -value : value) + 0.5f) - 0x3f000000u);
    return sign | ((rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13);
}

/* Rounds to the nearest integer of the type, ties to even; a NaN becomes 0. */
static uint64_t integer_bits(gr_dtype dtype, double value)
{
    const struct range range = range_of(dtype);
    if (dtype == GR_DTYPE_BOOL)
        return value < 0 || value > 0;
    if (value >= range.most)
        return dtype == GR_DTYPE_U64   ? UINT64_MAX
               : dtype == GR_DTYPE_I64 ? INT64_MAX
                                       : (uint64_t)range.most;
    if (value >= 0x1p63)
        return (uint64_t)value;
    if (!(value > range.least))
        return value < 0 ? (uint64_t)(int64_t)range.least : 0;
    const bool whole = value > 0x1p51 || value < -0x1p51;
    return (uint64_t)(int64_t)(whole ? value : value + 0x1.8p52 - 0x1.8p52);
}

/* Returns the bits of a value, for kernels that copy bits. */
static uint64_t raw_of(const struct gr_picture *p, double value)
{
    uint64_t bits;
    const float narrow = (float)value;
    switch (p->dtype) {
    case GR_DTYPE_F16:
        return half_bits(narrow);
    case GR_DTYPE_BF16:
        return (float_bits(narrow) + 0x7fffu + (float_bits(narrow) >> 16 & 1u)) >> 16;
    case GR_DTYPE_F32:
        return float_bits(narrow);
    case GR_DTYPE_F64:
        memcpy(&bits, &value, sizeof(bits));
        return bits;
    default:
        return integer_bits(p->dtype, value * unit_of(p));
    }
}

/* ---- Compatibility --------------------------------------------------------------------------- */

static unsigned channels_of(const struct gr_picture *p)
{
    return p->is_yuv ? 3 : p->channels;
}

static gr_status refuse_types(const struct gr_picture *from, const struct gr_picture *to)
{
    return gr_fail(GR_ERR_UNSUPPORTED, "%s, and %s: %s", GR_SENTENCE(from), GR_PHRASE(to),
                   from->is_yuv && to->packed
                       ? "YUV is not converted to packed texels. Publish RGB."
                   : from->is_yuv || to->is_yuv
                       ? "YUV is converted from and to uint8, uint16, float16, bfloat16 and "
                         "float32 only."
                       : "complex numbers are only copied unchanged. Use tensors of real "
                         "numbers, with a dimension of 2.");
}

static gr_status check_shapes(const struct gr_picture *from, const struct gr_picture *to)
{
    /* the height of a picture with stacked planes is not a dimension of its shape */
    const bool tiles = from->columns || to->columns; /* whose extents were checked */
    GR_REFUSE_IF(
        !tiles &&
            (from->width != to->width || from->height != to->height || from->depth != to->depth),
        "%s, and %s: widths, heights and depths or layers must be equal, but are %lld x %lld x "
        "%lld and %lld x %lld x %lld. Choose %s, a view of a part, or a `layout` if the dimensions "
        "have another meaning.",
        GR_SENTENCE(from), GR_PHRASE(to), (long long)from->width, (long long)from->height,
        (long long)from->depth, (long long)to->width, (long long)to->height, (long long)to->depth,
        from->in_array || to->in_array   ? "a rectangle, another level, `layers`, `z` and `depth`"
        : from->is_image || to->is_image ? "a rectangle"
                                         : "another shape of `target`");
    const unsigned a = channels_of(from), b = channels_of(to);
    if (a == b || (a == 3 && b == 4) || (a == 4 && b == 3) || (a == 1 && b >= 3))
        return GR_OK;
    if (!has_kernels(from->dtype) || !has_kernels(to->dtype))
        return refuse_types(from, to);
    return gr_fail(GR_ERR_INVALID_VALUE, "%s, and %s: their channels don't match: %s",
                   GR_SENTENCE(from), GR_PHRASE(to),
                   from->is_yuv || to->is_yuv
                       ? "YUV is converted from and to 3 or 4 channels. To copy each plane "
                         "unchanged, give it an image of its own, with 1 channel for Y, U or V "
                         "and 2 for pairs of U and V, and omit `layout`."
                       : "1 can become 1, 3 or 4; 2 stays 2; 3 and 4 can become 3 or 4. For YUV "
                         "set `layout`, such as GR_LAYOUT_YUYV.");
}

/* Refuses elements that share bytes. */
static gr_status check_target(const struct gr_picture *to)
{
    const struct gr_job_chroma *c = &to->chroma;
    const bool one_column = to->width <= 1 << c->x_shift, one_row = to->height <= 1 << c->y_shift;
    if (!to->in_array && ((!to->pixel && to->width != 1) || (!to->row && to->height != 1) ||
                          (!to->slice && to->depth != 1) || (!to->channel && to->channels != 1)))
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "%s, but a stride of it is 0: its elements share bytes.", GR_SENTENCE(to));
    if (!to->is_yuv || ((one_column || (c->u.pixel && c->v.pixel)) &&
                        (one_row || (c->u.row && c->v.row)) && c->u.base != c->v.base))
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "%s, but U and V share bytes, or a stride of a chroma plane is 0: pass planes "
                   "of their own.",
                   GR_SENTENCE(to));
}

static gr_status check_bits(const struct gr_picture *p, const gr_publish_options *o)
{
    const unsigned bits = o->bits, most = 8 * (unsigned)gr_dtype_size(p->dtype);
    if (!bits)
        return !o->high_bits ? GR_OK
                             : gr_fail(GR_ERR_INVALID_VALUE,
                                       "`high_bits` is set, but `bits` is 0: set `bits` to the "
                                       "number of high bits, such as 10 for P010.");
    GR_REFUSE_IF(!p->is_yuv,
                 "`bits` is set, but %s: `bits` is for YUV. Set `scale` for other values.",
                 GR_PHRASE(p));
    GR_REFUSE_IF(most == 8 && bits != 8,
                 "`bits` is %u, but %s: leave `bits` 0. More than 8 bits need uint16.", bits,
                 GR_PHRASE(p));
    GR_REFUSE_IF(bits < 8 || bits > most, "`bits` is %u, but %s: set 8 to 16, or 0 for 16.", bits,
                 GR_PHRASE(p));
    if (p->shaped.layout != GR_LAYOUT_P016 || bits == most || o->high_bits || o->chroma_v)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "`bits` is %u, but %s, which has its values in the high bits: set `high_bits`, "
                   "too. For values in the low bits use GR_LAYOUT_YUV420, with U and V in two "
                   "tensors.",
                   bits, GR_PHRASE(p));
}

/* Whether integers are fractions of the largest one, or the colours of packed pixels. */
static bool is_fraction(const struct gr_picture *p)
{
    return p->is_yuv || p->packed || unit_of(p) > 1;
}

static gr_status check_options(const struct gr_picture *from, const struct gr_picture *to,
                               const gr_publish_options *o, bool fetch)
{
    const struct gr_picture *tensor = fetch ? to : from, *yuv = to->is_yuv ? to : from;
    const struct gr_picture *other = to->is_yuv ? from : to;
    if (from->is_yuv && to->is_yuv)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "%s, and %s: YUV is converted from and to RGB only. Describe one side as "
                       "RGB, or both in the same layout.",
                       GR_SENTENCE(from), GR_PHRASE(to));
    GR_REFUSE_IF(o->bgr && channels_of(tensor) < 3,
                 "`bgr` is set, but %s: `bgr` requires 3 or 4 channels.", GR_PHRASE(tensor));
    GR_REFUSE_IF(o->srgb && (from->is_number || to->is_number),
                 "`srgb` is set, but the image is read as integers, which are not colours.");
    GR_REFUSE_IF(yuv->is_yuv && other->is_number,
                 "%s, and %s, which is read as integers: YUV can only be converted %s colours from "
                 "0 to 1, which are floats.",
                 GR_SENTENCE(yuv), GR_PHRASE(other), to->is_yuv ? "from" : "to");
    if (!o->scale && !o->scale_f64 && from->dtype != to->dtype &&
        ((gr_dtype_is_number(from->dtype) && is_fraction(to)) ||
         (gr_dtype_is_number(to->dtype) && is_fraction(from))))
        return gr_fail(
            GR_ERR_INVALID_VALUE,
            "%s, and %s, whose values are %s: set `scale` to convert integers "
            "of 32 and 64 bits, such as %s for values from 0 to 255.%s",
            GR_SENTENCE(tensor), GR_PHRASE(fetch ? from : to),
            from->packed || to->packed ? "floats" : "from 0 to 1", fetch ? "255" : "1.0 / 255",
            from->packed || to->packed ? " For packed texels as integers use gr_map_linear()."
                                       : "");
    GR_REFUSE_IF((unsigned)o->matrix > GR_YUV_BT2020,
                 "`matrix` is %d, which is not a gr_yuv_matrix.", (int)o->matrix);
    GR_REFUSE_IF((unsigned)o->chroma_position > GR_CHROMA_TOP_LEFT,
                 "`chroma_position` is %d, which is not a gr_chroma_position.",
                 (int)o->chroma_position);
    GR_REFUSE_IF(o->chroma_position && !to->is_yuv,
                 "`chroma_position` is %s, but %s: it is for conversions to YUV. Omit it.",
                 o->chroma_position == GR_CHROMA_LEFT ? "GR_CHROMA_LEFT" : "GR_CHROMA_TOP_LEFT",
                 GR_PHRASE(to));
    return o->bits || o->high_bits ? check_bits(yuv, o) : GR_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Returns number i of an option that has floats, doubles or neither. */
static double number_of(const float *narrow, const double *wide, int i, double absent)
{
    return wide ? wide[i] : narrow ? (double)narrow[i] : absent;
}

static void fill_scale(struct gr_job *job, const gr_publish_options *o, bool fetch)
{
    const int channels = job->steps & GR_JOB_OPAQUE ? 3 : 4;
    job->steps |= GR_JOB_SCALE;
    job->scale_f64[3] = 1;
    for (int i = 0; i < channels; i++) {
        /* the options have the channels of the image; a fetch needs those of the tensor */
        const int of = !fetch || i == 3           ? i
                       : job->steps & GR_JOB_GREY ? 0
                       : job->steps & GR_JOB_SWAP ? 2 - i
                                                  : i;
        job->scale_f64[i] = number_of(o->scale, o->scale_f64, of, 1);
        job->bias_f64[i] = number_of(o->bias, o->bias_f64, of, 0);
    }
    for (int i = 0; i < 4; i++) {
        job->scale[i] = (float)job->scale_f64[i];
        job->bias[i] = (float)job->bias_f64[i];
    }
}

static void fill_steps(struct gr_job *job, const struct gr_picture *from,
                       const struct gr_picture *to, const gr_publish_options *o, bool fetch)
{
    const unsigned a = channels_of(from), b = channels_of(to);
    if (a == 1 && b >= 3)
        job->steps |= GR_JOB_GREY;
    if (a < 4 && b == 4)
        job->steps |= GR_JOB_OPAQUE;
    if (o->bgr)
        job->steps |= GR_JOB_SWAP;
    if (o->srgb)
        job->steps |= fetch ? GR_JOB_DECODE : GR_JOB_ENCODE;
    job->alpha_f64 = number_of(o->alpha, o->alpha_f64, 0, 1);
    job->alpha = (float)job->alpha_f64;
    if (o->scale || o->scale_f64 || o->bias || o->bias_f64)
        fill_scale(job, o, fetch);
}

/* ---- Memory layout --------------------------------------------------------------------------- */

/* Whether address and strides are multiples of `to`, a power of two. */
static bool aligned(const struct gr_job_side *side, size_t to)
{
    const uint64_t all = side->base | (uint64_t)side->row | (uint64_t)side->slice |
                         (uint64_t)(side->across * side->pixel);
    return all % to == 0;
}

/* Returns the width in bytes of the widest load for four pixels of this size. */
static size_t width_of_load(size_t bytes)
{
    return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4;
}

static enum gr_job_access access_of(const struct gr_job_side *side)
{
    const int64_t element = side->bytes, channels = side->channels;
    if (side->pixel == channels * element && (channels == 1 || side->channel == element))
        return aligned(side, width_of_load(GR_JOB_PIXELS * (size_t)side->pixel)) ? GR_JOB_PACKED
                                                                                 : GR_JOB_STRIDED;
    if (side->pixel == element && aligned(side, width_of_load(GR_JOB_PIXELS * (size_t)element)) &&
        (uint64_t)side->channel % width_of_load(GR_JOB_PIXELS * (size_t)element) == 0)
        return GR_JOB_PLANAR;
    return GR_JOB_STRIDED;
}

/* Larger elements are copied in `parts` of 4 bytes. */
static void fill_side(struct gr_job_side *side, const struct gr_picture *p,
                      const struct gr_picture *other, bool flip, bool parts)
{
    const size_t size = gr_dtype_size(p->dtype);
    const struct range range = range_of(p->dtype);
    const float unit = unit_of(p);
    *side = (struct gr_job_side){.base = p->base,
                                 .pixel = p->pixel,
                                 .row = p->height > 1 ? p->row : 0,
                                 .slice = p->depth > 1 ? p->slice : 0,
                                 .channel = p->channel,
                                 .element = element_of(p->dtype),
                                 .bytes = (uint32_t)size,
                                 .channels = p->channels,
                                 .unit = unit,
                                 .highest = (float)range.most / unit};
    if (size <= 2) {
        side->least = (int32_t)(p->is_number || range.least == 0 ? range.least : -range.most);
        side->most = (int32_t)range.most;
        side->lowest = (float)side->least / unit;
        side->sign = range.least < 0 ? (uint32_t)range.most + 1 : 0;
    }
    if (p->packed) {
        side->element = p->packed;
        side->bytes = (uint32_t)p->pixel;
        side->channels = 1;
    }
    if (parts && size > 4) {
        side->bytes = 4;
        side->channels = (uint32_t)(size / 4);
        side->channel = 4;
    }
    if (p->columns) {
        side->columns = p->columns;
        side->across = (int32_t)other->width;
        side->down = (int32_t)(flip ? -other->height : other->height);
        side->first = (int32_t)(flip ? p->height - other->height : 0);
    }
    side->access = p->in_array ? GR_JOB_STRIDED : access_of(side);
}

void gr_plan_use_surface(struct gr_job_side *side, CUsurfObject surface, enum gr_job_place place,
                         unsigned layer, const struct gr_picture *picture)
{
    const size_t wide = width_of_load(GR_JOB_PIXELS * (size_t)picture->pixel);
    side->base = surface;
    side->place = place;
    side->layer = layer;
    side->left = (int32_t)(picture->x * picture->pixel);
    side->top = (int32_t)picture->y;
    const size_t lefts = (size_t)side->left | (size_t)(side->across * picture->pixel);
    side->access = place == GR_JOB_SURFACE && lefts % wide == 0 ? GR_JOB_PACKED : GR_JOB_STRIDED;
}

void gr_plan_use_memory(struct gr_job_side *side, CUdeviceptr memory, size_t pitch, size_t slice)
{
    side->base = memory;
    side->pixel = (int64_t)(side->bytes * side->channels);
    side->channel = side->bytes;
    side->row = (int64_t)pitch;
    side->slice = (int64_t)slice;
    side->access = access_of(side);
}

/* ---- The plan -------------------------------------------------------------------------------- */

/*
 * Whether the driver can copy the picture: its pixels must be packed, its rows must have a constant
 * pitch, and its slices must consist of whole rows.
 */
static bool is_copyable(const struct gr_picture *p)
{
    const int64_t size = (int64_t)gr_dtype_size(p->dtype), pixel = size * p->channels;
    if (p->in_array)
        return true;
    if ((p->channels > 1 && p->channel != size) || (p->width > 1 && p->pixel != pixel))
        return false;
    if (p->height > 1 && p->row < pixel * p->width)
        return false;
    const int64_t row = p->height > 1 ? p->row : pixel * p->width;
    return p->depth == 1 || (p->slice >= row * p->height && p->slice % row == 0);
}

/* Treats rows without gaps between them as one long row. */
static void join_rows(struct gr_job *job)
{
    if (job->height < 2 || job->depth > 1 || (uint64_t)job->width * job->height > INT32_MAX ||
        job->from.row != job->from.pixel * (int64_t)job->width ||
        job->to.row != job->to.pixel * (int64_t)job->width)
        return;
    job->width *= job->height;
    job->height = 1;
    job->from.row = job->to.row = 0;
    job->from.access = access_of(&job->from);
    job->to.access = access_of(&job->to);
}

/*
 * Whether elements, or their parts of 4 bytes, are aligned: GPUs can load an element only from a
 * multiple of its size.
 */
static bool is_aligned(const struct gr_picture *p, bool parts)
{
    const struct gr_job_chroma *c = &p->chroma;
    const size_t whole = gr_dtype_size(p->dtype), size = parts && whole > 4 ? 4 : whole;
    uint64_t all = p->base | (uint64_t)p->pixel;
    if (p->channels > 1)
        all |= (uint64_t)p->channel;
    if (p->height > 1)
        all |= (uint64_t)p->row;
    if (p->depth > 1)
        all |= (uint64_t)p->slice;
    if (p->is_yuv)
        all |= c->u.base | (uint64_t)c->u.pixel | (uint64_t)c->u.row | c->v.base |
               (uint64_t)c->v.pixel | (uint64_t)c->v.row;
    return p->in_array || all % size == 0;
}

static gr_status check_reach(const struct gr_picture *p, bool parts)
{
    /* the copy of host memory or an array on the device is aligned */
    if (p->memory != GR_MEMORY_HOST && p->memory != GR_MEMORY_ARRAY && !is_aligned(p, parts))
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "%s. Kernels require an address and strides that are multiples of the "
                       "element size: make a compact copy.",
                       GR_SENTENCE(p));
    if (p->width > INT32_MAX || p->height > INT32_MAX || p->depth > MOST_SLICES)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "%s, which is too large for one kernel: it converts up to %d slices, layers "
                       "or tiles. Convert a part at a time.",
                       GR_SENTENCE(p), MOST_SLICES);
    return GR_OK;
}

static enum gr_kernel choose_kernel(const struct gr_job *job, const struct gr_picture *from,
                                    const struct gr_picture *to, bool same)
{
    const unsigned bytes = job->from.bytes;
    uint32_t element = job->from.element;
    if (to->is_yuv)
        return bytes == 1   ? GR_KERNEL_TO_YUV_1
               : bytes == 2 ? GR_KERNEL_TO_YUV_2
                            : GR_KERNEL_TO_YUV_4;
    if (from->is_yuv)
        return from->dtype == GR_DTYPE_U8 ? GR_KERNEL_YUV_U8 : GR_KERNEL_YUV_U16;
    if (same)
        return bytes == 1   ? GR_KERNEL_MOVE_1
               : bytes == 2 ? GR_KERNEL_MOVE_2
               : bytes == 4 ? GR_KERNEL_MOVE_4
                            : GR_KERNEL_MOVE_8;
    if (element >= GR_JOB_U32 || job->to.element >= GR_JOB_U32)
        return GR_KERNEL_WIDE;
    if (element >= GR_JOB_I8)
        element = element == GR_JOB_I16 ? GR_JOB_U16 : GR_JOB_U8;
    return (enum gr_kernel)(GR_KERNEL_CONVERT + element);
}

static gr_status plan_kernel(const struct gr_picture *from, const struct gr_picture *to, bool same,
                             const gr_publish_options *o, struct gr_plan *plan)
{
    struct gr_job *job = &plan->job;
    const bool is_yuv = from->is_yuv || to->is_yuv;
    const bool known = has_kernels(from->dtype) && has_kernels(to->dtype) &&
                       !(is_yuv && element_of((to->is_yuv ? from : to)->dtype) > GR_JOB_D24) &&
                       !(from->is_yuv && to->packed);
    const bool elements = same && from->channels == 1 && to->channels == 1;
    if (!known && !elements)
        return refuse_types(from, to);
    GR_TRY(check_reach(from, elements));
    GR_TRY(check_reach(to, elements));
    fill_side(&job->from, from, to, o->flip, elements);
    fill_side(&job->to, to, from, o->flip, elements);
    if (is_yuv)
        gr_yuv_plan(job, to->is_yuv ? to : from, to->is_yuv, o);
    job->raw_fill = raw_of(to, job->alpha_f64);
    const struct gr_picture *all = from->columns ? to : from;
    job->width = (uint32_t)all->width;
    job->height = (uint32_t)all->height;
    job->depth = (uint32_t)all->depth;
    if (!is_yuv && !from->in_array && !to->in_array)
        join_rows(job);
    plan->kernel = choose_kernel(job, from, to, same);
    return GR_OK;
}

gr_status gr_plan_make(const struct gr_picture *from, const struct gr_picture *to,
                       const gr_publish_options *options, const struct gr_job_distance *distance,
                       bool fetch, struct gr_plan *plan)
{
    *plan = (struct gr_plan){.copies = false};
    GR_TRY(check_options(from, to, options, fetch));
    GR_TRY(check_shapes(from, to));
    fill_steps(&plan->job, from, to, options, fetch);
    if (distance) {
        plan->job.steps |= GR_JOB_DISTANCE;
        plan->job.distance = *distance;
    }
    plan->bytes = (uint64_t)to->width * (uint64_t)to->height * (uint64_t)to->depth * to->channels *
                  gr_dtype_size(to->dtype);
    if (plan->bytes == 0)
        return GR_OK;
    GR_TRY(check_target(to));
    const uint32_t values = GR_JOB_DECODE | GR_JOB_DISTANCE | GR_JOB_SCALE | GR_JOB_ENCODE;
    const bool same = from->dtype == to->dtype && !from->is_yuv && !to->is_yuv && !from->packed &&
                      !to->packed && !(plan->job.steps & values);
    plan->copies = same && !plan->job.steps && from->channels == to->channels && !from->columns &&
                   !to->columns && is_copyable(from) && is_copyable(to);
    if (plan->copies)
        return GR_OK;
    return plan_kernel(from, to, same, options, plan);
}

void gr_plan_depth(struct gr_plan *plan, CUdeviceptr integers, unsigned bytes, CUdeviceptr floats,
                   size_t count, bool to_floats)
{
    struct gr_job_side depth = {.element = bytes == 2 ? GR_JOB_U16 : GR_JOB_D24,
                                .bytes = bytes,
                                .channels = 1,
                                .unit = bytes == 2 ? 65535 : 16777215,
                                .highest = 1};
    struct gr_job_side values = {.element = GR_JOB_F32, .bytes = 4, .channels = 1, .unit = 1};
    gr_plan_use_memory(&depth, integers, 0, 0);
    gr_plan_use_memory(&values, floats, 0, 0);
    struct gr_job *job = &plan->job;
    *plan = (struct gr_plan){.job = {.width = (uint32_t)count, .height = 1, .depth = 1}};
    job->from = to_floats ? depth : values;
    job->to = to_floats ? values : depth;
    plan->kernel = (enum gr_kernel)(GR_KERNEL_CONVERT + job->from.element);
}
