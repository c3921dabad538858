/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds whether CUDA can access the memory of the GPU that draws. */
#include "gl/staging/staging.h"

#include <stdio.h>

#include "lib/base/error.h"
#include "lib/cuda/driver.h"

/* Records the error of the driver call, if it failed. */
static gr_status refuse(CUresult result, const char *driver_call, const char *why)
{
    const bool failed = result != CUDA_SUCCESS;
    char who[320];
    gl_diagnose_devices(who, sizeof(who));
    return gr_fail_code(GR_ERR_UNSUPPORTED, failed ? GR_DOMAIN_CUDA : GR_DOMAIN_NONE, (int)result,
                        failed ? gr_cuda_error_name(result) : NULL, failed ? driver_call : gr_call,
                        "GR_TRANSPORT_PEER needs a GPU that draws and whose memory CUDA can "
                        "access. %s: %s. GR_TRANSPORT_COPY works without that.",
                        why, who);
}

struct devices {
    CUdevice computing, drawing;
};

static gr_status check(enum gl_reach *reach, struct devices *d)
{
    const struct gr_driver_api *cu = gr_driver();
    unsigned int count = 0;
    int can = 0;
    CUresult result = cu->GLGetDevices(&count, &d->drawing, 1, GR_GL_DEVICE_LIST_ALL);
    if (result != CUDA_SUCCESS || count == 0) /* either, if OpenGL draws on no CUDA device */
        return refuse(result, "cuGLGetDevices", "cuGLGetDevices names no CUDA device that draws");
    result = cu->CtxGetDevice(&d->computing);
    if (result != CUDA_SUCCESS)
        return refuse(result, "cuCtxGetDevice", "The CUDA context does not report its device");
    result = gl_query_draws_on(d->computing);
    if (result == CUDA_SUCCESS) {
        *reach = GL_REACH_OWN;
        return GR_OK;
    }
    if (result != CUDA_ERROR_INVALID_DEVICE)
        return refuse(result, "cuGLGetDevices", "OpenGL does not report its devices");
    result = cu->DeviceCanAccessPeer(&can, d->computing, d->drawing);
    if (result == CUDA_SUCCESS && can) {
        *reach = GL_REACH_PEER;
        return GR_OK;
    }
    if (result == CUDA_ERROR_INVALID_DEVICE) /* a valid answer: no access */
        result = CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        *reach = GL_REACH_NONE;
    char why[120];
    snprintf(why, sizeof(why),
             "CUDA device %d cannot reach the memory of device %d (cuDeviceCanAccessPeer)",
             (int)d->computing, (int)d->drawing);
    return refuse(result, "cuDeviceCanAccessPeer", why);
}

gr_status gl_peer_check(enum gl_reach *reach)
{
    struct devices devices;
    return check(reach, &devices);
}

bool gl_peer_reaches(enum gl_reach *reach, char *text, size_t size)
{
    struct devices d;
    char who[320];
    GR_KEEP_ERROR();
    gr_attempt_begin();
    const gr_status status = check(reach, &d);
    gr_attempt_end();
    gl_diagnose_devices(who, sizeof(who));
    if (status != GR_OK)
        snprintf(text, size, "%s", gr_last_error()->message);
    else if (*reach == GL_REACH_OWN)
        snprintf(text, size, "The same GPU draws and computes: %s.", who);
    else
        snprintf(text, size, "CUDA device %d reaches the memory of device %d, which draws: %s.",
                 (int)d.computing, (int)d.drawing, who);
    return status == GR_OK;
}
