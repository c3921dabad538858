/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Registers an OpenGL object with CUDA, or reports why this is not possible. */
#include "gl/interop/register.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/resource/resource.h"
#include "gl/context/cuda_device.h"
#include "gl/context/diagnose.h"
#include "gl/interop/interop.h"

/* Whether the driver's error may be due to the device instead of the object. */
static bool refuses_device(CUresult code)
{
    switch (code) {
    case CUDA_ERROR_OPERATING_SYSTEM: /* in WSL, or with OpenGL on the CPU */
    case CUDA_ERROR_INVALID_GRAPHICS_CONTEXT:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_UNKNOWN: /* with the EGL back end of VirtualGL */
        return true;
    default:
        return false;
    }
}

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

/* Whether another transport may work despite the error; writes a short reason if so. */
static bool is_device_error(CUresult code, const char *driver_call, char *reason, size_t size)
{
    CUdevice device;
    const char *name = NULL;
    char who[240];
    if (!reason)
        return false;
    bool draws = gr_driver()->CtxGetDevice(&device) == CUDA_SUCCESS && gl_draws_on(device);
    if (draws && !refuses_device(code))
        return false;
    gr_driver()->GetErrorName(code, &name);
    gl_diagnose_devices(who, sizeof(who));
    snprintf(reason, size, "%s by %s; %s", name ? name : "refused", driver_call, who);
    return true;
}

/* Registers the object in the chosen context. If a reason is written, no error is recorded. */
static gr_status register_in(struct gl_resource *r, const struct gr_context *context,
                             unsigned flags, CUgraphicsResource *handle, char *reason, size_t size,
                             const char *call)
{
    bool pushed;
    GR_TRY(gr_context_enter(context, &pushed, call));
    gr_status status = GR_OK;
    CUresult result = call_driver(r, flags, handle);
    if (result != CUDA_SUCCESS)
        status = is_device_error(result, driver_call_of(r), reason, size) ? GR_ERR_CUDA
                                                                          : refuse(r, result);
    gr_context_leave(pushed);
    return status;
}

/* Whether no CUDA context is current and OpenGL draws on no CUDA device. Writes the reason. */
static bool has_no_device(char *reason, size_t size)
{
    CUcontext current = NULL;
    CUdevice device;
    unsigned int count = 0;
    const gr_cuda_api *cu = gr_driver();
    if (!reason || cu->CtxGetCurrent(&current) != CUDA_SUCCESS || current)
        return false;
    CUresult result = cu->GLGetDevices(&count, &device, 1, GR_GL_DEVICE_LIST_ALL);
    if (result == CUDA_SUCCESS && count > 0)
        return false;
    char who[240];
    gl_diagnose_devices(who, sizeof(who));
    snprintf(reason, size, "cuGLGetDevices names no device; %s", who);
    return true;
}

gr_resource *gl_interop_register(struct gl_resource *r, unsigned flags, char *reason, size_t size,
                                 const char *call)
{
    struct gr_context context;
    CUgraphicsResource handle = NULL;
    if (reason)
        *reason = '\0';
    if (has_no_device(reason, size))
        return NULL;
    if (gr_context_choose(&context, gl_find_drawing_device, call) != GR_OK)
        goto fail;
    if (register_in(r, &context, flags, &handle, reason, size, call) != GR_OK) {
        gr_context_drop(&context);
        goto fail;
    }
    gr_resource_init(&r->base, &gl_interop, &context, handle, flags);
    gr_resource *made = &r->base;
    gr_resource_log_each(call, &made, 1);
    return made;
fail:
    if (!reason || !*reason) /* if there is a reason, another transport uses `r` */
        free(r);
    return NULL;
}
