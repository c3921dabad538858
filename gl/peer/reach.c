/* SPDX-License-Identifier: Apache-2.0 */
/* Whether CUDA computes on another GPU than OpenGL draws on, and reaches that one's memory. */
#include "gl/peer/reach.h"

#include <stdio.h>

#include "lib/driver.h"
#include "gl/cuda_device.h"
#include "gl/diagnose.h"

bool gl_peer_reaches(CUdevice *drawing, char *text, size_t size)
{
    const gr_cuda_api *cu = gr_driver();
    CUdevice computing = 0;
    unsigned int count = 0;
    int can = 0;
    char who[320];
    gl_diagnose_who(who, sizeof(who));
    if (cu->GLGetDevices(&count, drawing, 1, GR_GL_DEVICE_LIST_ALL) != CUDA_SUCCESS || count == 0 ||
        cu->CtxGetDevice(&computing) != CUDA_SUCCESS) {
        snprintf(text, size,
                 "cuGLGetDevices names no CUDA device that draws: %s. "
                 "GR_TRANSPORT_COPY works there.",
                 who);
        return false;
    }
    if (gl_draws_on(computing)) {
        snprintf(text, size,
                 "One GPU draws and computes, so GR_TRANSPORT_INTEROP needs no copy: "
                 "%s.",
                 who);
        return false;
    }
    if (cu->DeviceCanAccessPeer(&can, computing, *drawing) != CUDA_SUCCESS || !can) {
        snprintf(text, size,
                 "CUDA device %d cannot reach the memory of device %d "
                 "(cuDeviceCanAccessPeer): %s. GR_TRANSPORT_INTEROP and "
                 "GR_TRANSPORT_COPY do without.",
                 (int)computing, (int)*drawing, who);
        return false;
    }
    snprintf(text, size, "CUDA device %d reaches the memory of device %d, which draws: %s.",
             (int)computing, (int)*drawing, who);
    return true;
}
