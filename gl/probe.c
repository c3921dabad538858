/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What works between the current OpenGL context and CUDA. Interop is tried with a buffer of a few
 * bytes, since no question to the driver tells all that a registration needs; it ends before the
 * answer is given.
 */
#include <stdio.h>

#include <epoxy/gl.h>

#include "lib/context.h"
#include "lib/driver.h"
#include "lib/error.h"
#include "gl/context_check.h"
#include "gl/copy/texels.h"
#include "gl/cuda_device.h"
#include "gl/diagnose.h"
#include "gl/shared/usable.h"

#define TRIAL_BYTES 16

static CUresult try_to_register(void)
{
    const gr_cuda_api *cu = gr_driver();
    CUgraphicsResource handle;
    GLint before = 0;
    GLuint name = 0;
    glGetIntegerv(GL_COPY_WRITE_BUFFER_BINDING, &before);
    glGenBuffers(1, &name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glBufferData(GL_COPY_WRITE_BUFFER, TRIAL_BYTES, NULL, GL_STATIC_DRAW);
    CUresult result = cu->GraphicsGLRegisterBuffer(&handle, name, GR_READ_WRITE);
    if (result == CUDA_SUCCESS)
        result = cu->GraphicsUnregisterResource(handle);
    glBindBuffer(GL_COPY_WRITE_BUFFER, (GLuint)before);
    glDeleteBuffers(1, &name);
    return result;
}

static void probe_interop(gr_transport_info *report)
{
    CUresult result = try_to_register();
    const char *code = NULL;
    CUdevice device;
    char *text = report->reason;
    size_t size = sizeof(report->reason), length;
    report->transport = GR_TRANSPORT_INTEROP;
    report->usable = result == CUDA_SUCCESS;
    if (report->usable) {
        length = (size_t)snprintf(text, size, "CUDA can register OpenGL's buffers: ");
        gl_diagnose_who(text + length, size - length);
        return;
    }
    gr_driver()->GetErrorName(result, &code);
    bool named = gr_driver()->CtxGetDevice(&device) == CUDA_SUCCESS && gl_draws_on(device);
    length = (size_t)snprintf(text, size, "CUDA cannot register a buffer (%.60s%s). ",
                              code ? code : "unknown error",
                              named ? "" : ", and cuGLGetDevices does not name its device");
    gl_diagnose(result, text + length, size - length);
}

static void probe_copy(gr_transport_info *report)
{
    bool renderbuffers = gl_transfer_can(gl_target_of(GL_RENDERBUFFER));
    report->transport = GR_TRANSPORT_COPY;
    report->usable = true;
    snprintf(
        report->reason, sizeof(report->reason),
        "Works between any OpenGL and any CUDA device. Its price: a map, unless write_discard, "
        "and a release, unless read_only, move all bytes through pinned host memory, and the "
        "thread waits for OpenGL and for the stream.%s",
        renderbuffers ? "" : " Renderbuffers would need OpenGL 4.3 or GL_ARB_copy_image.");
}

gr_status gr_gl_probe(gr_transport_info reports[3])
{
    struct gl_context gl;
    struct gr_context context;
    bool pushed;
    if (!reports)
        return gr_fail(GR_ERR_INVALID_VALUE, __func__, "`reports` is NULL: there is no place.");
    gr_status status = gl_context_begin(&gl, "is to be asked", __func__);
    if (status == GR_OK)
        status = gr_context_choose(&context, gl_find_nearest_device, __func__);
    if (status != GR_OK)
        return status;
    status = gr_context_enter(&context, &pushed, __func__);
    if (status == GR_OK) {
        probe_interop(&reports[0]);
        reports[1].transport = GR_TRANSPORT_SHARED;
        reports[1].usable = gl_shared_usable(reports[1].reason, sizeof(reports[1].reason)) == GR_OK;
        probe_copy(&reports[2]);
        gr_context_leave(pushed);
    }
    gr_context_drop(&context);
    return status;
}
