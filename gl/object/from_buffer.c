/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates resources from OpenGL buffers, which are checked before they are registered with CUDA. */
#include <grinterop/gl.h>

#include "gl/object/from_buffer.h"

#include <stdlib.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/base/flags.h"
#include "lib/resource/stream.h"
#include "lib/resource/resource.h"
#include "gl/interop/register.h"
#include "gl/object/buffer_storage.h"
#include "gl/context/saved_state.h"

#define BUFFER_FLAGS (GR_READ_ONLY | GR_WRITE_DISCARD)

/* Whether `name` is a target, which is the first argument of glBindBuffer(). */
static bool is_target(unsigned int name)
{
    switch (name) {
    case GL_ARRAY_BUFFER:
    case GL_ELEMENT_ARRAY_BUFFER:
    case GL_PIXEL_PACK_BUFFER:
    case GL_PIXEL_UNPACK_BUFFER:
    case GL_UNIFORM_BUFFER:
    case GL_SHADER_STORAGE_BUFFER:
    case GL_TEXTURE_BUFFER:
        return true;
    default:
        return false;
    }
}

static gr_status check_buffer(unsigned int name, bool direct, size_t *size, const char *call)
{
    if (!glIsBuffer(name))
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "There is no OpenGL buffer %u in the current context: %s.", name,
                       is_target(name) ? "this number is the value of a target, such as "
                                         "GL_ARRAY_BUFFER; pass the name from glGenBuffers"
                                       : "it was deleted, belongs to another context, or was only "
                                         "reserved by glGenBuffers and never bound");
    *size = gl_buffer_storage(name, direct);
    if (*size > 0)
        return GR_OK;
    GR_TRY(gl_errors_check_lost(call));
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "OpenGL buffer %u has no storage. Allocate some by glBufferData or "
                   "glBufferStorage before you register it.",
                   name);
}

struct gl_resource *gl_buffer_object(unsigned int name, unsigned flags, const char *call)
{
    if (name == 0) {
        gr_fail(GR_ERR_INVALID_VALUE, call, "The OpenGL buffer name is 0, which is not a buffer.");
        return NULL;
    }
    if (gr_flags_check(flags, BUFFER_FLAGS, call) != GR_OK)
        return NULL;
    struct gl_resource *r = gl_resource_begin("buffer", name, call);
    if (!r)
        return NULL;
    if (check_buffer(name, r->context.direct, &r->base.size, call) != GR_OK) {
        free(r);
        return NULL;
    }
    r->immutable = gl_buffer_is_immutable(name, &r->context);
    return r;
}

gr_resource *gr_from_gl_buffer(unsigned int name, unsigned flags)
{
    return gl_interop_register(gl_buffer_object(name, flags, __func__), flags, __func__);
}

gr_buffer *gr_map_gl_buffer(unsigned int name, unsigned flags, CUstream stream)
{
    if (gr_stream_check(NULL, stream, false, __func__) != GR_OK)
        return NULL;
    gr_resource *resource =
        gl_interop_register(gl_buffer_object(name, flags, __func__), flags, __func__);
    gr_buffer *buffer = NULL;
    if (resource)
        gr_map_for(&resource, 1, stream, NULL, &buffer, __func__);
    /*
     * From here on only the gr_buffer holds the registration. If the map failed, the registration
     * ends now.
     */
    gr_resource_free(resource);
    return buffer;
}
