/* SPDX-License-Identifier: Apache-2.0 */
/* Whether OpenGL and CUDA can share storage here, and why not. */
#include "gl/shared/usable.h"

#include <stdio.h>

#include <epoxy/gl.h>

#include "lib/context.h"
#include "lib/device_text.h"
#include "lib/driver.h"
#include "lib/error.h"
#include "gl/context_check.h"
#include "gl/cuda_device.h"
#include "gl/diagnose.h"
#include "gl/saved_state.h"
#include "gl/shared/timeline.h"

#define INSTEAD                                                                                    \
    "Allow GR_TRANSPORT_INTEROP, or GR_TRANSPORT_COPY where another device draws than computes; "  \
    "of GR_TRANSPORT_ANY the best that works is taken."

/* The most CUDA devices that one OpenGL context can belong to (SLI). */
#define DEVICES_MAX 16

static gr_status check_opengl(const struct gl_context *context, const char *call)
{
    const char *memory = epoxy_has_gl_extension("GL_EXT_memory_object") ? "" : "memory_object";
    const char *fd = epoxy_has_gl_extension("GL_EXT_memory_object_fd") ? "" : "memory_object_fd";
    if (context->direct && !*memory && !*fd)
        return GR_OK;
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "OpenGL's storage cannot be shared here: %.120s has no%s%s%s%s%s. " INSTEAD,
                   renderer ? renderer : "this OpenGL", *memory ? " GL_EXT_" : "", memory,
                   *fd ? " GL_EXT_" : "", fd,
                   context->direct ? "" : " GL_ARB_direct_state_access (OpenGL 4.5)");
}

static gr_status check_device(const char *call)
{
    CUdevice drawing[DEVICES_MAX], current = -1;
    unsigned int count = 0;
    const gr_cuda_api *cu = gr_driver();
    CUresult result = cu->GLGetDevices(&count, drawing, DEVICES_MAX, GR_GL_DEVICE_LIST_ALL);
    if (result == CUDA_SUCCESS)
        result = cu->CtxGetDevice(&current);
    for (unsigned int i = 0; result == CUDA_SUCCESS && i < count; i++)
        if (drawing[i] == current)
            return GR_OK;
    char text[620];
    gl_diagnose(result, text, sizeof(text));
    return gr_fail_code(GR_ERR_UNSUPPORTED, GR_DOMAIN_NONE, 0, NULL, call,
                        "OpenGL's storage cannot be shared between two devices. %s", text);
}

static gr_status check_driver(const char *call)
{
    const gr_cuda_api *cu = gr_driver();
    CUdevice device = 0;
    int maps = 0, exports = 0;
    cu->CtxGetDevice(&device);
    cu->DeviceGetAttribute(&maps, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device);
    cu->DeviceGetAttribute(&exports,
                           CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device);
    if (maps && exports)
        return GR_OK;
    char text[200];
    gr_device_text(device, text, sizeof(text));
    return gr_fail(GR_ERR_UNSUPPORTED, call, "%s cannot %s, which sharing needs. " INSTEAD, text,
                   maps ? "export memory as file descriptors" : "map memory that is exported");
}

gr_status gl_shared_check(const struct gl_context *context, const char *call)
{
    gr_status status = check_opengl(context, call);
    if (status == GR_OK)
        status = check_device(call);
    return status == GR_OK ? check_driver(call) : status;
}

static void say_usable(const struct gl_timeline *t, char *reason, size_t size)
{
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    snprintf(reason, size, "%.120s imports CUDA's memory; both wait for each other by %s%s%s%s.",
             renderer ? renderer : "this OpenGL", gl_timeline_text(t), t->why[0] ? " (" : "",
             t->why, t->why[0] ? ")" : "");
}

static gr_status probe(char *reason, size_t size)
{
    struct gl_context context;
    struct gr_context cuda;
    struct gl_errors errors;
    bool pushed;
    gr_status status = gl_context_begin(&context, "is to be asked", "gr_gl_probe");
    if (status == GR_OK)
        status = gr_context_choose(&cuda, gl_find_drawing_device, "gr_gl_probe");
    if (status != GR_OK)
        return status;
    status = gr_context_enter(&cuda, &pushed, "gr_gl_probe");
    if (status == GR_OK) {
        status = gl_shared_check(&context, "gr_gl_probe");
        if (status == GR_OK) {
            gl_errors_begin(&errors);
            struct gl_timeline *t = gl_timeline_hold(&context, &cuda, "gr_gl_probe");
            gl_errors_end(&errors);
            status = t ? GR_OK : GR_ERR_UNSUPPORTED;
            if (t)
                say_usable(t, reason, size);
            gl_timeline_drop(t);
        }
        gr_context_leave(pushed);
    }
    gr_context_drop(&cuda);
    return status;
}

gr_status gl_shared_usable(char *reason, size_t size)
{
    struct gr_error_record before, error;
    gr_error_save(&before);
    gr_status status = probe(reason, size);
    if (status != GR_OK) {
        gr_error_save(&error);
        snprintf(reason, size, "%s", error.message);
        status = GR_ERR_UNSUPPORTED;
    }
    gr_error_restore(&before);
    return status;
}
