/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Functions of compat.h that query the devices that draw. */
#include "gl/compat/devices.h"

#include "gl/compat/compat.h"

#include "lib/cuda/driver.h"
#include "gl/context/cuda_device.h"
#include "gl/compat/code.h"

/* Repeats the query in grinterop, which records the device that OpenGL draws on. */
static void explain(CUresult code, const char *call)
{
    CUdevice device;
    if (gl_find_drawing_device(&device) == GR_OK)
        compat_refuse(code, call, "The devices that draw could not be queried.");
}

CUresult CUDAAPI gr_compat_cu_gl_devices(unsigned int *count, CUdevice *devices, unsigned int size,
                                         unsigned int list)
{
    CUresult code = compat_begin();
    if (code != CUDA_SUCCESS)
        return code;
    code = gr_driver()->GLGetDevices(count, devices, size, (int)list);
    if (code != CUDA_SUCCESS)
        explain(code, "cuGLGetDevices");
    return code;
}

/* The runtime API and the driver API use the same ordinals. */
CUresult CUDAAPI gr_compat_cuda_gl_devices(unsigned int *count, int *devices, unsigned int size,
                                           unsigned int list)
{
    return compat_keep_error(gr_compat_cu_gl_devices(count, devices, size, list));
}
