/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Divides copies into blocks, each of which the driver copies in one call. */
#include "lib/tensor/copy_plan.h"

/* The maximum pitch that the driver supports: CU_DEVICE_ATTRIBUTE_MAX_PITCH of all devices. */
#define MAX_PITCH ((int64_t)0x7fffffff)

/*
 * Drops dimensions of 1, sorts the other dimensions by decreasing stride of `to`, and makes these
 * strides positive. This is possible because the order in which elements are copied does not
 * matter.
 */
static unsigned sort(struct gr_copy_plan *plan, unsigned ndim, const int64_t *shape,
                     const int64_t *to, const int64_t *from)
{
    unsigned count = 0;
    for (unsigned i = 0; i < ndim; i++) {
        struct gr_copy_dim dim = {shape[i], to[i], from[i]};
        if (dim.n == 1)
            continue;
        if (dim.to < 0) {
            plan->to_first += (dim.n - 1) * dim.to;
            plan->from_first += (dim.n - 1) * dim.from;
            dim.to = -dim.to;
            dim.from = -dim.from;
        }
        unsigned place = count++;
        for (; place > 0 && plan->dims[place - 1].to < dim.to; place--)
            plan->dims[place] = plan->dims[place - 1];
        plan->dims[place] = dim;
    }
    return count;
}

/* Merges adjacent dimensions that are contiguous on both sides. */
static unsigned join(struct gr_copy_dim dims[], unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = 1; i < count; i++) {
        struct gr_copy_dim *outer = &dims[kept];
        const struct gr_copy_dim *inner = &dims[i];
        if (outer->to == inner->n * inner->to && outer->from == inner->n * inner->from)
            *outer = (struct gr_copy_dim){outer->n * inner->n, inner->to, inner->from};
        else
            dims[++kept] = *inner;
    }
    return count ? kept + 1 : 0;
}

static bool can_be_rows(const struct gr_copy_dim *dim, size_t width)
{
    return dim->to >= (int64_t)width && dim->from >= (int64_t)width && dim->to <= MAX_PITCH &&
           dim->from <= MAX_PITCH;
}

/*
 * Whether the dimension can be the slices of a block: the driver counts the distance between slices
 * in rows.
 */
static bool can_be_slices(const struct gr_copy_dim *dim, const struct gr_copy_dim *row)
{
    return dim->to % row->to == 0 && dim->to / row->to >= row->n && dim->from % row->from == 0 &&
           dim->from / row->from >= row->n;
}

void gr_copy_plan_make(struct gr_copy_plan *plan, unsigned ndim, const int64_t *shape,
                       const int64_t *to, const int64_t *from, size_t element)
{
    *plan = (struct gr_copy_plan){.width = element, .rows = 1, .slices = 1};
    unsigned count = sort(plan, ndim, shape, to, from);
    struct gr_copy_dim *dims = plan->dims;
    count = join(dims, count);
    if (count && dims[count - 1].to == (int64_t)element && dims[count - 1].from == (int64_t)element)
        plan->width *= (size_t)dims[--count].n;
    if (count && can_be_rows(&dims[count - 1], plan->width)) {
        plan->row = dims[--count];
        plan->rows = (size_t)plan->row.n;
    }
    if (count && plan->rows > 1 && can_be_slices(&dims[count - 1], &plan->row)) {
        plan->slice = dims[--count];
        plan->slices = (size_t)plan->slice.n;
    }
    plan->outer = count;
}

bool gr_copy_plan_next(const struct gr_copy_plan *plan, int64_t at[GR_TENSOR_DIMS],
                       int64_t *to_offset, int64_t *from_offset)
{
    for (unsigned i = plan->outer; i-- > 0;) {
        const struct gr_copy_dim *dim = &plan->dims[i];
        *to_offset += dim->to;
        *from_offset += dim->from;
        if (++at[i] < dim->n)
            return true;
        *to_offset -= dim->n * dim->to;
        *from_offset -= dim->n * dim->from;
        at[i] = 0;
    }
    return false;
}
