/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates resources of the peer transport. Memory and events are allocated here, so that maps do
 * not allocate.
 */
#include "gl/staged/staged.h"

#include <stdio.h>
#include <stdlib.h>

#include <epoxy/gl.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/cuda/event.h"
#include "lib/resource/resource.h"
#include "gl/context/saved_state.h"
#include "gl/texels/buffer_shader.h"
#include "gl/shared/shared.h"

/* ---- Staging buffers ------------------------------------------------------------------------- */

void gl_staged_drop_slots(struct gl_staged *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->slots[i])
            gr_resource_drop(s->slots[i]);
    s->count = 0;
}

void gl_staged_end(struct gr_ending *ending, bool alive)
{
    struct gl_staged *s = (struct gl_staged *)ending;
    gl_arrays_end(s->arrays, alive);
    if (alive && s->own)
        gr_driver()->MemFree(s->own);
    gl_names_end(s->names);
    free(s);
}

/* Frees the parts of an incomplete resource. The CUDA context is current. */
static void discard(struct gl_staged *s, struct gl_resource *r)
{
    GR_KEEP_ERROR();
    gl_staged_drop_slots(s);
    gl_staged_end(&s->ending, true);
    gr_work_end(&r->base.sync.work, true);
}

/* Small staging buffers share blocks of memory, since one of its own takes at least 2 MiB. */
static gr_status make_slot(const struct gl_resource *r, size_t size, gr_resource **slot,
                           const char *call)
{
    struct gl_wish wish = {.size = size, .packed = true, .call = call, .context = r->context};
    wish.context.group = NULL;
    GR_TRY(gl_shared_create(&wish));
    *slot = &wish.made->base;
    (*slot)->in_a_ring = true; /* its maps and uses by OpenGL are apart */
    glObjectLabel(GL_BUFFER, wish.made->name, -1, GL_STAGING_LABEL);
    gr_live_remove(GR_LIVE_RESOURCE, *slot);
    return GR_OK;
}

/* With `in_flight` 0. CUDA reads one part while OpenGL writes the other. */
static unsigned usual_count(unsigned flags)
{
    return flags & GR_READ_ONLY ? 2 : flags & GR_WRITE_DISCARD ? 4 : 1;
}

static size_t staging_size(const struct gl_resource *r, const struct gl_staged *s)
{
    const size_t size = s->arrays ? s->arrays->size : r->base.size;
    return (size + 3) / 4 * 4; /* shaders write whole words */
}

static gr_status make_own(const struct gl_resource *r, struct gl_staged *s, const char *call)
{
    GR_TRY_CUDA(gr_driver()->MemAlloc(&s->own, r->base.size), "cuMemAlloc",
                "%s: %zu byte%s of device memory for the CUDA side of %s could not be allocated.",
                call, r->base.size, gr_s(r->base.size), gl_object_text(&r->base).text);
    return GR_OK;
}

static void describe(const struct gl_resource *r, struct gl_staged *s)
{
    snprintf(s->way, sizeof(s->way), "%u staging buffer%s of %zu byte%s, which %s", s->count,
             gr_s(s->count), staging_size(r, s), gr_s(staging_size(r, s)),
             r->shader ? "a shader copies" : "calls of OpenGL copy");
}

/* Finds the shader that copies the object, so that the first map need not. */
static void prepare(struct gl_resource *r)
{
    GL_SAVED(before, GL_SAVE(ERRORS));
    if (r->base.is_image)
        gl_arrays_prepare(r);
    else
        r->shader = gl_shader_use(&r->context);
    if (r->shader && !r->base.is_image && !r->owned) /* that may only be staging */
        gl_buffer_shader_prepare(r->shader);
    describe(r, r->staged);
}

static gr_status make_parts(struct gl_resource *r, struct gl_staged *s, unsigned count,
                            unsigned flags, const char *call)
{
    GR_TRY(gr_event_create(&r->base.sync.work.event));
    if (r->base.is_image) {
        s->arrays = gl_arrays_make(r, flags, call);
        if (!s->arrays)
            return gr_last_error()->status;
    } else if (s->crosses) {
        GR_TRY(make_own(r, s, call));
    }
    s->names = gl_names_make(&r->context, call);
    if (!s->names)
        return GR_ERR_NO_MEMORY;
    for (; s->count < count; s->count++)
        GR_TRY(make_slot(r, staging_size(r, s), &s->slots[s->count], call));
    return GR_OK;
}

static gr_status make_staged(struct gl_resource *r, bool crosses, unsigned flags, void **handle,
                             const char *call)
{
    const unsigned count = r->in_flight ? r->in_flight : usual_count(flags);
    struct gl_staged *s =
        gr_check_memory(calloc(1, sizeof(*s) + count * sizeof(s->slots[0])), call);
    if (!s)
        return GR_ERR_NO_MEMORY;
    s->crosses = crosses;
    const gr_status status = make_parts(r, s, count, flags, call);
    if (status != GR_OK) {
        discard(s, r);
        return status;
    }
    describe(r, s);
    *handle = r->staged = s;
    r->arrays = s->arrays;
    r->way = s->way;
    return GR_OK;
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

bool gl_peer_reaches(bool *crosses, struct gl_peer_query *asked, char *text, size_t size)
{
    const gr_cuda_api *cu = gr_driver();
    struct gl_peer_query own, *a = asked ? asked : &own;
    CUdevice computing = 0, drawing = 0;
    int can = 0;
    char who[320];
    gl_diagnose_devices(who, sizeof(who));
    if (!find_drawing(&drawing, a)) {
        snprintf(
            text, size,
            "cuGLGetDevices names no CUDA device that draws: %s. GR_TRANSPORT_COPY works there.",
            who);
        return false;
    }
    if (!succeeds(a, "cuCtxGetDevice", cu->CtxGetDevice(&computing)))
        return explain("The CUDA context does not report its device", who, text, size);
    const CUresult draws = gl_query_draws_on(computing);
    if (draws != CUDA_SUCCESS && draws != CUDA_ERROR_INVALID_DEVICE) {
        (void)succeeds(a, "cuGLGetDevices", draws);
        return explain("OpenGL does not report its devices", who, text, size);
    }
    *crosses = draws != CUDA_SUCCESS;
    if (!*crosses) {
        snprintf(text, size, "The same GPU draws and computes: %s.", who);
        return true;
    }
    if (!succeeds(a, "cuDeviceCanAccessPeer", cu->DeviceCanAccessPeer(&can, computing, drawing)) ||
        !can) {
        if (a->result == CUDA_ERROR_INVALID_DEVICE) /* a valid answer: no access */
            a->result = CUDA_SUCCESS;
        snprintf(text, size,
                 "CUDA device %d cannot reach the memory of device %d (cuDeviceCanAccessPeer): %s. "
                 "GR_TRANSPORT_INTEROP and GR_TRANSPORT_COPY work without that.",
                 (int)computing, (int)drawing, who);
        return false;
    }
    snprintf(text, size, "CUDA device %d reaches the memory of device %d, which draws: %s.",
             (int)computing, (int)drawing, who);
    return true;
}

/* ---- Creation -------------------------------------------------------------------------------- */

/* Records that peer access is impossible, or the driver's error if the query failed. */
static gr_status refuse(const struct gl_peer_query *asked, const char *text, const char *call)
{
    if (asked->result == CUDA_SUCCESS)
        return gr_fail(GR_ERR_UNSUPPORTED, call,
                       "GR_TRANSPORT_PEER needs a GPU that draws and whose memory CUDA can "
                       "access. %s",
                       text);
    return gr_fail_code(
        GR_ERR_UNSUPPORTED, GR_DOMAIN_CUDA, (int)asked->result, gr_cuda_error_name(asked->result),
        asked->call,
        "%s: GR_TRANSPORT_PEER needs a GPU that draws and whose memory CUDA can access. %s", call,
        text);
}

/*
 * From a pixel buffer in memory of CUDA, the NVIDIA driver (580) stores wrong depths, and wrong
 * texels in GL_RGB16I.
 */
bool gl_staged_refuses(const struct gl_format *format, char *text, size_t size)
{
    if (!format || !(format->depth || format->internal == GL_RGB16I))
        return false;
    snprintf(text, size, "OpenGL stores wrong values in %s from memory of CUDA (NVIDIA driver 580)",
             format->name);
    return true;
}

gr_status gl_staged_check_format(const struct gl_format *format, const char *call)
{
    char text[160];
    if (!gl_staged_refuses(format, text, sizeof(text)))
        return GR_OK;
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "%s. Allow GR_TRANSPORT_COPY, and leave `in_flight` 0.", text);
}

static gr_status make_side(struct gl_resource *r, unsigned flags, void **handle, const char *call)
{
    char text[560];
    struct gl_peer_query asked;
    bool crosses;
    GR_TRY(gl_staged_check_format(r->format, call));
    if (!gl_peer_reaches(&crosses, &asked, text, sizeof(text)))
        return refuse(&asked, text, call);
    return make_staged(r, crosses, flags, handle, call);
}

const struct gl_maker gl_staged_maker = {.buffers = &gl_staged,
                                         .images = &gl_staged,
                                         .find_device = gl_find_nearest_device,
                                         .make_side = make_side,
                                         .prepare = prepare};
