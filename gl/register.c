/* SPDX-License-Identifier: Apache-2.0 */
/* What registering a buffer and registering an image have in common. */
#include "interop.h"

#include <stdio.h>
#include <stdlib.h>

#include "../lib/backend.h"
#include "../lib/driver.h"
#include "../lib/error.h"
#include "../lib/log.h"
#include "diagnose.h"

struct gl_resource *gl_resource_begin(const char *kind, unsigned int name, const char *call)
{
    struct gl_context gl;
    if (!gr_cuda())
        return NULL;
    if (!gl_context_remember(&gl)) {
        gr_fail(
            GR_ERR_GL, call,
            "No OpenGL context is current on this thread. Make current the one that OpenGL %s %u "
            "was made in (gr_egl_create() makes one without a window).",
            kind, name);
        return NULL;
    }
    if (gl.version < 32) {
        gr_fail(GR_ERR_UNSUPPORTED, call,
                "The current context is %s. libgr needs OpenGL 3.2 or newer, as NVIDIA's driver "
                "gives to "
                "every program that asks for it.",
                gl.version ? "an older OpenGL" : "one of OpenGL ES");
        return NULL;
    }
    gl_interop_collect_parked(&gl);
    struct gl_resource *r = calloc(1, sizeof(*r));
    if (!r) {
        gr_fail_memory(call);
        return NULL;
    }
    r->context = gl;
    r->name = name;
    return r;
}

/* The CUDA device that the current OpenGL context draws on. */
static gr_status find_drawing_device(CUdevice *device)
{
    unsigned int count = 0;
    CUresult result = gr_driver()->cuGLGetDevices(&count, device, 1, GR_GL_DEVICE_LIST_ALL);
    if (result == CUDA_SUCCESS && count > 0)
        return GR_OK;
    char text[600];
    gl_diagnose(result, text, sizeof(text));
    return gr_fail_cuda(
        result ? result : CUDA_ERROR_NO_DEVICE, "cuGLGetDevices",
        "No CUDA context is current, and the OpenGL context belongs to no CUDA device. %s", text);
}

static gr_status call_driver(struct gl_resource *r, const struct gr_context *context,
                             unsigned flags,
                             CUresult (*register_it)(const struct gl_resource *r, unsigned flags,
                                                     CUgraphicsResource *handle),
                             CUgraphicsResource *handle, const char *driver_call, const char *call)
{
    bool pushed;
    gr_status status = gr_context_enter(context, &pushed, call);
    if (status != GR_OK)
        return status;
    CUresult result = register_it(r, flags, handle);
    if (result != CUDA_SUCCESS) {
        char text[560], what[160];
        gl_interop.describe(&r->base, what, sizeof(what));
        gl_diagnose(result, text, sizeof(text));
        status = gr_fail_cuda(result, driver_call, "%s was refused. %s", what, text);
    }
    gr_context_leave(pushed);
    return status;
}

gr_resource *gl_resource_register(struct gl_resource *r, unsigned flags,
                                  CUresult (*register_it)(const struct gl_resource *r,
                                                          unsigned flags,
                                                          CUgraphicsResource *handle),
                                  const char *driver_call, const char *call)
{
    struct gr_context context;
    CUgraphicsResource handle = NULL;
    if (gr_context_choose(&context, find_drawing_device, call) == GR_OK) {
        if (call_driver(r, &context, flags, register_it, &handle, driver_call, call) == GR_OK) {
            gr_resource_init(&r->base, &gl_interop, &context, handle, flags);
            if (gr_log_wanted(GR_LOG_DEBUG)) {
                char text[256];
                gr_resource_describe(&r->base, text, sizeof(text));
                gr_log(GR_LOG_DEBUG, "%s: %s", call, text);
            }
            return &r->base;
        }
        gr_context_drop(&context);
    }
    free(r);
    return NULL;
}
