/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every program here begins with.
 */
#include "session.h"

#include <stdio.h>

bool failed_to(const char *doing)
{
    gr_error error;
    gr_last_error(&error);
    fprintf(stderr, "Cannot %s: %s\n", doing, error.message);
    return false;
}

bool cuda_ok(CUresult result, const char *doing)
{
    if (result == CUDA_SUCCESS)
        return true;
    const char *name = "unknown error", *text = "no description";
    gr_cuda()->GetErrorName(result, &name);
    gr_cuda()->GetErrorString(result, &text);
    fprintf(stderr, "Cannot %s: the CUDA driver says %s (%s).\n", doing, name, text);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        fprintf(stderr, "Make the mesh or the picture smaller, or take another GPU with "
                        "CUDA_VISIBLE_DEVICES.\n");
    return false;
}

/* Which machinery made the picture is part of the result. */
static bool introduce(const struct session *s)
{
    char device[256] = "";
    int version = 0;
    if (!cuda_ok(s->cuda->DeviceGetName(device, sizeof(device), s->device), "name the device") ||
        !cuda_ok(s->cuda->DriverGetVersion(&version), "ask for the driver's version"))
        return false;
    printf("CUDA     %s\n", device);
    printf("         driver %s, CUDA %d.%d%s\n", gr_cuda_driver_path(), version / 1000,
           version % 1000 / 10, gr_cuda_is_software() ? ", no GPU is used" : "");
    return true;
}

static bool open_cuda(struct session *s)
{
    return cuda_ok(s->cuda->DeviceGet(&s->device, 0), "find a CUDA device") &&
           cuda_ok(s->cuda->DevicePrimaryCtxRetain(&s->context, s->device),
                   "make a CUDA context") &&
           cuda_ok(s->cuda->CtxSetCurrent(s->context), "make the CUDA context current") &&
           cuda_ok(s->cuda->StreamCreate(&s->stream, CU_STREAM_NON_BLOCKING),
                   "make a CUDA stream") &&
           introduce(s);
}

static bool load_driver(struct session *s)
{
    *s = (struct session){0};
    if (gr_cuda_load(true) != GR_OK)
        return failed_to("load a CUDA driver");
    s->cuda = gr_cuda();
    return true;
}

bool session_open_cuda(struct session *s)
{
    return load_driver(s) && open_cuda(s);
}

bool session_open(struct session *s)
{
    if (!load_driver(s))
        return false;
    s->egl = gr_egl_create(NULL);
    if (!s->egl)
        return failed_to("make an OpenGL context");
    if (!open_cuda(s))
        return false;
    char opengl[512] = "";
    gr_egl_describe(s->egl, opengl, sizeof(opengl));
    printf("OpenGL   %s\n", opengl);
    return true;
}

void session_close(struct session *s)
{
    if (s->stream)
        s->cuda->StreamDestroy(s->stream);
    if (s->context) {
        s->cuda->CtxSetCurrent(NULL);
        s->cuda->DevicePrimaryCtxRelease(s->device);
    }
    gr_egl_free(s->egl);
    *s = (struct session){0};
}
