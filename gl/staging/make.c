/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates resources of the transports that copy. Memory and events are allocated here, so that maps
 * do not allocate.
 */
#include "gl/staging/staging.h"

#include <stdio.h>
#include <stdlib.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"

static gr_status make_parts(struct gl_resource *r, struct gl_staging *s, unsigned flags)
{
    GR_TRY(gr_event_create(&r->base.sync.work.event));
    s->size = r->base.size;
    if (r->base.is_image) {
        s->arrays = gl_arrays_make(r, flags);
        if (!s->arrays)
            return gr_last_error()->status;
        s->size = s->arrays->size;
    } else if (r->reach != GL_REACH_OWN || !s->kind->has_semaphores) {
        GR_TRY(gl_arrays_memory(&s->own, s->size, r));
    }
    s->names = gl_names_make(&r->context);
    return s->names ? s->kind->make(r, s, flags) : GR_ERR_NO_MEMORY;
}

static gr_status make_staging(struct gl_resource *r, const struct gl_staging_kind *kind,
                              unsigned flags, void **handle)
{
    struct gl_staging *s = gr_check_memory(calloc(1, kind->size));
    if (!s)
        return GR_ERR_NO_MEMORY;
    s->kind = kind;
    const gr_status status = make_parts(r, s, flags);
    if (status != GR_OK) { /* the CUDA context is current */
        GR_KEEP_ERROR();
        if (kind->drop)
            kind->drop(s);
        gl_staging_end(&s->ending, true);
        gr_work_end(&r->base.sync.work, true);
        return status;
    }
    *handle = r->staging = s;
    r->arrays = s->arrays;
    r->way = s->way;
    return GR_OK;
}

static void prepare(struct gl_resource *r)
{
    r->staging->kind->prepare(r);
}

/* ---- Copy ------------------------------------------------------------------------------------ */

static gr_status make_copy(struct gl_resource *r, unsigned flags, void **handle)
{
    return make_staging(r, &gl_host_memory, flags, handle);
}

const struct gl_maker gl_copy_maker = {.buffers = &gl_copy,
                                       .images = &gl_copy,
                                       .find_device = gl_find_nearest_device,
                                       .make_side = make_copy,
                                       .prepare = prepare};

/* ---- Peer ------------------------------------------------------------------------------------ */

/*
 * From a pixel buffer in memory of CUDA, the NVIDIA driver (580) stores wrong depths, and wrong
 * texels in GL_RGB16I.
 */
bool gl_staging_refuses(const struct gl_format *format, char *text, size_t size)
{
    if (!format || !(format->depth || format->internal == GL_RGB16I))
        return false;
    snprintf(text, size, "OpenGL stores wrong values in %s from memory of CUDA (NVIDIA driver 580)",
             format->name);
    return true;
}

gr_status gl_staging_check_format(const struct gl_format *format, const struct gl_context *context)
{
    char text[160];
    if (context->es || !gl_staging_refuses(format, text, sizeof(text)))
        return GR_OK;
    return gr_fail(GR_ERR_UNSUPPORTED, "%s. Allow GR_TRANSPORT_COPY, and leave `in_flight` 0.",
                   text);
}

/* The choice of the transport may have found what the context reaches. */
static gr_status make_peer(struct gl_resource *r, unsigned flags, void **handle)
{
    GR_TRY(gl_staging_check_format(r->format, &r->context));
    GR_TRY(r->reach ? GR_OK : gl_peer_check(&r->reach));
    return make_staging(r, &gl_peer_memory, flags, handle);
}

const struct gl_maker gl_peer_maker = {.buffers = &gl_peer,
                                       .images = &gl_peer,
                                       .find_device = gl_find_nearest_device,
                                       .make_side = make_peer,
                                       .prepare = prepare};
