/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Makes existing OpenGL objects resources: gr_from_gl_buffer(), gr_from_gl_image_with() etc. */
#include <grinterop/gl.h>

#include "lib/base/error.h"
#include "lib/base/struct_size.h"
#include "lib/resource/choose_transport.h"
#include "lib/resource/map.h"
#include "lib/resource/stream.h"
#include "gl/create/create.h"
#include "gl/interop/interop.h"
#include "gl/staging/staging.h"

/* ---- By interop ------------------------------------------------------------------------------ */

gr_resource *gr_from_gl_buffer(unsigned int name, unsigned flags)
{
    GR_CALL();
    return gl_interop_register(gl_buffer_object(name, flags), flags);
}

gr_buffer *gr_map_gl_buffer(unsigned int name, unsigned flags, CUstream stream)
{
    GR_CALL();
    if (gr_stream_check(NULL, stream, false) != GR_OK)
        return NULL;
    gr_resource *resource = gl_interop_register(gl_buffer_object(name, flags), flags);
    gr_buffer *buffer = NULL;
    struct gr_use use = {
        .resources = &resource, .n = 1, .stream = stream, .buffers = &buffer, .held = true};
    if (resource)
        (void)gr_use_begin(&use);
    /* Now only the gr_buffer holds the registration, which ends here if the map failed. */
    GR_KEEP_ERROR();
    gr_resource_free(resource);
    return buffer;
}

gr_resource *gr_from_gl_image(unsigned int name, unsigned int target, unsigned flags)
{
    GR_CALL();
    return gl_interop_register(gl_image_object(name, target, flags), flags);
}

/* ---- By options ------------------------------------------------------------------------------ */

struct existing {
    struct gl_resource *r;
    unsigned flags;
};

static gr_status attempt(void *of, const struct gr_transport_choice *choice, gr_transport transport)
{
    (void)choice;
    const struct existing *existing = of;
    return gl_object_make(existing->r, gl_maker_of(transport), existing->flags);
}

static gr_resource *make(struct gl_resource *r, unsigned flags, unsigned allowed,
                         const gr_gl_options *options)
{
    struct gr_transport_choice choice = {0};
    struct existing existing = {r, flags};
    if (!r)
        return NULL;
    struct gl_order order = {.context = &r->context,
                             .format = r->format,
                             .in_flight = options->in_flight,
                             .reach = &r->reach};
    r->base.follows = options->follow_storage;
    r->in_flight = options->in_flight;
    gr_status status = options->share_group ? gl_context_join_group(&r->context) : GR_OK;
    if (status == GR_OK && r->in_flight && r->target)
        status = gl_staging_check_format(r->format, &r->context);
    if (status == GR_OK) {
        gl_transports_order(&choice, &order, allowed);
        status = gr_choose_transport(&choice, attempt, &existing);
    }
    return gl_object_finish(r, status, &choice);
}

/*
 * Copies the options, and returns the transports that they allow. Shared is not among them, because
 * existing storage cannot be shared.
 */
static unsigned take(gr_gl_options *own, unsigned flags, const gr_gl_options *options)
{
    if (GR_TAKE(gr_gl_options, own, options) != GR_OK || gl_in_flight_check(own, flags) != GR_OK)
        return 0;
    if (own->packed) {
        gr_fail(GR_ERR_UNSUPPORTED,
                "`packed` is for new buffers, because existing storage stays where it is: %s.",
                gl_context_is_es() ? "leave it false"
                                   : "create the buffer by gr_create_gl_buffer()");
        return 0;
    }
    return gl_transports_select(own, GR_TRANSPORT_INTEROP | GR_TRANSPORT_PEER | GR_TRANSPORT_COPY,
                                own->in_flight ? GR_TRANSPORT_PEER | GR_TRANSPORT_INTEROP
                                               : GR_TRANSPORT_INTEROP);
}

gr_resource *gr_from_gl_buffer_with(unsigned int name, unsigned flags, const gr_gl_options *options)
{
    GR_CALL();
    gr_gl_options own;
    unsigned transports = take(&own, flags, options);
    if (!transports)
        return NULL;
    return make(gl_buffer_object(name, flags), flags, transports, &own);
}

gr_resource *gr_from_gl_image_with(unsigned int name, unsigned int target, unsigned flags,
                                   const gr_gl_options *options)
{
    GR_CALL();
    gr_gl_options own;
    unsigned transports = take(&own, flags, options);
    if (!transports)
        return NULL;
    gl_depth_enable();
    return make(gl_image_object(name, target, flags), flags, transports, &own);
}
