/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shapes and strides. Sums and products are checked for overflow: the values are untrusted. */
#include "lib/base/compiler.h"
#include "lib/tensor/tensor.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/error.h"

struct gr_shape_text gr_shape_format(unsigned ndim, const int64_t *shape)
{
    struct gr_shape_text made = {"("};
    size_t used = 1;
    for (unsigned i = 0; i < ndim && i < GR_TENSOR_DIMS; i++)
        used += (size_t)snprintf(made.text + used, sizeof(made.text) - used, "%s%lld",
                                 i ? ", " : "", (long long)shape[i]);
    snprintf(made.text + used, sizeof(made.text) - used, "%s)", ndim == 1 ? "," : "");
    return made;
}

static gr_status check_fields(const gr_tensor_desc *desc)
{
    GR_REFUSE_IF((unsigned)desc->dtype < GR_DTYPE_U8 || (unsigned)desc->dtype > GR_DTYPE_C128,
                 "`dtype` is %d, which is not a gr_dtype: set GR_DTYPE_U8, for example.",
                 (int)desc->dtype);
    GR_REFUSE_IF(desc->ndim > GR_TENSOR_DIMS,
                 "`ndim` is %u, but a tensor has at most %u dimensions: merge some, or drop those "
                 "of size 1.",
                 desc->ndim, GR_TENSOR_DIMS);
    GR_REFUSE_IF(desc->ndim && !desc->shape, "`ndim` is %u, but `shape` is NULL.", desc->ndim);
    GR_REFUSE_IF((unsigned)desc->layout > GR_LAYOUT_UYVY,
                 "`layout` is %d, which is not a gr_layout.", (int)desc->layout);
    GR_REFUSE_IF((unsigned)desc->memory > GR_MEMORY_ARRAY,
                 "`memory` is %d, which is not a gr_memory.", (int)desc->memory);
    for (unsigned i = 0; i < desc->ndim; i++)
        GR_REFUSE_IF(desc->shape[i] < 0,
                     "Dimension %u of the shape %s is negative: pass 0 or more.", i,
                     gr_shape_format(desc->ndim, desc->shape).text);
    return GR_OK;
}

static gr_status refuse_large(unsigned ndim, const int64_t *shape, const char *what)
{
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The shape %s%s is larger than any memory: its size does not fit in 62 bits.",
                   gr_shape_format(ndim, shape).text, what);
}

void gr_shape_compact(unsigned ndim, const int64_t *shape, size_t element, int64_t *strides)
{
    int64_t stride = (int64_t)element;
    for (unsigned i = ndim; i-- > 0;) {
        strides[i] = stride;
        stride *= shape[i] > 1 ? shape[i] : 1;
    }
}

/*
 * Counts the bytes of all elements. In the overflow check an extent of 0 counts as 1, as in the
 * strides of a compact tensor.
 */
static bool count_bytes(struct gr_shape *s, size_t element)
{
    int64_t bytes = (int64_t)element;
    bool empty = false;
    for (unsigned i = 0; i < s->ndim; i++) {
        empty = empty || !s->shape[i];
        if (GR_MUL_OVERFLOWS(bytes, s->shape[i] ? s->shape[i] : 1, &bytes))
            return false;
    }
    s->bytes = empty ? 0 : (size_t)bytes;
    return s->bytes == (empty ? 0u : (uint64_t)bytes);
}

/* Computes the range of bytes before element 0, and from element 0 on. */
static bool find_span(struct gr_shape *s, size_t element)
{
    int64_t before = 0, after = (int64_t)element, way;
    s->before = s->span = 0;
    for (unsigned i = 0; i < s->ndim && s->bytes; i++) {
        if (GR_MUL_OVERFLOWS(s->shape[i] - 1, s->strides[i], &way))
            return false;
        if (way < 0 ? GR_SUB_OVERFLOWS(before, way, &before) : GR_ADD_OVERFLOWS(after, way, &after))
            return false;
    }
    if (!s->bytes)
        return true;
    if (GR_ADD_OVERFLOWS(before, after, &way) || way > INT64_MAX / 2)
        return false; /* the limit makes sure that no dimension times its stride overflows */
    s->before = (size_t)before;
    s->span = (size_t)way;
    return s->before == (uint64_t)before && s->span == (uint64_t)way;
}

gr_status gr_shape_init(struct gr_shape *s, const gr_tensor_desc *desc)
{
    int64_t packed[GR_TENSOR_DIMS];
    GR_TRY(check_fields(desc));
    size_t element = gr_dtype_size(desc->dtype);
    *s = (struct gr_shape){.ndim = desc->ndim};
    for (unsigned i = 0; i < s->ndim; i++)
        s->shape[i] = desc->shape[i];
    if (!count_bytes(s, element))
        return refuse_large(s->ndim, s->shape, "");
    gr_shape_compact(s->ndim, s->shape, element, packed);
    memcpy(s->strides, desc->strides ? desc->strides : packed, s->ndim * sizeof(*packed));
    if (!find_span(s, element))
        return refuse_large(s->ndim, s->shape, " with these strides");
    s->compact = true;
    for (unsigned i = 0; i < s->ndim && s->bytes; i++)
        s->compact = s->compact && (s->shape[i] <= 1 || s->strides[i] == packed[i]);
    return GR_OK;
}

gr_status gr_shape_check_room(const struct gr_shape *s, size_t offset, size_t room,
                              const char *what)
{
    if (offset >= s->before && offset - s->before <= room && s->span <= room - offset + s->before)
        return GR_OK;
    struct gr_shape_text strides = gr_shape_format(s->ndim, s->strides);
    GR_REFUSE_IF(!s->before,
                 "The shape %s with strides of %s bytes does not fit in the %s, which has %zu "
                 "byte%s: the shape needs %zu from byte %zu on. Pass a smaller shape, smaller "
                 "strides or a smaller offset.",
                 gr_shape_format(s->ndim, s->shape).text, strides.text, what, room, gr_s(room),
                 s->span, offset);
    return gr_fail(
        GR_ERR_INVALID_VALUE,
        "The shape %s with strides of %s bytes does not fit in the %s, which has %zu byte%s: "
        "element 0 is at byte %zu, and the shape spans %zu byte%s before it and %zu from there on. "
        "Pass a smaller shape, smaller strides or another offset.",
        gr_shape_format(s->ndim, s->shape).text, strides.text, what, room, gr_s(room), offset,
        s->before, gr_s(s->before), s->span - s->before);
}

/*
 * Checks the dimensions in order of increasing stride: each stride must be at least the span of all
 * dimensions with smaller strides.
 */
bool gr_shape_is_disjoint(const struct gr_shape *s, size_t element)
{
    bool used[GR_TENSOR_DIMS] = {false};
    uint64_t reach = element;
    if (!s->bytes)
        return true;
    for (unsigned n = 0; n < s->ndim; n++) {
        unsigned least = s->ndim;
        uint64_t least_step = 0;
        for (unsigned i = 0; i < s->ndim; i++) {
            uint64_t bits = (uint64_t)s->strides[i], step = s->strides[i] < 0 ? 0 - bits : bits;
            if (!used[i] && s->shape[i] > 1 && (least == s->ndim || step < least_step)) {
                least = i;
                least_step = step;
            }
        }
        if (least == s->ndim)
            return true;
        if (least_step < reach)
            return false;
        used[least] = true;
        reach += least_step * (uint64_t)(s->shape[least] - 1);
    }
    return true;
}
