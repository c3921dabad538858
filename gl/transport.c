/* SPDX-License-Identifier: Apache-2.0 */
/* Which transport a resource of an existing OpenGL object gets. */
#include "gl/transport.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/error.h"
#include "lib/log.h"
#include "gl/copy/make.h"
#include "gl/from_buffer.h"
#include "gl/from_image.h"
#include "gl/interop/register.h"

gr_resource *gl_copy_buffer(unsigned int name, unsigned flags, const char *call)
{
    struct gl_resource *r = gl_buffer_object(name, flags, call);
    return r ? gl_copy_make(r, flags, call) : NULL;
}

gr_resource *gl_copy_image(unsigned int name, unsigned int target, unsigned flags, const char *call)
{
    struct gl_resource *r = gl_image_object(name, target, flags, call);
    return r ? gl_copy_make(r, flags, call) : NULL;
}

static gr_status check_transport(const gr_gl_options *options, const char *call)
{
    gr_transport transport = options ? options->transport : GR_TRANSPORT_ANY;
    if ((unsigned)transport > GR_TRANSPORT_COPY)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "%u is no gr_transport.", (unsigned)transport);
    if (transport == GR_TRANSPORT_SHARED)
        return gr_fail(
            GR_ERR_UNSUPPORTED, call,
            "GR_TRANSPORT_SHARED needs storage that grinterop made: the object exists, and "
            "OpenGL cannot share its storage afterwards. Create it by "
            "gr_gl_buffer_create() or gr_gl_image_create(), or take another transport.");
    return GR_OK;
}

/* Interop, or the copy where another device draws. */
static gr_resource *make_best(struct gl_resource *r, unsigned flags, const char *call)
{
    char reason[300];
    gr_resource *made = gl_interop_try(r, flags, reason, sizeof(reason), call);
    if (made || !reason[0])
        return made;
    snprintf(r->transport, sizeof(r->transport), "copy (interop was not taken: %s)", reason);
    gr_log(GR_LOG_INFO, "%s: %s goes by transport %s", call, gl_object_text(&r->base).text,
           r->transport);
    return gl_copy_make(r, flags, call);
}

static gr_resource *make(struct gl_resource *r, unsigned flags, const gr_gl_options *options,
                         const char *call)
{
    if (!r)
        return NULL;
    switch (options ? options->transport : GR_TRANSPORT_ANY) {
    case GR_TRANSPORT_INTEROP:
        return gl_interop_register(r, flags, call);
    case GR_TRANSPORT_COPY:
        return gl_copy_make(r, flags, call);
    default:
        return make_best(r, flags, call);
    }
}

gr_resource *gr_from_gl_buffer_with(unsigned int name, unsigned flags, const gr_gl_options *options)
{
    if (check_transport(options, __func__) != GR_OK)
        return NULL;
    return make(gl_buffer_object(name, flags, __func__), flags, options, __func__);
}

gr_resource *gr_from_gl_image_with(unsigned int name, unsigned int target, unsigned flags,
                                   const gr_gl_options *options)
{
    if (check_transport(options, __func__) != GR_OK)
        return NULL;
    return make(gl_image_object(name, target, flags, __func__), flags, options, __func__);
}
