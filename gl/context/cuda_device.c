/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the CUDA device that OpenGL draws on, as the driver reports it. cuWGLGetDevice would need a
 * handle of WGL_NV_gpu_affinity, which ordinary windows lack.
 */
#include "gl/context/context.h"

#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"

/* Fails with a message that begins with `what`. */
static gr_status find_device(CUdevice *device, const char *what)
{
    CUresult result = gl_drawing_device(device);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    char text[620];
    gl_diagnose(result, text, sizeof(text));
    return gr_fail_cuda(result, "cuGLGetDevices", "%s %s", what, text);
}

gr_status gl_find_drawing_device(CUdevice *device)
{
    return find_device(
        device, "No CUDA context is current, and the OpenGL context belongs to no CUDA device.");
}

gr_status gl_find_nearest_device(CUdevice *device)
{
    if (gl_drawing_device(device) != CUDA_SUCCESS)
        GR_TRY_CUDA(gr_driver()->DeviceGet(device, 0), "cuDeviceGet",
                    "There is no CUDA device 0 to copy to: CUDA_VISIBLE_DEVICES may hide the "
                    "devices of this machine.");
    return GR_OK;
}

CUresult gl_query_draws_on(CUdevice device)
{
    CUdevice devices[64];
    unsigned int count = 0;
    CUresult result = gr_driver()->GLGetDevices(
        &count, devices, sizeof(devices) / sizeof(devices[0]), GR_GL_DEVICE_LIST_ALL);
    for (unsigned int i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (devices[i] == device)
            return CUDA_SUCCESS;
    return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_DEVICE : result;
}

gr_status gr_gl_cuda_device(int *device)
{
    GR_CALL();
    struct gl_context context;
    CUdevice found = 0;
    GR_REFUSE_IF(!device, "`device` is NULL: pass a pointer for the number.");
    GR_TRY(gl_context_begin(&context, "you want to query"));
    GR_TRY(find_device(&found, "The OpenGL context draws on no device that CUDA lists "
                               "(CUDA_VISIBLE_DEVICES may hide some)."));
    int ordinal;
    GR_TRY(gr_device_ordinal(found, &ordinal));
    if (ordinal < 0)
        return gr_fail_cuda(CUDA_ERROR_INVALID_DEVICE, "cuGLGetDevices",
                            "The OpenGL context draws on the device %d, which CUDA does not list.",
                            (int)found);
    *device = ordinal;
    return GR_OK;
}
