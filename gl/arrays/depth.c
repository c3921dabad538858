/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/arrays/arrays.h"

#include <stdatomic.h>

#include "lib/publish/publish.h"

typedef gr_status prepare_function(struct gl_resource *r, struct gl_arrays *arrays);
static _Atomic(prepare_function *) enabled; /* the linker keeps no kernels for a NULL */

static gr_status convert(const struct gl_resource *r, CUdeviceptr linear, size_t count, bool up,
                         CUstream stream)
{
    struct gr_plan plan;
    gr_plan_depth(&plan, linear, r->format->integers, r->arrays->depth, count, up);
    CUmodule *kernels = &((struct gl_resource *)r)->base.kernels; /* no resource is const */
    return gr_launch_kernel(&plan, kernels, stream);
}

static gr_status prepare(struct gl_resource *r, struct gl_arrays *arrays)
{
    struct gr_plan plan;
    gr_plan_depth(&plan, 0, r->format->integers, 0, 0, true);
    arrays->convert_depth = convert;
    return gr_launch_prepare(&plan, &r->base.kernels);
}

void gl_depth_enable(void)
{
    atomic_store(&enabled, prepare);
}

gr_status gl_depth_prepare(struct gl_resource *r, struct gl_arrays *arrays)
{
    return atomic_load(&enabled)(r, arrays);
}
