/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/arrays/arrays.h"

#include <stdatomic.h>

#include "lib/publish/publish.h"

struct calls {
    gr_status (*prepare)(struct gl_resource *r, const char *call);
    gr_status (*convert)(const struct gl_resource *r, CUdeviceptr linear, size_t count, bool up,
                         CUstream stream);
};
static _Atomic(const struct calls *) calls; /* the linker keeps no kernels for a NULL */

static gr_status prepare(struct gl_resource *r, const char *call)
{
    struct gr_plan plan;
    gr_plan_depth(&plan, 0, r->format->integers, 0, 0, true);
    return gr_launch_prepare(&plan, &r->base.kernels, call);
}

static gr_status convert(const struct gl_resource *r, CUdeviceptr linear, size_t count, bool up,
                         CUstream stream)
{
    struct gr_plan plan;
    gr_plan_depth(&plan, linear, r->format->integers, r->arrays->depth, count, up);
    CUmodule *kernels = &((struct gl_resource *)r)->base.kernels; /* no resource is const */
    return gr_launch_kernel(&plan, kernels, stream, "The copy of depth");
}

void gl_depth_enable(void)
{
    static const struct calls by_kernels = {prepare, convert};
    atomic_store(&calls, &by_kernels);
}

gr_status gl_depth_prepare(struct gl_resource *r, const char *call)
{
    return atomic_load(&calls)->prepare(r, call);
}

gr_status gl_depth_convert(const struct gl_resource *r, CUdeviceptr linear, size_t count, bool up,
                           CUstream stream)
{
    return atomic_load(&calls)->convert(r, linear, count, up, stream);
}
