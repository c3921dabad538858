/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates resources from existing OpenGL objects, by interop; transport_order.c has other ways. */
#include <grinterop/gl.h>

#include "lib/resource/resource.h"
#include "lib/resource/stream.h"
#include "lib/base/error.h"
#include "lib/resource/map.h"
#include "gl/interop/interop.h"

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
    struct gr_use use = {.call = __func__,
                         .resources = &resource,
                         .n = 1,
                         .stream = stream,
                         .buffers = &buffer,
                         .held = true};
    if (resource)
        (void)gr_use_begin(&use);
    /*
     * From here on only the gr_buffer holds the registration. If the map failed, the registration
     * ends now.
     */
    GR_KEEP_ERROR();
    gr_resource_free(resource);
    return buffer;
}

gr_resource *gr_from_gl_image(unsigned int name, unsigned int target, unsigned flags)
{
    return gl_interop_register(gl_image_object(name, target, flags, __func__), flags, __func__);
}
