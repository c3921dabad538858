/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates resources of the peer transport. Memory and events are allocated here, so that maps do
 * not allocate.
 */
#include "gl/peer/peer.h"

#include <stdio.h>
#include <stdlib.h>

#include <epoxy/gl.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "gl/copy/copy.h"

static gr_status allocate(struct gl_peer *peer, struct gl_resource *r, const char *call)
{
    GR_TRY(gr_event_create(&r->base.sync.work.event));
    GR_TRY_CUDA(gr_driver()->MemAlloc(&peer->ptr, r->base.size), "cuMemAlloc",
                "%s: %zu byte%s of device memory for the CUDA side of %s could not be allocated.",
                call, r->base.size, gr_s(r->base.size), gl_object_text(&r->base).text);
    return GR_OK;
}

/*
 * Creates the memory and the drawing. The CUDA context is current. After an error all objects made
 * here are freed.
 */
static gr_status make_sides(struct gl_resource *r, CUdevice drawing, unsigned flags, void **handle,
                            const char *call)
{
    struct gl_peer *peer = calloc(1, sizeof(*peer));
    if (!peer)
        return gr_fail_memory(call);
    gr_status status = allocate(peer, r, call);
    if (status == GR_OK)
        status = gl_drawing_open(r, drawing, flags, &peer->drawing, call);
    if (status == GR_OK) {
        *handle = r->peer = peer;
        return GR_OK;
    }
    gr_work_end(&r->base.sync.work, true);
    gl_peer_end(&peer->ending, true);
    return status;
}

/* ---- Peer access ----------------------------------------------------------------------------- */

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

static bool explain(const char *why, const char *who, char *text, size_t size)
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
        return explain("The CUDA context does not report its device", who, text, size);
    if (gl_draws_on(computing))
        return explain("The same GPU draws and computes, so GR_TRANSPORT_INTEROP needs no copy",
                       who, text, size);
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

/* ---- Creation -------------------------------------------------------------------------------- */

/* Records that peer access is impossible, or the driver's error if the query failed. */
static gr_status refuse(const struct gl_peer_query *asked, const char *text, const char *call)
{
    if (asked->result == CUDA_SUCCESS)
        return gr_fail(GR_ERR_UNSUPPORTED, call,
                       "GR_TRANSPORT_PEER needs two GPUs, one that computes and one that draws. %s",
                       text);
    return gr_fail_code(
        GR_ERR_UNSUPPORTED, GR_DOMAIN_CUDA, (int)asked->result, gr_cuda_error_name(asked->result),
        asked->call,
        "%s: GR_TRANSPORT_PEER needs two GPUs, one that computes and one that draws. %s", call,
        text);
}

/*
 * From a pixel buffer in memory of CUDA, the NVIDIA driver (580) stores wrong depths, and wrong
 * texels in GL_RGB16I.
 */
static gr_status check_format(const struct gl_format *format, const char *call)
{
    if (format && (format->depth || format->internal == GL_RGB16I))
        return gr_fail(GR_ERR_UNSUPPORTED, call,
                       "OpenGL stores wrong values in %s from memory of CUDA (NVIDIA driver 580). "
                       "Allow GR_TRANSPORT_COPY.",
                       format->name);
    return GR_OK;
}

static gr_status make_side(struct gl_resource *r, unsigned flags, void **handle, const char *call)
{
    char text[560];
    struct gl_peer_query asked;
    CUdevice drawing;
    GR_TRY(check_format(r->format, call));
    if (!gl_peer_reaches(&drawing, &asked, text, sizeof(text)))
        return refuse(&asked, text, call);
    return r->base.is_image ? gl_copy_make_side(r, true, flags, handle, call)
                            : make_sides(r, drawing, flags, handle, call);
}

const struct gl_maker gl_peer_maker = {.buffers = &gl_peer,
                                       .images = &gl_peer_image,
                                       .find_device = gl_find_nearest_device,
                                       .make_side = make_side,
                                       .prepare = gl_copy_image_prepare};
