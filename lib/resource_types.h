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
    /* What each map and release touches: a cache line. */
    gr_resource *resource;
    CUdeviceptr ptr; /* 0 once the mapping has ended */
    size_t size;
    CUstream stream;
    gr_buffer *next;            /* of those that are set aside, or spare */
    struct gr_user *users;      /* what refers to the mapping's bytes, */
    unsigned user_count;        /* and how many; atomic */
    bool out;                   /* in the caller's hands */
    bool later;                 /* not any more: gr_buffer_release_later() has taken it back */
    bool kept;                  /* likewise, and its users have it now: lib/resource/users.h */
    struct gr_objects *objects; /* surfaces and textures of this mapping, or NULL */

    size_t offset, part;   /* which bytes of a buffer are mapped, from the map's beginning on */
    size_t pitch;          /* of the linear memory that stands for the image, or 0 */
    unsigned level, layer; /* which of them it stands for */
    gr_image_info info;    /* what gr_buffer_image_info() has shown of it */
};

#define GR_BUFFERS_IN_TURN 4

/* The common part of every resource; a backend's own struct begins with one. */
struct gr_resource {
    /* What each map and release touches: two cache lines, up to the count of `told`. */
    const struct gr_backend *backend;
    void *handle; /* the driver's, of the kind that the backend has; NULL once closed */
    struct gr_context context;
    /* Its semaphores' points; NULL where the driver's map and unmap order the work themselves. */
    struct gr_sync *sync;
    gr_buffer *mapped;    /* the live mapping, or NULL */
    gr_buffer *set_aside; /* buffers that a thread let go of which could not release them */
    size_t size;          /* bytes */
    gr_buffer *pending;   /* what a map in progress is going to give out; else NULL */
    CUstream checked;     /* the stream that was last found to be of the right context */
    CUstream released_on; /* of the last release; NULL: there was none */
    bool end_is_recorded; /* since that release */
    bool is_image;
    bool in_a_ring; /* a ring has a hold, and maps it: nobody else may */
    bool ring_maps; /* during the ring's own calls */
    bool visited;   /* scratch of a call over many resources: met already */
    bool parked;    /* set aside until its OpenGL context is current */
    bool claimed;   /* somebody ends it: gr_resource_let_go() */
    /* The caller's, until gr_resource_free(), and the library's own. */
    unsigned holds;
    unsigned buffers_out;
    unsigned locked;          /* by gr_resource_lock(): no neighbour of what it guards */
    unsigned run;             /* scratch of a map: how many resources go with it, itself too */
    unsigned turn;            /* which of `first` is next */
    struct gr_told_list told; /* streams of users that are gone, until the mapping ends */

    /*
     * Buffers that suffice as long as each mapping is released before the next. They are used in
     * turn, so that a release of one that was released already is noticed for some maps more.
     */
    gr_buffer first[GR_BUFFERS_IN_TURN];
    gr_buffer *spare; /* others that are not out */

    gr_transport transport_bit; /* the backend's, or a kind's own */
    gr_graphics_api api;        /* likewise */
    const char *transport;      /* its name in describe texts, with a reason where there is one */
    unsigned flags;
    gr_resource *next_unbound; /* with such ones, in the list of those without a thread's rule */
    CUevent end;               /* after `released_on`, where somebody has waited; else NULL */
    struct gr_image image;
    struct gr_staging staging;
    CUmodule kernels; /* the library's, where the driver has no place for them; else NULL */
    struct gr_objects *retired; /* of mappings that have ended, until the work with them is done */
    struct gr_objects *idle;    /* to be used again */
    CUevent
        ready; /* the caller's: the one that was last recorded after a map, never touched here */
    CUevent order; /* for a release on another stream than the map's; NULL until there is one */
};

/* Whether the buffer is its resource's present mapping. */
static inline bool gr_buffer_is_live(const gr_buffer *buffer)
{
    return __atomic_load_n(&buffer->resource->mapped, __ATOMIC_RELAXED) == buffer;
}

#endif
