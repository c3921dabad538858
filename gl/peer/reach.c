/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Checks that CUDA computes on another GPU than OpenGL draws on, and can access the memory of the
 * GPU that draws.
 */
#include "gl/peer/peer.h"

#include <stdio.h>

#include "lib/cuda/driver.h"
#include "gl/context/cuda_device.h"
#include "gl/context/diagnose.h"

static bool succeeds(struct gl_peer_query *asked, const char *call, CUresult result)
{
    *asked = (struct gl_peer_query){call, result};
    return result == CUDA_SUCCESS;
}

/*
 * Finds the device that draws. If OpenGL draws on no CUDA device, the driver returns a count of 0
 * or an error.
 */
static bool find_drawing(CUdevice *drawing, struct gl_peer_query *asked)
{
    unsigned int count = 0;
    CUresult result = gr_driver()->GLGetDevices(&count, drawing, 1, GR_GL_DEVICE_LIST_ALL);
    return succeeds(asked, "cuGLGetDevices", result) && count > 0;
}

static bool refuse(const char *why, const char *who, char *text, size_t size)
{
    snprintf(text, size, "%s: %s.", why, who);
    return false;
}

bool gl_peer_reaches(CUdevice *drawing, struct gl_peer_query *asked, char *text, size_t size)
{
    const gr_cuda_api *cu = gr_driver();
    struct gl_peer_query own, *a = asked ? asked : &own;
    CUdevice computing = 0;
    int can = 0;
    char who[320];
    gl_diagnose_devices(who, sizeof(who));
    if (!find_drawing(drawing, a)) {
        snprintf(
            text, size,
            "cuGLGetDevices names no CUDA device that draws: %s. GR_TRANSPORT_COPY works there.",
            who);
        return false;
    }
    if (!succeeds(a, "cuCtxGetDevice", cu->CtxGetDevice(&computing)))
        return refuse("The CUDA context does not report its device", who, text, size);
    if (gl_draws_on(computing))
        return refuse("The same GPU draws and computes, so GR_TRANSPORT_INTEROP needs no copy", who,
                      text, size);
    if (!succeeds(a, "cuDeviceCanAccessPeer", cu->DeviceCanAccessPeer(&can, computing, *drawing)) ||
        !can) {
        if (a->result == CUDA_ERROR_INVALID_DEVICE) /* a valid answer: no access */
            a->result = CUDA_SUCCESS;
        snprintf(text, size,
                 "CUDA device %d cannot reach the memory of device %d (cuDeviceCanAccessPeer): %s. "
                 "GR_TRANSPORT_INTEROP and GR_TRANSPORT_COPY work without that.",
                 (int)computing, (int)*drawing, who);
        return false;
    }
    snprintf(text, size, "CUDA device %d reaches the memory of device %d, which draws: %s.",
             (int)computing, (int)*drawing, who);
    return true;
}
