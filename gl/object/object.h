/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Resources of OpenGL objects: code that several transports have in common. */
#ifndef GR_GL_OBJECT_OBJECT_H
#define GR_GL_OBJECT_OBJECT_H

#include "lib/external/external.h"
#include "gl/context/context.h"
#include "gl/context/object_label.h"
#include "gl/format/format.h"

struct gl_arrays;
struct gl_staging;
struct gl_shader;
struct gr_transport_choice;

/* The size and format of one level, or of a renderbuffer. All fields are 0 without storage. */
struct gl_level {
    int width, height, depth; /* depth: the number of slices or layers, otherwise 1 */
    int internal;             /* the format */
    int samples;
};

/* The level and layer of the original at which a texture view begins; 0 for other images. */
struct gl_view {
    int level, layer;
};

/*
 * Whether CUDA computes on the device that draws, or on another one: one that reaches the memory of
 * that one, or one that does not.
 */
enum gl_reach { GL_REACH_UNKNOWN, GL_REACH_OWN, GL_REACH_PEER, GL_REACH_NONE };

/* A resource of an OpenGL object. */
struct gl_resource {
    union {
        gr_resource base;
        struct gr_external external; /* for the shared transport only */
    };
    struct gl_context context;
    unsigned int kind; /* GL_BUFFER, GL_TEXTURE or GL_RENDERBUFFER */
    unsigned int name;
    struct gl_label label; /* of the object at its registration, by which it is recognised */
    bool immutable;        /* the storage can be neither replaced nor resized */
    /* NULL for buffers */
    const struct gl_target *target;
    const struct gl_format *format;
    struct gl_stored stored;
    struct gl_level level; /* level 0 at registration */
    struct gl_view view;
    const struct gl_maker *maker;
    bool replaced; /* with `follows`: the object got other storage, which is not registered yet */
    struct gl_arrays *arrays;   /* for images of transports that copy */
    struct gl_staging *staging; /* likewise */
    enum gl_reach reach;        /* set by gl_peer_reaches() */
    unsigned in_flight;         /* of gr_gl_options */
    const char *way;            /* the way of the copies, for `transport`, or NULL */
    struct gl_shader *shader;   /* the shader that copies its texels, or NULL */
    struct gl_deferred parked;  /* the list entry while the end is deferred */
    struct gl_names
        *owned; /* objects that grinterop created and deletes with the resource, or NULL */
    /* the name of the transport, and the reason for its choice if there is one to report */
    char transport[800];
    size_t way_at; /* the offset of `way` in `transport` */
};

static inline const struct gl_resource *gl_of(const gr_resource *resource)
{
    return (const struct gl_resource *)resource;
}

/* ---- Existing objects ------------------------------------------------------------------------ */

/*
 * Check the arguments and the object. Return a struct without a transport; NULL after an error. The
 * caller makes it a resource or calls free(). Depth is accepted, though only the copy transport
 * accepts it.
 */
struct gl_resource *gl_buffer_object(unsigned int name, unsigned flags);
struct gl_resource *gl_image_object(unsigned int name, unsigned int target, unsigned flags);

/* ---- The transport --------------------------------------------------------------------------- */

/* How a transport makes an object a resource. */
struct gl_maker {
    const struct gr_backend *buffers, *images;
    /* finds the CUDA device if no CUDA context is current, and records errors */
    gr_status (*find_device)(CUdevice *device);
    /*
     * Checks the object, and registers it or allocates the memory; *handle is that of
     * gr_resource_init(). The CUDA context is current. Records errors, and then leaves nothing.
     */
    gr_status (*make_side)(struct gl_resource *r, unsigned flags, void **handle);
    /* prepares the first map of a finished resource; may be NULL */
    void (*prepare)(struct gl_resource *r);
};

/*
 * Chooses the CUDA context and makes `r` a resource. After an error `r` is unchanged: the caller
 * tries another maker or calls gl_object_finish().
 */
gr_status gl_object_make(struct gl_resource *r, const struct gl_maker *maker, unsigned flags);

/*
 * Ends the creation of a resource. After an error frees `r`, which may be NULL, and returns NULL.
 * `choice` may be NULL; it has the reason for the transport.
 */
gr_resource *gl_object_finish(struct gl_resource *r, gr_status status,
                              const struct gr_transport_choice *choice);

/* Completes `transport` by the way of the copy, if there is a copy. */
void gl_object_add_way(struct gl_resource *r);

/* Gives a buffer that only grinterop knows the label GL_STAGING_LABEL. */
void gl_object_label_staging(gr_resource *resource);

/* The text "OpenGL texture 3", for messages. */
struct gl_object_text {
    char text[48];
};
struct gl_object_text gl_object_text(const gr_resource *resource);

/* ---- Storage: these queries preserve OpenGL bindings and errors ------------------------------ */

/*
 * Returns the size of an existing buffer's storage in bytes; 0 if the buffer has no storage.
 * `direct`: the context has direct state access.
 */
size_t gl_buffer_storage(unsigned int name, bool direct);

/* Whether glBufferStorage allocated the storage, so that it cannot be replaced. */
bool gl_buffer_is_immutable(unsigned int name, const struct gl_context *context);

struct gl_image_storage {
    struct gl_level base; /* level 0 */
    unsigned int levels;  /* the number of consecutive levels from level 0 on; 0 without storage */
    bool immutable;
    struct gl_view view;
    int first_level; /* GL_TEXTURE_BASE_LEVEL */
    /* what is wrong with the levels or faces, as the end of a sentence; or NULL */
    const char *incomplete;
};

/* Queries the storage of an image. `target` is the texture's own target. */
void gl_image_storage(unsigned int name, unsigned int target, const struct gl_context *context,
                      struct gl_image_storage *storage);

/* Queries the components of level 0. */
void gl_image_stored(unsigned int name, unsigned int target, struct gl_stored *stored);

/*
 * Queries one level. Level 0 is enough to detect that the storage was replaced. `attached`: the
 * target was queried just now, and `depth` and `samples` are not needed.
 */
struct gl_level gl_image_level(unsigned int name, unsigned int target, int level,
                               const struct gl_context *context, bool attached);

/* ---- Operations of struct gr_backend --------------------------------------------------------- */

/* The operations that all transports for existing OpenGL objects have in common. */
#define GL_OBJECT_OPERATIONS                                                                       \
    .api = GR_GRAPHICS_OPENGL, .on_thread = gl_object_on_thread, .is_gone = gl_object_is_gone,     \
    .refuse_thread = gl_object_refuse_thread, .run = gl_object_run, .collect = gl_object_collect,  \
    .describe = gl_object_describe

bool gl_object_on_thread(const gr_resource *resource);
bool gl_object_is_gone(const gr_resource *resource);
gr_status gl_object_refuse_thread(const gr_resource *resource);
size_t gl_object_run(gr_resource *const resources[], size_t n);
void gl_object_collect(const gr_resource *resource);
void gl_object_describe(const gr_resource *resource, char *text, size_t size);

/*
 * For a resource that follows its storage, whose object exists: if the storage was replaced, checks
 * and registers the new storage. After an error, the next call tries again.
 */
gr_status gl_object_follow(struct gl_resource *r, CUstream stream);

/*
 * Check that the objects still exist with the same storage, or follow it.
 * gl_object_check_registered() does not query immutable storage of resources that do not follow it,
 * because nothing can replace it.
 */
gr_status gl_object_check_storage(gr_resource *const resources[], size_t n, CUstream stream);
gr_status gl_object_check_registered(gr_resource *const resources[], size_t n, CUstream stream);

/*
 * Refuses a buffer that the application has mapped, because OpenGL then refuses other access to it.
 * `exists`: gl_object_check_storage() was just called.
 */
gr_status gl_object_check_unlocked(gr_resource *resource, bool exists);

/* Whether the storage still exists, for releases that copy. If not, logs that the data is lost. */
bool gl_object_intact(const gr_resource *resource);

/*
 * After an unmap: fails with GR_ERR_PARTIAL if an object that CUDA wrote to was deleted, unless it
 * is in a ring, whose other frames must go on.
 */
gr_status gl_object_check_kept(gr_resource *const resources[], size_t n);

void gl_object_park(gr_resource *resource, bool freed);
void gl_object_destroy(gr_resource *resource);

#endif
