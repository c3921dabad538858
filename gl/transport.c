/* SPDX-License-Identifier: Apache-2.0 */
/* Which transport a resource of an existing OpenGL object gets. */
#include "gl/transport.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/error.h"
#include "lib/log.h"
#include "lib/struct_size.h"
#include "gl/copy/make.h"
#include "gl/from_buffer.h"
#include "gl/from_image.h"
#include "gl/interop/register.h"

static gr_resource *copy_made(struct gl_resource *r, struct gl_names *made, unsigned flags,
                              const char *call)
{
    if (!r)
        return NULL;
    r->owned = made;
    return gl_copy_make(r, flags, call);
}

gr_resource *gl_copy_buffer(struct gl_names *made, unsigned flags, const char *call)
{
    return copy_made(gl_buffer_object(made->buffer, flags, call), made, flags, call);
}

gr_resource *gl_copy_image(struct gl_names *made, unsigned int target, unsigned flags,
                           const char *call)
{
    return copy_made(gl_image_object(made->texture, target, flags, call), made, flags, call);
}

#define ALL_TRANSPORTS                                                                             \
    (GR_TRANSPORT_INTEROP | GR_TRANSPORT_SHARED | GR_TRANSPORT_COPY | GR_TRANSPORT_EXTERNAL)

/* None of the transports that are asked for can be. */
static void refuse_set(unsigned wanted, const char *call)
{
    if (wanted & GR_TRANSPORT_SHARED)
        gr_fail(GR_ERR_UNSUPPORTED, call,
                "GR_TRANSPORT_SHARED needs storage that grinterop made: the object exists, and "
                "OpenGL cannot share its storage afterwards. Create it by gr_gl_buffer_create() or "
                "gr_gl_image_create(), or allow another transport.");
    else
        gr_fail(GR_ERR_UNSUPPORTED, call,
                "GR_TRANSPORT_EXTERNAL is for memory of Vulkan (vk.h) and of other APIs "
                "(external.h), not for OpenGL's objects: allow another transport.");
}

unsigned gl_transports_take(const gr_gl_options *options, unsigned possible, unsigned otherwise,
                            const char *call)
{
    gr_gl_options own;
    if (GR_TAKE(gr_gl_options, &own, options, call) != GR_OK)
        return 0;
    unsigned wanted = own.transports ? own.transports : otherwise;
    if (wanted & ~(unsigned)ALL_TRANSPORTS) {
        gr_fail(GR_ERR_INVALID_VALUE, call,
                "`transports` is 0x%x, which has bits that are no gr_transport: pass some of them, "
                "or GR_TRANSPORT_ANY.",
                wanted);
        return 0;
    }
    if (!(wanted & possible))
        refuse_set(wanted, call);
    return wanted & possible;
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

/* Storage that exists cannot be shared. */
static unsigned take(const gr_gl_options *options, const char *call)
{
    return gl_transports_take(options, GR_TRANSPORT_INTEROP | GR_TRANSPORT_COPY,
                              GR_TRANSPORT_INTEROP, call);
}

static gr_resource *make(struct gl_resource *r, unsigned flags, unsigned transports,
                         const char *call)
{
    if (!r)
        return NULL;
    if (transports == GR_TRANSPORT_INTEROP)
        return gl_interop_register(r, flags, call);
    if (transports == GR_TRANSPORT_COPY)
        return gl_copy_make(r, flags, call);
    return make_best(r, flags, call);
}

gr_resource *gr_from_gl_buffer_with(unsigned int name, unsigned flags, const gr_gl_options *options)
{
    unsigned transports = take(options, __func__);
    if (!transports)
        return NULL;
    return make(gl_buffer_object(name, flags, __func__), flags, transports, __func__);
}

gr_resource *gr_from_gl_image_with(unsigned int name, unsigned int target, unsigned flags,
                                   const gr_gl_options *options)
{
    unsigned transports = take(options, __func__);
    if (!transports)
        return NULL;
    return make(gl_image_object(name, target, flags, __func__), flags, transports, __func__);
}
