/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Registers an OpenGL object with CUDA, or reports why this is not possible. */
#include "gl/interop/register.h"

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "gl/context/cuda_device.h"
#include "gl/context/diagnose.h"
#include "gl/interop/interop.h"

static const char *driver_call_of(const struct gl_resource *r)
{
    return r->target ? "cuGraphicsGLRegisterImage" : "cuGraphicsGLRegisterBuffer";
}

static CUresult call_driver(const struct gl_resource *r, unsigned flags, CUgraphicsResource *handle)
{
    const gr_cuda_api *cu = gr_driver();
    return r->target ? cu->GraphicsGLRegisterImage(handle, r->name, r->target->target, flags)
                     : cu->GraphicsGLRegisterBuffer(handle, r->name, flags);
}

static gr_status refuse(const struct gl_resource *r, CUresult code)
{
    char text[620], what[160];
    gl_object_describe(&r->base, what, sizeof(what));
    gl_diagnose(code, text, sizeof(text));
    return gr_fail_cuda(code, driver_call_of(r), "%s was refused. %s", what, text);
}

static gr_status make_side(struct gl_resource *r, unsigned flags, void **handle, const char *call)
{
    CUgraphicsResource registered = NULL;
    if (r->format && r->format->depth)
        return gl_refuse_format(r, call);
    CUresult result = call_driver(r, flags, &registered);
    *handle = registered;
    return result == CUDA_SUCCESS ? GR_OK : refuse(r, result);
}

const struct gl_maker gl_interop_maker = {.buffers = &gl_interop,
                                          .images = &gl_interop,
                                          .find_device = gl_find_drawing_device,
                                          .make_side = make_side};

gr_resource *gl_interop_register(struct gl_resource *r, unsigned flags, const char *call)
{
    return r ? gl_object_finish(r, gl_object_make(r, &gl_interop_maker, flags, call), NULL, call)
             : NULL;
}
