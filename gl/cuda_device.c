/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA device that OpenGL draws on, as the driver says. */
#include "gl/cuda_device.h"

#include "lib/driver.h"
#include "lib/error.h"
#include "gl/diagnose.h"

gr_status gl_find_drawing_device(CUdevice *device)
{
    unsigned int count = 0;
    CUresult result = gr_driver()->GLGetDevices(&count, device, 1, GR_GL_DEVICE_LIST_ALL);
    if (result == CUDA_SUCCESS && count > 0)
        return GR_OK;
    char text[600];
    gl_diagnose(result, text, sizeof(text));
    return gr_fail_cuda(
        result ? result : CUDA_ERROR_NO_DEVICE, "cuGLGetDevices",
        "No CUDA context is current, and the OpenGL context belongs to no CUDA device. %s", text);
}

/* OpenGL may draw anywhere. Where it draws on a device of CUDA's, that one is the nearest. */
gr_status gl_find_nearest_device(CUdevice *device)
{
    const gr_cuda_api *cu = gr_driver();
    unsigned int count = 0;
    if (cu->GLGetDevices(&count, device, 1, GR_GL_DEVICE_LIST_ALL) == CUDA_SUCCESS && count > 0)
        return GR_OK;
    CUresult result = cu->DeviceGet(device, 0);
    return result == CUDA_SUCCESS
               ? GR_OK
               : gr_fail_cuda(result, "cuDeviceGet", "There is no CUDA device 0 to copy to.");
}

bool gl_draws_on(CUdevice device)
{
    CUdevice devices[64];
    unsigned int count = 0;
    if (gr_driver()->GLGetDevices(&count, devices, sizeof(devices) / sizeof(devices[0]),
                                  GR_GL_DEVICE_LIST_ALL) != CUDA_SUCCESS)
        return false;
    for (unsigned int i = 0; i < count; i++)
        if (devices[i] == device)
            return true;
    return false;
}
