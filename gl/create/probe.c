/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reports which transports work between the current OpenGL context and CUDA. Interop is tested by
 * registering a buffer of a few bytes, because no driver query covers everything that a
 * registration needs.
 */
#include <stdio.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/cuda/context.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "gl/create/create.h"
#include "gl/context/saved_state.h"
#include "gl/memory/memory.h"
#include "gl/staging/staging.h"

#define TRIAL_BYTES 16

static CUresult try_to_register(void)
{
    const struct gr_driver_api *cu = gr_driver();
    CUgraphicsResource handle;
    GLuint name = 0;
    GL_SAVED(before, 0);
    glGenBuffers(1, &name);
    glBufferData(gl_bind_buffer(&before, GL_COPY_WRITE_BUFFER, name), TRIAL_BYTES, NULL,
                 GL_STATIC_DRAW);
    CUresult result = cu->GraphicsGLRegisterBuffer(&handle, name, GR_READ_WRITE);
    if (result == CUDA_SUCCESS)
        result = cu->GraphicsUnregisterResource(handle);
    glDeleteBuffers(1, &name);
    return result;
}

/* The contexts, which are current. */
struct contexts {
    struct gl_context gl;
    struct gr_context cuda;
};

/* Each probe returns whether its transport works, and writes the reason. */

static bool probe_interop(const struct contexts *contexts, char *reason, size_t size)
{
    (void)contexts;
    CUresult result = try_to_register();
    CUdevice device;
    if (result == CUDA_SUCCESS) {
        int length = snprintf(reason, size, "CUDA can register OpenGL buffers: ");
        gl_diagnose_devices(reason + length, size - (size_t)length);
        return true;
    }
    bool named = gr_driver()->CtxGetDevice(&device) == CUDA_SUCCESS &&
                 gl_query_draws_on(device) == CUDA_SUCCESS;
    int length = snprintf(reason, size, "CUDA cannot register a buffer (%.60s%s). ",
                          gr_cuda_error_name(result),
                          named ? "" : ", and cuGLGetDevices does not name its device");
    gl_diagnose(result, reason + length, size - (size_t)length);
    return false;
}

static bool probe_shared(const struct contexts *contexts, char *reason, size_t size)
{
    return gl_memory_probe(&contexts->gl, &contexts->cuda, reason, size);
}

static bool probe_copy(const struct contexts *contexts, char *reason, size_t size)
{
    snprintf(reason, size,
             "Works between any OpenGL and any CUDA device. Cost: a map (unless write_discard) and "
             "a release (unless read_only) copy all bytes through host memory, and the thread "
             "waits for OpenGL and for the stream. %s.%s",
             gl_staging_supported(&contexts->gl)
                 ? "OpenGL keeps the host memory mapped, so that the CPU copies only write_discard "
                   "objects of up to " GL_COPY_BY_CPU_TEXT ", where the CPU is faster"
                 : "The CPU makes the copies, since OpenGL lacks GL_ARB_buffer_storage or "
                   "GL_ARB_direct_state_access, as OpenGL ES does",
             gl_transfer_supported(gl_target_of(GL_RENDERBUFFER))
                 ? ""
                 : " Renderbuffers need OpenGL 4.3, OpenGL ES 3.2 or GL_ARB_copy_image.");
    return true;
}

/* Adds whether gr_gl_options.in_flight gains. */
static void add_frames(const struct gl_context *gl, enum gl_reach reach, char *reason, size_t size)
{
    const size_t length = strlen(reason);
    char why[160];
    snprintf(reason + length, size - length, " Frames in flight (`in_flight`) %s.",
             gl_in_flight_gains(gl, NULL, why, sizeof(why)) ? "work: a compute shader copies"
             : reach == GL_REACH_PEER
                 ? "work, but calls of OpenGL copy, which are slower than a compute shader of "
                   "NVIDIA's OpenGL"
                 : "use interop instead, because they need compute shaders of NVIDIA's OpenGL");
}

static bool probe_peer(const struct contexts *contexts, char *reason, size_t size)
{
    char shares[900];
    enum gl_reach reach;
    if (!gl_peer_reaches(&reach, reason, size))
        return false;
    if (!gl_memory_probe(&contexts->gl, &contexts->cuda, shares, sizeof(shares))) {
        snprintf(reason, size, "%s", shares);
        return false;
    }
    add_frames(&contexts->gl, reach, reason, size);
    return true;
}

static const struct probe {
    gr_transport transport;
    bool (*works)(const struct contexts *contexts, char *reason, size_t size);
} probes[] = {
    {GR_TRANSPORT_INTEROP, probe_interop},
    {GR_TRANSPORT_SHARED, probe_shared},
    {GR_TRANSPORT_COPY, probe_copy},
    {GR_TRANSPORT_PEER, probe_peer},
};
#define PROBES (sizeof(probes) / sizeof(probes[0]))

/* A result, with memory for its reason. */
struct answer {
    gr_transport_info info;
    char reason[900];
};

static gr_status ask(const struct probe *probe, struct answer *answer)
{
    struct contexts contexts;
    gr_entered entered;
    GR_TRY(gl_context_begin(&contexts.gl, "you want to query"));
    GR_TRY(gr_context_choose(&contexts.cuda, gl_find_nearest_device));
    gr_status status = gr_context_enter(&contexts.cuda, &entered);
    if (status == GR_OK) {
        gr_attempt_begin();
        const bool works = probe->works(&contexts, answer->reason, sizeof(answer->reason));
        answer->info = (gr_transport_info){probe->transport, works, answer->reason};
        gr_attempt_end();
        gr_context_leave(entered);
    }
    gr_context_drop(&contexts.cuda);
    return status;
}

const gr_transport_info *gr_gl_probe(gr_transport transport)
{
    GR_CALL();
    static _Thread_local struct answer answers[PROBES];
    for (size_t i = 0; i < PROBES; i++)
        if (probes[i].transport == transport)
            return ask(&probes[i], &answers[i]) == GR_OK ? &answers[i].info : NULL;
    gr_fail(GR_ERR_INVALID_VALUE,
            "%u is not an OpenGL transport: pass one of GR_TRANSPORT_INTEROP, GR_TRANSPORT_SHARED, "
            "GR_TRANSPORT_COPY or GR_TRANSPORT_PEER.",
            (unsigned)transport);
    return NULL;
}
