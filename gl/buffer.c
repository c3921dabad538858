/* SPDX-License-Identifier: Apache-2.0 */
/* Resources from OpenGL buffer objects: what is checked before CUDA is asked to register one. */
#include <gr/gl.h>

#include <stdlib.h>

#include <epoxy/gl.h>

#include "../lib/backend.h"
#include "../lib/driver.h"
#include "../lib/error.h"
#include "../lib/flags.h"
#include "../lib/log.h"
#include "diagnose.h"
#include "interop.h"
#include "storage.h"

#define BUFFER_FLAGS (GR_READ_ONLY | GR_WRITE_DISCARD)

static gr_status check_buffer(unsigned int name, size_t *size, const char *call)
{
    if (!glIsBuffer(name))
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "There is no OpenGL buffer %u in the current context: it was deleted, belongs to "
            "another context, or was only named by glGenBuffers and never bound.",
            name);
    *size = gl_buffer_storage(name);
    if (*size == 0)
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "OpenGL buffer %u has no storage. Give it some, by glBufferData or glBufferStorage, "
            "before it is registered.",
            name);
    return GR_OK;
}

/* The CUDA device that the current OpenGL context draws on. */
static gr_status find_drawing_device(CUdevice *device)
{
    unsigned int count = 0;
    const int all_devices =
        1; /* CU_GL_DEVICE_LIST_ALL; its header would drag in an OpenGL header */
    CUresult result = gr_driver()->cuGLGetDevices(&count, device, 1, all_devices);
    if (result == CUDA_SUCCESS && count > 0)
        return GR_OK;
    char text[600];
    gl_diagnose(result, text, sizeof(text));
    return gr_fail_cuda(
        result ? result : CUDA_ERROR_NO_DEVICE, "cuGLGetDevices",
        "No CUDA context is current, and the OpenGL context belongs to no CUDA device. %s", text);
}

static gr_status register_buffer(unsigned int name, unsigned flags,
                                 const struct gr_context *context, CUgraphicsResource *handle,
                                 const char *call)
{
    bool pushed;
    gr_status status = gr_context_enter(context, &pushed, call);
    if (status != GR_OK)
        return status;
    CUresult result = gr_driver()->cuGraphicsGLRegisterBuffer(handle, name, flags);
    if (result != CUDA_SUCCESS) {
        char text[600];
        gl_diagnose(result, text, sizeof(text));
        status = gr_fail_cuda(result, "cuGraphicsGLRegisterBuffer",
                              "OpenGL buffer %u was refused. %s", name, text);
    }
    gr_context_leave(pushed);
    return status;
}

static gr_resource *make_resource(unsigned int name, unsigned flags, const char *call)
{
    struct gl_context gl;
    if (name == 0) {
        gr_fail(GR_ERR_INVALID_VALUE, call, "The OpenGL buffer's name is 0, which is no buffer.");
        return NULL;
    }
    if (gr_flags_check(flags, BUFFER_FLAGS, call) != GR_OK || !gr_cuda())
        return NULL;
    if (!gl_context_remember(&gl)) {
        gr_fail(GR_ERR_GL, call,
                "No OpenGL context is current on this thread. Make current the one that OpenGL "
                "buffer %u was "
                "made in (gr_egl_create() makes one without a window).",
                name);
        return NULL;
    }
    gl_interop_collect_parked(&gl);
    size_t size;
    struct gl_resource *r = calloc(1, sizeof(*r));
    struct gr_context context = {NULL, -1};
    CUgraphicsResource handle = NULL;
    if (!r)
        gr_fail_memory(call);
    else if (check_buffer(name, &size, call) == GR_OK &&
             gr_context_choose(&context, find_drawing_device, call) == GR_OK &&
             register_buffer(name, flags, &context, &handle, call) == GR_OK) {
        gr_resource_init(&r->base, &gl_interop, &context, handle, flags, size);
        r->context = gl;
        r->name = name;
        r->immutable = gl_buffer_is_immutable(name);
        gr_log(GR_LOG_DEBUG, "%s: OpenGL buffer %u, %zu bytes", call, name, size);
        return &r->base;
    }
    gr_context_drop(&context);
    free(r);
    return NULL;
}

gr_resource *gr_from_gl_buffer(unsigned int name, unsigned flags)
{
    return make_resource(name, flags, __func__);
}

gr_buffer *gr_map_gl_buffer(unsigned int name, unsigned flags, CUstream stream)
{
    if (gr_stream_check(stream, false, __func__) != GR_OK)
        return NULL;
    gr_resource *resource = make_resource(name, flags, __func__);
    gr_buffer *buffer = resource ? gr_map(resource, stream) : NULL;
    /* From here on the buffer alone holds the registration; without one it ends at once. */
    gr_resource_free(resource);
    return buffer;
}
