/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources made from OpenGL objects that exist: what the transports that do that (interop.c,
 * peer.c, copy.c) have in common.
 */
#ifndef GR_GL_OBJECT_H
#define GR_GL_OBJECT_H

#include "lib/resource_types.h"
#include "gl/current_context.h"
#include "gl/format.h"
#include "gl/image_storage.h"
#include "gl/delete_later.h"

struct gl_copy;
struct gl_peer;

/* A resource made from an OpenGL object. */
struct gl_resource {
    gr_resource base;
    struct gl_context context;
    unsigned int name;
    bool immutable; /* its storage can neither be replaced nor resized */
    /* Of images; NULL for buffers, `format` also for one that the table does not know. */
    const struct gl_target *target;
    const struct gl_format *format;
    struct gl_level level;  /* the largest, when it was registered */
    struct gl_copy *copy;   /* of the copy transport's resources */
    struct gl_peer *peer;   /* of the peer transport's */
    struct gl_later parked; /* while it is set aside */
    struct gl_names *owned; /* what grinterop made and deletes with the resource, or NULL */
    char transport[520];    /* its transport with the reason, where there is one to tell */
};

/*
 * What both kinds of objects need before they are looked at: the driver loaded, an OpenGL context
 * current, which is remembered, and zeroed memory for the resource. NULL after an error, which
 * names the object by `kind` and `name`.
 */
struct gl_resource *gl_resource_begin(const char *kind, unsigned int name, const char *call);

/* "OpenGL texture 3", for messages. */
struct gl_object_text {
    char text[48];
};
struct gl_object_text gl_object_text(const gr_resource *resource);

/* ---- Operations of struct gr_backend --------------------------------------------------------- */

bool gl_object_on_thread(const gr_resource *resource);
gr_status gl_object_refuse_thread(const gr_resource *resource, const char *call);
size_t gl_object_run(gr_resource *const resources[], size_t n);

/*
 * Asks OpenGL whether the objects are there and have the storage that they had. CUDA keeps
 * immutable storage, so where it has registered the objects that is not asked about.
 */
gr_status gl_object_check_storage(gr_resource *const resources[], size_t n, const char *call);
gr_status gl_object_check_registered(gr_resource *const resources[], size_t n, const char *call);

/*
 * At a release that copies: whether the storage is still there. An object that is gone can take
 * nothing, and must not keep its resource from being released: a warning says what is lost.
 */
bool gl_object_takes(const gr_resource *resource);

void gl_object_park(gr_resource *resource, bool freed);
void gl_object_collect(const gr_resource *resource);
void gl_object_describe(const gr_resource *resource, char *text, size_t size);
void gl_object_destroy(gr_resource *resource);

#endif
