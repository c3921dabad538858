/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The contract of register, map, buffer, release and close, case by case: the contract of
 * GraphicsResource in cuda.core, and the additional guarantees of grinterop.
 */
#include "contract.h"

TCase *add_sharing_case(Suite *suite, const char *name)
{
    return with_sharing(add_resource_case(suite, name));
}

gr_resource *make_resource(int kind, GLuint *name)
{
    gr_resource *resource = NULL;
    if (kind == 0) {
        *name = gl_buffer_filled(SIZE, 1);
        resource = must_register(*name);
    } else {
        const gr_gl_options options = GR_INIT(
            gr_gl_options, .transports = kind == 1 ? GR_TRANSPORT_COPY : GR_TRANSPORT_SHARED);
        resource = gr_create_gl_buffer(SIZE, GR_READ_WRITE, &options);
        if (resource)
            *name = gr_gl_name(resource);
    }
    return resource;
}

START(resource_case_buffer(SIZE, 1))
