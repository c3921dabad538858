/* SPDX-License-Identifier: Apache-2.0 */
/* The interop transport: OpenGL objects shared by cuGraphics* registration. */
#ifndef GR_GL_INTEROP_H
#define GR_GL_INTEROP_H

#include "../lib/resource.h"
#include "current.h"
#include "format.h"
#include "image_storage.h"

/* A resource made from an OpenGL object. */
struct gl_resource {
    gr_resource base;
    struct gl_context context;
    unsigned int name;
    bool immutable; /* its storage can neither be replaced nor resized */
    /* Of images; NULL for buffers, `format` also for one that the table does not know. */
    const struct gl_target *target;
    const struct gl_format *format;
    struct gl_level level; /* the largest, when it was registered */
    struct gl_resource *next_parked;
};

extern const struct gr_backend gl_interop;

/*
 * What both kinds of objects need before they are registered: the driver loaded, an OpenGL context
 * current, which is remembered, and zeroed memory for the resource. NULL after an error, which names
 * the object by `kind` and `name`.
 */
struct gl_resource *gl_resource_begin(const char *kind, unsigned int name, const char *call);

/*
 * Chooses the CUDA context, has `register_it` register the object with it, and makes the resource
 * ready. On an error, which is recorded, the memory is freed.
 */
gr_resource *gl_resource_register(struct gl_resource *r, unsigned flags,
                                  CUresult (*register_it)(const struct gl_resource *r,
                                                          unsigned flags,
                                                          CUgraphicsResource *handle),
                                  const char *driver_call, const char *call);

/* Ends the registrations that were set aside for this context, which is current. */
void gl_interop_collect_parked(const struct gl_context *context);

#endif
