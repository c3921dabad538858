/* SPDX-License-Identifier: Apache-2.0 */
/* The interop transport: OpenGL objects shared by cuGraphics* registration. */
#ifndef GR_GL_INTEROP_H
#define GR_GL_INTEROP_H

#include "../lib/resource.h"
#include "current.h"

/* A resource made from an OpenGL object. */
struct gl_resource {
    gr_resource base;
    struct gl_context context;
    unsigned int name;
    bool immutable; /* its storage can neither be replaced nor resized */
    struct gl_resource *next_parked;
};

extern const struct gr_backend gl_interop;

/* Ends the registrations that were set aside for this context, which is current. */
void gl_interop_collect_parked(const struct gl_context *context);

#endif
