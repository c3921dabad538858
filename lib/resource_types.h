/* SPDX-License-Identifier: Apache-2.0 */
/* The two objects of the library, as its own files see them. What they do is in resource/. */
#ifndef GR_LIB_RESOURCE_TYPES_H
#define GR_LIB_RESOURCE_TYPES_H

#include <grinterop/gr.h>
#include <grinterop/image.h>

#include "lib/context.h"
#include "lib/told.h"

struct gr_backend;
struct gr_objects;
struct gr_sync;
struct gr_user;

/* An image as its graphics API knows it. What CUDA has mapped is asked for at each map. */
struct gr_image {
    size_t width, height, depth; /* of level 0, in texels; height and depth at least 1 */
    unsigned levels, layers;
    bool is_3d, cube;
    bool layered; /* the array of a level has all of its layers */
    bool srgb;
    bool normalized;       /* integers stand for fractions */
    CUarray_format format; /* of one channel, as CUDA is going to have it, */
    unsigned channels;     /* and how many; 0: only a map can tell */
};

/* Linear memory on the device that stands for one level and layer of an image. */
struct gr_staging {
    CUdeviceptr ptr;
    size_t room;  /* bytes allocated */
    CUevent done; /* recorded at the release: the next map, on any stream, waits for it */
};

/*
 * A mapping's buffer. It lives inside its resource or in the resource's list of spare ones, so that
 * a loop of map and release allocates nothing.
 */
struct gr_buffer {
    gr_resource *resource;
    CUdeviceptr ptr; /* 0 once the mapping has ended */
    size_t size;
    size_t offset, part; /* which bytes of a buffer are mapped, from the map's beginning on */
    CUstream stream;
    gr_buffer *next_spare;
    bool out;                   /* in the caller's hands */
    bool later;                 /* not any more: gr_buffer_release_later() has taken it back */
    bool kept;                  /* likewise, and its users have it now: lib/resource/users.h */
    struct gr_user *users;      /* what refers to the mapping's bytes, */
    unsigned user_count;        /* and how many; atomic */
    size_t pitch;               /* of the linear memory that stands for the image, or 0 */
    unsigned level, layer;      /* which of them it stands for */
    gr_image_info info;         /* what gr_buffer_image_info() has shown of it */
    struct gr_objects *objects; /* surfaces and textures of this mapping, or NULL */
};

#define GR_BUFFERS_IN_TURN 4

/* The common part of every resource; a backend's own struct begins with one. */
struct gr_resource {
    const struct gr_backend *backend;
    gr_transport transport_bit; /* the backend's, or a kind's own */
    gr_graphics_api api;        /* likewise */
    const char *transport;      /* its name in describe texts, with a reason where there is one */
    void *handle; /* the driver's, of the kind that the backend has; NULL once closed */
    struct gr_context context;
    /* Its semaphores' points; NULL where the driver's map and unmap order the work themselves. */
    struct gr_sync *sync;
    unsigned flags;
    size_t size;        /* bytes */
    gr_buffer *mapped;  /* the live mapping, or NULL */
    gr_buffer *pending; /* the buffer that a map in progress is going to give out */
    gr_buffer *spare;   /* buffers that are not out, the one that was given back first */
    gr_buffer *spare_last;
    /*
     * Buffers that suffice as long as each mapping is released before the next. They are used in
     * turn, so that a release of one that was released already is noticed for some maps more.
     */
    gr_buffer first[GR_BUFFERS_IN_TURN];
    size_t buffers_out;
    gr_buffer *set_aside;      /* buffers that a thread let go of which could not release them */
    gr_resource *next_unbound; /* with such ones, in the list of those without a thread's rule */
    CUstream checked;          /* the stream that was last found to be of the right device */
    CUstream released_on;      /* of the last release; NULL: there was none */
    CUevent end;               /* after that, where somebody has waited for it; else NULL */
    bool end_is_recorded;      /* since that release */
    bool is_image;
    struct gr_image image;
    struct gr_staging staging;
    CUmodule kernels; /* the library's, where the driver has no place for them; else NULL */
    struct gr_objects *retired; /* of mappings that have ended, until the work with them is done */
    struct gr_objects *idle;    /* to be used again */
    struct gr_told_list told;   /* streams of users that are gone, until the mapping ends */
    CUevent order; /* for a release on another stream than the map's; NULL until there is one */
    /* The caller's, until gr_resource_free(), and the library's own. */
    unsigned holds;
    bool parked;    /* set aside until its OpenGL context is current */
    bool in_a_ring; /* a ring has a hold, and maps it: nobody else may */
    bool ring_maps; /* during the ring's own calls */
    bool visited;   /* scratch of a call over many resources: met already */
};

/* Whether the buffer is its resource's present mapping. */
static inline bool gr_buffer_is_live(const gr_buffer *buffer)
{
    return buffer->resource->mapped == buffer;
}

#endif
